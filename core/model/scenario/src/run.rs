//! `[run]`: how long, and how often.
use crate::field::{Lasting, Quantity};
use crate::workload::RunPlan;
use alloc::string::{String, ToString};
use core::ops::Range;
use fathom_units::Duration;
use serde::Deserialize;
use toml::Spanned;

/// As long as a test listens to the idle line at least.
const DEFAULT_IDLE: Duration = Duration::from_secs(3);
const DEFAULT_DURATION: Duration = Duration::from_secs(20);
/// Deeper queues are seen by its end not being empty.
const DEFAULT_DRAIN: Duration = Duration::from_secs(2);
/// A test's probe interval.
const DEFAULT_SAMPLE: Duration = Duration::from_millis(50);
/// Below this probes are a load of their own.
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
    /// The plan, or what is wrong with it and where. `load` is the duration that `[load]` gives.
    pub(crate) fn check(self, load: Option<Duration>) -> Result<RunPlan, (Range<usize>, String)> {
        let duration = match self.duration {
            None => load.unwrap_or(DEFAULT_DURATION),
            Some(given) if given.get_ref().0.0 == Duration::ZERO => {
                return Err((given.span(), "duration: 0 is invalid (expected more than 0)".to_string()));
            }
            Some(given) => given.into_inner().0.0,
        };
        let sample_every = match self.sample_every {
            None => DEFAULT_SAMPLE,
            Some(given) if given.get_ref().0 < MIN_SAMPLE => {
                return Err((
                    given.span(),
                    "sample_every: interval too short (expected at least 1ms)".to_string(),
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
