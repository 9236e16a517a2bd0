//! A test over an emulated line: real kernel TCP, both ends on this machine.
//!
//! The process must be able to create network namespaces: call `fathom_os::userns::become_root`
//! before the first thread starts.
use crate::{AppError, CancelToken, MeasureEvent};
use fathom_client::{Event, PhasePlan, TestConfig, run_test};
use fathom_lab::workload::{Played, Player};
use fathom_lab::{Lab, LabOptions, LabReport};
use fathom_os::clock::Clock;
use fathom_run::{Fact, Phase, PhaseKind, Run};
use fathom_scenario::{LinePlan, LoadPlan, Plan, RunPlan, WorkloadPlan, load_kind};
use fathom_server::{Config, Server};
use fathom_units::{Direction, Duration};

/// A request for a test over an emulated line.
#[derive(Clone, Debug)]
pub struct EmulatedTest {
    /// The line.
    pub line: LinePlan,
    /// The load.
    pub load: Load,
    /// Title of the measurement.
    pub title: String,
    /// The command that the run records: `demo` or `lab`.
    pub command: &'static str,
}

/// The load of the line.
#[derive(Clone, Debug)]
pub struct Load {
    /// Flows of the test itself in each loaded direction.
    pub flows: u32,
    /// Congestion control at both ends.
    pub congestion_control: String,
    /// Phases of the test.
    pub phases: Vec<PhasePlan>,
    /// Seed of the line's random numbers.
    pub seed: u64,
    /// Workloads that replace the flows of the test.
    pub workloads: Option<Workloads>,
}

/// Workloads, and when they run.
#[derive(Clone, Debug)]
pub struct Workloads {
    workloads: Vec<WorkloadPlan>,
    run: RunPlan,
}

impl Load {
    /// The load and workloads of a scenario. If the scenario has only bulk transfers, in one
    /// direction or equally many in both, the test sends them itself.
    ///
    /// # Errors
    /// If the scenario sends nothing, or has a workload that only the simulator has.
    pub fn of(plan: &Plan, seed: u64) -> Result<Load, AppError> {
        let mut workloads = plan.load.as_ref().map_or_else(Vec::new, LoadPlan::workloads);
        workloads.extend(plan.workloads.iter().cloned());
        if workloads.is_empty() {
            return Err(AppError::NothingToSend { scenario: plan.name.clone() });
        }
        let exactly = |phase, time| PhasePlan { kind: phase, min: time, max: time };
        let (run, kind) = (plan.run, load_kind(&workloads));
        let phases = |loaded| {
            let all = [(PhaseKind::Idle, run.idle), (kind, loaded), (PhaseKind::Drain, run.drain)];
            let lasting = all.into_iter().filter(|(_, time)| *time > Duration::ZERO);
            lasting.map(|(phase, time)| exactly(phase, time)).collect()
        };
        let own = plan.load.as_ref().filter(|load| {
            plan.workloads.is_empty()
                && (load.up_flows == load.down_flows || load.up_flows.min(load.down_flows) == 0)
        });
        if let Some(load) = own {
            return Ok(Load {
                flows: load.up_flows.max(load.down_flows),
                congestion_control: load.congestion_control.clone(),
                phases: phases(load.duration),
                seed,
                workloads: None,
            });
        }
        if let Some(why) = fathom_lab::workload::refusal(&workloads) {
            return Err(AppError::Unplayable { scenario: plan.name.clone(), why });
        }
        let (congestion_control, workloads) = ("cubic".to_owned(), Some(Workloads { workloads, run }));
        Ok(Load { flows: 0, congestion_control, phases: phases(run.duration), seed, workloads })
    }
}

impl Workloads {
    /// A player in the network namespaces of both ends of the lab.
    fn player(&self, lab: &Lab, seed: u64, clock: Clock) -> Result<Player, AppError> {
        let seed = seed.wrapping_add(self.run.seed);
        let player = Player::new(self.workloads.clone(), self.run, seed, clock);
        let mut player = player.map_err(AppError::Workload)?;
        let (near, far) = (lab.client_address().v4.into(), lab.server_address().v4.into());
        lab.in_client(|| player.enter(Direction::Up, near))?.map_err(AppError::Workload)?;
        lab.in_server(|| player.enter(Direction::Down, far))?.map_err(AppError::Workload)?;
        Ok(player)
    }
    /// Adds the results of the workloads to the run of the simultaneous test.
    fn add(&self, run: &mut Run, played: Played) {
        run.series.extend(played.series);
        run.notes.extend(played.notes);
        let is_loaded = |phase: &&mut Phase| !matches!(phase.kind, PhaseKind::Idle | PhaseKind::Drain);
        if let Some(phase) = run.phases.iter_mut().find(is_loaded) {
            phase.load = Some(played.load);
        }
        let workloads =
            self.workloads.iter().map(|workload| format!("{} x {}", workload.flows, workload.name));
        run.facts.insert(Fact::Workloads, workloads.collect::<Vec<_>>().join(", "));
    }
}

/// Builds the line, runs the test, and adds the queue statistics of the line.
///
/// # Errors
/// If the line, the server or the workloads cannot be started, or the test measures nothing.
pub fn measure(
    request: &EmulatedTest,
    cancel: &CancelToken,
    progress: &mut (dyn FnMut(MeasureEvent<'_>) + Send),
) -> Result<Run, AppError> {
    let (load, clock) = (&request.load, Clock::start());
    let congestion_control = load.congestion_control.clone();
    let options = LabOptions { congestion_control, ..LabOptions::new(clock, load.seed) };
    let lab = Lab::start(&request.line, &options)?;
    let _server = lab.in_server(|| Server::start(Config::default()))??;
    let usual = TestConfig::new(&lab.server_address().v4.to_string());
    let config = TestConfig {
        clock,
        flows: load.flows,
        congestion_control: load.congestion_control.clone(),
        phases: load.phases.clone(),
        sample_every: load
            .workloads
            .as_ref()
            .map_or(usual.sample_every, |workloads| workloads.run.sample_every),
        ..usual
    };
    let player = load.workloads.as_ref().map(|workloads| workloads.player(&lab, load.seed, clock));
    let mut player = player.transpose()?;
    progress(MeasureEvent::Started { title: &request.title, clock });
    let mut on_event = |event: Event| {
        if let Event::PhaseStarted { kind: PhaseKind::Up | PhaseKind::Down | PhaseKind::Both, at } = &event {
            player.iter_mut().for_each(|player| player.begin(*at));
        }
        progress(MeasureEvent::Test(event));
    };
    let measured = lab.in_client(|| run_test(&config, cancel.flag(), &mut on_event));
    progress(MeasureEvent::Ended);
    let played = player.map(Player::finish);
    let mut run = measured??;
    load.workloads.iter().zip(played).for_each(|(workloads, played)| workloads.add(&mut run, played));
    run.title.clone_from(&request.title);
    request.command.clone_into(&mut run.command);
    run.facts.insert(Fact::Line, request.title.clone());
    add_report(&mut run, lab.finish()?);
    Ok(run)
}

/// Adds the queue statistics of the line to a run.
pub(crate) fn add_report(run: &mut Run, report: LabReport) {
    run.series.extend(report.series);
    run.notes.extend(report.notes);
    run.instrument.line_lateness = Some(report.line_lateness);
}
