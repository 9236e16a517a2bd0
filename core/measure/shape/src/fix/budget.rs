//! The delay that a shaper may add.
use crate::FULL_FRAME;
use fathom_units::{Duration, Rate};

/// Default budget of a shaper with flow isolation: the delay of a flow that sends little.
const ISOLATED: Duration = Duration::from_millis(5);
/// Default budget of a shaper with one queue: it holds 15 ms, and the line adds some.
const SHARED: Duration = Duration::from_millis(20);
/// Full-size packets ahead of a lone packet: one on the wire, and one burst of a timer.
const PACKETS_AHEAD: u64 = 2;

/// Whether the shaper isolates flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isolation {
    /// Each flow has its own queue, as in CAKE and fq_codel.
    PerFlow,
    /// All flows share one queue, as in tbf.
    Shared,
}

/// Largest median latency increase under load that passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget(Option<Duration>);

impl Budget {
    /// Uses the value `requested` by the user, or the shaper's default.
    #[must_use]
    pub const fn new(requested: Option<Duration>) -> Self {
        Budget(requested)
    }
    /// Budget of a shaper with this isolation and rate, including serialization of packets.
    #[must_use]
    pub fn at(&self, isolation: Isolation, rate: Rate) -> Duration {
        let default = match isolation {
            Isolation::PerFlow => ISOLATED,
            Isolation::Shared => SHARED,
        };
        self.0.unwrap_or(default) + rate.serialization_time(FULL_FRAME) * PACKETS_AHEAD
    }
}
