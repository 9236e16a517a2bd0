//! The contract between a sender and its congestion control.
//!
//! The sender keeps the window, detects losses, and walks through recovery (PRR); the control decides how the window
//! grows and to what it falls. Windows are in packets of one MSS, as in Linux, since that is what the published traces
//! of Linux are in.
use fathom_units::{Duration, Rate, Time};

/// The sender's limits, which a control sets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// Congestion window, in packets; at least 1.
    pub cwnd: u32,
    /// Slow-start threshold, in packets; [`u32::MAX`] until the first congestion.
    pub ssthresh: u32,
    /// Payload, at most this fast; `None` sends as ACKs allow. The sender paces. Linux's own pacing does not count headers either.
    pub pacing: Option<Rate>,
}

impl Window {
    /// True in slow start.
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// Where the sender stands. Names and meaning as in Linux (`tcp_ca_state`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// Nothing out of the ordinary.
    Open,
    /// Duplicate ACKs or SACKs, not yet taken for loss.
    Disorder,
    /// The window was reduced for an ECN echo.
    Cwr,
    /// Fast recovery from loss.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// Delivery rate over the flight of the newest packet acknowledged. Source: draft-ietf-ccwg-bbr section 4.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateSample {
    /// Packets delivered during `interval`.
    pub delivered: u32,
    /// The longer of the time in which they were sent and that in which they were acknowledged.
    pub interval: Duration,
    /// Total delivered when the packet was sent: the start of its round.
    pub prior_delivered: u64,
    /// The application, not the window, limited sending then.
    pub is_app_limited: bool,
    /// Packets newly marked lost by this ACK.
    pub losses: u32,
}

/// What one ACK told.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AckEvent {
    /// Now.
    pub now: Time,
    /// Packets that this ACK delivered, cumulatively or selectively.
    pub newly_acked: u32,
    /// Of these, packets by which the cumulative acknowledgement moved on (Linux's `acked` of `cong_avoid`).
    pub cumulative: u32,
    /// This ACK carried an ECN echo.
    pub ece: bool,
    /// Round-trip time of the newest packet it delivered that was never retransmitted.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time (RFC 6298).
    pub srtt: Duration,
    /// Smallest RTT seen on the connection (in Linux: in the last 5 minutes).
    pub min_rtt: Duration,
    /// Delay from sender to receiver of the packet that it answers, between unsynchronised clocks: only its changes
    /// mean something.
    pub one_way_delay: Duration,
    /// Packets in flight before and after this ACK.
    pub in_flight_before: u32,
    /// After it.
    pub in_flight: u32,
    /// Packets delivered since the start of the connection.
    pub delivered: u64,
    /// Packets delivered since the start of the connection that ACKs with an echo acknowledged (DCTCP's `delivered_ce`).
    pub delivered_ce: u64,
    /// Sequence of the next new packet, and the cumulative acknowledgement, both in packets: rounds are told by these.
    pub next_packet: u64,
    /// See `next_packet`.
    pub acked_packet: u64,
    /// Where the sender stands after this ACK.
    pub recovery: Recovery,
    /// The window held the sender back in the last round (Linux `tcp_is_cwnd_limited`); without this no control grows.
    pub is_cwnd_limited: bool,
    /// Pacing holds the next packet until then (Linux's earliest departure time); past if it holds none.
    pub paced_until: Time,
    /// Delivery rate, if the ACK gave a sample.
    pub rate: Option<RateSample>,
}

/// Why the window is to be reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Loss, found by SACK or duplicate ACKs.
    Loss,
    /// An ECN echo.
    Ecn,
    /// Retransmission timeout. The sender then sets `cwnd` to what is still in flight plus one.
    Timeout,
}

/// What else happens to the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowEvent {
    /// Sending begins with nothing in flight (`CA_EVENT_TX_START`).
    Start {
        /// Since anything was last sent; zero at the first time.
        idle: Duration,
    },
    /// Recovery or CWR has ended; `cwnd` is what it goes on with.
    Recovered,
    /// A retransmission timeout. Unlike [`Control::reduce`], which then may have gone before, also where another reduction of the
    /// same window of data stands.
    TimedOut,
    /// The reduction was for nothing (F-RTO, Eifel, D-SACK): the sender has set the window back.
    Undone,
}

/// A congestion control.
pub trait Control {
    /// An ACK that delivered something. Growth belongs here: in [`Recovery::Open`] and [`Recovery::Disorder`] always,
    /// in [`Recovery::Loss`] as slow start; in `Cwr` and `Recovery` the sender itself moves `cwnd` towards `ssthresh`
    /// (RFC 6937) unless [`Control::owns_window`].
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window);
    /// Congestion: the new slow-start threshold, in packets, at least 2. Called once per window of data.
    fn reduce(&mut self, cause: Cause, now: Time, window: &Window) -> u32;
    /// Anything else. Does nothing unless overridden.
    fn on_event(&mut self, event: WindowEvent, now: Time, window: &mut Window) {
        let _ = (event, now, window);
    }
    /// True if the control sets `cwnd` in recovery too, as BBR does: then the sender leaves it alone there.
    fn owns_window(&self) -> bool {
        false
    }
    /// True if the receiver must echo each change of CE at once (RFC 8257), and the sender's packets are ECT.
    fn wants_exact_ecn(&self) -> bool {
        false
    }
}
