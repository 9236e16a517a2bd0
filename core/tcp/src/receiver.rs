//! The receiving end.
use crate::{Ack, Data, SackRange};
use alloc::vec::Vec;
use fathom_units::{Duration, Time};

/// Parameters of a [`Receiver`]. Defaults are Linux's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ReceiverConfig {
    /// Payload of a full segment: every second one is acknowledged at once.
    pub mss: u32,
    /// Bytes that it has room for. 65535 is TCP without window scaling: Windows XP.
    pub window: u64,
    /// How long an acknowledgement may be held back: 40 ms.
    pub delayed_ack: Duration,
    /// Segments at the start that are acknowledged at once, so that slow start is not held up: 16.
    pub quick_acks: u32,
    /// Echo every change of CE at once (DCTCP, RFC 8257 section 3.2) instead of until CWR (RFC 3168).
    pub exact_ecn: bool,
}

impl Default for ReceiverConfig {
    fn default() -> Self {
        ReceiverConfig {
            mss: 1448,
            window: 1 << 30,
            delayed_ack: Duration::from_millis(40),
            quick_acks: 16,
            exact_ecn: false,
        }
    }
}

/// A TCP receiver. The application reads at once, so that the window is always whole.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    /// All before this has arrived.
    next: u64,
    /// What arrived beyond, ascending and apart.
    beyond: Vec<(u64, u64)>,
    /// Of these, the ranges that changed last, newest first.
    recent: [(u64, u64); 3],
    /// The last acknowledgement sent.
    acked: u64,
    /// To be echoed: RFC 7323 section 4.3.
    echo: Time,
    received_at: Time,
    /// An acknowledgement is held back until then.
    held_until: Option<Time>,
    quick_acks: u32,
    ece: bool,
}

impl Receiver {
    /// Nothing has arrived.
    pub fn new(config: ReceiverConfig) -> Self {
        Receiver {
            next: 0,
            beyond: Vec::new(),
            recent: [(0, 0); 3],
            acked: 0,
            echo: Time::ZERO,
            received_at: Time::ZERO,
            held_until: None,
            quick_acks: config.quick_acks,
            ece: false,
            config,
        }
    }
    /// Bytes that the application has got.
    pub fn delivered(&self) -> u64 {
        self.next
    }
    /// When a held acknowledgement is due.
    pub fn next_timer(&self) -> Option<Time> {
        self.held_until
    }
    /// The held acknowledgement, if it is due.
    pub fn on_timer(&mut self, now: Time) -> Option<Ack> {
        self.held_until.filter(|at| *at <= now)?;
        Some(self.ack(false, None))
    }

    /// A segment arrived at `now`, with `ce` if it was marked. Gives the acknowledgement, if it is to be sent at once.
    pub fn on_data(&mut self, data: &Data, ce: bool, now: Time) -> Option<Ack> {
        self.received_at = now;
        if data.syn {
            self.echo = data.sent_at;
            return Some(self.ack(true, None));
        }
        let before_change = self.note_ecn(data, ce);
        let (start, end) = (data.seq, data.seq + u64::from(data.len));
        if start <= self.acked {
            self.echo = data.sent_at;
        }
        if end <= self.next || self.beyond.iter().any(|(low, high)| *low <= start && end <= *high) {
            // What came twice is told at once, so that the sender learns that it was needless.
            return Some(self.ack(false, Some((start, end))));
        }
        let in_order = start <= self.next;
        if in_order {
            self.advance(end);
        } else {
            self.keep(start, end);
        }
        if let Some(ack) = before_change {
            self.hold(now);
            return Some(ack);
        }
        let at_once = !in_order
            || !self.beyond.is_empty()
            || self.is_quick()
            || self.next - self.acked > u64::from(self.config.mss);
        if at_once {
            return Some(self.ack(false, None));
        }
        self.hold(now);
        None
    }

    /// Keeps the echo, and where CE changes with an exact echo, gives the acknowledgement of what came before the change.
    fn note_ecn(&mut self, data: &Data, ce: bool) -> Option<Ack> {
        if !self.config.exact_ecn {
            self.ece = (self.ece && !data.cwr) || ce;
            return None;
        }
        let changed = ce != self.ece;
        let held = (changed && self.held_until.is_some()).then(|| self.ack(false, None));
        self.ece = ce;
        held
    }
    fn is_quick(&mut self) -> bool {
        let quick = self.quick_acks > 0;
        self.quick_acks = self.quick_acks.saturating_sub(1);
        quick
    }
    fn hold(&mut self, now: Time) {
        self.held_until.get_or_insert(now + self.config.delayed_ack);
    }
    /// All before `end` has arrived, and what was kept right after it.
    fn advance(&mut self, end: u64) {
        self.next = end;
        let joined = self.beyond.iter().take_while(|(low, _)| *low <= end).count();
        // Ranges are apart, so none but the last of these can end beyond `end`, and none comes right after it.
        if let Some((_, high)) = self.beyond.drain(..joined).next_back() {
            self.next = self.next.max(high);
        }
    }
    /// Keeps a segment from beyond, joined with its neighbours.
    fn keep(&mut self, start: u64, end: u64) {
        let first = self.beyond.partition_point(|(_, high)| *high < start);
        let last = self.beyond.partition_point(|(low, _)| *low <= end);
        let low = self.beyond.get(first).map_or(start, |(low, _)| start.min(*low));
        let high =
            last.checked_sub(1).and_then(|at| self.beyond.get(at)).map_or(end, |(_, high)| end.max(*high));
        let joined = if first < last { (low, high) } else { (start, end) };
        self.beyond.splice(first..last, [joined]);
        self.touch(joined);
    }
    /// `range` is the newest; the ranges that it has swallowed go.
    fn touch(&mut self, range: (u64, u64)) {
        let outside = |(low, high): &(u64, u64)| *high < range.0 || range.1 < *low;
        let mut recent = [(0, 0); 3];
        recent[0] = range;
        let kept = self.recent.iter().filter(|r| r.0 < r.1).filter(|r| outside(r));
        recent[1..].iter_mut().zip(kept).for_each(|(slot, kept)| *slot = *kept);
        self.recent = recent;
    }

    /// The acknowledgement of everything up to now.
    fn ack(&mut self, syn: bool, twice: Option<(u64, u64)>) -> Ack {
        self.acked = self.next;
        self.held_until = None;
        let beyond = self.recent.iter().copied().filter(|(_, high)| *high > self.next);
        let mut sack = [SackRange::default(); 3];
        let offset = |byte: u64| u32::try_from(byte.saturating_sub(self.next)).unwrap_or(u32::MAX);
        for (slot, (low, high)) in sack.iter_mut().zip(beyond) {
            *slot = SackRange { start: offset(low), end: offset(high) };
        }
        Ack {
            ack: self.next,
            sack,
            dsack: twice.is_some(),
            echo: self.echo,
            received_at: self.received_at,
            ece: self.ece,
            window: self.config.window,
            syn,
        }
    }
}
