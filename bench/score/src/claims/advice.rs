//! Whether the recommended shaper helps: it is applied to the path, and the path is measured again.
use super::{Case, Claim, ClaimKind, Made};
use crate::draw::Path;
use crate::measure::{Measured, measure, parse};
use crate::truth::Truth;
use fathom_run::{Remedy, threshold};
use fathom_units::{Direction, PerDirection};

/// The shaper helps if the line is not bloated behind it, or delay falls to this share,
const MUCH_LESS: f64 = 0.2;
/// and if it keeps this share of the throughput.
const THROUGHPUT: f64 = 0.7;

pub(super) fn claim(case: &Case<'_>) -> Claim {
    let is_possible = case.truth.is_bloated() && !case.truth.is_borderline();
    let rates = rates(case);
    let is_made = is_possible && rates.iter().any(|(_, rate)| rate.is_some());
    Claim::new(ClaimKind::Advice, is_possible, is_made.then(|| judge(case, &rates)).flatten())
}

/// The middle of the recommended rates in bit/s.
fn rates(case: &Case<'_>) -> PerDirection<Option<f64>> {
    let mut rates = PerDirection::default();
    for remedy in &case.diagnosis.advice {
        if let Remedy::Shape {
            direction: Some(direction),
            min_bits_per_second: Some(min),
            max_bits_per_second: Some(max),
        } = remedy
        {
            rates[*direction] = Some((min + max) / 2.0);
        }
    }
    rates
}

/// `None` if the shaped path is not valid, such as with a rate below 1 bit/s.
fn judge(case: &Case<'_>, rates: &PerDirection<Option<f64>>) -> Option<Made> {
    let shaped = measure(parse(&shaped(case.path, rates)).ok()?);
    let truth = Truth::of(&shaped);
    let before = Delays::of(case.truth, rates);
    let after = Delays::of(&truth, rates);
    let kept = throughput_ratio(case, &shaped, rates);
    let is_short =
        !threshold::is_bloated(after.p50_s, after.p90_s) || after.p90_s <= MUCH_LESS * before.p90_s;
    let list = |d| rates[d].map_or_else(|| "none".to_owned(), |rate| format!("{:.0} bit/s", rate));
    let detail = format!(
        "up {}, down {}: p90 {:.3} s to {:.3} s, throughput {:.0} %",
        list(Direction::Up),
        list(Direction::Down),
        before.p90_s,
        after.p90_s,
        kept * 100.0
    );
    Some(Made::new(is_short && kept >= THROUGHPUT, None, detail))
}

/// Queueing delay in the directions that the advice is about, each loaded alone.
#[derive(Default)]
struct Delays {
    p50_s: f64,
    p90_s: f64,
}

impl Delays {
    fn of(truth: &Truth, rates: &PerDirection<Option<f64>>) -> Self {
        let mut worst = Delays::default();
        for (direction, _) in rates.iter().filter(|(_, rate)| rate.is_some()) {
            let Some(phase) = truth.alone(direction) else { continue };
            worst.p50_s = worst.p50_s.max(phase.one_way(direction).at(0.5));
            worst.p90_s = worst.p90_s.max(phase.one_way(direction).at(0.9));
        }
        worst
    }
}

/// The lowest ratio of throughput with the shaper to that without, among the shaped directions. A
/// burst above the rate that a link sustains does not count.
fn throughput_ratio(case: &Case<'_>, after: &Measured, rates: &PerDirection<Option<f64>>) -> f64 {
    let before = |direction| {
        let sustained = case.truth.narrowest(direction).and_then(|queue| queue.ip_rate);
        case.measured.rate(direction).min(sustained.unwrap_or(f64::INFINITY)).max(1.0)
    };
    let shaped = rates.iter().filter(|(_, rate)| rate.is_some());
    let ratios = shaped.map(|(direction, _)| after.rate(direction) / before(direction));
    ratios.fold(1.0, f64::min)
}

/// The path with a shaper at the user's edge.
fn shaped(path: &Path, rates: &PerDirection<Option<f64>>) -> Path {
    let side = |rate: &Option<f64>| {
        let queue = rate.map_or(String::new(), |rate| format!(", queue = \"cake bandwidth {rate:.0}bit\""));
        format!("{{ delay = \"0ms\", overhead = \"0b\"{queue} }}")
    };
    let (up, down) = (side(&rates.up), side(&rates.down));
    let hop = format!("[[hop]]\nname = \"shaper\"\nup = {up}\ndown = {down}\n\n[[hop]]");
    Path { text: path.text.replacen("[[hop]]", &hop, 1), ..path.clone() }
}
