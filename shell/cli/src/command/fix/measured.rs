//! `fathom fix --server`: the rates are searched, and the shaper stays only if it passes all checks.
use super::check::CheckWords;
use super::{boot_words, failure, show, watchdog_command};
use crate::args::FixArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::{signal, terminal};
use fathom_client::{Family, TestConfig};
use fathom_diagnose::{Diagnosis, PhaseSummary, diagnose};
use fathom_fix::{FixConfig, FixError, Fixed, Progress, fix};
use fathom_run::PhaseKind;
use fathom_shape::fix::{Budget, Check, Event, MeasuredOverhead, Outcome as Ending, OverheadSource, Purpose};
use fathom_shape::knee::{Found, Trial};
use fathom_shaper::{Framing, Place, conflicts};
use fathom_text::{milliseconds, percent, rate};
use fathom_units::{Direction, PerDirection, Rate};
use serde_json::{Value, json};
use std::path::Path;

/// The whole course.
pub(super) fn run(args: &FixArgs) -> Outcome {
    let device = device(args)?;
    if let Some(folder) = &args.results {
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::input(format_args!("--results {}: {e}", folder.display())))?;
    }
    let config = config(args, &device);
    let stop = signal::stop_flag()?;
    let conflicts = conflicts::detect(Path::new("/"), &device);
    terminal::note(&format!(
        "fathom fix: {device}, against {}: about two minutes of load on the line; Ctrl-C rolls back",
        config.test.server
    ));
    for found in &conflicts {
        terminal::note(&format!("warning: {}\n  try: {}", found.what, found.advice));
    }
    let mut report = |progress: Progress<'_>| {
        if let Some(words) = words(&device, &progress) {
            terminal::note(&words);
        }
    };
    let watchdog = || watchdog_command(args, &device);
    let fixed = fix(&config, &watchdog, &stop, &mut report).map_err(|error| fix_failure(&error))?;
    keep(args, &fixed)?;
    let boot = match (&fixed.plan, fixed.outcome) {
        (Some(plan), Ending::Verified) => boot_words(args, &device, plan)?,
        _ => None,
    };
    if let Some((boot, text)) = &boot {
        boot.write(text).map_err(|error| failure(&error))?;
    }
    if args.json {
        show::print_json(&document(&device, &fixed, &conflicts))?;
    } else {
        terminal::print(&summary(args, &device, &fixed))?;
        if let Some((boot, _)) = &boot {
            let file = boot.file.display();
            terminal::print(&format!("It comes back when the system starts, by {file}.\n"))?;
        }
    }
    Ok(if fixed.outcome == Ending::NotVerified { Exit::Bloated } else { Exit::Healthy })
}

/// The one that was named, or that of the only default route.
pub(super) fn device(args: &FixArgs) -> Result<String, Failure> {
    if let Some(device) = &args.device {
        return Ok(device.clone());
    }
    match conflicts::default_routes(Path::new("/")).as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::input(
            "which interface? no default route leads anywhere\n  try: fathom fix DEV --server HOST (ip -br link shows them)",
        )),
        several => Err(Failure::input(format_args!(
            "which interface? default routes lead through {}\n  try: fathom fix {} --server HOST",
            several.join(", "),
            several[0]
        ))),
    }
}

/// How the server is talked to.
pub(super) fn test_config(args: &FixArgs, server: &str) -> TestConfig {
    let family = match (args.ipv4, args.ipv6) {
        (true, _) => Some(Family::V4),
        (_, true) => Some(Family::V6),
        _ => None,
    };
    TestConfig { family, token: args.token.clone(), ..TestConfig::new(server) }
}

fn config(args: &FixArgs, device: &str) -> FixConfig {
    let server = args.server.clone().unwrap_or_default();
    let given = args.up.is_some() || args.down.is_some();
    let rates = PerDirection { up: args.up, down: args.down };
    let wants = |direction: Direction| match args.only {
        Some(only) => only == direction,
        // A rate that is given says which directions are meant.
        None => !given || rates[direction].is_some(),
    };
    FixConfig {
        test: test_config(args, &server),
        place: Place::new(&args.state, device),
        shaper: args.shaper,
        framing: Framing { overhead: args.overhead, mpu: args.mpu, atm: args.atm },
        budget: Budget::new(args.budget),
        directions: PerDirection::from_fn(wants),
        rates,
        force: args.force,
        dry_run: args.dry_run,
    }
}

pub(super) fn fix_failure(error: &FixError) -> Failure {
    match error {
        FixError::Apply(error) => failure(error),
        FixError::Test(error) => crate::command::test::failure(error),
        FixError::NoKnee(..) | FixError::OutOfTrials(_) | FixError::Incomplete(_) => {
            Failure { exit: Exit::Invalid, message: error.to_string() }
        }
        FixError::Stopped => Failure::environment(error),
    }
}

/// The tests, for whoever wants to look at them or compare them later.
fn keep(args: &FixArgs, fixed: &Fixed) -> Result<(), Failure> {
    let Some(folder) = &args.results else { return Ok(()) };
    let runs = [("before.json.gz", Some(&fixed.before)), ("after.json.gz", fixed.after.as_ref())];
    for (name, run) in runs {
        if let Some(run) = run {
            fathom_store::save(&folder.join(name), run).map_err(Failure::environment)?;
        }
    }
    Ok(())
}

fn mbit(value: Rate) -> String {
    rate(value.as_bits_per_second() as f64)
}

/// What is said on the way; most events of a test are not.
fn words(device: &str, progress: &Progress<'_>) -> Option<String> {
    match progress {
        Progress::Test(_) => None,
        Progress::Baseline(diagnosis) => Some(latencies(diagnosis)),
        Progress::Recovered(words) => Some((*words).to_owned()),
        Progress::Plan(plan) => Some(format!("\n{}", show::plan(plan, &[]))),
        Progress::Step(event) => step_words(device, event),
    }
}

fn step_words(device: &str, event: &Event) -> Option<String> {
    Some(match event {
        Event::TrialStarted { .. } | Event::AttemptPrepared(_) | Event::Measuring(Purpose::Search(_)) => {
            return None;
        }
        Event::Measuring(Purpose::Baseline) => "measuring the line without a shaper".to_owned(),
        Event::Measuring(Purpose::Overhead) => {
            "measuring the line with small packets and with large ones".to_owned()
        }
        Event::Measuring(Purpose::Verification) => "measuring the line with the shaper".to_owned(),
        Event::Overhead(overhead) => overhead_words(*overhead),
        Event::SearchStarted { direction, reused_trials: 0 } => {
            format!("searching for the {direction} knee: load through a shaper at a series of rates")
        }
        Event::SearchStarted { direction, reused_trials } => {
            format!("searching for the {direction} knee: reusing {reused_trials} trials of an earlier search")
        }
        Event::TrialEnded { trial, .. } => trial_words(trial),
        Event::KneeFound { direction, knee } => knee_words(*direction, knee),
        Event::Verified(verification) => {
            let lines = verification.checks.iter().map(|check| check_words(device, check));
            lines.collect::<Vec<_>>().join("\n")
        }
        Event::AttemptRolledBack => "verification failed: rolled back".to_owned(),
    })
}

fn overhead_words(overhead: Option<MeasuredOverhead>) -> String {
    let Some(MeasuredOverhead { bytes, source }) = overhead else {
        return "  the overhead of packets beyond IP cannot be measured: sizes are counted as the interface sees them"
            .to_owned();
    };
    let by = match source {
        OverheadSource::PacketSizes => "by loads of two packet sizes",
        OverheadSource::LinkType => "as is usual with PPP",
    };
    format!("  a packet takes {bytes} bytes beyond IP, {by}")
}

fn latencies(diagnosis: &Diagnosis) -> String {
    let lines = diagnosis.phases.iter().filter_map(|phase| Some(format!("  {}", phase_words(phase)?)));
    lines.collect::<Vec<_>>().join("\n")
}

fn phase_words(phase: &PhaseSummary) -> Option<String> {
    let median = milliseconds(phase.latency?.p50.value);
    let rise = phase
        .increase_p50_s
        .map_or_else(String::new, |rise| format!(", {} above idle", milliseconds(rise.value)));
    let goodputs = [("up", phase.goodput_up_bits_per_second), ("down", phase.goodput_down_bits_per_second)];
    let goodputs =
        goodputs.iter().filter_map(|(way, goodput)| Some(format!(", {} {way}", rate((*goodput)?))));
    Some(format!("{:<5} {median}{rise}{}", phase.kind.name(), goodputs.collect::<String>()))
}

fn trial_words(trial: &Trial) -> String {
    let verdict = match (trial.is_delayed, trial.is_demanded) {
        (true, _) => "a queue behind the shaper",
        (false, true) => "no queue but the shaper's",
        (false, false) => "the load did not fill it",
    };
    format!(
        "  {:>12}  {:>8} above idle  {verdict}",
        mbit(trial.offered),
        milliseconds(trial.delay.as_secs_f64())
    )
}

fn knee_words(direction: Direction, found: &Found) -> String {
    let above =
        found.above.map_or_else(String::new, |above| format!("; with {} a queue begins", mbit(above)));
    let varies = if found.is_varying { "; the line's rate varies" } else { "" };
    format!("  {direction}: {} without a queue{above}{varies}", mbit(found.rate))
}

fn check_words(device: &str, check: &Check) -> String {
    let verdict = if check.passed { "passed" } else { "FAILED" };
    let CheckWords { what, measured, required } = CheckWords::new(device, check);
    format!("  {verdict}  {what}: {measured} ({required})")
}

fn summary(args: &FixArgs, device: &str, fixed: &Fixed) -> String {
    let state = show::state_flag(&args.state);
    match fixed.outcome {
        Ending::NotNeeded => {
            format!(
                "{device} needs no fix: the line has no more delay under load than a shaper would leave. Nothing was changed.\n"
            )
        }
        Ending::NotVerified => {
            let failures = fixed.report.verification.iter().flat_map(|verification| verification.failures());
            let list: String = failures.map(|check| check_words(device, check) + "\n").collect();
            format!(
                "\n{device} is as before: the shaper did not pass the checks, and was rolled back.\n{list}"
            )
        }
        Ending::Planned => {
            let is_searched = fixed.report.knees != PerDirection::default();
            let next = " Without it, within the hour, the trials of this search are reused.";
            format!("\nNothing was changed (--dry-run).{}\n", if is_searched { next } else { "" })
        }
        Ending::Verified => format!(
            "\n{device} is shaped and verified. The shaper stays.\n\n{}\nundo: fathom fix --undo {device}{state}\n",
            table(fixed)
        ),
    }
}

/// Before and after, a line for each load.
fn table(fixed: &Fixed) -> String {
    let Some(after) = &fixed.after else { return String::new() };
    let (before, after) = (diagnose(&fixed.before), diagnose(after));
    let mut text = format!("{:<6}{:>12}{:>12}    goodput\n", "", "before", "after");
    for phase in &after.phases {
        let earlier = before.phases.iter().find(|earlier| earlier.kind == phase.kind);
        let median = |of: Option<&PhaseSummary>| {
            of.and_then(|p| p.latency).map_or_else(|| "-".to_owned(), |l| milliseconds(l.p50.value))
        };
        text += &format!(
            "{:<6}{:>12}{:>12}    {}\n",
            phase.kind.name(),
            median(earlier),
            median(Some(phase)),
            goodputs(earlier, phase)
        );
    }
    text
}

fn goodputs(before: Option<&PhaseSummary>, after: &PhaseSummary) -> String {
    let of = |phase: &PhaseSummary| match phase.kind {
        PhaseKind::Up => phase.goodput_up_bits_per_second,
        PhaseKind::Down => phase.goodput_down_bits_per_second,
        _ => None,
    };
    match (before.and_then(of), of(after)) {
        (Some(before), Some(after)) => {
            format!("{} to {} ({})", rate(before), rate(after), percent(after / before))
        }
        _ => String::new(),
    }
}

/// The one document of `--json`.
fn document(device: &str, fixed: &Fixed, conflicts: &[conflicts::Conflict]) -> Value {
    let result = match fixed.outcome {
        Ending::NotNeeded => "not needed",
        Ending::Verified => "proven",
        Ending::NotVerified => "not proven",
        Ending::Planned => "dry run",
    };
    let about = fixed.plan.as_ref().map_or(Value::Null, fathom_shaper::about);
    let mut document = show::document(about, result, conflicts, None);
    for direction in Direction::BOTH {
        document[direction.name()] = search(fixed, direction);
    }
    document["before"] = json!(diagnose(&fixed.before).phases);
    document["after"] = json!(fixed.after.as_ref().map(|run| diagnose(run).phases));
    document["proof"] = fixed.report.verification.as_ref().map_or(Value::Null, |verification| {
        let check = |check: &Check| {
            let CheckWords { what, measured, required } = CheckWords::new(device, check);
            json!({ "what": what, "seen": measured, "wanted": required, "holds": check.passed })
        };
        verification.checks.iter().map(check).collect()
    });
    document
}

fn search(fixed: &Fixed, direction: Direction) -> Value {
    let knee = fixed.report.knees[direction];
    let trials: Vec<Value> = fixed.report.trials[direction].iter().map(fathom_fix::trial_to_json).collect();
    json!({
        "knee_bits_per_second": knee.map(|knee| knee.rate.as_bits_per_second()),
        "queue_from_bits_per_second": knee.and_then(|knee| knee.above).map(Rate::as_bits_per_second),
        "search_s": fixed.report.search_time[direction].as_secs_f64(), "trials": trials,
    })
}
