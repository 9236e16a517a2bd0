//! The controller of a shaper on a line whose rate varies: at which rate is each direction to be shaped now, and why.
//!
//! A shaper below the line's rate keeps packets waiting in its own queue, which is managed; above it they wait in the modem's
//! or the provider's, which is not. Where the line's rate changes from second to second the shaper's must follow.
//! [`Controller::observe`] is a pure function of its observations until now:
//!
//! | our own queue | this direction sends | delay beyond it | then |
//! |---|---|---|---|
//! | holds packets | at its rate | usual | the shaper is the bottleneck: more is tried, ever slower |
//! | is empty | much | grows | the bottleneck lies beyond: cut to what was delivered, lower until that queue is empty |
//! | holds packets | at its rate | stands for 1 s | cut likewise: senders heed no drops |
//! | holds packets | at its rate | as before, after two cuts | the path is longer: restored, that is the new baseline |
//! | is empty | little | grows | path or reflector: kept |
//! | any | any | the other direction's | kept |
//! | any | any | unknown: nobody answers | kept, however long |
//!
//! Delay is the middle of the latest reflectors, each above its own baseline, beside what is usual of it while nothing is sent: one
//! that is wrong, gone or moved changes nothing, and [`Controller::suspects`] says which should be replaced. Clocks need not
//! agree. Round trips do where there is nothing better: of two loaded directions the one is then taken to be the cause that uses
//! more of its rate and holds less in its own queue. What the line carried at each hour of the week is kept
//! ([`Controller::save`]), and says how fast to try more and with what to begin after a pause.
//!
//! # How to drive it
//! A loop in `shell` ticks 5 to 20 times a second. At each tick it reads both queues' counters, hands over the answers that came
//! since the last one, and sets each rate that [`Decision::is_new`]. At 5 Hz it is late for hardly longer than at 20, and carries
//! a point less. Nothing waits for a tick: one that comes late is a longer one, one that is not later than the last is ignored.
//!
//! ```
//! use fathom_shape::autorate::{Bounds, Config, Controller, HourOfWeek, Observation, QueueReading, Reason};
//! use fathom_units::{PerDirection, Rate, Time};
//!
//! let mbit = |n: u64| Rate::from_bits_per_second(n * 1_000_000);
//! let up = Bounds { min: mbit(2), start: mbit(6), max: mbit(15) };
//! let down = Bounds { min: mbit(5), start: mbit(15), max: mbit(40) };
//! let mut controller = Controller::new(Config::new(PerDirection { up, down }).unwrap());
//! // At each tick: the counters of the two qdiscs, the answers since the last one.
//! let decided = controller.observe(&Observation {
//!     at: Time::from_nanos(100_000_000),
//!     hour: HourOfWeek::new(17),
//!     queues: PerDirection { up: QueueReading::default(), down: QueueReading::default() },
//!     delays: &[],
//! });
//! assert_eq!(decided.down.reason, Reason::Silent);
//! if decided.down.is_new { /* set the rate of the qdisc */ }
//! ```
//! - Ask four reflectors or more, in turn, so that an answer comes every 50 ms under load (six each 0.3 s); when both
//!   directions are quiet a fifth of that is enough to keep baselines. Our own server gives one-way delays; ICMP timestamps do
//!   where they pass; echo gives round trips.
//! - Probes must not wait in our own queue, as it is the delay beyond it that counts: fair queueing lets them pass, and a shaper
//!   without it (tbf or htb over a plain fifo) needs a class of its own for them.
//! - Count what leaves the shaper as it counts itself (with its overhead). `backlog`, `drops` and `marks` are those of the
//!   shaper's qdisc with its children, of the ifb for the direction down. If the loop makes a new qdisc, counters may fall.
//! - Round trips seen in passing count as a reflector's if they were taken beyond our own queue: give each remote
//!   network a number, and the least of each tick as its answer.
//! - `min` is what the line carries at its worst: delay that comes at less than four fifths of it is not this direction's.
//! - Save what was learned once an hour and at the end.
mod baseline;
mod bounds;
mod controller;
mod direction;
mod explore;
mod flow;
mod learned;
mod observation;
mod reason;
mod reflectors;
mod sampler;
mod saved;

pub use bounds::{Bounds, Config, ConfigError};
pub use controller::{Controller, Decision};
pub use observation::{Delay, DelaySample, HourOfWeek, Observation, QueueReading};
pub use reason::Reason;
pub use reflectors::REFLECTORS;
pub use sampler::Sampler;
pub use saved::SavedError;
