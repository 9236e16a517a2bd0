//! `fathom test`.
use crate::args::{PhaseName, TestArgs, When};
use crate::failure::{Exit, Failure, Outcome};
use crate::live::Live;
use crate::{result, signal, terminal};
use fathom_client::{Family, PhasePlan, TestConfig, TestError, estimate_cost, run_test};
use fathom_run::PhaseKind;
use fathom_units::{Duration, Rate};
use std::path::PathBuf;

/// Shortest interval of samples that the probes and this program's own load allow.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(5);

/// Runs the test and delivers its result.
pub(crate) fn run(args: &TestArgs, when: When) -> Outcome {
    result::check_names(&args.output.output)?;
    let config = config(args)?;
    let stop = signal::stop_flag()?;
    terminal::note(&cost(&config));
    let mut live = Live::new(&format!("fathom test {}", args.server), config.clock, when);
    let measured = run_test(&config, &stop, &mut |event| live.on_event(event));
    drop(live);
    let run = measured.map_err(|e| failure(&e))?;
    let mut output = args.output.clone();
    if !args.no_save && output.output.is_empty() {
        output.output.push(PathBuf::from(fathom_store::default_name("test", &run.started)));
    }
    if let Some(reason) = &run.partial {
        terminal::note(&format!("fathom test: partial result: {reason}"));
    }
    result::deliver(&run, &output, when)
}

fn config(args: &TestArgs) -> Result<TestConfig, Failure> {
    if args.sample_every < SHORTEST_INTERVAL {
        return Err(Failure::input(format_args!(
            "--sample-every {}: at least {SHORTEST_INTERVAL} (probes would measure each other)",
            args.sample_every
        )));
    }
    Ok(TestConfig {
        family: family(args),
        token: args.token.clone(),
        flows: args.flows,
        congestion_control: args.congestion_control.clone(),
        phases: args.phases.iter().map(|name| phase(*name, args.max_phase)).collect(),
        sample_every: args.sample_every,
        max_bytes: args.max_bytes,
        ..TestConfig::new(&args.server)
    })
}

/// What the test can cost, before it starts: a line's rate is not known yet, so the cost is for each Mbit/s of it.
fn cost(config: &TestConfig) -> String {
    const UNIT: Rate = Rate::from_bits_per_second(1_000_000);
    let (each, limit) = (estimate_cost(config, UNIT, UNIT), config.max_bytes);
    let limit =
        limit.map_or_else(|| "--max-bytes sets a limit".to_owned(), |limit| format!("{limit} in all"));
    format!(
        "fathom test: will move at most {} up and {} down for each Mbit/s of the line ({limit}; Ctrl-C stops)",
        each.up, each.down
    )
}

const fn family(args: &TestArgs) -> Option<Family> {
    match (args.ipv4, args.ipv6) {
        (true, _) => Some(Family::V4),
        (_, true) => Some(Family::V6),
        _ => None,
    }
}

fn phase(name: PhaseName, max: Duration) -> PhasePlan {
    let plan = PhasePlan::of(match name {
        PhaseName::Idle => PhaseKind::Idle,
        PhaseName::Down => PhaseKind::Down,
        PhaseName::Up => PhaseKind::Up,
        PhaseName::Both => PhaseKind::Both,
        PhaseName::Drain => PhaseKind::Drain,
    });
    match name {
        PhaseName::Down | PhaseName::Up | PhaseName::Both => {
            PhasePlan { min: plan.min.min(max), max, ..plan }
        }
        PhaseName::Idle | PhaseName::Drain => plan,
    }
}

/// What went wrong before anything was measured.
pub(crate) fn failure(error: &TestError) -> Failure {
    let exit = match error {
        TestError::Config(_) => Exit::Input,
        _ => Exit::Environment,
    };
    Failure { exit, message: error.to_string() }
}
