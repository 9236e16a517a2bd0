//! A hierarchical token bucket: classes lend unused rate to each other. Sources: Martin Devera's
//! description (luxik.cdi.cz/~devik/qos/htb), `tc-htb(8)`, and the behavior of Linux 6.12.
mod class;
mod params;

pub(crate) use params::FLOWS;
pub use params::{HtbClass, HtbMatch, HtbParams};

use crate::store::Store;
use crate::{Backlog, DropReason, Packet, Qdisc, Sink};
use alloc::boxed::Box;
use alloc::vec::Vec;
use class::{Class, Mode};
use fathom_units::{Bytes, Duration, Rng, Time};

/// Maximum depth of the class tree. Source: `sch_htb`.
pub(crate) const LEVELS: usize = 8;
/// Number of priorities. Source: `sch_htb`.
pub(crate) const PRIOS: usize = 8;
/// Limit of the queue of unshaped packets. Linux uses the interface's `txqueuelen`.
const DIRECT_PACKETS: u64 = 1000;

/// A hierarchical token bucket, as in Linux.
///
/// A class within its rate sends, whatever the state of its parent. A class above its rate and
/// below its ceil borrows from its parent, if the parent is within its rate or can borrow in turn.
/// Packets sent without borrowing go first, then those borrowed from the lowest level; on each
/// level the lowest priority number goes first. Classes of one level and priority share by deficit
/// round robin, in the order in which they are listed (in Linux by class number).
///
/// Differences from Linux: tokens are exact; modes change at the nanosecond, not at a timer tick;
/// and classes list their matches, where Linux has filters.
pub struct Htb<P> {
    salt: u64,
    default: Option<usize>,
    classes: Vec<Class<P>>,
    /// The next class among those that send, for each level and priority.
    cursors: Box<[[usize; PRIOS]; LEVELS]>,
    direct: Store<P>,
}

impl<P: Packet> Htb<P> {
    /// Creates empty queues and full buckets. `seed` is for matches by flow and for the queues.
    pub fn new(params: HtbParams, seed: u64) -> Self {
        let mut rng = Rng::stream(seed, "htb");
        let salt = rng.next_u64();
        let index = |id: u16| params.classes.iter().position(|class| class.id == id);
        let mut depths: Vec<usize> = Vec::with_capacity(params.classes.len());
        let mut classes = Vec::with_capacity(params.classes.len());
        for class in &params.classes {
            let parent = class.parent.and_then(index).filter(|parent| *parent < classes.len());
            let depth = parent.map_or(0, |parent| depths[parent] + 1);
            let level = if class.queue.is_some() { 0 } else { LEVELS.saturating_sub(1 + depth) };
            depths.push(depth);
            classes.push(Class::new(class, parent, level, rng.next_u64()));
        }
        let default = params.default.and_then(index);
        Htb { salt, default, classes, cursors: Box::new([[0; PRIOS]; LEVELS]), direct: Store::new() }
    }

    fn classify(&self, packet: &P) -> Option<usize> {
        let takes = |class: &Class<P>| {
            let matches = class.leaf.iter().flat_map(|leaf| &leaf.matches);
            matches.into_iter().any(|each| each.holds(packet, self.salt))
        };
        self.classes.iter().position(takes).or(self.default)
    }

    /// Updates the modes and returns, for each level, a bitmap of the priorities that can send.
    fn offers(&mut self, now: Time) -> [u8; LEVELS] {
        self.classes.iter_mut().for_each(|class| class.refresh(now));
        let mut offers = [0; LEVELS];
        // In reverse order, since children are listed after their parents.
        for index in (0..self.classes.len()).rev() {
            let Class { mode, wants, level, parent, .. } = self.classes[index];
            match (mode, parent) {
                (Mode::Sends, _) => offers[level] |= wants,
                (Mode::Borrows, Some(parent)) => self.classes[parent].wants |= wants,
                _ => {}
            }
        }
        offers
    }

    /// The first class from `from` on that has packets of `prio` and fulfills `fits`.
    fn find(&self, from: usize, prio: usize, fits: impl Fn(&Class<P>) -> bool) -> Option<usize> {
        (from..self.classes.len())
            .find(|index| self.classes[*index].wants & (1 << prio) != 0 && fits(&self.classes[*index]))
    }

    /// The cursor of the round robin to which `index` belongs when it sends from `level`.
    fn cursor(&mut self, index: usize, level: usize, prio: usize) -> &mut usize {
        match self.classes[index].parent {
            Some(parent) if self.classes[index].level < level => &mut self.classes[parent].cursors[prio],
            _ => &mut self.cursors[level][prio],
        }
    }

    /// The next leaf on a level and in a priority that has one. When all children of a class have
    /// had their turn, the turn of the class ends too.
    fn leaf_in_turn(&mut self, level: usize, prio: usize) -> Option<usize> {
        let sends = |class: &Class<P>| class.level == level && class.mode == Mode::Sends;
        loop {
            let cursor = self.cursors[level][prio];
            let mut at = self.find(cursor, prio, sends).or_else(|| self.find(0, prio, sends))?;
            self.cursors[level][prio] = at;
            while self.classes[at].leaf.is_none() {
                let borrows = |class: &Class<P>| class.parent == Some(at) && class.mode == Mode::Borrows;
                let child = self.find(self.classes[at].cursors[prio], prio, borrows);
                self.classes[at].cursors[prio] = child.unwrap_or(0);
                let Some(child) = child else {
                    *self.cursor(at, level, prio) = at + 1;
                    break;
                };
                at = child;
            }
            if self.classes[at].leaf.is_some() {
                return Some(at);
            }
        }
    }

    /// Charges a packet sent from `level` to the leaf, its turn, and all classes above it.
    fn charge(&mut self, leaf: usize, level: usize, prio: usize, len: Bytes, now: Time) {
        let turn_is_over = self.classes[leaf].leaf.as_mut().is_some_and(|leaf| leaf.charge_turn(level, len));
        if turn_is_over {
            *self.cursor(leaf, level, prio) = leaf + 1;
        }
        let mut next = Some(leaf);
        while let Some(index) = next {
            self.classes[index].charge(level, len, now);
            next = self.classes[index].parent;
        }
    }

    /// When the packets of `leaf` may become ready to send.
    fn leaf_ready(&self, leaf: usize, now: Time) -> Option<Time> {
        let (mut soonest, mut next) = (None::<Time>, Some(leaf));
        while let Some(class) = next.map(|index| &self.classes[index]) {
            let mode = class.mode_at(now);
            let at = match mode {
                // Only its own queue, a shaper, can be holding packets back.
                Mode::Sends => self.classes[leaf].leaf.as_ref()?.queue.next_ready(now),
                Mode::Borrows | Mode::Waits => Some(class.better(mode, now)),
            };
            soonest = [soonest, at].into_iter().flatten().min();
            next = class.parent.filter(|_| mode == Mode::Borrows);
        }
        soonest
    }
}

impl<P: Packet> Qdisc<P> for Htb<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        let index = self.classify(&packet);
        let leaf = index.and_then(|index| self.classes[index].leaf.as_mut());
        match leaf {
            // A `dyn` sink, or nested queues would instantiate an infinite number of types.
            Some(leaf) => leaf.queue.enqueue(packet, now, &mut (sink as &mut dyn Sink<P>)),
            None if self.direct.backlog().packets < DIRECT_PACKETS => self.direct.push(packet, now),
            None => sink.dropped(packet, DropReason::Overlimit, Duration::ZERO, now),
        }
    }
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        if let Some(stored) = self.direct.pop() {
            return Some(stored.leave(now));
        }
        self.classes
            .iter_mut()
            .filter_map(|class| class.leaf.as_mut())
            .for_each(|leaf| leaf.is_blocked = false);
        loop {
            let offers = self.offers(now);
            let level = offers.iter().position(|prios| *prios != 0)?;
            let prio = offers[level].trailing_zeros() as usize;
            let index = self.leaf_in_turn(level, prio)?;
            let leaf = self.classes[index].leaf.as_mut()?;
            if let Some((packet, sojourn)) = leaf.queue.dequeue(now, &mut (sink as &mut dyn Sink<P>)) {
                self.charge(index, level, prio, packet.len(), now);
                return Some((packet, sojourn));
            }
            leaf.is_blocked = true;
        }
    }
    fn next_ready(&self, now: Time) -> Option<Time> {
        let waits =
            |index: &usize| self.classes[*index].leaf.as_ref().is_some_and(|leaf| leaf.queue.has_packets());
        let leaves = (0..self.classes.len()).filter(waits);
        leaves.filter_map(|index| self.leaf_ready(index, now)).min()
    }
    fn backlog(&self) -> Backlog {
        let leaves = self.classes.iter().filter_map(|class| class.leaf.as_ref());
        leaves.map(|leaf| leaf.queue.backlog()).fold(self.direct.backlog(), |sum, each| Backlog {
            bytes: sum.bytes + each.bytes,
            packets: sum.packets + each.packets,
        })
    }
}
