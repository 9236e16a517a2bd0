//! Reading of run files: what a [`Run`] from outside must satisfy before anything else looks at it.
use crate::{Metric, OLDEST_SCHEMA_VERSION, Phase, Run, SCHEMA_VERSION, Series};
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use serde::Deserialize;

/// 292 years in ns: the time between any two frames of a capture, which may hold weeks, or one frame of 1970.
const LONGEST_RUN_NS: u64 = 1 << 63;
/// Larger than any value of any metric in SI units; sums of many stay finite.
const LARGEST_VALUE: f64 = 1e18;

/// Why bytes are not a run. `Display` gives one line without the file's name.
#[derive(Clone, PartialEq, Debug)]
pub enum RunError {
    /// Not JSON, or JSON of another shape.
    Malformed(String),
    /// The bytes end in the middle.
    Truncated,
    /// Written in a version of the format that is not read.
    Version(u32),
    /// A series breaks a rule of the format.
    Series {
        /// Its metric.
        metric: Metric,
        /// Which rule, with the values seen.
        problem: String,
    },
    /// The phases break a rule of the format.
    Phase {
        /// Number of the phase, from 1.
        number: usize,
        /// Which rule, with the values seen.
        problem: String,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Malformed(why) => write!(f, "is not a run file: {why}"),
            RunError::Truncated => write!(f, "is cut short: the JSON ends in the middle"),
            RunError::Version(found) => {
                write!(
                    f,
                    "has schema_version {found}; this program reads {OLDEST_SCHEMA_VERSION} to {SCHEMA_VERSION}. \
                     Use the version that wrote it"
                )
            }
            RunError::Series { metric, problem } => {
                write!(f, "is damaged: series {}: {problem}", metric.info().name)
            }
            RunError::Phase { number, problem } => write!(f, "is damaged: phase {number}: {problem}"),
        }
    }
}
impl core::error::Error for RunError {}

#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

impl Run {
    /// Reads and checks the JSON form of a run, of this schema version or an earlier one.
    ///
    /// # Errors
    /// [`RunError`] says what is wrong with it.
    pub fn from_json(bytes: &[u8]) -> Result<Run, RunError> {
        let version: Version = serde_json::from_slice(bytes).map_err(|e| malformed(&e))?;
        if !(OLDEST_SCHEMA_VERSION..=SCHEMA_VERSION).contains(&version.schema_version) {
            return Err(RunError::Version(version.schema_version));
        }
        let mut run: Run = serde_json::from_slice(bytes).map_err(|e| malformed(&e))?;
        // What is read has the form of today.
        run.schema_version = SCHEMA_VERSION;
        run.check()?;
        Ok(run)
    }
    /// Checks what the types cannot: columns of equal length, times in order, finite values, phases in order.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), RunError> {
        for series in &self.series {
            check_series(series)
                .map_err(|problem| RunError::Series { metric: series.key.metric, problem })?;
        }
        let mut earliest = 0;
        for (i, phase) in self.phases.iter().enumerate() {
            check_phase(phase, earliest).map_err(|problem| RunError::Phase { number: i + 1, problem })?;
            earliest = phase.end_ns;
        }
        Ok(())
    }
}

fn check_series(series: &Series) -> Result<(), String> {
    let (times, values) = (series.at_ns.len(), series.values.len());
    if times != values {
        return Err(format!("{times} times, but {values} values"));
    }
    if let Some(pair) = series.at_ns.windows(2).find(|pair| pair[0] > pair[1]) {
        return Err(format!("time {} ns comes after {} ns", pair[1], pair[0]));
    }
    if let Some(last) = series.at_ns.last().filter(|last| **last > LONGEST_RUN_NS) {
        return Err(format!("time {last} ns is beyond the longest run of {LONGEST_RUN_NS} ns"));
    }
    // Only a one-way delay may be negative: its clock offset is an estimate.
    let negative_allowed = series.key.metric == Metric::OneWayDelay;
    let bad =
        |v: &&f64| !v.is_finite() || libm::fabs(**v) > LARGEST_VALUE || (**v < 0.0 && !negative_allowed);
    if let Some(value) = series.values.iter().find(bad) {
        return Err(format!("value {value} is not possible"));
    }
    let mut previous = None;
    for index in &series.censored {
        if *index as usize >= values || previous >= Some(index) {
            return Err(format!("censored index {index} is out of order or beyond {values} values"));
        }
        previous = Some(index);
    }
    Ok(())
}

fn check_phase(phase: &Phase, earliest: u64) -> Result<(), String> {
    let Phase { start_ns, end_ns, .. } = phase;
    if start_ns > end_ns {
        return Err(format!("it starts at {start_ns} ns and ends at {end_ns} ns"));
    }
    if *start_ns < earliest {
        return Err(format!(
            "it starts at {start_ns} ns, before the end of the phase before it at {earliest} ns"
        ));
    }
    if *end_ns > LONGEST_RUN_NS {
        return Err(format!("it ends at {end_ns} ns, beyond the longest run of {LONGEST_RUN_NS} ns"));
    }
    Ok(())
}

fn malformed(error: &serde_json::Error) -> RunError {
    if error.is_eof() { RunError::Truncated } else { RunError::Malformed(error.to_string()) }
}

#[cfg(test)]
mod tests;
