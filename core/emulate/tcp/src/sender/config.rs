//! What a sender is set to.
use fathom_units::{Duration, FULL_TCP_PAYLOAD};

/// Parameters of a [`crate::Sender`]. Defaults are Linux's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SenderConfig {
    /// Payload of a full segment, in bytes: 1448 leaves room for timestamps in 1500.
    pub mss: u32,
    /// Packets, RFC 6928.
    pub initial_window: u32,
    /// Floor of the timeout's variation part: 200 ms (RFC 6298 has 1 s for the whole).
    pub min_rto: Duration,
    /// Longest timeout, 120 s.
    pub max_rto: Duration,
    /// Before the first sample, RFC 6298.
    pub initial_rto: Duration,
    /// Negotiates ECN: packets are ECT, echoes reduce the window.
    pub ecn: bool,
    /// Opens with a SYN, and waits for the answer.
    pub handshake: bool,
    /// Paces as under `sch_fq` where the control sets no rate itself: 200 % of the window per RTT in slow start, then 120 %.
    pub paced: bool,
    /// Tick of the kernel's clock, to which timeouts are rounded up: 1 ms is HZ=1000.
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
