//! What an operator wants to know about a running server.
use crate::stats::Refusal;
use fathom_units::Duration;
use std::net::IpAddr;

/// Events of one reason are reported at once, and then together in this interval, so that an
/// attacker cannot fill a disk with lines.
pub(crate) const REPEAT_AFTER: Duration = Duration::from_secs(10);
/// Sessions that ended since the events were last taken, at most.
pub(crate) const EVENTS: usize = 1024;

/// Something that happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A session ended.
    SessionEnded {
        /// Address of the client.
        client: IpAddr,
        /// Duration of the session.
        duration: Duration,
        /// Payload bytes received.
        up_bytes: u64,
        /// Payload bytes that the client acknowledged.
        down_bytes: u64,
        /// Why it ended.
        end: SessionEnd,
    },
    /// Requests were refused.
    Refused {
        /// Why.
        reason: Refusal,
        /// How many since the last event of this reason.
        count: u64,
        /// Address of the last one.
        client: Option<IpAddr>,
    },
    /// Parts of the server panicked and were restarted or closed: a bug.
    Panicked {
        /// How many times since the last such event.
        count: u64,
    },
}

/// Why a session ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SessionEnd {
    /// The client ended it.
    Complete,
    /// The connection broke, or the client crashed.
    Lost,
    /// The server stopped.
    Stopped,
    /// The server ended it: the reason that the client was given.
    Refused(String),
}
