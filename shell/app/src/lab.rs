//! Runs a program behind an emulated line.
//!
//! The process must be able to create network namespaces: call `fathom_os::userns::become_root`
//! before the first thread starts.
use crate::emulated::add_report;
use crate::{AppError, VERSION, ground_truth};
pub use fathom_lab::{Addresses, CaptureOptions, QueueReport};
use fathom_lab::{Child, Lab, LabOptions, LabReport, Side};
use fathom_os::clock::{Clock, wall_now};
use fathom_os::process::ForwardedSignal;
use fathom_run::{Fact, Instrument, Run, SCHEMA_VERSION};
use fathom_scenario::LinePlan;
use fathom_server::{Config, Server};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// A request to run a program behind a line.
#[derive(Clone, Debug)]
pub struct LabRequest {
    /// Name of the line: the title of the run.
    pub name: String,
    /// The line.
    pub line: LinePlan,
    /// Congestion control at both ends, set per route.
    pub congestion_control: String,
    /// Seed of the line's random numbers.
    pub seed: u64,
    /// Packet capture options. `None` captures nothing.
    pub capture: Option<CaptureOptions>,
    /// The program at the local end, with its arguments. `FATHOM_SERVER` and `FATHOM_CLIENT` are
    /// set in its environment.
    pub program: Vec<OsString>,
    /// A program at the remote end, in addition to the server.
    pub far_program: Option<Vec<OsString>>,
    /// The settings of the run.
    pub facts: BTreeMap<Fact, String>,
}

/// Progress of a lab.
#[derive(Debug)]
pub enum LabEvent<'a> {
    /// The line and the server at its remote end are ready.
    Ready {
        /// Addresses of the local end.
        client: Addresses,
        /// Addresses of the remote end.
        server: Addresses,
    },
    /// The program has ended. These are the queue statistics.
    Queues(&'a [QueueReport]),
}

/// The result of a lab.
#[derive(Debug)]
pub struct LabOutcome {
    /// The queue statistics, without probes or phases.
    pub run: Run,
    /// Exit code of the program at the local end.
    pub exit_code: i32,
    /// The captures, if packets were captured.
    pub captures: Option<Captures>,
}

/// The captures of a lab, in a directory with `truth.json`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Captures {
    /// Number of files.
    pub files: usize,
    /// Packets that the captures lack because the disk was slower than the line.
    pub missing_packets: u64,
}

/// Time that the program has to end after a signal, before it is killed.
const GRACE: Duration = Duration::from_secs(5);
/// Time between two looks at the program and at the signals.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Creates the line, runs the program behind it, and waits for the program to end. Signals from
/// `signal`, which returns each once, are forwarded to the program; 5 s after the first it is
/// killed.
///
/// # Errors
/// If the line, the server or a program cannot be started, or if `truth.json` cannot be written.
pub fn run(
    request: &LabRequest,
    signal: &dyn Fn() -> Option<ForwardedSignal>,
    progress: &mut dyn FnMut(LabEvent<'_>),
) -> Result<LabOutcome, AppError> {
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
    let status = wait(spawn(&lab, Side::Client, &request.program)?, signal);
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
        exit_code: status.code().or(status.signal().map(|number| 128 + number)).unwrap_or(1),
        captures: captures.map(|(files, missing_packets)| Captures { files, missing_packets }),
    })
}

/// Waits for the program to end, and forwards signals to it.
fn wait(program: Child, signal: &dyn Fn() -> Option<ForwardedSignal>) -> io::Result<ExitStatus> {
    let mut killed_at = None;
    while !program.has_ended() {
        if let Some(arrived) = signal() {
            program.forward(arrived);
            killed_at.get_or_insert(Instant::now() + GRACE);
        }
        if killed_at.is_some_and(|at| Instant::now() >= at) {
            program.kill();
        }
        thread::sleep(LOOK_EVERY);
    }
    program.wait()
}

fn spawn(lab: &Lab, side: Side, program: &[OsString]) -> Result<Child, AppError> {
    let name = program.first().cloned().unwrap_or_default();
    let mut command = Command::new(&name);
    command.args(program.iter().skip(1)).env("FATHOM_SERVER", lab.server_address().v4.to_string());
    command.env("FATHOM_CLIENT", lab.client_address().v4.to_string());
    lab.spawn_command(side, command)
        .map_err(|source| AppError::Program { program: name.to_string_lossy().into_owned(), source })
}

/// The run of a lab with a program.
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
        path: None,
        history: None,
        bursts: Vec::new(),
        switch: None,
        host_traffic: Vec::new(),
        notes: Vec::new(),
    };
    add_report(&mut run, report);
    run
}
