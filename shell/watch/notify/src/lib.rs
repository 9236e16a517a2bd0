//! Notifies people and programs of raised and cleared alerts: by webhook, mail, command and
//! Alertmanager.
//!
//! Each receiver has its own thread and a bounded queue, stored in a file next to the history. So a
//! receiver that hangs delays neither probes nor other receivers, and undelivered notifications
//! survive a restart. A failed attempt is retried after 1 s, 2 s, 4 s and so on up to five minutes,
//! for an hour; then the notification is dropped and reported.

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
