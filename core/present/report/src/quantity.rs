//! Quantities that comparisons show, in their units.
use crate::Style;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_text::{bytes, milliseconds, percent, rate, seconds, thousands};

/// Values closer than this share of the larger count as the same.
const SAME: f64 = 0.02;

/// How a value of a comparison is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    Milliseconds,
    Rate,
    Bytes,
    Ratio,
    Count,
    Seconds,
    Score,
}

/// One quantity of all runs.
#[derive(Clone, Debug)]
pub(crate) struct Quantity {
    /// The phase or the workload that it belongs to.
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) unit: Unit,
    /// A smaller value is the better one.
    pub(crate) less_is_better: bool,
    pub(crate) values: Vec<Option<f64>>,
}

impl Quantity {
    /// The text of one run's value.
    pub(crate) fn text(&self, run: usize) -> String {
        let Some(value) = self.values.get(run).copied().flatten() else { return String::from("-") };
        match self.unit {
            Unit::Milliseconds => milliseconds(value),
            Unit::Rate => rate(value),
            Unit::Bytes => bytes(value),
            Unit::Ratio => percent(value),
            Unit::Count => thousands(value),
            Unit::Seconds => seconds(value),
            Unit::Score => format!("{value:.1}"),
        }
    }
    fn ends(&self) -> Option<(f64, f64)> {
        self.values.first().copied().flatten().zip(self.values.last().copied().flatten())
    }
    /// Last run against the first: a factor where that says something, else a difference.
    pub(crate) fn change(&self, style: Style) -> String {
        let Some((first, last)) = self.ends() else { return String::new() };
        let sign = if last >= first { "+" } else { style.pick("−", "-") };
        let difference = libm::fabs(last - first);
        if is_same(first, last) {
            return "=".into();
        }
        match self.unit {
            Unit::Ratio => format!("{sign}{}", percent(difference)),
            Unit::Score => format!("{sign}{difference:.1}"),
            _ if first <= 0.0 || last <= 0.0 => String::new(),
            _ if last >= 2.0 * first => format!("{}{:.1}", style.pick("×", "x"), last / first),
            _ if first >= 2.0 * last => format!("{}{:.1}", style.pick("÷", "/"), first / last),
            _ => format!("{sign}{}", percent(difference / first)),
        }
    }
    /// Whether the last run is better (`Some(true)`) or worse than the first by more than 10 % of
    /// the first.
    pub(crate) fn better(&self) -> Option<bool> {
        let (first, last) = self.ends()?;
        let changed = libm::fabs(last - first) > 0.1 * libm::fabs(first).max(1e-9);
        changed.then_some((last < first) == self.less_is_better)
    }
}

/// Whether two values differ too little to be called a change.
pub(crate) fn is_same(first: f64, last: f64) -> bool {
    libm::fabs(last - first) <= SAME * libm::fabs(first).max(libm::fabs(last))
}

/// What a number that is only a lower bound begins with.
pub(crate) const fn at_least(style: Style) -> &'static str {
    style.pick("≥", ">=")
}
