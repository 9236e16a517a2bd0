//! The rows of the tables, for text and HTML alike.
use crate::Style;
use crate::curve::phase_name;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::{Diagnosis, PhaseSummary};
use fathom_run::{PhaseKind, Run};
use fathom_stats::Bounded;
use fathom_text::{bytes, milliseconds, milliseconds_bare, percent, rate, seconds, thousands};

/// Headings of [`phase_cells`].
pub(crate) const PHASE_HEADINGS: [&str; 10] =
    ["phase", "down", "up", "p50", "p90", "p99", "max", "loss", "RPM", "grade"];
/// Their units.
pub(crate) const PHASE_UNITS: [&str; 10] = ["", "Mbit/s", "Mbit/s", "ms", "ms", "ms", "ms", "", "1/min", ""];

/// What a number that is only a lower bound begins with.
pub(crate) const fn at_least(style: Style) -> &'static str {
    style.pick("≥", ">=")
}

/// `0.30`, `2.87`, `19.1`, `940`, `2,340`.
fn three_digits(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => thousands(v),
    }
}

/// A cell of milliseconds that may be a lower bound.
fn bounded(value: Bounded, style: Style) -> String {
    format!("{}{}", if value.at_least { at_least(style) } else { "" }, milliseconds_bare(value.value))
}

/// One row of the table of phases; a dash where nothing was measured.
pub(crate) fn phase_cells(phase: &PhaseSummary, style: Style) -> [String; 10] {
    let dash = || String::from("-");
    let megabits = |g: Option<f64>| g.map_or_else(dash, |g| three_digits(g / 1e6));
    let latency = |pick: fn(&fathom_stats::Summary) -> Bounded| {
        phase.latency.as_ref().map_or_else(dash, |l| bounded(pick(l), style))
    };
    [
        phase_name(phase.kind).to_string(),
        megabits(phase.goodput_down_bits_per_second),
        megabits(phase.goodput_up_bits_per_second),
        latency(|l| l.p50),
        latency(|l| l.p90),
        latency(|l| l.p99),
        latency(|l| l.max),
        phase.loss_ratio.map_or_else(dash, percent),
        phase.rpm.as_ref().map_or_else(dash, |r| thousands(r.per_minute)),
        phase.grade.map_or_else(dash, |g| g.letter().to_string()),
    ]
}

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
pub(crate) struct Quantity {
    /// The phase or the work that it belongs to.
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
        if difference <= SAME * libm::fabs(first).max(libm::fabs(last)) {
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
    /// Whether the last run is better (`Some(true)`) or worse than the first by more than 10 % of the first.
    pub(crate) fn better(&self) -> Option<bool> {
        let (first, last) = self.ends()?;
        let changed = libm::fabs(last - first) > 0.1 * libm::fabs(first).max(1e-9);
        changed.then_some((last < first) == self.less_is_better)
    }
}

type Pick = fn(&PhaseSummary) -> Option<f64>;

/// Name, unit, whether less is better, and where it is found.
const QUANTITIES: [(&str, Unit, bool, Pick); 10] = [
    ("goodput down", Unit::Rate, false, |p| p.goodput_down_bits_per_second),
    ("goodput up", Unit::Rate, false, |p| p.goodput_up_bits_per_second),
    ("latency, median", Unit::Milliseconds, true, |p| Some(p.latency?.p50.value)),
    ("latency, 90th percentile", Unit::Milliseconds, true, |p| Some(p.latency?.p90.value)),
    ("latency, 99th percentile", Unit::Milliseconds, true, |p| Some(p.latency?.p99.value)),
    ("latency, largest", Unit::Milliseconds, true, |p| Some(p.latency?.max.value)),
    ("probes lost", Unit::Ratio, true, |p| p.loss_ratio),
    ("RPM", Unit::Count, false, |p| Some(p.rpm.as_ref()?.per_minute)),
    ("call quality (1 to 4.4)", Unit::Score, false, |p| Some(p.impact?.call.mos)),
    ("web page", Unit::Seconds, true, |p| p.impact?.page_load_s),
];

/// Every quantity that at least one of the runs has, by phase, then by work.
pub(crate) fn comparison(runs: &[(&Run, &Diagnosis)]) -> Vec<Quantity> {
    let kinds = [PhaseKind::Idle, PhaseKind::Down, PhaseKind::Up, PhaseKind::Both, PhaseKind::Watch];
    let quantities = kinds.into_iter().flat_map(|phase| {
        QUANTITIES.iter().map(move |(name, unit, less_is_better, pick)| Quantity {
            group: phase_name(phase).to_string(),
            name: name.to_string(),
            unit: *unit,
            less_is_better: *less_is_better,
            values: runs.iter().map(|(_, d)| d.phase(phase).and_then(pick)).collect(),
        })
    });
    let recorded: Vec<&Run> = runs.iter().map(|(run, _)| *run).collect();
    let known = quantities.filter(|q| q.values.iter().any(Option::is_some));
    let captured = crate::flows::quantities(&recorded);
    known.chain(captured).chain(crate::works::quantities(&recorded)).collect()
}
