//! How much delay a shaper may leave.
use crate::FULL_FRAME;
use fathom_units::{Duration, Rate};

/// Default budget of a shaper that isolates flows: what it leaves to a flow that sends little.
const ISOLATED: Duration = Duration::from_millis(5);
/// Default budget of a shaper with one short queue: the queue holds 15 ms, and the line adds its own share.
const SHARED: Duration = Duration::from_millis(20);
/// Full packets that may be ahead of one that is alone in its queue: the packet on the wire, and the burst of a timer.
const PACKETS_AHEAD: u64 = 2;

/// Whether the queue of a shaper keeps flows apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isolation {
    /// Each flow has a queue of its own, as in CAKE and fq_codel.
    PerFlow,
    /// All flows share one queue, as in tbf.
    Shared,
}

/// The largest median increase of latency under load that passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget(Option<Duration>);

impl Budget {
    /// `requested` by the user, or the default of the shaper.
    #[must_use]
    pub const fn new(requested: Option<Duration>) -> Self {
        Budget(requested)
    }
    /// The budget of a shaper with this isolation at this rate. On slow links packets themselves take long: their time is added.
    #[must_use]
    pub fn at(&self, isolation: Isolation, rate: Rate) -> Duration {
        let default = match isolation {
            Isolation::PerFlow => ISOLATED,
            Isolation::Shared => SHARED,
        };
        self.0.unwrap_or(default) + rate.serialization_time(FULL_FRAME) * PACKETS_AHEAD
    }
}
