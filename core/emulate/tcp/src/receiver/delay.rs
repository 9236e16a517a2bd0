//! Delayed and compressed ACKs, with Linux's rules.
use super::ReceiverConfig;
use fathom_units::{Duration, Time};

/// Immediate ACKs after the first mark of a window: the sender's window may be small now.
const QUICK_AFTER_MARK: u32 = 2;
/// After a longer pause the sender restarts slow start. Linux: at least this, the receiver's RTO.
const LONG_PAUSE: Duration = Duration::from_millis(200);
/// Number of duplicate ACKs that are sent at once; later ones may be compressed.
const DUPLICATES_AT_ONCE: u8 = 3;
/// Maximum number of segments per compressed ACK. Linux: `tcp_comp_sack_nr`.
const MAX_JOINED: u8 = 44;
/// Fraction of the RTT that compressed ACKs wait. Linux: 5 %.
const JOIN_PARTS: u64 = 20;

/// The state of delayed ACKs.
#[derive(Clone, Debug)]
pub(super) struct Delay {
    /// When the delayed ACK is due, if there is one.
    pub(super) until: Option<Time>,
    /// Current delay; adapts to the spacing of segments.
    timeout: Duration,
    last: Last,
    /// Number of ACKs to send at once.
    quick: u32,
    max_quick: u32,
    /// While there is a gap: duplicate ACKs sent, compressed ones, and the cumulative ACK.
    duplicates: u8,
    joined: u8,
    duplicates_of: u64,
    /// RTT of the handshake; zero without one.
    rtt: Duration,
}

/// The last event.
#[derive(Clone, Copy, Debug)]
enum Last {
    Nothing,
    Syn(Time),
    Data(Time),
}

impl Delay {
    pub(super) fn new(config: &ReceiverConfig) -> Self {
        // At most half the window, at least two.
        let half_window = config.window / (2 * u64::from(config.mss.max(1)));
        let max_quick = config.quick_acks.min(u32::try_from(half_window).unwrap_or(u32::MAX).max(2));
        Delay {
            until: None,
            timeout: config.delayed_ack,
            last: Last::Nothing,
            quick: 0,
            max_quick,
            duplicates: 0,
            duplicates_of: 0,
            joined: 0,
            rtt: Duration::ZERO,
        }
    }
    pub(super) fn answered_syn(&mut self, now: Time) {
        self.last = Last::Syn(now);
    }
    /// Makes the next ACKs immediate.
    pub(super) fn be_quick(&mut self, config: &ReceiverConfig) {
        self.quick = self.quick.max(self.max_quick);
        self.timeout = config.delayed_ack;
    }
    pub(super) fn be_quick_after_mark(&mut self) {
        self.quick = self.quick.max(QUICK_AFTER_MARK);
    }
    /// Makes the next ACK immediate.
    pub(super) fn be_quick_once(&mut self) {
        self.quick |= 1;
    }
    /// RTT of the handshake.
    pub(super) fn rtt(&self) -> Duration {
        self.rtt
    }
    pub(super) fn is_quick(&self) -> bool {
        self.quick > 0
    }
    /// New in-order data arrived.
    pub(super) fn data(&mut self, now: Time, config: &ReceiverConfig) {
        let least = config.delayed_ack;
        let gap = match core::mem::replace(&mut self.last, Last::Data(now)) {
            Last::Data(last) => now.saturating_since(last),
            Last::Syn(answered) => {
                self.rtt = now.saturating_since(answered);
                return self.be_quick(config);
            }
            Last::Nothing => return self.be_quick(config),
        };
        if gap <= least / 2 {
            self.timeout = self.timeout / 2 + least / 2;
        } else if gap < self.timeout {
            self.timeout = (self.timeout / 2 + gap).min(config.max_delayed_ack);
        } else if gap > LONG_PAUSE {
            self.quick = self.quick.max(self.max_quick);
        }
    }
    /// Delays the ACK. False if a delayed one is nearly due: then send it.
    pub(super) fn hold(&mut self, now: Time) -> bool {
        let nearly_due = now + self.timeout / 4;
        if self.until.is_some_and(|until| until <= nearly_due) {
            return false;
        }
        let until = now + self.timeout;
        self.until = Some(self.until.map_or(until, |held| held.min(until)));
        true
    }
    /// Compresses this ACK because of a gap. `next` is the cumulative ACK. False to send at once.
    pub(super) fn join(&mut self, next: u64, now: Time, config: &ReceiverConfig) -> bool {
        if self.duplicates_of != next {
            (self.duplicates_of, self.duplicates) = (next, 0);
        }
        let wait = (self.rtt / JOIN_PARTS).min(config.sack_compression);
        if self.duplicates < DUPLICATES_AT_ONCE || self.joined >= MAX_JOINED || wait == Duration::ZERO {
            self.duplicates = self.duplicates.saturating_add(1);
            return false;
        }
        if self.joined == 0 {
            let until = now + wait;
            self.until = Some(self.until.map_or(until, |held| held.min(until)));
        }
        self.joined += 1;
        true
    }
    /// An ACK was sent.
    pub(super) fn sent(&mut self, config: &ReceiverConfig) {
        (self.until, self.joined) = (None, 0);
        if self.quick == 1 {
            self.timeout = config.delayed_ack;
        }
        self.quick = self.quick.saturating_sub(1);
    }
}
