//! The controller of a shaper on a line with a variable rate: it decides at each time which rate
//! each direction is shaped to, and why.
//!
//! A shaper below the line's rate keeps packets in its own queue, which is managed. Above it they
//! wait in the queue of the modem or provider, which is not. When the line's rate changes from
//! second to second, the shaper's rate must follow. [`Controller::observe`] is a pure function of
//! the observations so far:
//!
//! | shaper's queue | this direction sends | delay beyond it | decision |
//! |---|---|---|---|
//! | holds packets | at its rate | usual | shaper is the bottleneck: raise the rate, ever slower |
//! | is empty | much | grows | bottleneck is beyond: cut until that queue is empty |
//! | holds packets | at its rate | high for 1 s | cut as well: senders ignore drops |
//! | holds packets | at its rate | as before, after two cuts | path is longer: restore, rebase |
//! | is empty | little | grows | path or reflector: keep the rate |
//! | any | any | of the other direction | keep the rate |
//! | any | any | unknown: no response | keep the rate indefinitely |
//!
//! A cut goes below the delivered rate. To rebase is to make the current delay the new baseline.
//!
//! The delay is the median of the latest reflectors, each relative to its own baseline, compared
//! with its usual value while nothing is sent. A reflector that is wrong, gone or moved has no
//! effect, and [`Controller::suspects`] lists those to replace. Clocks need not be synchronized.
//! Round-trip times are used if nothing better is available: of two loaded directions, the cause is
//! then assumed to be the one that uses more of its rate and has less in its own queue. The
//! capacity at each hour of the week is saved ([`Controller::save`]); it determines how fast to
//! raise the rate, and the rate after a pause.
//!
//! # Usage
//! A loop in `shell` ticks 5 to 20 times per second. At each tick it reads the counters of both
//! queues, passes the responses since the last tick, and sets each rate that [`Decision::is_new`].
//! At 5 Hz, delay is high for hardly longer than at 20 Hz, and throughput is lower by one
//! percentage point. Ticks need not be regular: a late one covers a longer time, and one that is
//! not later than the last is ignored.
//!
//! ```
//! use fathom_shape::autorate::{Bounds, Config, Controller, HourOfWeek};
//! use fathom_shape::autorate::{Observation, QueueReading, Reason};
//! use fathom_units::{PerDirection, Rate, Time};
//!
//! let mbit = |n: u64| Rate::from_bits_per_second(n * 1_000_000);
//! let up = Bounds { min: mbit(2), start: mbit(6), max: mbit(15) };
//! let down = Bounds { min: mbit(5), start: mbit(15), max: mbit(40) };
//! let mut controller = Controller::new(Config::new(PerDirection { up, down }).unwrap());
//! // At each tick: the counters of the two qdiscs, the responses since the last tick.
//! let decided = controller.observe(&Observation {
//!     at: Time::from_nanos(100_000_000),
//!     hour: HourOfWeek::new(17),
//!     queues: PerDirection { up: QueueReading::default(), down: QueueReading::default() },
//!     delays: &[],
//! });
//! assert_eq!(decided.down.reason, Reason::Silent);
//! if decided.down.is_new { /* set the rate of the qdisc */ }
//! ```
//! - Probe at least four reflectors in turn, so that a response arrives every 50 ms under load (six
//!   reflectors, each every 0.3 s). When both directions are quiet, a fifth of that suffices to
//!   maintain baselines. Fathom's own server gives one-way delays, as do ICMP timestamps where they
//!   are not filtered; echo gives round-trip times.
//! - Probes must not wait in the shaper's queue, because the delay beyond it matters. Fair queueing
//!   lets them pass; a shaper without it (tbf, or htb with a plain fifo) needs a separate class for
//!   them.
//! - Count sent bytes like the shaper does, with its overhead. `backlog`, `drops` and `marks` are
//!   those of the shaper's qdisc with its children, on the ifb for the download direction. Counters
//!   may decrease if the loop replaces the qdisc.
//! - Passively observed round-trip times can replace a reflector's if they were measured beyond the
//!   shaper's queue: give each remote network a number, and use the minimum of each tick as its
//!   response.
//! - `min` is the rate of the line in the worst case. A delay at less than four fifths of it is not
//!   attributed to this direction.
//! - Save what was learned once per hour and at the end.
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
