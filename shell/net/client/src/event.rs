//! Events of a running test.
use crate::Cost;
use fathom_probe::HopStatus;
use fathom_run::{Note, Observation, Phase, PhaseKind, SeriesKey};
use fathom_units::Time;
use std::net::SocketAddr;

/// For a live display. The returned `Run` contains everything and is authoritative: one-way delays
/// here use the clock offset estimated so far.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The server at this address accepted the test.
    Connected(SocketAddr),
    /// Upper estimate of the traffic of the whole test at the rates seen so far. Reported when a
    /// rate becomes known.
    Cost(Cost),
    /// A phase began.
    PhaseStarted {
        /// What the load does.
        kind: PhaseKind,
        /// Start time.
        at: Time,
    },
    /// A measured value. Its time is when the probe was sent, so late answers arrive out of order.
    Observed {
        /// The series.
        key: SeriesKey,
        /// The value with its time.
        observation: Observation,
    },
    /// The hops so far, several times per second if they are probed.
    Path(Vec<HopStatus>),
    /// A phase ended.
    PhaseEnded(Phase),
    /// The phases are over; bursts check the sizes of buffers.
    BurstsStarted,
    /// Something could not be measured, or a problem that does not end the test.
    Note(Note),
}
