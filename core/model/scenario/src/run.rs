//! `[run]` in scenario files: durations and sampling interval.
use crate::field::{Lasting, Quantity};
use crate::workload::RunPlan;
use alloc::string::{String, ToString};
use core::ops::Range;
use fathom_units::Duration;
use serde::Deserialize;
use toml::Spanned;

/// The minimum idle phase of a test.
const DEFAULT_IDLE: Duration = Duration::from_secs(3);
const DEFAULT_DURATION: Duration = Duration::from_secs(20);
/// With a longer queue, the drain phase ends before the queue is empty.
const DEFAULT_DRAIN: Duration = Duration::from_secs(2);
/// Probe interval of a test.
const DEFAULT_SAMPLE: Duration = Duration::from_millis(50);
/// At shorter intervals, probes themselves are a significant load.
const MIN_SAMPLE: Duration = Duration::from_millis(1);

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunFile {
    idle: Option<Quantity<Lasting>>,
    duration: Option<Spanned<Quantity<Lasting>>>,
    drain: Option<Quantity<Lasting>>,
    #[serde(default)]
    seed: u64,
    sample_every: Option<Spanned<Quantity<Duration>>>,
}

impl RunFile {
    /// Validates the settings. `load` is the duration given by `[load]`.
    pub(crate) fn check(self, load: Option<Duration>) -> Result<RunPlan, (Range<usize>, String)> {
        let duration = match self.duration {
            None => load.unwrap_or(DEFAULT_DURATION),
            Some(given) if given.get_ref().0.0 == Duration::ZERO => {
                return Err((given.span(), "duration: invalid value 0 (expected more than 0)".to_string()));
            }
            Some(given) => given.into_inner().0.0,
        };
        let sample_every = match self.sample_every {
            None => DEFAULT_SAMPLE,
            Some(given) if given.get_ref().0 < MIN_SAMPLE => {
                return Err((
                    given.span(),
                    "sample_every: invalid interval (expected at least 1ms)".to_string(),
                ));
            }
            Some(given) => given.into_inner().0,
        };
        Ok(RunPlan {
            idle: self.idle.map_or(DEFAULT_IDLE, |given| given.0.0),
            duration,
            drain: self.drain.map_or(DEFAULT_DRAIN, |given| given.0.0),
            seed: self.seed,
            sample_every,
        })
    }
}
