//! What was said about a store, so that it is said once.
use crate::answer::Failure;
use fathom_units::WallTime;

/// What was reported.
#[derive(Default)]
pub(crate) struct Outage {
    /// Start of the current outage.
    since: Option<WallTime>,
    /// Whether a refused key or token was reported.
    is_denied: bool,
    /// Objects refused since the last accepted one.
    refused: u64,
}

impl Outage {
    /// The note about an object that was not accepted.
    pub(crate) fn failed(&mut self, key: &str, failure: &Failure, now: WallTime) -> Option<String> {
        let is_known = self.since.is_some() && (self.is_denied || !failure.is_denied);
        self.since.get_or_insert(now);
        self.is_denied |= failure.is_denied;
        (!is_known).then(|| format!("{key}: {}. Will retry; the history keeps the data", failure.why))
    }
    /// The note about an object that is skipped.
    pub(crate) fn refused(&mut self, key: &str, why: &str) -> Option<String> {
        self.refused += 1;
        (self.refused == 1).then(|| format!("{key} was rejected and is skipped: {why}"))
    }
    /// The notes about the end of an outage.
    pub(crate) fn accepted(&mut self) -> Vec<String> {
        let since = self.since.take().map(|since| format!("reachable again, after failing since {since}"));
        self.is_denied = false;
        let refused = std::mem::take(&mut self.refused);
        let skipped = (refused > 1).then(|| format!("{refused} objects were rejected and skipped"));
        since.into_iter().chain(skipped).collect()
    }
}
