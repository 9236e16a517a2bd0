//! Axes with ticks that a person would have chosen; one for text, SVG and HTML.
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_text::thousands;

/// A range of values, where in it a value lies, and the values that are labeled.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    log: bool,
    ticks: Vec<f64>,
}

/// A range this much wider than its lowest value is drawn on a logarithmic axis: on a linear one
/// the low values would lie on its edge.
const LOG_FROM: f64 = 50.0;

/// Room above the largest value, so that a curve does not touch the edge.
const HEADROOM: f64 = 1.04;

impl Axis {
    /// From zero to a little above `high`, with at most `most` steps between round ticks.
    pub(crate) fn linear(high: f64, max_ticks: usize) -> Self {
        let high = if high.is_finite() && high > 0.0 { high } else { 1.0 };
        let step = round_step(high / max_ticks.max(1) as f64);
        let ticks = (0..=libm::floor(high / step + 1e-9) as usize).map(|i| i as f64 * step).collect();
        Axis { low: 0.0, high: high * HEADROOM, log: false, ticks }
    }
    /// From `low` to `high` exactly, with round ticks between them: for time.
    pub(crate) fn exact(low: f64, high: f64, max_ticks: usize) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        let step = round_step((high - low) / max_ticks.max(1) as f64);
        let first = libm::ceil(low / step - 1e-9) as i64;
        let last = libm::floor(high / step + 1e-9) as i64;
        Axis { low, high, log: false, ticks: (first..=last).map(|i| i as f64 * step).collect() }
    }
    /// Powers of ten times 1, 2, 5 from below `low` to above `high`; both must be positive.
    pub(crate) fn log(low: f64, high: f64, max_ticks: usize) -> Self {
        // Twenty decades are more than any two delays are apart.
        let high = if high.is_finite() && high > 0.0 { high } else { 1.0 };
        let low = if low > 0.0 && low < high { low.max(high * 1e-20) } else { high / 10.0 };
        let (first, last) = (index_125(low, libm::floor), index_125(high, libm::ceil));
        let (first, last) = if first == last { (first - 1, last + 1) } else { (first, last) };
        let ticks = (first..=last).filter(|i| i.rem_euclid(3) == 0 || (last - first) < max_ticks as i32);
        Axis {
            low: value_125(first),
            high: value_125(last),
            log: true,
            ticks: ticks.map(value_125).collect(),
        }
    }
    /// Linear from zero, or logarithmic where the values lie far apart.
    pub(crate) fn fitting(low: f64, high: f64, max_ticks: usize) -> Self {
        if low > 0.0 && high > LOG_FROM * low {
            Axis::log(low, high, max_ticks)
        } else {
            Axis::linear(high, max_ticks)
        }
    }
    /// Where `value` lies, 0 at the low end and 1 at the high end; values outside lie on the ends.
    pub(crate) fn position(&self, value: f64) -> f64 {
        let share = if self.log {
            libm::log(value.max(self.low) / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }
    /// The values at its ends.
    pub(crate) const fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }
    /// Labeled values, ascending.
    pub(crate) fn ticks(&self) -> &[f64] {
        &self.ticks
    }
}

/// The text of a tick: `0.5`, `20`, `1,000`.
pub(crate) fn label(value: f64) -> String {
    if value >= 10.0 || libm::fabs(value - libm::round(value)) < 1e-9 {
        return thousands(value);
    }
    let text = format!("{value:.4}");
    String::from(text.trim_end_matches('0').trim_end_matches('.'))
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `step`.
fn round_step(step: f64) -> f64 {
    value_125(index_125(step, libm::ceil))
}

/// Index in the sequence .. 0.5, 1 (index 0), 2, 5, 10 .., rounded by `round`.
fn index_125(value: f64, round: fn(f64) -> f64) -> i32 {
    let decade = libm::floor(libm::log10(value) + 1e-12);
    let within = value / libm::pow(10.0, decade);
    let offset = [1.0, 2.0, 5.0, 10.0].windows(2).position(|w| within < w[1] - 1e-9).unwrap_or(2);
    let edges = [1.0, 2.0, 5.0, 10.0];
    let exact = within <= edges[offset] * (1.0 + 1e-9);
    // `round` of a value between two members of the sequence: down is the lower, up the upper.
    let up = !exact && round(0.5) > 0.0;
    decade as i32 * 3 + offset as i32 + i32::from(up)
}

fn value_125(index: i32) -> f64 {
    let decade = libm::pow(10.0, f64::from(index.div_euclid(3)));
    decade * [1.0, 2.0, 5.0][index.rem_euclid(3) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn labels(axis: &Axis) -> String {
        axis.ticks().iter().map(|t| label(*t)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn round_ticks() {
        let cases = [
            (Axis::linear(19.1, 6), "0 5 10 15"),
            (Axis::linear(1049.0, 6), "0 200 400 600 800 1,000"),
            (Axis::linear(0.0, 4), "0 0.5 1"),
            (Axis::linear(1.0, 4), "0 0.5 1"),
            (Axis::linear(f64::NAN, 3), "0 0.5 1"),
            (Axis::exact(0.0, 39.0, 8), "0 5 10 15 20 25 30 35"),
            (Axis::exact(3.0, 3.0, 4), "3 3.5 4"),
            (Axis::log(51.0, 1049.0, 9), "50 100 200 500 1,000 2,000"),
            (Axis::log(0.05, 900.0, 6), "0.1 1 10 100 1,000"),
            (Axis::log(7.0, 7.0, 6), "0.5 1 2 5 10"),
            (Axis::fitting(51.0, 1049.0, 4), "0 500 1,000"),
            (Axis::fitting(0.1, 1049.0, 6), "0.1 1 10 100 1,000"),
        ];
        for (axis, want) in cases {
            assert_eq!(labels(&axis), want.to_string(), "{axis:?}");
        }
    }

    #[test]
    fn positions() {
        let (linear, log) = (Axis::linear(100.0, 5), Axis::log(1.0, 100.0, 5));
        assert_eq!((linear.position(52.0), linear.position(-1.0), linear.position(1e9)), (0.5, 0.0, 1.0));
        assert!((log.position(10.0) - 0.5).abs() < 1e-12);
        assert_eq!((log.position(0.0), log.position(f64::NAN)), (0.0, 0.0));
    }

    #[test]
    fn any_range_gives_few_ascending_ticks() {
        for seed in 0..2000 {
            let mut rng = fathom_units::Rng::new(seed);
            let mut value = || libm::pow(10.0, 40.0 * rng.next_f64() - 20.0);
            let (a, b) = (value(), value());
            for axis in [Axis::linear(a, 6), Axis::log(a, b, 6), Axis::exact(a.min(b), a.max(b), 6)] {
                let ticks = axis.ticks();
                assert!(ticks.len() <= 24 && ticks.is_sorted(), "seed {seed}: {axis:?}");
            }
            assert!(Axis::linear(a, 6).high >= a * (1.0 - 1e-9), "seed {seed}");
        }
    }
}
