//! Samples in which only a lower bound of some values is known (censored), and their statistics.
use crate::{rank, sorted};
use alloc::vec::Vec;
use serde::Serialize;

/// A statistic, or a lower bound of it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Bounded {
    /// The value, in the unit of the sample.
    pub value: f64,
    /// The statistic is a censored value: it is `value` or more.
    pub at_least: bool,
}

/// A sorted sample with censored values (probes that were never answered).
///
/// A censored value counts as infinity (RFC 2330 section 11.3), so loss can only raise percentiles.
/// NaN values are ignored.
#[derive(Clone, Default, Debug)]
pub struct Sample {
    observed: Vec<f64>,
    bounds: Vec<f64>,
    /// Observed values and bounds together, for the lower bound of a percentile.
    all: Vec<f64>,
}

/// Common statistics of a [`Sample`], in its unit.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Number of values, including censored ones.
    pub count: usize,
    /// Number of censored values.
    pub censored: usize,
    /// Minimum.
    pub min: Bounded,
    /// Median.
    pub p50: Bounded,
    /// 90th percentile.
    pub p90: Bounded,
    /// 95th percentile.
    pub p95: Bounded,
    /// 99th percentile.
    pub p99: Bounded,
    /// Maximum of the observed values; without observed values, the largest bound.
    pub max: Bounded,
    /// Arithmetic mean of the observed values.
    pub mean_of_observed: Option<f64>,
}

impl Summary {
    /// Fraction of censored values, 0 to 1.
    pub fn censored_ratio(&self) -> f64 {
        self.censored as f64 / self.count as f64
    }
}

impl Sample {
    /// A sample of `(value, censored)` pairs in any order. A censored value is a lower bound.
    pub fn new(values: impl IntoIterator<Item = (f64, bool)>) -> Self {
        let mut sample = Sample::default();
        for (value, censored) in values.into_iter().filter(|(v, _)| !v.is_nan()) {
            if censored {
                sample.bounds.push(value)
            } else {
                sample.observed.push(value)
            }
            sample.all.push(value);
        }
        for column in [&mut sample.observed, &mut sample.bounds, &mut sample.all] {
            column.sort_unstable_by(f64::total_cmp);
        }
        sample
    }
    /// Number of values, including censored ones.
    pub fn len(&self) -> usize {
        self.all.len()
    }
    /// True if there are no values.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
    /// The observed values, ascending.
    pub fn observed(&self) -> &[f64] {
        &self.observed
    }
    /// The sample without its censored values.
    pub fn observed_only(self) -> Sample {
        Sample { all: self.observed.clone(), observed: self.observed, bounds: Vec::new() }
    }
    /// Percentile `p` (0 to 1) by nearest rank (RFC 2330 section 11.3); `None` without values.
    ///
    /// If it is censored, the same rank among observed values and bounds together is a lower bound,
    /// because no true value is below its bound.
    pub fn percentile(&self, p: f64) -> Option<Bounded> {
        let index = rank(p, self.len() as u64)? as usize;
        Some(match self.observed.get(index) {
            Some(value) => Bounded { value: *value, at_least: false },
            None => Bounded { value: self.all[index], at_least: true },
        })
    }
    /// Arithmetic mean of the observed values.
    pub fn mean_of_observed(&self) -> Option<f64> {
        mean(&self.observed)
    }
    /// All statistics; `None` for an empty sample.
    pub fn summary(&self) -> Option<Summary> {
        let p = |p| self.percentile(p);
        Some(Summary {
            count: self.len(),
            censored: self.bounds.len(),
            min: p(0.0)?,
            p50: p(0.5)?,
            p90: p(0.9)?,
            p95: p(0.95)?,
            p99: p(0.99)?,
            max: self.max()?,
            mean_of_observed: self.mean_of_observed(),
        })
    }
    fn max(&self) -> Option<Bounded> {
        let observed = self.observed.last().map(|v| Bounded { value: *v, at_least: false });
        observed.or_else(|| self.bounds.last().map(|v| Bounded { value: *v, at_least: true }))
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Mean of the lowest fraction `keep` (0 to 1) of the values, at least one; `None` without values.
///
/// draft-ietf-ippm-responsiveness calls it the single-sided trimmed mean and uses `keep` 0.95.
pub fn trimmed_mean(values: impl IntoIterator<Item = f64>, keep: f64) -> Option<f64> {
    let sorted = sorted(values.into_iter().filter(|v| !v.is_nan()));
    let kept = (libm::floor(keep * sorted.len() as f64) as usize).clamp(1, sorted.len().max(1));
    mean(sorted.get(..kept)?)
}

/// Jain's fairness index (1984): 1 for equal shares, 1/n if one of n has all. `None` if all are 0.
pub fn jain_index(shares: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (n, sum, squares) =
        shares.into_iter().fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

#[cfg(test)]
mod tests;
