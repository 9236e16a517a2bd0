//! A test over an emulated line: real kernel TCP, both ends on this machine.
use crate::args::When;
use crate::command::test::failure;
use crate::failure::Failure;
use crate::live::Live;
use crate::truth;
use fathom_client::{Event, PhasePlan, TestConfig, run_test};
use fathom_lab::{Lab, LabOptions};
use fathom_os::clock::Clock;
use fathom_run::{Phase, PhaseKind, Run};
use fathom_scenario::{LinePlan, LoadPlan, Plan, RunPlan, WorkPlan, load_kind};
use fathom_server::{Config, Server};
use fathom_units::{Direction, Duration};
use fathom_workload::{Played, Player};
use std::sync::atomic::AtomicBool;

/// What is sent over the line.
pub(crate) struct Load {
    /// In each loaded direction, by the test itself.
    pub(crate) flows: u32,
    pub(crate) congestion_control: String,
    pub(crate) phases: Vec<PhasePlan>,
    /// Of the line's chance.
    pub(crate) seed: u64,
    /// What is sent instead of the test's own flows.
    pub(crate) played: Option<Works>,
}

/// Works, and when they are played.
pub(crate) struct Works {
    works: Vec<WorkPlan>,
    run: RunPlan,
}

impl Load {
    /// The scenario's own load and works. Bulk transfers alone, as many up as down, are a test's own.
    pub(crate) fn of(plan: &Plan, seed: u64) -> Result<Load, Failure> {
        let mut works = plan.load.as_ref().map_or_else(Vec::new, LoadPlan::works);
        works.extend(plan.works.iter().cloned());
        if works.is_empty() {
            return Err(Failure::input(format_args!(
                "{}: no [load] and no [[work]], so that there is nothing to send\n  try: fathom lab --line FILE -- COMMAND",
                plan.name
            )));
        }
        let exactly = |phase, time| PhasePlan { kind: phase, min: time, max: time };
        let (run, kind) = (plan.run, load_kind(&works));
        let phases = |loaded| {
            let all = [(PhaseKind::Idle, run.idle), (kind, loaded), (PhaseKind::Drain, run.drain)];
            let lasting = all.into_iter().filter(|(_, time)| *time > Duration::ZERO);
            lasting.map(|(phase, time)| exactly(phase, time)).collect()
        };
        let own = plan.load.as_ref().filter(|load| {
            plan.works.is_empty()
                && (load.up_flows == load.down_flows || load.up_flows.min(load.down_flows) == 0)
        });
        if let Some(load) = own {
            return Ok(Load {
                flows: load.up_flows.max(load.down_flows),
                congestion_control: load.congestion_control.clone(),
                phases: phases(load.duration),
                seed,
                played: None,
            });
        }
        if let Some(why) = fathom_workload::refusal(&works) {
            return Err(Failure::input(format_args!("{}: {why}", plan.name)));
        }
        let (congestion_control, played) = ("cubic".to_owned(), Some(Works { works, run }));
        Ok(Load { flows: 0, congestion_control, phases: phases(run.duration), seed, played })
    }
}

impl Works {
    /// A player that has entered both sides of the lab.
    fn player(&self, lab: &Lab, seed: u64, clock: Clock) -> Result<Player, Failure> {
        let seed = seed.wrapping_add(self.run.seed);
        let player = Player::new(self.works.clone(), self.run, seed, clock);
        let mut player = player.map_err(Failure::environment)?;
        let (near, far) = (lab.client_address().v4.into(), lab.server_address().v4.into());
        let entered = lab.in_client(|| player.enter(Direction::Up, near));
        entered.map_err(Failure::environment)?.map_err(Failure::environment)?;
        let entered_far = lab.in_server(|| player.enter(Direction::Down, far));
        entered_far.map_err(Failure::environment)?.map_err(Failure::environment)?;
        Ok(player)
    }
    /// Adds what came of it to the test that was made meanwhile.
    fn add(&self, run: &mut Run, played: Played) {
        run.series.extend(played.series);
        run.notes.extend(played.notes);
        let is_loaded = |phase: &&mut Phase| !matches!(phase.kind, PhaseKind::Idle | PhaseKind::Drain);
        if let Some(phase) = run.phases.iter_mut().find(is_loaded) {
            phase.load = Some(played.load);
        }
        let works = self.works.iter().map(|work| format!("{} x {}", work.flows, work.name));
        run.facts.insert("works".to_owned(), works.collect::<Vec<_>>().join(", "));
        // The test's own, of which there are none.
        run.facts.remove("flows per direction");
        run.facts.remove("congestion control asked for");
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
    let usual = TestConfig::new(&lab.server_address().v4.to_string());
    let config = TestConfig {
        clock,
        flows: load.flows,
        congestion_control: load.congestion_control.clone(),
        phases: load.phases.clone(),
        sample_every: load.played.as_ref().map_or(usual.sample_every, |works| works.run.sample_every),
        ..usual
    };
    let player = load.played.as_ref().map(|works| works.player(&lab, load.seed, clock));
    let mut player = player.transpose()?;
    let mut live = Live::new(title, clock, when);
    let mut on_event = |event: Event| {
        if let Event::PhaseStarted { kind: PhaseKind::Up | PhaseKind::Down | PhaseKind::Both, at } = &event {
            player.iter_mut().for_each(|player| player.begin(*at));
        }
        live.on_event(event);
    };
    let measured = lab.in_client(|| run_test(&config, stop, &mut on_event));
    drop(live);
    let played = player.map(Player::finish);
    let mut run = measured.map_err(Failure::environment)?.map_err(|e| failure(&e))?;
    load.played.iter().zip(played).for_each(|(works, played)| works.add(&mut run, played));
    title.clone_into(&mut run.title);
    run.facts.insert("line".to_owned(), title.to_owned());
    truth::add(&mut run, lab.finish().map_err(Failure::environment)?);
    Ok(run)
}
