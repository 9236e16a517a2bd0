//! How much delay a shaper may leave.
use fathom_shaper::Rung;
use fathom_units::{Bytes, Duration, Rate};

/// What shapers with a queue for each flow leave to a flow that sends little.
const SHARED_FAIRLY: Duration = Duration::from_millis(5);
/// What one short queue leaves to everybody: its length of 15 ms and what the line takes.
const ONE_QUEUE: Duration = Duration::from_millis(20);
/// Full packets that may be ahead of one that is alone in its queue: the one that is being sent, and the burst of a timer.
const PACKETS_AHEAD: u32 = 2;
const FULL_PACKET: Bytes = Bytes(1514);

/// The most that working latency may be above idle, as a median.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget(Option<Duration>);

impl Budget {
    /// What the user asks for; what the kind of shaper can, if left out.
    #[must_use]
    pub const fn new(asked: Option<Duration>) -> Self {
        Budget(asked)
    }
    /// For a shaper of this kind at this rate. On slow lines packets themselves take long: that is added, whoever asked.
    #[must_use]
    pub fn at(&self, rung: Rung, rate: Rate) -> Duration {
        let own = if rung == Rung::Tbf { ONE_QUEUE } else { SHARED_FAIRLY };
        self.0.unwrap_or(own) + rate.serialization_time(FULL_PACKET) * u64::from(PACKETS_AHEAD)
    }
}
