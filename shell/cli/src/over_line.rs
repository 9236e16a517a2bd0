//! A test over an emulated line: real kernel TCP, both ends on this machine.
use crate::args::When;
use crate::command::test::failure;
use crate::failure::Failure;
use crate::live::Live;
use crate::truth;
use fathom_drive::{PhasePlan, TestConfig, run_test};
use fathom_lab::{Lab, LabOptions};
use fathom_metric::{PhaseKind, Run};
use fathom_os::clock::Clock;
use fathom_scenario::{LinePlan, Plan};
use fathom_server::{Config, Server};
use fathom_units::Duration;
use std::sync::atomic::AtomicBool;

/// As long as the simulator waits before and after the load of a scenario.
const IDLE: Duration = Duration::from_secs(3);
/// The queue empties meanwhile.
const DRAIN: Duration = Duration::from_secs(2);

/// What is sent over the line.
pub(crate) struct Load {
    /// In each loaded direction.
    pub(crate) flows: u32,
    pub(crate) congestion_control: String,
    pub(crate) phases: Vec<PhasePlan>,
    /// Of the line's chance.
    pub(crate) seed: u64,
}

impl Load {
    /// The scenario's own load.
    pub(crate) fn of(plan: &Plan, seed: u64) -> Result<Load, Failure> {
        let load = plan.load.as_ref().ok_or_else(|| {
            Failure::input(format_args!(
                "{}: no [load] (the lab itself sends bulk TCP only)\n  try: fathom lab --line FILE -- COMMAND",
                plan.name
            ))
        })?;
        let kind = match (load.up_flows, load.down_flows) {
            (0, _) => PhaseKind::Down,
            (_, 0) => PhaseKind::Up,
            (up, down) if up == down => PhaseKind::Both,
            (up, down) => {
                return Err(Failure::input(format_args!(
                    "{}: the lab sends as many flows up as down, not {up} and {down}",
                    plan.name
                )));
            }
        };
        let exactly = |phase, time| PhasePlan { kind: phase, min: time, max: time };
        Ok(Load {
            flows: load.up_flows.max(load.down_flows),
            congestion_control: load.congestion_control.clone(),
            phases: vec![
                exactly(PhaseKind::Idle, IDLE),
                exactly(kind, load.duration),
                exactly(PhaseKind::Drain, DRAIN),
            ],
            seed,
        })
    }
}

/// Builds the line, tests over it, and adds what the line knows of its queues.
pub(crate) fn test_over_line(
    line: &LinePlan,
    load: &Load,
    title: &str,
    stop: &AtomicBool,
    when: When,
) -> Result<Run, Failure> {
    let clock = Clock::start();
    let congestion_control = load.congestion_control.clone();
    let options = LabOptions { congestion_control, ..LabOptions::new(clock, load.seed) };
    let lab = Lab::start(line, &options).map_err(Failure::environment)?;
    let server = lab.in_server(|| Server::start(Config::default())).map_err(Failure::environment)?;
    let _server = server.map_err(Failure::environment)?;
    let config = TestConfig {
        clock,
        flows: load.flows,
        congestion_control: load.congestion_control.clone(),
        phases: load.phases.clone(),
        ..TestConfig::new(&lab.server_address().v4.to_string())
    };
    let mut live = Live::new(title, clock, when);
    let measured = lab.in_client(|| run_test(&config, stop, &mut |event| live.on_event(event)));
    drop(live);
    let mut run = measured.map_err(Failure::environment)?.map_err(|e| failure(&e))?;
    title.clone_into(&mut run.title);
    run.facts.insert("line".to_owned(), title.to_owned());
    truth::add(&mut run, lab.finish().map_err(Failure::environment)?);
    Ok(run)
}
