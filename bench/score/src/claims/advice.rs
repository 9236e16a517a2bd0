//! Whether the recommended shaper helps: it is applied to the path, and the path is measured again.
//!
//! No shaper helps a line whose rate varies much, or a slow line with so many flows that their
//! packets exceed the bandwidth-delay product. Recommending a shaper there is wrong, and
//! recommending none is right.
use super::{Case, Claim, ClaimKind, Made};
use crate::draw::Path;
use crate::measure::{Measured, measure, parse};
use crate::truth::{PhaseTruth, Truth, is_near_threshold};
use fathom_run::{Remedy, threshold};
use fathom_units::{Direction, IP_PER_PAYLOAD, PerDirection};

/// The shaper helps if the line is not bloated behind it, or delay falls to this share,
const MUCH_LESS: f64 = 0.2;
/// and if it keeps this share of the throughput.
const THROUGHPUT: f64 = 0.7;
/// The shapers that an expert would try, relative to the mean rate. The second one only helps where
/// the rate varies.
const EXPERT: [f64; 2] = [0.9, 0.6];

/// A shaper.
#[derive(Clone, Copy)]
struct Shaper {
    bits_per_second: f64,
    /// `None` for CAKE's default.
    round_trip_s: Option<f64>,
    /// The advice says that flows to this server adapt slowly, so it does not claim to help them.
    is_slow: bool,
}

type Shapers = PerDirection<Option<Shaper>>;

pub(super) fn claims(case: &Case<'_>) -> Vec<Claim> {
    let bloated: Vec<(Direction, &PhaseTruth)> = Direction::BOTH
        .into_iter()
        .filter_map(|direction| Some((direction, case.truth.alone(direction)?)))
        .filter(|(_, phase)| case.truth.is_phase_bloated(phase) && !case.truth.is_borderline())
        .collect();
    if bloated.is_empty() {
        return Vec::new();
    }
    let advised = advised(case);
    let after = Outcome::of(case, &advised);
    let by_expert = EXPERT.map(|ratio| Outcome::of(case, &expert(case, ratio)));
    let claim = |(direction, before): (Direction, &PhaseTruth)| {
        let judge = |outcome: &Outcome| outcome.effect(case, direction, before);
        let is_possible = by_expert.iter().flatten().map(judge).any(|effect| effect.helps == Some(true));
        let claimed = advised[direction].filter(|shaper| !shaper.is_slow);
        let effect = claimed.zip(after.as_ref().map(judge));
        let made = effect.and_then(|(shaper, effect)| {
            let rate = shaper.bits_per_second;
            Some(Made::new(effect.helps?, None, format!("{rate:.0} bit/s: {}", effect.figures)))
        });
        let is_right = made.as_ref().is_some_and(|made| made.is_right);
        Claim::new(ClaimKind::Advice, is_possible || is_right, made).about(direction.name())
    };
    bloated.into_iter().map(claim).collect()
}

/// The middle of the recommended rates.
fn advised(case: &Case<'_>) -> Shapers {
    let mut shapers = Shapers::default();
    for remedy in &case.diagnosis.advice {
        if let Remedy::Shape {
            direction: Some(direction),
            min_bits_per_second: Some(min),
            max_bits_per_second: Some(max),
            round_trip_s,
            adapted_after_s,
        } = remedy
        {
            let shaper = Shaper {
                bits_per_second: (min + max) / 2.0,
                round_trip_s: *round_trip_s,
                is_slow: adapted_after_s.is_some(),
            };
            shapers[*direction] = Some(shaper);
        }
    }
    shapers
}

/// A share of the rate of the narrowest link, or of what it delivered if its rate varies.
fn expert(case: &Case<'_>, ratio: f64) -> Shapers {
    PerDirection::from_fn(|direction| {
        let narrowest = case.truth.narrowest(direction)?;
        let delivered = case.measured.rate(direction) * IP_PER_PAYLOAD;
        let rate = narrowest.ip_rate?;
        let rate = if narrowest.is_steady { rate } else { delivered.min(rate) };
        let round_trip_s = threshold::shaper_round_trip_s(case.idle_latency_s()?);
        Some(Shaper { bits_per_second: ratio * rate, round_trip_s, is_slow: false })
    })
}

/// The path with shapers, measured again.
struct Outcome {
    measured: Measured,
    truth: Truth,
}

/// What a shaper does to a direction.
struct Effect {
    /// `None` if it depends on small differences.
    helps: Option<bool>,
    figures: String,
}

impl Outcome {
    /// `None` without shapers, or if the path is not valid, such as with a rate below 1 bit/s.
    fn of(case: &Case<'_>, shapers: &Shapers) -> Option<Self> {
        shapers.iter().find_map(|(_, shaper)| *shaper)?;
        let measured = measure(parse(&shaped(case.path, shapers)).ok()?);
        let truth = Truth::of(&measured);
        Some(Outcome { measured, truth })
    }
    /// Delays and rates are those of the second halves of the phases: while many flows start at
    /// once, senders fill the queue in front of a download's shaper before its first drop can reach
    /// them, and a flow that overshoots a short queue needs time to reach the rate again.
    fn effect(&self, case: &Case<'_>, direction: Direction, before: &PhaseTruth) -> Effect {
        let of = |phase: &PhaseTruth| [0.5, 0.9].map(|share| phase.late(direction).at(share));
        let [_, before_s] = of(before);
        let [p50_s, p90_s] = self.truth.alone(direction).map_or([f64::INFINITY; 2], of);
        let kept = self.kept(case, direction, before);
        let is_less = p90_s <= MUCH_LESS * before_s;
        let is_short = is_less || !threshold::is_bloated(p50_s, p90_s);
        let is_clear = is_less || kept < THROUGHPUT || !is_near_threshold([p50_s, p90_s]);
        let figures = format!(
            "p50 {p50_s:.3} s, p90 {before_s:.3} s to {p90_s:.3} s, throughput {:.0} %",
            kept * 100.0
        );
        Effect { helps: is_clear.then_some(is_short && kept >= THROUGHPUT), figures }
    }
    /// Share of the throughput that the direction keeps, in the second half of its phase. Where
    /// others send, too, it is that of all traffic: a shaper gives them back what the queue of the
    /// load took from them.
    fn kept(&self, case: &Case<'_>, direction: Direction, before: &PhaseTruth) -> f64 {
        let narrowest = case.truth.narrowest(direction);
        // A burst above the rate that a link sustains does not count.
        let sustained = narrowest.and_then(|queue| queue.ip_rate).unwrap_or(f64::INFINITY);
        let of_load = |measured: &Measured| measured.late_rate(direction);
        let of_all = || {
            let hop = &narrowest?.hop;
            let of_link = |truth: &Truth, phase: &PhaseTruth| {
                let queue = truth.queues.iter().find(|q| q.direction == direction && q.hop == *hop)?;
                Some(phase.late_rate(queue))
            };
            let after = of_link(&self.truth, self.truth.alone(direction)?)?;
            Some([of_link(case.truth, before)?, after])
        };
        let has_others = !case.measured.plan.workloads.is_empty();
        let rates = if has_others { of_all() } else { None };
        let [unshaped, shaped] = rates.unwrap_or_else(|| [of_load(case.measured), of_load(&self.measured)]);
        shaped / unshaped.min(sustained).max(1.0)
    }
}

/// The path with shapers at the user's edge.
fn shaped(path: &Path, shapers: &Shapers) -> Path {
    let cake = |shaper: Shaper| {
        let round_trip = shaper.round_trip_s.map(|s| format!(" rtt {:.0}us", s * 1e6)).unwrap_or_default();
        format!(", queue = \"cake bandwidth {:.0}bit{round_trip}\"", shaper.bits_per_second)
    };
    let side = |shaper: &Option<Shaper>| {
        let queue = shaper.map(cake).unwrap_or_default();
        format!("{{ delay = \"0ms\", overhead = \"0b\"{queue} }}")
    };
    let (up, down) = (side(&shapers.up), side(&shapers.down));
    let hop = format!("[[hop]]\nname = \"shaper\"\nup = {up}\ndown = {down}\n\n[[hop]]");
    Path { text: path.text.replacen("[[hop]]", &hop, 1), ..path.clone() }
}
