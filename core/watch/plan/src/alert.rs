//! When somebody is to be told: the rules, and what is made of samples by them.
//!
//! Rules are read with the plan. A [`Watcher`] is fed with samples, with the throughput of this host's own link and with changes
//! of paths, each with its time, and gives [`Transition`]s: what was raised or cleared, with its evidence in words and numbers.
mod condition;
mod judge;
mod link;
mod matcher;
mod past;
mod pattern;
mod phase;
mod read;
mod receiver;
mod relay;
mod remember;
mod ring;
mod rounds;
mod rule;
mod series;
mod watcher;
mod words;

pub use condition::{Condition, Evidence};
pub use matcher::Matcher;
pub use past::{Past, PastHour};
pub use pattern::{Kind, Pattern, Semantics, Value};
pub use phase::{Change, Flapping};
pub use receiver::{Receiver, Route};
pub use relay::{Login, Relay, RelayTls};
pub use remember::Remembered;
pub use rule::{Rule, Scope};
pub use series::{Link, SeriesInfo};
pub use watcher::{Transition, Watcher, Wish};

pub(crate) use read::rules;
pub(crate) use receiver::receivers;
