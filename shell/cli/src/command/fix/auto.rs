//! `fathom fix --auto`: adjusts the rates continuously.
use super::{framing, note, show, test_config, watchdog_command};
use crate::args::FixArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::signal;
use crate::terminal::{self, Console, warn};
use fathom_app::AppError;
use fathom_app::fix::{AutorateRequest, Autorated, FixFailure, FixProgress, ProgressLog, autorate, cuts};
use fathom_fix::auto::{AutoConfig, DirectionStatus, ReflectConfig};
use fathom_os::clock::Clock;
use fathom_shape::autorate::{Bounds, Config};
use fathom_shaper::{Place, Plan, ShaperKind};
use fathom_text::{milliseconds, rate};
use fathom_units::PerDirection;

/// The backlog of our own queue shows whether a delay is ours. A probe that waits in it measures
/// the queue instead of the line.
const ONE_QUEUE: &str = "warning: tbf has one short queue for all packets. Ingress probes wait in it for up to 10 ms, and its \
                         backlog changes too fast to show whether a delay is ours.\n  try: another --shaper, if the kernel has one (fathom fix DEV --dry-run)";

/// Shapes until Ctrl-C or the end of `--duration`.
pub(super) fn run(args: &FixArgs, device: &str, console: Console) -> Outcome {
    let config = config(args, device)?;
    let watchdog = || watchdog_command(args, device);
    let mut log = ProgressLog::default();
    let mut report = |progress: FixProgress<'_>| match progress {
        FixProgress::Plan(plan) => note_plan(args, plan, console),
        FixProgress::Tick(status) => log.tick(status).iter().for_each(|line| console.note(line)),
        other => note(device, &other, console),
    };
    let request = AutorateRequest { config, watchdog: &watchdog };
    let ended = autorate(&request, &signal::cancel_token()?, &mut report)?;
    if args.json {
        return show::print_json(&ended.result);
    }
    terminal::print(&if console.is_quiet() {
        format!("{}\n", ended.result.headline)
    } else {
        summary(args, device, &ended)
    })?;
    Ok(Exit::Healthy)
}

fn note_plan(args: &FixArgs, plan: &Plan, console: Console) {
    console.note(&format!(
        "{}: shaping egress and ingress with {}; Ctrl-C {}",
        plan.device,
        plan.kind,
        if args.commit { "stops and keeps the last rates" } else { "rolls back" }
    ));
    if plan.kind == ShaperKind::Tbf {
        warn(ONE_QUEUE);
    }
}

fn config(args: &FixArgs, device: &str) -> Result<AutoConfig, Failure> {
    let auto = &args.auto;
    let up = Bounds::around(args.up.unwrap_or_default(), auto.least_up, auto.most_up);
    let down = Bounds::around(args.down.unwrap_or_default(), auto.least_down, auto.most_down);
    let rates =
        Config::new(PerDirection { up, down }).map_err(|error| AppError::from(FixFailure::Bounds(error)))?;
    let server = args.server.as_deref().map(|server| test_config(args, server)).transpose()?;
    // The delays of all sources are on one clock, that of the server if there is one.
    let clock = server.as_ref().map_or_else(Clock::start, |server| server.clock);
    Ok(AutoConfig {
        place: Place::new(&args.state, device),
        shaper: args.shaper,
        framing: framing(args),
        round_trip: args.rtt,
        rates,
        reflectors: ReflectConfig { server, hosts: auto.reflector.clone(), clock },
        passive: auto.passive,
        duration: auto.duration,
        commit: args.commit,
        metrics: auto.metrics,
    })
}

fn summary(args: &FixArgs, device: &str, ended: &Autorated) -> String {
    let headline = &ended.result.headline;
    let row = |(name, one): (_, &DirectionStatus)| format!("{name:<5} {}\n", direction(one));
    let rows: String = ended.status.directions.iter().map(row).collect();
    let undo = if args.commit { show::undo_line(device, &args.state) } else { String::new() };
    format!("{rows}{headline}\n{undo}")
}

fn direction(status: &DirectionStatus) -> String {
    let delay = status.delay_s.map_or_else(|| "unknown".to_owned(), |delay| milliseconds(delay.max(0.0)));
    let now = rate(status.rate.as_bits_per_second() as f64);
    format!("{now} at the end, {} cuts; delay beyond our queue {delay} above its baseline", cuts(status))
}
