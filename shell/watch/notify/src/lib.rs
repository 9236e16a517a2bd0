//! Tells people and programs what a watch raised and cleared: by webhook, mail, command and Alertmanager.
//!
//! Each receiver has a thread of its own and a queue with a limit, which is a file beside the history: one that hangs holds up
//! neither a probe nor another receiver, and what was not delivered when the program ended is delivered by the next one. An
//! attempt that fails is made again after 1 s, 2 s, 4 s and so on up to five minutes, for an hour; then it is given up, and said.

mod alert_state_file;
mod alertmanager;
mod command;
mod dispatcher;
mod http;
mod mail;
mod notice;
mod outbox;
mod relay_stream;
mod smtp;
mod transport;
mod worker;

pub use alert_state_file::AlertStateFile;
pub use dispatcher::Dispatcher;
pub use notice::Notice;
pub use transport::{Transport, deliver};
pub use worker::Report;
