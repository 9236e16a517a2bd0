//! Counters of a server.
use crate::event::{EVENTS, Event, REPEAT_AFTER};
use crate::sync::lock;
use fathom_units::Time;
use portable_atomic::AtomicU64;
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

macro_rules! refusals {
    ($($variant:ident = $words:literal;)*) => {
        /// Why a request was refused.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Refusal {
            $(#[doc = $words] $variant,)*
        }
        impl Refusal {
            /// All reasons.
            pub const ALL: &'static [Refusal] = &[$(Refusal::$variant,)*];

            /// Its name for programs, in snake case.
            #[must_use]
            pub fn name(self) -> String {
                let name = match self { $(Refusal::$variant => stringify!($variant),)* };
                let mut snake = String::new();
                for c in name.chars() {
                    if c.is_ascii_uppercase() && !snake.is_empty() {
                        snake.push('_');
                    }
                    snake.push(c.to_ascii_lowercase());
                }
                snake
            }
        }
        impl fmt::Display for Refusal {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Refusal::$variant => $words,)* })
            }
        }
    };
}

refusals! {
    Descriptors = "connection not accepted: out of descriptors or memory";
    Connections = "connection over the limit of all connections";
    ConnectionShare = "connection over the share of its host or network";
    ConnectionReplaced = "connection closed for a client with fewer";
    Silent = "connection without a complete first line or request before the timeout";
    FirstLine = "invalid first line";
    Version = "unsupported protocol version";
    Token = "wrong or missing token";
    Stranger = "client that does not know the token, ignored";
    Full = "session over the limit of all sessions";
    SessionShare = "session over the share of its host or network";
    SessionReplaced = "session ended for a client with fewer";
    Idle = "session without probes and load for too long";
    Quota = "session of a host or network that used its data of the hour";
    Flows = "flow over the limit of its session";
    Threads = "session or flow without a thread: the system has no more";
    FlowCode = "flow that does not know the key of its session";
    FlowAddress = "flow from an address other than its session's";
    Session = "flow of a session that is not open";
    Number = "flow with the number of an open flow";
    Http = "HTTP request for another path";
    Control = "invalid line on a control connection";
    Limit = "session that reached its time or byte limit";
    DatagramForm = "datagram that is not a probe request";
    DatagramSession = "UDP probe of a session that is not open";
    DatagramAddress = "UDP probe from an address other than its session's";
    DatagramRate = "UDP probe over the rate limit of its session or host";
    DatagramUnsent = "reply to a UDP probe that the kernel did not accept";
}

/// Counters of a server since its start.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    /// Sessions opened.
    pub sessions: u64,
    /// Sessions currently open.
    pub open_sessions: u32,
    /// TCP connections currently open, of all kinds.
    pub open_connections: u32,
    /// Payload bytes received in finished load flows.
    pub up_bytes: u64,
    /// Payload bytes of finished load flows that clients acknowledged.
    pub down_bytes: u64,
    /// UDP probes answered.
    pub udp_answered: u64,
    /// HTTP requests answered with 200.
    pub http_answered: u64,
    /// Sessions that ended because their connection broke.
    pub lost_sessions: u64,
    /// Panics in parts of the server that were restarted or closed. Any value other than 0 is a
    /// bug.
    pub panics: u64,
    /// Refusals by reason; only reasons that occurred.
    pub refused: BTreeMap<Refusal, u64>,
}

/// The counters behind [`Stats`].
#[derive(Default, Debug)]
pub(crate) struct Counters {
    pub(crate) sessions: AtomicU64,
    pub(crate) up_bytes: AtomicU64,
    pub(crate) down_bytes: AtomicU64,
    pub(crate) udp_answered: AtomicU64,
    pub(crate) http_answered: AtomicU64,
    pub(crate) lost_sessions: AtomicU64,
    pub(crate) panics: AtomicU64,
    refused: [AtomicU64; Refusal::ALL.len()],
    unreported: Mutex<Unreported>,
}

/// What was not reported as an [`Event`] yet.
#[derive(Default, Debug)]
struct Unreported {
    ended: Vec<Event>,
    panics: u64,
    refused: BTreeMap<Refusal, Repeated>,
}

#[derive(Default, Debug)]
struct Repeated {
    count: u64,
    client: Option<IpAddr>,
    reported: Option<Time>,
}

impl Counters {
    /// Counts a refusal that is reported in another way.
    pub(crate) fn count(&self, reason: Refusal) {
        self.refused[reason as usize].fetch_add(1, Relaxed);
    }
    pub(crate) fn refuse(&self, reason: Refusal, client: Option<IpAddr>) {
        self.count(reason);
        let mut unreported = lock(&self.unreported);
        let repeated = unreported.refused.entry(reason).or_default();
        repeated.count += 1;
        repeated.client = client;
    }
    pub(crate) fn panicked(&self) {
        self.panics.fetch_add(1, Relaxed);
        lock(&self.unreported).panics += 1;
    }
    /// Beyond a number of events that nobody takes, the oldest are lost; the counters remain.
    pub(crate) fn ended(&self, event: Event) {
        let mut unreported = lock(&self.unreported);
        if unreported.ended.len() == EVENTS {
            unreported.ended.remove(0);
        }
        unreported.ended.push(event);
    }
    /// Events since the last call. Refusals of one reason are held back for [`REPEAT_AFTER`] after
    /// they were last reported.
    pub(crate) fn events(&self, now: Time) -> Vec<Event> {
        let mut unreported = lock(&self.unreported);
        let mut events = std::mem::take(&mut unreported.ended);
        let panics = std::mem::take(&mut unreported.panics);
        events.extend((panics > 0).then_some(Event::Panicked { count: panics }));
        for (reason, repeated) in &mut unreported.refused {
            let is_due = repeated.reported.is_none_or(|at| now.saturating_since(at) >= REPEAT_AFTER);
            if repeated.count > 0 && is_due {
                let count = std::mem::take(&mut repeated.count);
                events.push(Event::Refused { reason: *reason, count, client: repeated.client });
                repeated.reported = Some(now);
            }
        }
        events
    }
    pub(crate) fn refused(&self) -> BTreeMap<Refusal, u64> {
        let counts =
            Refusal::ALL.iter().map(|reason| (*reason, self.refused[*reason as usize].load(Relaxed)));
        counts.filter(|(_, count)| *count > 0).collect()
    }
}
