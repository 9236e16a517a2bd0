//! Events of a running test.
use crate::Cost;
use fathom_run::{Note, Observation, Phase, PhaseKind, SeriesKey};
use fathom_units::Time;
use std::net::{IpAddr, SocketAddr};

/// For the live picture. The returned `Run` holds everything again, and is the final word: one-way delays are reported
/// here with the clock offset as known so far.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The server accepted the session.
    Connected {
        /// The server.
        address: SocketAddr,
        /// This host as the server sees it.
        seen_as: IpAddr,
        /// The server's version.
        server_version: String,
    },
    /// Upper estimate of what the whole test moves, at the rates seen so far. Reported when a rate becomes known.
    Cost(Cost),
    /// A phase began.
    PhaseStarted {
        /// What the load does.
        kind: PhaseKind,
        /// When.
        at: Time,
    },
    /// A value came in. Its time is when the probe was sent, so times of different series, and late answers, interleave.
    Observed {
        /// What of.
        key: SeriesKey,
        /// The value and its time.
        observation: Observation,
    },
    /// A phase ended.
    PhaseEnded(Phase),
    /// Something could not be measured, or went wrong without ending the test.
    Note(Note),
}
