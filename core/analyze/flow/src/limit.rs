//! What limits a sender, and the bytes in flight, over time.
use crate::totals::Shares;

/// What keeps a sender from sending more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Limit {
    /// It has not started, or has sent its FIN.
    #[default]
    None,
    Network,
    Window,
    Application,
}

/// Sums over time; each interval counts for the state that was valid during it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    limit: Limit,
    limit_since: i64,
    pub(crate) shares: Shares,
    outstanding: u64,
    outstanding_since: Option<i64>,
    /// Bytes times ns; rounding to 2^-53 in four million steps does not affect displayed digits.
    area: f64,
    /// Duration covered by `area`, ns.
    time: u64,
}

impl Limits {
    /// Sets the bytes in flight from `at` on.
    pub(crate) fn outstanding(&mut self, at: i64, bytes: u64) {
        let lasted = self.outstanding_since.map_or(0, |since| elapsed(since, at));
        self.area += self.outstanding as i64 as f64 * lasted as i64 as f64;
        self.time = self.time.saturating_add(lasted);
        self.outstanding = bytes;
        self.outstanding_since = Some(at);
    }
    /// Sets the limit from `at` on.
    pub(crate) fn set(&mut self, at: i64, limit: Limit) {
        if limit != self.limit {
            let lasted = elapsed(self.limit_since, at);
            let share = match self.limit {
                Limit::None => None,
                Limit::Network => Some(&mut self.shares.network_ns),
                Limit::Window => Some(&mut self.shares.window_ns),
                Limit::Application => Some(&mut self.shares.application_ns),
            };
            if let Some(share) = share {
                *share = share.saturating_add(lasted);
            }
            self.limit = limit;
            self.limit_since = at;
        }
    }
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.time > 0).then(|| self.area / self.time as f64)
    }
}

/// Time from `since` to `at` in ns, below 2^63; 0 if the capture's clock stepped back, or forward
/// by more than 292 years.
#[inline]
pub(crate) fn elapsed(since: i64, at: i64) -> u64 {
    at.wrapping_sub(since).max(0) as u64
}
