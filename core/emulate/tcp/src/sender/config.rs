//! Sender parameters.
use fathom_units::{Duration, FULL_TCP_PAYLOAD};

/// Parameters of a [`crate::Sender`]. The defaults are Linux's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SenderConfig {
    /// Payload of a full segment in bytes: 1448 leaves room for timestamps in 1500.
    pub mss: u32,
    /// Initial window in packets, RFC 6928.
    pub initial_window: u32,
    /// Minimum of the timeout's variation term: 200 ms (RFC 6298: 1 s for the whole timeout).
    pub min_rto: Duration,
    /// Maximum timeout, 120 s.
    pub max_rto: Duration,
    /// Timeout before the first RTT sample, RFC 6298.
    pub initial_rto: Duration,
    /// Negotiate ECN: packets are ECT, and echoes reduce the window.
    pub ecn: bool,
    /// Send a SYN first and wait for the answer.
    pub handshake: bool,
    /// Pace unless the control does: 200 % of the window per RTT in slow start, then 120 %.
    pub paced: bool,
    /// Kernel clock tick, to which timeouts are rounded up: 1 ms is HZ=1000.
    pub granularity: Duration,
}

impl Default for SenderConfig {
    fn default() -> Self {
        SenderConfig {
            mss: FULL_TCP_PAYLOAD.get() as u32,
            initial_window: 10,
            min_rto: Duration::from_millis(200),
            max_rto: Duration::from_secs(120),
            initial_rto: Duration::from_secs(1),
            ecn: false,
            handshake: true,
            paced: false,
            granularity: Duration::from_millis(1),
        }
    }
}
