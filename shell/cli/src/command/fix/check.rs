//! A check in words.
use fathom_shape::fix::{Bypass, Check, CheckKind};
use fathom_shaper::conflicts::{Conflict, bypassed};
use fathom_text::{milliseconds, percent, rate};

/// What is checked, what was measured, and what is required.
pub(super) struct CheckWords {
    pub(super) what: String,
    pub(super) measured: String,
    pub(super) required: String,
}

impl CheckWords {
    /// `device` is the interface.
    pub(super) fn new(device: &str, check: &Check) -> CheckWords {
        let load = check.load.name();
        let value = |words: fn(f64) -> String| check.measured.map_or_else(|| "no answers".to_owned(), words);
        let words = |what: String, measured, required| CheckWords { what, measured, required };
        match &check.kind {
            CheckKind::LatencyIncrease => words(
                format!("{load}: delay under load, above idle"),
                value(milliseconds),
                format!("at most {}", milliseconds(check.limit)),
            ),
            CheckKind::Goodput { before_bits_per_second, required_ratio } => {
                let after = check.measured.unwrap_or_default();
                words(
                    format!("{load}: goodput"),
                    format!("{} ({} of before)", rate(after), percent(after / before_bits_per_second)),
                    format!("at least {} of {}", percent(*required_ratio), rate(*before_bits_per_second)),
                )
            }
            CheckKind::ShaperLimits { direction, least, held_packets } => words(
                format!("{load} {direction}: the shaper is the bottleneck"),
                format!("{} of its rate, {held_packets} packets held", value(percent)),
                format!("{} to {}, and some held", percent(*least), percent(check.limit)),
            ),
            CheckKind::Bypass(found) => bypass(device, load, found),
            CheckKind::Processor => words(
                format!("{load}: CPU headroom for packet processing"),
                format!("the busiest CPU spends {} of its time on packets", value(percent)),
                format!(
                    "at most {}; else try a lower rate, or a lighter shaper (--shaper)",
                    percent(check.limit)
                ),
            ),
        }
    }
}

fn bypass(device: &str, load: &str, found: &[Bypass]) -> CheckWords {
    let conflicts: Vec<Conflict> = found.iter().map(|one| bypassed(device, one)).collect();
    let joined = |of: fn(&Conflict) -> &str| conflicts.iter().map(of).collect::<Vec<_>>().join("; ");
    let is_clean = found.is_empty();
    CheckWords {
        what: format!("{load}: all packets pass the shaper"),
        measured: if is_clean { "they do".to_owned() } else { joined(|one| &one.what) },
        required: if is_clean { "all".to_owned() } else { format!("try: {}", joined(|one| &one.advice)) },
    }
}
