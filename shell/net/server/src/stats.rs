//! Counters of a server.
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

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
    Connections = "connection over the connection limit";
    Silent = "connection without a complete first line or request before the timeout";
    FirstLine = "invalid first line";
    Version = "unsupported protocol version";
    Token = "wrong or missing token";
    Full = "session or flow over the limit";
    Session = "flow of a session that is not open";
    Number = "flow with the number of an open flow";
    Http = "HTTP request for another path";
    Control = "invalid line on a control connection";
    Limit = "session that reached its time or byte limit";
    DatagramForm = "datagram that is not a probe request";
    DatagramSession = "UDP probe of a session that is not open";
    DatagramAddress = "UDP probe from an address other than its session's";
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
    pub(crate) panics: AtomicU64,
    refused: [AtomicU64; Refusal::ALL.len()],
}

impl Counters {
    pub(crate) fn refuse(&self, reason: Refusal) {
        self.refused[reason as usize].fetch_add(1, Relaxed);
    }
    pub(crate) fn refused(&self) -> BTreeMap<Refusal, u64> {
        let counts =
            Refusal::ALL.iter().map(|reason| (*reason, self.refused[*reason as usize].load(Relaxed)));
        counts.filter(|(_, count)| *count > 0).collect()
    }
}
