//! Prague (draft-briscoe-iccrg-prague-congestion-control-04), the reference congestion control of
//! L4S: DCTCP that paces, counts fractions of packets, and depends less on the RTT.
//!
//! The receiver's exact echo stands for AccECN: both report each marked packet.
use crate::fraction::{Fraction, PACKET};
use crate::reno::{MIN_SSTHRESH, half, slow_start};
use crate::{AckEvent, Cause, Control, ControlConfig, Recovery, Window, WindowEvent};
use fathom_units::{Bytes, Duration, FULL_IP_PACKET, FULL_TCP_PAYLOAD, Rate, Time};

/// Alpha is in 2^-20, as in the reference implementation for Linux.
const SHIFT: u32 = 20;
const ONE: u64 = 1 << SHIFT;
/// g = 1/16: alpha is stored times 16, so that its remainder is kept.
const G_SHIFT: u32 = 4;
/// Minimum window, in packets.
const MIN_CWND: u32 = 2;
/// Shorter round trips behave as this one (`RTT_VIRT_MIN`),
const VIRTUAL_RTT: Duration = Duration::from_millis(25);
/// but only after this many rounds, so that short transfers are not slowed down.
const TRANSITION_ROUNDS: u32 = 500;
/// Longest burst: 1 s / 4096, a quarter of the time at which L4S queues begin to mark.
const BURST: Duration = Duration::from_nanos(244_141);

/// Of IP and TCP: the reference implementation paces by the size of packets.
const HEADERS: u64 = FULL_IP_PACKET.get() - FULL_TCP_PAYLOAD.get();

/// Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    /// Bytes of a full packet, with its headers.
    packet: u64,
    /// Smoothed fraction of marked packets, times 16.
    alpha: u64,
    /// No mark so far: alpha is kept at 1, so the first mark halves the window.
    is_unmarked: bool,
    fraction: Fraction,
    /// Packets delivered with a mark, as of the last ACK.
    marked: u64,
    /// Packets delivered, and marked ones among them, at the start of this round.
    start: (u64, u64),
    /// The round ends when this packet has been ACKed.
    end: u64,
    /// Rounds after slow start.
    rounds: u32,
    /// When alpha was updated, and when the window was reduced because of a mark.
    updated_at: Time,
    reduced_at: Time,
}

impl Prague {
    /// Creates the control for a new connection.
    #[must_use]
    pub fn new(config: &ControlConfig) -> Self {
        Prague {
            packet: u64::from(config.mss) + HEADERS,
            alpha: ONE << G_SHIFT,
            is_unmarked: true,
            fraction: Fraction::default(),
            marked: 0,
            start: (0, 0),
            end: 0,
            rounds: 0,
            updated_at: Time::ZERO,
            reduced_at: Time::ZERO,
        }
    }
    /// Smoothed fraction of marked packets, in 2^-20.
    pub const fn alpha(&self) -> u64 {
        self.alpha >> G_SHIFT
    }
    /// True if the flow behaves as with [`VIRTUAL_RTT`] since `then`, and that has not passed.
    fn waits(&self, then: Time, now: Time) -> bool {
        self.rounds >= TRANSITION_ROUNDS && now < then + VIRTUAL_RTT
    }
    /// By how much the window grows in a round, in 2^-20 packets: less than a packet for short
    /// round trips. The square, because short rounds are also more frequent.
    fn increase(&self, srtt: Duration) -> u64 {
        let (rtt, most) = (srtt.as_nanos() / 1_000, VIRTUAL_RTT.as_nanos() / 1_000);
        if self.rounds < TRANSITION_ROUNDS || rtt >= most {
            return PACKET as u64;
        }
        (rtt * rtt * PACKET as u64 + most * most / 2) / (most * most)
    }
    fn grow(&mut self, ack: &AckEvent, unmarked: u32, window: &mut Window) {
        let rest = u64::from(slow_start(window, unmarked));
        let cwnd = u64::from(window.cwnd.max(1));
        let grown = (rest * self.increase(ack.srtt) + cwnd / 2) / cwnd;
        self.fraction.add(grown as i64);
    }
    /// Once per round trip, or per virtual one.
    fn end_round(&mut self, ack: &AckEvent, window: &Window) {
        if ack.acked_packet < self.end || self.waits(self.updated_at, ack.now) {
            return;
        }
        if !self.is_unmarked {
            let delivered = ack.delivered.saturating_sub(self.start.0).max(1);
            let marked = ack.delivered_ce.saturating_sub(self.start.1);
            let alpha = self.alpha - (self.alpha >> G_SHIFT) + (marked << SHIFT) / delivered;
            self.alpha = alpha.min(ONE << G_SHIFT);
            self.updated_at = ack.now;
        }
        self.start = (ack.delivered, ack.delivered_ce);
        self.end = ack.next_packet;
        if !window.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }
    /// One window per RTT, two in slow start.
    fn pace(&self, ack: &AckEvent, window: &Window) -> Rate {
        let packets = u64::from(window.cwnd.max(ack.in_flight));
        let doubled = if window.cwnd < window.ssthresh / 2 { 2 } else { 1 };
        Rate::from_bytes_per(Bytes(packets * self.packet * doubled), ack.srtt)
    }
}

impl Control for Prague {
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window) {
        let marked = ack.delivered_ce.saturating_sub(self.marked);
        self.marked = ack.delivered_ce;
        self.is_unmarked &= marked == 0;
        // Marks are frequent and random, so the window also grows in the round of a reduction.
        let unmarked = ack.newly_acked.saturating_sub(u32::try_from(marked).unwrap_or(u32::MAX));
        if unmarked > 0 && ack.is_cwnd_limited && ack.recovery != Recovery::Recovery {
            self.grow(ack, unmarked, window);
        }
        if self.fraction.apply(window, MIN_CWND) {
            window.ssthresh = window.cwnd;
        }
        self.end_round(ack, window);
        window.pacing = Some(self.pace(ack, window)).filter(|_| ack.srtt > Duration::ZERO);
    }
    fn reduce(&mut self, cause: Cause, now: Time, window: &Window) -> u32 {
        let cwnd = i64::from(window.cwnd) * PACKET;
        match cause {
            Cause::Ecn if self.waits(self.reduced_at, now) => window.ssthresh,
            Cause::Ecn => {
                self.reduced_at = now;
                let share = i128::from(cwnd) * i128::from(self.alpha());
                self.fraction.add(-((share >> (SHIFT + 1)) as i64));
                window.ssthresh
            }
            Cause::Loss => {
                self.fraction.add(-(cwnd / 2 + self.fraction.get() / 2));
                half(window)
            }
            // The sender itself sets the window after a timeout.
            Cause::Timeout => {
                self.fraction = Fraction::default();
                half(window)
            }
        }
        .max(MIN_SSTHRESH)
    }
    fn on_event(&mut self, event: WindowEvent, _now: Time, _window: &mut Window) {
        if event == WindowEvent::Undone {
            // Nothing is to be taken from the window any more.
            self.fraction = Fraction::default();
        }
    }
    fn owns_window(&self) -> bool {
        true
    }
    fn wants_exact_ecn(&self) -> bool {
        true
    }
    fn is_l4s(&self) -> bool {
        true
    }
    fn burst_time(&self) -> Duration {
        BURST
    }
}
