//! Validation of run files: the conditions that a [`Run`] from outside must satisfy.
use crate::{Metric, OLDEST_SCHEMA_VERSION, Phase, Run, SCHEMA_VERSION, Series};
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use serde::Deserialize;

/// 292 years in ns. A capture can span weeks, or decades if one frame is dated 1970.
const LONGEST_RUN_NS: u64 = 1 << 63;
/// Larger than any value of any metric in SI units. Sums of many such values stay finite.
const LARGEST_VALUE: f64 = 1e18;

/// Why bytes are not a valid run. `Display` gives one line without the file name.
#[derive(Clone, PartialEq, Debug)]
pub enum RunError {
    /// The bytes are not JSON, or do not match the schema.
    Malformed(String),
    /// The JSON text ends too early.
    Truncated,
    /// The schema version is not supported.
    Version(u32),
    /// A series violates the format.
    Series {
        /// Metric of the series.
        metric: Metric,
        /// The violated rule, with the values found.
        problem: String,
    },
    /// A phase violates the format.
    Phase {
        /// Number of the phase, from 1.
        number: usize,
        /// The violated rule, with the values found.
        problem: String,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Malformed(why) => write!(f, "is not a run file: {why}"),
            RunError::Truncated => write!(f, "is truncated: the JSON ends too early"),
            RunError::Version(found) => {
                write!(
                    f,
                    "has schema_version {found}; this program reads {OLDEST_SCHEMA_VERSION} to {SCHEMA_VERSION}. \
                     Use the version of Fathom that wrote it"
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
    /// Parses and validates the JSON form of a run, of this schema version or an earlier one.
    ///
    /// # Errors
    /// Describes the first problem found.
    pub fn from_json(bytes: &[u8]) -> Result<Run, RunError> {
        let version: Version = serde_json::from_slice(bytes).map_err(|e| malformed(&e))?;
        if !(OLDEST_SCHEMA_VERSION..=SCHEMA_VERSION).contains(&version.schema_version) {
            return Err(RunError::Version(version.schema_version));
        }
        let mut run: Run = serde_json::from_slice(bytes).map_err(|e| malformed(&e))?;
        // Deserialization has converted the run to the current schema.
        run.schema_version = SCHEMA_VERSION;
        run.check()?;
        Ok(run)
    }
    /// Checks what the types cannot express: columns of equal length, ordered times, finite values,
    /// ordered phases.
    ///
    /// # Errors
    /// The first violated rule.
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
        return Err(format!("time {last} ns exceeds the limit of {LONGEST_RUN_NS} ns"));
    }
    // A one-way delay may be negative because its clock offset is an estimate.
    let negative_allowed = series.key.metric == Metric::OneWayDelay;
    let bad =
        |v: &&f64| !v.is_finite() || libm::fabs(**v) > LARGEST_VALUE || (**v < 0.0 && !negative_allowed);
    if let Some(value) = series.values.iter().find(bad) {
        return Err(format!("value {value} is out of range"));
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
        return Err(format!("it starts at {start_ns} ns, after its end at {end_ns} ns"));
    }
    if *start_ns < earliest {
        return Err(format!("it starts at {start_ns} ns, before the previous phase ends at {earliest} ns"));
    }
    if *end_ns > LONGEST_RUN_NS {
        return Err(format!("its end at {end_ns} ns exceeds the limit of {LONGEST_RUN_NS} ns"));
    }
    Ok(())
}

fn malformed(error: &serde_json::Error) -> RunError {
    if error.is_eof() { RunError::Truncated } else { RunError::Malformed(error.to_string()) }
}

#[cfg(test)]
mod tests;
