//! `fathom fix --auto`: the rates follow the line.
mod log;

use super::measured::{device, fix_failure, test_config};
use super::{show, watchdog_command};
use crate::args::FixArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::{signal, terminal};
use fathom_client::ReflectConfig;
use fathom_fix::auto::{AutoConfig, AutoProgress, DirectionStatus, Status, auto};
use fathom_os::clock::Clock;
use fathom_shape::autorate::{Bounds, Config};
use fathom_shaper::{Framing, Place, ShaperKind, conflicts};
use fathom_text::{milliseconds, rate};
use fathom_units::{PerDirection, Rate};
use log::{ProgressLog, cuts};
use std::path::Path;

/// Of the rate that is given, if nothing is said: what the line carries at its worst, and the most.
const LEAST: (u64, u64) = (1, 5);
const MOST: (u64, u64) = (2, 1);
/// The backlog of our own queue tells whether a delay is ours; a probe that waits in it measures the queue and not the line.
const ONE_QUEUE: &str = "warning: tbf has one short queue for all: the probes of what arrives wait in it, up to 10 ms, and it is full \
                         and empty too soon to say well whose a delay is\n  try: another --shaper, if the kernel has one (fathom fix DEV --dry-run)";
/// As many as the controller follows, and a server.
const MOST_REFLECTORS: usize = 24;

/// Shapes until it is stopped.
pub(super) fn run(args: &FixArgs) -> Outcome {
    let device = device(args)?;
    let config = config(args, &device)?;
    let stop = signal::stop_flag()?;
    for found in &conflicts::detect(Path::new("/"), &device) {
        terminal::note(&format!("warning: {}\n  try: {}", found.what, found.advice));
    }
    let mut log = ProgressLog::default();
    let mut report = |progress: AutoProgress<'_>| match progress {
        AutoProgress::Note(words) => terminal::note(&format!("{device}: {words}")),
        AutoProgress::Plan(plan) => {
            terminal::note(&format!(
                "{device}: what leaves and what arrives is shaped, by {}; Ctrl-C {}",
                plan.kind,
                if args.commit { "ends it, and the last rates stay" } else { "puts everything back" }
            ));
            if plan.kind == ShaperKind::Tbf {
                terminal::note(ONE_QUEUE);
            }
        }
        AutoProgress::Tick(status) => log.tick(status).iter().for_each(|line| terminal::note(line)),
    };
    let ended = auto(&config, watchdog_command(args, &device), &stop, &mut report);
    let status = ended.map_err(|error| fix_failure(&error))?;
    if args.json {
        return show::print_json(&status.to_json());
    }
    terminal::print(&summary(args, &status))?;
    Ok(Exit::Healthy)
}

fn config(args: &FixArgs, device: &str) -> Result<AutoConfig, Failure> {
    let hosts = args.auto.reflector.clone();
    if args.server.is_none() && hosts.is_empty() && !args.auto.passive {
        return Err(Failure::input(
            "--auto needs a delay source\n  try: --server HOST (it runs `fathom serve`), or \
             --reflector ADDR four times, hosts that answer ping, or --passive",
        ));
    }
    if hosts.len() > MOST_REFLECTORS {
        return Err(Failure::input(format_args!(
            "{} times --reflector: at most {MOST_REFLECTORS} are followed\n  try: the nearest six",
            hosts.len()
        )));
    }
    let auto = &args.auto;
    let up = bounds(args.up, auto.least_up, auto.most_up);
    let down = bounds(args.down, auto.least_down, auto.most_down);
    let rates = Config::new(PerDirection { up, down }).map_err(|error| {
        Failure::input(format_args!(
            "{error}\n  try: --least-up, --up and --most-up (or -down) in this order"
        ))
    })?;
    let server = args.server.as_deref().map(|server| test_config(args, server));
    // A server's times and all others are on one clock.
    let clock = server.as_ref().map_or_else(Clock::start, |server| server.clock);
    Ok(AutoConfig {
        place: Place::new(&args.state, device),
        shaper: args.shaper,
        framing: Framing { overhead: args.overhead, mpu: args.mpu, atm: args.atm },
        rates,
        reflectors: ReflectConfig { server, hosts, clock },
        passive: auto.passive,
        duration: auto.duration,
        commit: args.commit,
        metrics: auto.metrics,
    })
}

fn bounds(start: Option<Rate>, least: Option<Rate>, most: Option<Rate>) -> Bounds {
    let start = start.unwrap_or_default();
    let share = |(part, of): (u64, u64)| {
        Rate::from_bits_per_second(start.as_bits_per_second().saturating_mul(part) / of)
    };
    Bounds { min: least.unwrap_or_else(|| share(LEAST)), start, max: most.unwrap_or_else(|| share(MOST)) }
}

fn summary(args: &FixArgs, status: &Status) -> String {
    let device = &status.device;
    let mut text = String::new();
    for (name, way) in status.directions.iter() {
        text += &format!("{name:<5} {}\n", direction(way));
    }
    let state = show::state_flag(&args.state);
    if args.commit {
        text + &format!("{device} stays shaped at these rates.\nundo: fathom fix --undo {device}{state}\n")
    } else {
        text + &format!("{device} is as it was before.\n")
    }
}

fn direction(way: &DirectionStatus) -> String {
    let delay = way.delay_s.map_or_else(|| "unknown".to_owned(), |delay| milliseconds(delay.max(0.0)));
    let now = rate(way.rate.as_bits_per_second() as f64);
    format!("{now} at the end, {} cuts; delay beyond our queue {delay} above the usual", cuts(way))
}
