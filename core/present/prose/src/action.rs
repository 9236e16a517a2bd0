//! What to do about a result, as commands where there is one.
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::{Diagnosis, Health};
use fathom_run::{BoundCause, Conclusion, PhaseEnd, Remedy, Run, ShaperLimit};
use fathom_text::{milliseconds, rate, seconds};
use fathom_units::{Direction, Duration, PerDirection, Rate};

/// What to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Action {
    /// In words.
    pub text: String,
    /// The command that does it.
    pub command: Option<String>,
}

/// How a result came about, for commands that go on from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Origin<'a> {
    /// The command line that made it.
    pub command: Option<&'a str>,
    /// The result file that holds it.
    pub file: Option<&'a str>,
}

fn action(text: &str, command: Option<String>) -> Action {
    Action { text: text.to_string(), command }
}

/// What to do about a run.
pub fn actions(run: &Run, diagnosis: &Diagnosis, origin: Origin<'_>) -> Vec<Action> {
    match (diagnosis.health, &run.capture) {
        (Health::Bloated, Some(_)) => captured(diagnosis, origin),
        (_, Some(_)) => page(origin).into_iter().collect(),
        _ if run.history.is_some() || run.switch.is_some() => Vec::new(),
        _ => {
            let longer = longer(diagnosis, origin);
            // The longer test is the one to repeat.
            let again = origin.command.filter(|_| longer.is_none());
            longer.into_iter().chain(of_line(run, diagnosis, origin, again)).collect()
        }
    }
}

fn of_line(run: &Run, diagnosis: &Diagnosis, origin: Origin<'_>, again: Option<&str>) -> Vec<Action> {
    if diagnosis.health != Health::Bloated {
        return Vec::new();
    }
    let is_emulated = !matches!(run.command.as_str(), "test" | "buffer");
    let can_shape = diagnosis.advice.iter().any(|remedy| matches!(remedy, Remedy::Shape { .. }));
    let mut all = Vec::new();
    if can_shape {
        all.extend(shape(diagnosis, (is_emulated, has_fix(run)), again));
        all.extend(diagnosis.advice.iter().filter_map(slow_adaptation));
    }
    all.extend(diagnosis.advice.iter().filter_map(|remedy| match remedy {
        Remedy::DoNotShape { direction, cause } => Some(action(&shaper_limit(*direction, cause), None)),
        _ => None,
    }));
    let follow = follow(diagnosis).filter(|_| !is_emulated && has_fix(run));
    all.extend(follow.map(|command| action("Let the shaper follow the rate:", Some(command))));
    if is_emulated {
        let managed = origin.command.map(|command| format!("{command} --queue fq_codel"));
        all.extend(managed.map(|command| action("With a managed queue:", Some(command))));
    }
    // Bursts do not show what a simulation needs.
    let trial = origin
        .file
        .filter(|_| !run.is_of_bursts())
        .map(|file| format!("fathom sim --from {file} --with cake@95%"));
    all.extend(trial.filter(|_| can_shape).map(|command| action("This line with CAKE:", Some(command))));
    all
}

/// Whether the host has `fathom fix`, which needs Linux.
fn has_fix(run: &Run) -> bool {
    !["Windows", "Darwin"].iter().any(|system| run.host.kernel.starts_with(system))
}

/// The shaper on the router, and on this computer.
fn shape(diagnosis: &Diagnosis, (is_emulated, has_fix): (bool, bool), again: Option<&str>) -> Vec<Action> {
    let place = if is_emulated { "On the router of such a line" } else { "On the router" };
    let rates = match shaper_rates(diagnosis).as_str() {
        "" => String::new(),
        rates => format!(" at {rates}"),
    };
    let then = if again.is_some() && !is_emulated { " Then test again:" } else { "" };
    let rtt = round_trip_ms(diagnosis).map(|ms| format!(", rtt {ms}ms")).unwrap_or_default();
    let text = format!("{place}, turn on SQM (fq_codel or CAKE){rates}{rtt}.{then}");
    let test = again.filter(|_| !is_emulated).map(ToString::to_string);
    let here = fix(diagnosis).filter(|_| !is_emulated && has_fix);
    let mut all = Vec::from([Action { text, command: test }]);
    all.extend(here.map(|command| action("On this computer, for now:", Some(command))));
    all
}

/// How long flows to the server take to adapt to the shaper.
fn slow_adaptation(remedy: &Remedy) -> Option<Action> {
    let Remedy::Shape { direction, adapted_after_s: Some(after_s), .. } = remedy else { return None };
    let loads = match direction {
        Some(Direction::Up) => "Uploads",
        Some(Direction::Down) => "Downloads",
        None => "Transfers",
    };
    let text = format!("{loads} to this server take about {} to settle at that rate.", seconds(*after_s));
    Some(Action { text, command: None })
}

/// The command that shapes this computer's link and follows its rate, if the rate varies. It starts
/// from the rates of both directions; `RATE` stands for one that was not measured.
fn follow(diagnosis: &Diagnosis) -> Option<String> {
    let mut rates: PerDirection<Option<f64>> = PerDirection::default();
    let mut varies = false;
    for remedy in &diagnosis.advice {
        match remedy {
            Remedy::Shape { direction: Some(direction), max_bits_per_second, .. } => {
                rates[*direction] = *max_bits_per_second;
            }
            Remedy::DoNotShape { direction, cause } => {
                rates[*direction] = Some(cause.bits_per_second());
                varies |= matches!(cause, ShaperLimit::VaryingRate { .. });
            }
            _ => {}
        }
    }
    let text = |rate: Option<f64>| rate.map_or_else(|| "RATE".to_string(), |rate| rounded(rate).to_string());
    let (up, down) = (text(rates.up), text(rates.down));
    varies.then(|| format!("fathom fix DEV --auto --up {up} --down {down} --server HOST"))
}

/// Why no fixed shaper helps a direction, as sentences.
pub(crate) fn shaper_limit(direction: Direction, cause: &ShaperLimit) -> String {
    let load = match direction {
        Direction::Up => "upload",
        Direction::Down => "download",
    };
    match cause {
        ShaperLimit::SlowLink { rate_bits_per_second, packet_s } => format!(
            "Only a faster line helps the {load}: at {}, one packet takes {}.",
            rate(*rate_bits_per_second),
            milliseconds(*packet_s)
        ),
        ShaperLimit::ManyFlows { flow_count, rate_bits_per_second, windows_s } => format!(
            "Run fewer {load}s at once: at {}, the fewest packets that {flow_count} keep in flight take {}.",
            rate(*rate_bits_per_second),
            milliseconds(*windows_s)
        ),
        ShaperLimit::VaryingRate { low_bits_per_second, mean_bits_per_second } => format!(
            "No fixed shaper suits the {load}: its rate falls to {} (mean {}).",
            rate(*low_bits_per_second),
            rate(*mean_bits_per_second)
        ),
    }
}

/// The shaper of each direction.
fn shapers(diagnosis: &Diagnosis) -> impl Iterator<Item = (Option<Direction>, f64, f64)> {
    diagnosis.advice.iter().filter_map(|remedy| match remedy {
        Remedy::Shape { direction, min_bits_per_second, max_bits_per_second, .. } => {
            Some((*direction, (*min_bits_per_second)?, (*max_bits_per_second)?))
        }
        _ => None,
    })
}

/// `2.54 to 2.84 Mbit/s up`.
fn shaper_rates(diagnosis: &Diagnosis) -> String {
    let words = shapers(diagnosis).map(|(direction, min, max)| match direction {
        Some(Direction::Up) => format!("{} up", range(min, max)),
        Some(Direction::Down) => format!("{} down", range(min, max)),
        None => range(min, max),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// `2.54 to 2.84 Mbit/s`.
fn range(min: f64, max: f64) -> String {
    let (min, max) = (rate(min), rate(max));
    match (min.split_once(' '), max.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} to {max}"),
        _ => format!("{min} to {max}"),
    }
}

/// Rates for a shaper: the mean of each recommended range. None if a range is of no direction.
#[must_use]
pub fn recommended_rates(diagnosis: &Diagnosis) -> PerDirection<Option<Rate>> {
    let mut rates = PerDirection::default();
    for (direction, min, max) in shapers(diagnosis) {
        let Some(direction) = direction else { return PerDirection::default() };
        rates[direction] = Some(rounded((min + max) / 2.0));
    }
    rates
}

/// The round-trip time to configure with them, if it is not the default.
#[must_use]
pub fn recommended_round_trip(diagnosis: &Diagnosis) -> Option<Duration> {
    round_trip_ms(diagnosis).map(Duration::from_millis)
}

/// The command that shapes this computer's link to the recommended rates.
fn fix(diagnosis: &Diagnosis) -> Option<String> {
    let rates = recommended_rates(diagnosis);
    let flags = [("up", rates.up), ("down", rates.down)];
    let flags = flags.into_iter().filter_map(|(name, rate)| Some(format!(" --{name} {}", rate?)));
    let flags: String = flags.collect();
    let rtt = round_trip_ms(diagnosis).map(|ms| format!(" --rtt {ms}ms")).unwrap_or_default();
    (!flags.is_empty()).then(|| format!("fathom fix DEV{flags}{rtt}"))
}

/// The round-trip time to configure, if it is not the default.
fn round_trip_ms(diagnosis: &Diagnosis) -> Option<u64> {
    let longest = diagnosis.advice.iter().filter_map(|remedy| match remedy {
        Remedy::Shape { round_trip_s, .. } => *round_trip_s,
        _ => None,
    });
    Some((longest.reduce(f64::max)? * 1e3 + 0.5) as u64)
}

/// Rounded to three digits, so that the command stays short.
fn rounded(bits_per_second: f64) -> Rate {
    let mut unit = 1;
    let bits = bits_per_second as u64;
    while bits / unit >= 1_000 {
        unit *= 10;
    }
    Rate::from_bits_per_second(bits / unit * unit)
}

/// A longer load, where latency was still growing.
fn longer(diagnosis: &Diagnosis, origin: Origin<'_>) -> Option<Action> {
    let command = origin.command.filter(|command| command.starts_with("fathom test"))?;
    let end = diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::LowerBound(bound) => match bound.cause {
            BoundCause::StillGrowing { end, .. } => Some(end),
            BoundCause::NotReached { .. } => None,
        },
        _ => None,
    })?;
    let command = match end {
        PhaseEnd::ByteLimit => without(command, "", "--max-bytes") + " --max-bytes 1gb",
        PhaseEnd::TimeLimit | PhaseEnd::Settled => {
            without(command, "--quick", "--max-phase") + " --max-phase 120s"
        }
        PhaseEnd::Aborted => command.to_string(),
    };
    Some(action("Run longer:", Some(command)))
}

/// A command without a flag, and without another that has a value.
fn without(command: &str, flag: &str, with_value: &str) -> String {
    let mut is_value = false;
    let stays = |word: &&str| {
        let was_value = core::mem::replace(&mut is_value, *word == with_value);
        let has_value = word.strip_prefix(with_value).is_some_and(|rest| rest.starts_with('='));
        !was_value && !is_value && !has_value && *word != flag
    };
    command.split(' ').filter(stays).collect::<Vec<_>>().join(" ")
}

fn captured(diagnosis: &Diagnosis, origin: Origin<'_>) -> Vec<Action> {
    let shape = match shaper_rates(diagnosis).as_str() {
        "" => "Shape just in front of the link with CAKE or fq_codel, then capture again.".to_string(),
        rates => {
            format!("Shape to {rates} just in front of the link with CAKE or fq_codel, then capture again.")
        }
    };
    [Action { text: shape, command: None }].into_iter().chain(page(origin)).collect()
}

/// The interactive page of a capture.
fn page(origin: Origin<'_>) -> Option<Action> {
    // What came from a pipe cannot be read again.
    let is_repeatable = |command: &&str| !command.split(' ').any(|word| word == "-");
    let command =
        origin.command.filter(|command| command.starts_with("fathom trace")).filter(is_repeatable)?;
    Some(action("To see each packet:", Some(format!("{command} -o page.html"))))
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn a_limit_that_was_reached_is_not_repeated() {
        let cases = [
            ("fathom test far --quick -4", "fathom test far -4"),
            ("fathom test --max-phase 12s far", "fathom test far"),
            ("fathom test far --max-phase=12s", "fathom test far"),
            ("fathom test far --max-phases 3", "fathom test far --max-phases 3"),
        ];
        for (command, expected) in cases {
            assert_eq!(without(command, "--quick", "--max-phase"), expected, "{command}");
        }
    }
}
