//! `fathom fix --server`: the rates are searched, and the shaper stays only if it is proven.
use super::{boot_words, failure, guard_command, show};
use crate::args::FixArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::{signal, terminal};
use fathom_client::{Family, TestConfig};
use fathom_diagnose::{Diagnosis, PhaseSummary, diagnose};
use fathom_fix::{Budget, Check, FixConfig, FixError, Fixed, Outcome as Ending, Tell, fix};
use fathom_run::PhaseKind;
use fathom_shape::knee::{Found, Trial};
use fathom_shaper::{Framing, Place, defeat};
use fathom_text::{milliseconds, percent, rate};
use fathom_units::{Direction, Rate};
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
    let foreseen = defeat::foreseen(Path::new("/"), &device);
    terminal::note(&format!(
        "fathom fix: {device}, against {}: some two minutes of load on the line; Ctrl-C puts everything back",
        config.test.server
    ));
    for found in &foreseen {
        terminal::note(&format!("warning: {}\n  try: {}", found.what, found.advice));
    }
    let mut tell = |tell: Tell<'_>| {
        if let Some(words) = words(&tell) {
            terminal::note(&words);
        }
    };
    let guard = || guard_command(args, &device);
    let fixed = fix(&config, &guard, &stop, &mut tell).map_err(|error| fix_failure(&error))?;
    keep(args, &fixed)?;
    let boot = match (&fixed.plan, fixed.outcome) {
        (Some(plan), Ending::Proven) => boot_words(args, &device, plan)?,
        _ => None,
    };
    if let Some((boot, text)) = &boot {
        boot.write(text).map_err(|error| failure(&error))?;
    }
    if args.json {
        show::print_json(&document(&fixed, &foreseen))?;
    } else {
        terminal::print(&summary(args, &device, &fixed))?;
        if let Some((boot, _)) = &boot {
            let file = boot.file.display();
            terminal::print(&format!("It comes back when the system starts, by {file}.\n"))?;
        }
    }
    Ok(if fixed.outcome == Ending::NotProven { Exit::Bloated } else { Exit::Healthy })
}

/// The one that was named, or that of the only default route.
pub(super) fn device(args: &FixArgs) -> Result<String, Failure> {
    if let Some(device) = &args.device {
        return Ok(device.clone());
    }
    match defeat::default_routes(Path::new("/")).as_slice() {
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
    let wants = |direction: Direction, own: Option<Rate>| match args.only {
        Some(only) => only == direction,
        // A rate that is given says which directions are meant.
        None => !given || own.is_some(),
    };
    FixConfig {
        test: test_config(args, &server),
        place: Place::new(&args.state, device),
        rung: args.rung,
        framing: Framing { overhead: args.overhead, mpu: args.mpu, atm: args.atm },
        budget: Budget::new(args.budget),
        directions: [wants(Direction::Up, args.up), wants(Direction::Down, args.down)],
        rates: [args.up, args.down],
        force: args.force,
        dry_run: args.dry_run,
    }
}

pub(super) fn fix_failure(error: &FixError) -> Failure {
    match error {
        FixError::Apply(error) => failure(error),
        FixError::Test(error) => crate::command::test::failure(error),
        FixError::NoKnee(..) | FixError::Short(_) => {
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

/// What is said on the way; most of a test's own events are not.
fn words(tell: &Tell<'_>) -> Option<String> {
    Some(match tell {
        Tell::Event(_) | Tell::Trying(..) => return None,
        Tell::Test(what) => format!("measuring {what}"),
        Tell::Baseline(diagnosis) => latencies(diagnosis),
        Tell::Recovered(words) => (*words).to_owned(),
        Tell::Overhead(Some((bytes, by))) => {
            format!("  a packet takes {bytes} bytes beyond IP, as far as {by} can tell")
        }
        Tell::Overhead(None) => {
            "  what a packet takes beyond IP cannot be told: the size that the interface sees is taken"
                .to_owned()
        }
        Tell::Search(direction, 0) => {
            format!("searching the knee {}: load behind a shaper of one rate after the other", direction)
        }
        Tell::Search(direction, trials) => {
            format!("searching the knee {}: {trials} trials of an earlier search are taken over", direction)
        }
        Tell::Trial(_, trial) => trial_words(trial),
        Tell::Knee(direction, found) => knee_words(*direction, found),
        Tell::Plan(plan) => format!("\n{}", show::plan(plan, &[])),
        Tell::Proof(proof) => proof.checks.iter().map(check_words).collect::<Vec<_>>().join("\n"),
        Tell::Restored(_) => "not proven: everything is as it was".to_owned(),
    })
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
    format!("  {}: {} without a queue{above}{varies}", direction, mbit(found.rate))
}

fn check_words(check: &Check) -> String {
    let verdict = if check.holds { "holds" } else { "FAILS" };
    format!("  {verdict}  {}: {} ({})", check.what, check.seen, check.wanted)
}

fn summary(args: &FixArgs, device: &str, fixed: &Fixed) -> String {
    let state = show::state_flag(&args.state);
    match fixed.outcome {
        Ending::NotNeeded => {
            format!(
                "{device} needs no fix: the line has no more delay under load than a shaper would leave. Nothing was changed.\n"
            )
        }
        Ending::NotProven => {
            let failures = fixed.proof.iter().flat_map(|proof| proof.failures());
            let list: String = failures.map(|check| check_words(check) + "\n").collect();
            format!("\n{device} is as it was before: the shaper was not proven to work.\n{list}")
        }
        Ending::Planned => {
            let is_searched = fixed.knees.iter().any(Option::is_some);
            let next = " Without it, within the hour, the search is taken over from here.";
            format!("\nNothing was changed (--dry-run).{}\n", if is_searched { next } else { "" })
        }
        Ending::Proven => format!(
            "\n{device} is shaped, proven, and stays so.\n\n{}\nundo: fathom fix --undo {device}{state}\n",
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
fn document(fixed: &Fixed, foreseen: &[defeat::Defeat]) -> Value {
    let result = match fixed.outcome {
        Ending::NotNeeded => "not needed",
        Ending::Proven => "proven",
        Ending::NotProven => "not proven",
        Ending::Planned => "dry run",
    };
    let about = fixed.plan.as_ref().map_or(Value::Null, fathom_shaper::about);
    let mut document = show::document(about, result, foreseen, None);
    let search = |number: usize| {
        let trials: Vec<Value> = fixed.trials[number].iter().map(fathom_fix::of_trial).collect();
        json!({
            "knee_bits_per_second": fixed.knees[number].map(|knee| knee.rate.as_bits_per_second()),
            "queue_from_bits_per_second": fixed.knees[number].and_then(|knee| knee.above).map(Rate::as_bits_per_second),
            "search_s": fixed.search[number].as_secs_f64(), "trials": trials,
        })
    };
    document["up"] = search(0);
    document["down"] = search(1);
    document["before"] = json!(diagnose(&fixed.before).phases);
    document["after"] = json!(fixed.after.as_ref().map(|run| diagnose(run).phases));
    document["proof"] = fixed.proof.as_ref().map_or(Value::Null, |proof| {
        let check =
            |c: &Check| json!({ "what": c.what, "seen": c.seen, "wanted": c.wanted, "holds": c.holds });
        proof.checks.iter().map(check).collect()
    });
    document
}
