//! The interface between a sender and its congestion control.
//!
//! The sender keeps the window, detects losses, and handles recovery (PRR). The control decides how
//! the window changes. Windows are in packets of one MSS, as in Linux and its published traces.
use fathom_units::{Duration, Rate, Time};

/// Linux's bursts: 1 s / 1024 of the rate of sending.
pub(crate) const BURST_TIME: Duration = Duration::from_nanos(976_563);

/// The limits of the sender, set by the control.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// Congestion window, in packets; at least 1.
    pub cwnd: u32,
    /// Slow-start threshold, in packets; [`u32::MAX`] until the first congestion.
    pub ssthresh: u32,
    /// Maximum payload rate; `None` sends as ACKs arrive. Linux's own pacing ignores headers too.
    pub pacing: Option<Rate>,
}

impl Window {
    /// True in slow start.
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// The recovery state, with Linux's names and semantics (`tcp_ca_state`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// Normal operation.
    Open,
    /// Duplicate ACKs or SACKs without a detected loss.
    Disorder,
    /// The window was reduced after an ECN echo.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// Delivery rate over the flight of the newest ACKed packet (draft-ietf-ccwg-bbr section 4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateSample {
    /// Packets delivered during `interval`.
    pub delivered: u32,
    /// The longer of the send interval and the ACK interval.
    pub interval: Duration,
    /// Total delivered when the packet was sent: the start of its round.
    pub prior_delivered: u64,
    /// The application, not the window, limited sending at that time.
    pub is_app_limited: bool,
    /// Packets that this ACK newly marked lost.
    pub losses: u32,
}

/// What an ACK reports.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AckEvent {
    /// Time of arrival.
    pub now: Time,
    /// Packets that this ACK delivered, cumulatively or selectively.
    pub newly_acked: u32,
    /// Those acknowledged cumulatively (Linux's `acked` of `cong_avoid`).
    pub cumulative: u32,
    /// This ACK carried an ECN echo.
    pub ece: bool,
    /// Round-trip time of the newest delivered packet that was never retransmitted.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time (RFC 6298).
    pub srtt: Duration,
    /// Minimum round-trip time of the connection (in Linux: of the last 5 minutes).
    pub min_rtt: Duration,
    /// One-way delay of the answered packet. Clocks are unsynchronized: only changes count.
    pub one_way_delay: Duration,
    /// Packets in flight before this ACK.
    pub in_flight_before: u32,
    /// Packets in flight after this ACK.
    pub in_flight: u32,
    /// Packets delivered in the connection.
    pub delivered: u64,
    /// Packets marked lost in the connection, by ACKs and timers; wraps around.
    pub lost: u32,
    /// Packets delivered by ACKs with an ECN echo (DCTCP's `delivered_ce`).
    pub delivered_ce: u64,
    /// Number of the next new packet. Together with `acked_packet` it delimits rounds.
    pub next_packet: u64,
    /// Number of packets acknowledged cumulatively.
    pub acked_packet: u64,
    /// State after this ACK.
    pub recovery: Recovery,
    /// The window limited the last round (Linux `tcp_is_cwnd_limited`), so it may grow.
    pub is_cwnd_limited: bool,
    /// When pacing allows the next packet (Linux's earliest departure time); in the past for now.
    pub paced_until: Time,
    /// Delivery rate, if the ACK gave a sample.
    pub rate: Option<RateSample>,
}

/// Why the window is reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Loss detected by SACK or duplicate ACKs.
    Loss,
    /// An ECN echo.
    Ecn,
    /// Retransmission timeout. The sender then sets `cwnd` to the packets in flight plus one.
    Timeout,
}

/// Other events that affect the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowEvent {
    /// Sending starts with nothing in flight (`CA_EVENT_TX_START`).
    Start {
        /// Time since the last transmission; zero the first time.
        idle: Duration,
    },
    /// Recovery or CWR has ended, with the final `cwnd`.
    Recovered,
    /// A retransmission timeout; sent even if this window of data was already reduced.
    TimedOut,
    /// The reduction was spurious (F-RTO, Eifel, D-SACK): the sender has restored the window.
    Undone,
}

/// A congestion control.
pub trait Control {
    /// Handles an ACK that delivered packets. May grow the window in [`Recovery::Open`] and
    /// [`Recovery::Disorder`], and in [`Recovery::Loss`] as slow start. In `Cwr` and `Recovery` the
    /// sender moves `cwnd` towards `ssthresh` (RFC 6937) unless [`Control::owns_window`].
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window);
    /// Returns the new slow-start threshold in packets, at least 2. Once per window of data.
    fn reduce(&mut self, cause: Cause, now: Time, window: &Window) -> u32;
    /// Handles other events. The default does nothing.
    fn on_event(&mut self, event: WindowEvent, now: Time, window: &mut Window) {
        let _ = (event, now, window);
    }
    /// True if the control also sets `cwnd` in recovery, as BBR does.
    fn owns_window(&self) -> bool {
        false
    }
    /// True if packets are ECT and the receiver must echo each change of CE at once (RFC 8257).
    fn wants_exact_ecn(&self) -> bool {
        false
    }
    /// True if packets are ECT(1): the flow reacts to marks as L4S requires (RFC 9331 section 4).
    fn is_l4s(&self) -> bool {
        false
    }
    /// Longest burst of a paced sender, as time at its pacing rate.
    fn burst_time(&self) -> Duration {
        BURST_TIME
    }
}
