//! Any program behind an emulated line.
//!
//! The process must be able to make network namespaces: see `fathom_os::userns::become_root`, which has to be called before
//! the first thread is started.
use crate::emulated::add_report;
use crate::{AppError, VERSION, ground_truth};
pub use fathom_lab::{Addresses, CaptureOptions, QueueReport};
use fathom_lab::{Child, Lab, LabOptions, LabReport, Side};
use fathom_os::clock::{Clock, wall_now};
use fathom_run::{Fact, Instrument, Run, SCHEMA_VERSION};
use fathom_scenario::LinePlan;
use fathom_server::{Config, Server};
use std::collections::BTreeMap;
use std::process::Command;

/// A program, the line that it runs behind, and what is recorded.
#[derive(Clone, Debug)]
pub struct LabRequest {
    /// Name of the line, for people: the run's title.
    pub name: String,
    /// The line.
    pub line: LinePlan,
    /// Congestion control of both ends' routes.
    pub congestion_control: String,
    /// Seed of the line's random numbers.
    pub seed: u64,
    /// Whether packets are captured, and where to.
    pub capture: Option<CaptureOptions>,
    /// The program on the user's side, with its arguments. Its environment has `FATHOM_SERVER` and `FATHOM_CLIENT`.
    pub program: Vec<String>,
    /// A program on the far side, next to the server.
    pub far_program: Option<Vec<String>>,
    /// What the run was made with, for people.
    pub facts: BTreeMap<Fact, String>,
}

/// What a lab reports while it exists.
#[derive(Debug)]
pub enum LabEvent<'a> {
    /// The line is there, and a server on its far side.
    Ready {
        /// Addresses of the user's side.
        client: Addresses,
        /// Addresses of the far side.
        server: Addresses,
    },
    /// The program has ended; this is what the queues did in the meantime.
    Queues(&'a [QueueReport]),
}

/// What came of a lab.
#[derive(Debug)]
pub struct LabOutcome {
    /// What the queues did: no probes, no phases.
    pub run: Run,
    /// Exit code of the program on the user's side.
    pub exit_code: i32,
    /// The captures, if packets were captured.
    pub captures: Option<Captures>,
}

/// The captures of a lab, which are in a directory with `truth.json`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Captures {
    /// Number of files.
    pub files: usize,
    /// Packets that are missing in them because the disk was slower than the line.
    pub missing_packets: u64,
}

/// Makes the line, runs the program behind it, and waits for its end.
///
/// # Errors
/// If the line, the server or a program cannot be started, or if `truth.json` cannot be written.
pub fn run(request: &LabRequest, progress: &mut dyn FnMut(LabEvent<'_>)) -> Result<LabOutcome, AppError> {
    let clock = Clock::start();
    let started = wall_now().to_string();
    let options = LabOptions {
        congestion_control: request.congestion_control.clone(),
        capture: request.capture.clone(),
        ..LabOptions::new(clock, request.seed)
    };
    let lab = Lab::start(&request.line, &options)?;
    let _server = lab.in_server(|| Server::start(Config::default()))??;
    let far = request.far_program.as_ref().map(|program| spawn(&lab, Side::Server, program)).transpose()?;
    progress(LabEvent::Ready { client: lab.client_address(), server: lab.server_address() });
    let status = spawn(&lab, Side::Client, &request.program)?.wait();
    let status = status.map_err(|source| AppError::ProgramEnd { source })?;
    drop(far);
    let report = lab.finish()?;
    progress(LabEvent::Queues(&report.queues));
    let captures = match &request.capture {
        Some(capture) => ground_truth::save(&capture.directory, &request.facts, &request.line, &report)?,
        None => None,
    };
    Ok(LabOutcome {
        run: run_of(request, started, report),
        exit_code: status.code().unwrap_or(1),
        captures: captures.map(|(files, missing_packets)| Captures { files, missing_packets }),
    })
}

fn spawn(lab: &Lab, side: Side, program: &[String]) -> Result<Child, AppError> {
    let name = program.first().cloned().unwrap_or_default();
    let mut command = Command::new(&name);
    command.args(program.iter().skip(1)).env("FATHOM_SERVER", lab.server_address().v4.to_string());
    command.env("FATHOM_CLIENT", lab.client_address().v4.to_string());
    lab.spawn_command(side, command).map_err(|source| AppError::Program { program: name, source })
}

/// The run of a lab in which some program ran.
fn run_of(request: &LabRequest, started: String, report: LabReport) -> Run {
    let mut run = Run {
        schema_version: SCHEMA_VERSION,
        tool_version: VERSION.to_owned(),
        command: "lab".to_owned(),
        started,
        title: request.name.clone(),
        host: fathom_client::host(),
        facts: request.facts.clone(),
        phases: Vec::new(),
        series: Vec::new(),
        instrument: Instrument::default(),
        partial: None,
        capture: None,
        history: None,
        notes: Vec::new(),
    };
    add_report(&mut run, report);
    run
}
