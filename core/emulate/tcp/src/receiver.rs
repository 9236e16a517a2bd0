//! The receiver.
mod delay;
mod ranges;
mod tuning;

use crate::{Ack, Data};
use delay::Delay;
use fathom_units::{Duration, Ecn, FULL_TCP_PAYLOAD, Time};
use ranges::Ranges;
use tuning::Tuning;

/// Parameters of a [`Receiver`]. The defaults are Linux's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ReceiverConfig {
    /// Payload of a full segment: every second one is ACKed at once.
    pub mss: u32,
    /// Receive window in bytes. 65535 is TCP without window scaling: Windows XP.
    pub window: u64,
    /// Minimum delay of an ACK: 40 ms.
    pub delayed_ack: Duration,
    /// Maximum delay of an ACK, if segments arrive slowly: 200 ms.
    pub max_delayed_ack: Duration,
    /// Segments that are ACKed at once, to speed up slow start: 16. Applies at the start, after a
    /// spurious retransmission and after a pause.
    pub quick_acks: u32,
    /// With a gap, ACKs after the third wait 1/20 of the handshake's RTT, at most this: 1 ms.
    pub sack_compression: Duration,
    /// ACKs at once while Linux would grow the window. The offered window is always `window`.
    pub tunes_window: bool,
    /// Echo every change of CE at once (DCTCP, RFC 8257 section 3.2), not until CWR (RFC 3168).
    pub exact_ecn: bool,
}

impl Default for ReceiverConfig {
    fn default() -> Self {
        ReceiverConfig {
            mss: FULL_TCP_PAYLOAD.get() as u32,
            window: 1 << 30,
            delayed_ack: Duration::from_millis(40),
            max_delayed_ack: Duration::from_millis(200),
            quick_acks: 16,
            sack_compression: Duration::from_millis(1),
            tunes_window: true,
            exact_ecn: false,
        }
    }
}

/// A TCP receiver. The application reads at once, so the window never shrinks.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    ranges: Ranges,
    delay: Delay,
    tuning: Tuning,
    /// The last cumulative ACK sent.
    acked: u64,
    /// The timestamp to echo: RFC 7323 section 4.3.
    echo: Time,
    received_at: Time,
    ece: bool,
    /// ECN-capable segments have arrived.
    ecn_seen: bool,
}

impl Receiver {
    /// Creates a receiver without data.
    #[must_use]
    pub fn new(config: ReceiverConfig) -> Self {
        Receiver {
            ranges: Ranges::default(),
            delay: Delay::new(&config),
            tuning: Tuning::new(),
            acked: 0,
            echo: Time::ZERO,
            received_at: Time::ZERO,
            ece: false,
            ecn_seen: false,
            config,
        }
    }
    /// Bytes delivered to the application.
    pub fn delivered(&self) -> u64 {
        self.ranges.next()
    }
    /// When the delayed ACK is due.
    pub fn next_timer(&self) -> Option<Time> {
        self.delay.until
    }
    /// The delayed ACK, if it is due.
    pub fn on_timer(&mut self, now: Time) -> Option<Ack> {
        self.delay.until.filter(|at| *at <= now)?;
        Some(self.ack(false, false))
    }

    /// Handles a segment, with `ce` if it was marked. Returns the ACK if it is sent at once.
    pub fn on_data(&mut self, data: &Data, ce: bool, now: Time) -> Option<Ack> {
        self.received_at = now;
        if data.syn {
            self.echo = data.sent_at;
            self.delay.answered_syn(now);
            self.tuning.begin(data, now);
            return Some(self.ack(true, false));
        }
        let (start, end) = (data.seq, data.seq + u64::from(data.len));
        if self.ranges.has(start, end) {
            // Report duplicates at once, so that the sender detects a spurious retransmission.
            self.delay.be_quick(&self.config);
            return Some(self.ack(false, true));
        }
        let (before_change, tells_change) = self.note_ecn(data, ce);
        if start <= self.acked {
            self.echo = data.sent_at;
        }
        let (in_order, had_gap) = (start <= self.ranges.next(), self.ranges.has_gap());
        self.ranges.add(start, end);
        if in_order {
            self.delay.data(now, &self.config);
        }
        if self.config.tunes_window && self.tuning.data(data, self.ranges.next(), self.delay.rtt(), now) {
            self.delay.be_quick_once();
        }
        let fills_gap = had_gap && !self.ranges.has_gap();
        if before_change.is_some() {
            // The next ACK, also at once, reports the change itself.
            self.delay.until = Some(now);
            return before_change;
        }
        let is_pushed = data.push && !self.ranges.has_gap();
        let at_once = fills_gap || tells_change || is_pushed || self.is_due_at_once();
        let waits = !at_once && self.wait(now);
        (!waits).then(|| self.ack(false, false))
    }

    /// True with more than one full segment, or while ACKs are immediate.
    fn is_due_at_once(&self) -> bool {
        self.delay.is_quick() || self.ranges.next() - self.acked > u64::from(self.config.mss)
    }
    fn wait(&mut self, now: Time) -> bool {
        if self.ranges.has_gap() {
            self.delay.join(self.ranges.next(), now, &self.config)
        } else {
            self.delay.hold(now)
        }
    }

    /// Updates the echo. If CE changes with an exact echo, returns the ACK of the data before the
    /// change, and true: ACK this segment at once.
    fn note_ecn(&mut self, data: &Data, ce: bool) -> (Option<Ack>, bool) {
        let was_marked = self.ece;
        let is_capable = data.ecn != Ecn::NotEct;
        self.ecn_seen |= is_capable;
        if self.ecn_seen && !is_capable || ce && !was_marked {
            // A retransmission or the first mark: the sender's window may be small.
            self.delay.be_quick_after_mark();
        }
        if !self.config.exact_ecn {
            self.ece = (self.ece && !data.cwr) || ce;
            return (None, data.cwr);
        }
        let changed = ce != was_marked;
        let held = (changed && self.delay.until.is_some()).then(|| self.ack(false, false));
        self.ece = ce;
        (held, changed)
    }

    /// The ACK of everything up to now.
    fn ack(&mut self, syn: bool, dsack: bool) -> Ack {
        self.acked = self.ranges.next();
        if !syn {
            self.delay.sent(&self.config);
        }
        Ack {
            ack: self.acked,
            sack: self.ranges.sack(),
            dsack,
            echo: self.echo,
            received_at: self.received_at,
            ece: self.ece,
            window: self.config.window,
            syn,
        }
    }
}
