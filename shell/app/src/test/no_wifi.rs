//! The Wi-Fi of this host, which is read on Linux alone.
use fathom_os::clock::Clock;
use fathom_run::Series;
use std::net::IpAddr;

/// There is none.
pub(crate) enum WifiObserver {}

impl WifiObserver {
    /// `None`.
    pub(crate) const fn start(_server: IpAddr, _clock: Clock) -> Option<Self> {
        None
    }
    /// What was observed.
    pub(crate) fn finish(self) -> Vec<Series> {
        match self {}
    }
}
