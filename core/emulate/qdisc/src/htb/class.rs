//! The state of an HTB class.
use super::params::{HtbClass, HtbMatch};
use super::{LEVELS, PRIOS};
use crate::bucket::Bucket;
use crate::{AnyQdisc, Packet, Spec};
use alloc::boxed::Box;
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Rate, Time};

/// Maximum debt of a class, as time at its rate. A class goes into debt because its children may
/// always send at their own rates. Source: `sch_htb`.
const MAX_DEBT: Duration = Duration::from_secs(60);

/// What a class may do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// Send: it is within its rate.
    Sends,
    /// Borrow: it is above its rate and below its ceil.
    Borrows,
    /// Wait: it is above its ceil.
    Waits,
}

/// The queue of a leaf class, and its scheduling state.
pub(super) struct Leaf<P> {
    pub(super) queue: Box<AnyQdisc<P>>,
    pub(super) matches: Vec<HtbMatch>,
    quantum: i64,
    /// Bytes left of its turn, for each level from which it can send.
    deficits: [i64; LEVELS],
    /// True if its queue returned no packet in this dequeue although it holds some.
    pub(super) is_blocked: bool,
}

impl<P: Packet> Leaf<P> {
    fn new(spec: &Spec, class: &HtbClass, seed: u64) -> Self {
        Leaf {
            queue: Box::new(AnyQdisc::new(spec, seed)),
            matches: class.matches.clone(),
            quantum: i64::try_from(class.quantum.get()).unwrap_or(i64::MAX),
            deficits: [0; LEVELS],
            is_blocked: false,
        }
    }
    /// Charges a packet sent from `level`; returns true if the turn ends.
    pub(super) fn charge_turn(&mut self, level: usize, len: Bytes) -> bool {
        let deficit = &mut self.deficits[level];
        *deficit -= i64::try_from(len.get()).unwrap_or(i64::MAX);
        let is_over = *deficit < 0;
        if is_over {
            *deficit += self.quantum;
        }
        is_over
    }
}

pub(super) struct Class<P> {
    pub(super) parent: Option<usize>,
    /// 0 for a leaf; inner classes count down from [`LEVELS`] - 1 at the top.
    pub(super) level: usize,
    prio: u8,
    rate: Bucket,
    ceil: Bucket,
    pub(super) leaf: Option<Leaf<P>>,
    pub(super) mode: Mode,
    /// Bitmap of the priorities in which this class or its borrowers have packets to send.
    pub(super) wants: u8,
    /// For each priority, where the search for the next child starts.
    pub(super) cursors: [usize; PRIOS],
}

impl<P: Packet> Class<P> {
    pub(super) fn new(class: &HtbClass, parent: Option<usize>, level: usize, seed: u64) -> Self {
        let bucket = |rate: Rate, depth: Bytes| Bucket::new(rate, depth).owing_at_most(MAX_DEBT);
        Class {
            parent,
            level,
            prio: class.prio,
            rate: bucket(class.rate, class.burst),
            ceil: bucket(class.ceil, class.cburst),
            leaf: class.queue.as_ref().map(|spec| Leaf::new(spec, class, seed)),
            mode: Mode::Sends,
            wants: 0,
            cursors: [0; PRIOS],
        }
    }
    pub(super) fn mode_at(&self, now: Time) -> Mode {
        if !self.ceil.has(Bytes::ZERO, now) {
            Mode::Waits
        } else if !self.rate.has(Bytes::ZERO, now) {
            Mode::Borrows
        } else {
            Mode::Sends
        }
    }
    /// When the class leaves `mode` for a better one.
    pub(super) fn better(&self, mode: Mode, now: Time) -> Time {
        let bucket = if mode == Mode::Waits { &self.ceil } else { &self.rate };
        bucket.ready(Bytes::ZERO, now)
    }
    /// Charges a packet sent from `level`. Classes below that level borrowed and keep their rate.
    pub(super) fn charge(&mut self, level: usize, len: Bytes, now: Time) {
        if self.level >= level {
            self.rate.spend(len, now);
        }
        self.ceil.spend(len, now);
    }
    /// Updates the mode, and `wants` for a leaf.
    pub(super) fn refresh(&mut self, now: Time) {
        self.mode = self.mode_at(now);
        let has_packet = self.leaf.as_ref().is_some_and(|leaf| !leaf.is_blocked && leaf.queue.has_packets());
        self.wants = if has_packet { 1 << self.prio } else { 0 };
    }
}
