//! `fathom test`.
use crate::args::{PhaseName, TestArgs, When};
use crate::failure::Outcome;
use crate::live::follow;
use crate::{result, signal, terminal};
use fathom_app::output::check_names;
use fathom_app::test;
use fathom_client::{Family, PhasePlan, TestConfig};
use fathom_run::PhaseKind;
use fathom_units::Duration;
use std::path::PathBuf;

/// Runs the test and delivers its result.
pub(crate) fn run(args: &TestArgs, when: When) -> Outcome {
    check_names(&args.output.output)?;
    let config = config(args);
    test::check(&config)?;
    let cancel = signal::cancel_token()?;
    terminal::note(&cost(&config));
    let run = test::run(&config, &cancel, &mut follow(when))?;
    let mut output = args.output.clone();
    if !args.no_save && output.output.is_empty() {
        output.output.push(PathBuf::from(fathom_store::default_name("test", &run.started)));
    }
    if let Some(reason) = &run.partial {
        terminal::note(&format!("fathom test: partial result: {}", fathom_prose::interruption(reason)));
    }
    result::deliver(&run, &output, when)
}

fn config(args: &TestArgs) -> TestConfig {
    TestConfig {
        family: family(args),
        token: args.token.clone(),
        flows: args.flows,
        congestion_control: args.congestion_control.clone(),
        phases: args.phases.iter().map(|name| phase(*name, args.max_phase)).collect(),
        sample_every: args.sample_every,
        max_bytes: args.max_bytes,
        ..TestConfig::new(&args.server)
    }
}

/// What the test can cost, before it starts: a line's rate is not known yet, so the cost is for each Mbit/s of it.
fn cost(config: &TestConfig) -> String {
    let (each, limit) = (test::cost_per_mbit(config), config.max_bytes);
    let limit =
        limit.map_or_else(|| "--max-bytes sets a limit".to_owned(), |limit| format!("{limit} in all"));
    let [up, down] = [each.up, each.down].map(|amount| fathom_text::bytes(amount.get() as f64));
    format!(
        "fathom test: will move at most {up} up and {down} down for each Mbit/s of the line ({limit}; Ctrl-C stops)"
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
