//! Analyzes captures: their flows and queues, the path between several captures, and the formats of
//! other tools.
mod exports;
mod input;
mod pass;
mod path;
#[cfg(target_os = "linux")]
mod programs;
mod read;

use crate::{AppError, CancelToken, VERSION};
use exports::Extras;
use fathom_bottleneck::Queues;
use fathom_capture::{Anonymizer, LinkType, dissect};
use fathom_capture_source::ReadFault;
use fathom_diagnose::diagnose;
use fathom_flow::{Flows, Tracer};
use fathom_run::{CaptureDefect, Interruption, Run};
use fathom_units::{Duration, WallTime};
use input::Input;
use pass::pass;
use path::PathOf;
use read::{Read, bounds, read};
use std::path::{Path, PathBuf};

/// The source of packets.
#[derive(Clone, Debug)]
pub enum CaptureInput {
    /// Captures of the same path. `-` is standard input. The diagnosis is that of the first
    /// capture.
    Files(Vec<PathBuf>),
    /// An interface. The capture ends when it is cancelled or the time is over.
    Interface {
        /// Name of the interface. `any` is all interfaces.
        name: String,
        /// Bytes to capture of each frame.
        snaplen: u32,
        /// The duration.
        duration: Option<Duration>,
    },
}

/// A request to analyze captures.
#[derive(Clone, Debug)]
pub struct TraceRequest {
    /// The captures.
    pub input: CaptureInput,
    /// Whether all captures share one clock.
    pub is_one_clock: bool,
    /// Analysis threads. `None` selects the number automatically. The result does not depend on it.
    pub threads: Option<u8>,
    /// Files that need every packet of chosen flows.
    pub exports: Exports,
    /// Other files that the caller will write. None of them may be an input.
    pub outputs: Vec<PathBuf>,
}

/// Files that need every packet of chosen flows.
#[derive(Clone, Default, Debug)]
pub struct Exports {
    /// Interactive pages.
    pub pages: Vec<PathBuf>,
    /// Formats of other tools.
    pub others: Vec<Export>,
    /// Numbers of the flows, from 1. If empty, the largest flows.
    pub flows: Vec<u32>,
}

/// A file or directory in the format of another tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// The format.
    pub form: ExportForm,
    /// The file, or the directory.
    pub path: PathBuf,
}

/// Formats of other tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExportForm {
    /// Graphs for xplot: a directory.
    Xplot,
    /// The table of tcptrace.
    Tcptrace,
    /// The log of Tstat.
    Tstat,
    /// The lines of pping.
    Pping,
    /// qlog: a directory.
    Qlog,
}

impl Exports {
    /// The paths of all exports.
    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.pages.iter().chain(self.others.iter().map(|export| &export.path))
    }
}

/// The result of an analysis.
pub struct Trace {
    /// The result.
    pub run: Run,
    input: Input,
    flows: Flows,
    queues: Queues,
    extras: Extras,
}

/// The result of an anonymized copy.
#[derive(Debug)]
pub struct Anonymized {
    /// Frames in the copy.
    pub frames: u64,
    /// Name of the original.
    pub name: String,
    /// Why the original could not be read to its end.
    pub trouble: Option<ReadFault>,
}

impl TraceRequest {
    fn files(&self) -> &[PathBuf] {
        match &self.input {
            CaptureInput::Files(files) => files,
            CaptureInput::Interface { .. } => &[],
        }
    }
    /// Checks that no output overwrites an input, and that the captures can be opened.
    fn check(&self) -> Result<(), AppError> {
        let files = self.files();
        if files.iter().filter(|file| input::is_stdin(file)).count() > 1 {
            return Err(AppError::SeveralStdin);
        }
        // Checked before the first capture is read, which can take long.
        for file in files.iter().skip(1).filter(|file| !input::is_stdin(file)) {
            file.metadata().map_err(|source| AppError::CannotOpen { path: file.clone(), source })?;
        }
        let mut into = self.outputs.iter().chain(self.exports.paths());
        match into.find(|path| files.iter().any(|file| is_same(file, path))) {
            Some(path) => Err(AppError::WouldOverwrite { path: path.clone() }),
            None => Ok(()),
        }
    }
}

fn is_same(file: &Path, other: &Path) -> bool {
    file.canonicalize().is_ok_and(|file| other.canonicalize().is_ok_and(|other| file == other))
}

/// Reads the captures and finds their flows and queues. If the reading of a file is cancelled, the
/// run is partial.
///
/// # Errors
/// If a capture cannot be read, or an output would overwrite one.
pub fn analyze(request: &TraceRequest, cancel: &CancelToken) -> Result<Trace, AppError> {
    request.check()?;
    let extras = Extras::new(&request.exports, &request.input)?;
    let mut input = Input::of(&request.input, cancel)?;
    let mut path = PathOf::new(request.files(), request.is_one_clock);
    #[cfg(target_os = "linux")]
    let observer = programs::observe(&request.input);
    let Read { source, first_at, flows, queues } = read(&mut input, &mut path, request.threads)?;
    let sources = std::iter::once(Ok(source)).chain(path.read_others(cancel)).collect::<Result<_, _>>()?;
    let mut run = fathom_capture_run::run(sources, &flows, &queues);
    VERSION.clone_into(&mut run.tool_version);
    run.started = WallTime(first_at.max(0) as u64).to_string();
    run.host = fathom_client::host();
    path.add_to(&mut run)?;
    #[cfg(target_os = "linux")]
    observer.into_iter().for_each(|observer| programs::name(&mut run, observer));
    // Ctrl-C is the normal end of a live capture and of a pipe. It interrupts only a file.
    let is_file = request.files().first().is_some_and(|file| !input::is_stdin(file));
    run.partial = if is_file && cancel.is_cancelled() { Some(Interruption::Stopped) } else { unread(&run) };
    Ok(Trace { run, input, flows, queues, extras })
}

/// Why a capture could not be read to its end, if one could not.
fn unread(run: &Run) -> Option<Interruption> {
    let mut sources = run.capture.iter().flat_map(|capture| &capture.sources);
    sources.find_map(|source| {
        let message = source.defects.iter().find_map(|defect| match defect {
            CaptureDefect::Unreadable { message } => Some(message.clone()),
            _ => None,
        })?;
        Some(Interruption::CaptureUnreadable { capture: source.name.clone(), message })
    })
}

impl Trace {
    /// Writes the exports, in a second pass over the capture. Returns their paths.
    ///
    /// # Errors
    /// If a flow does not exist, the capture cannot be read again, or a file cannot be written.
    pub fn write_exports(&mut self) -> Result<Vec<PathBuf>, AppError> {
        if self.extras.is_empty() {
            return Ok(Vec::new());
        }
        let Trace { run, input, flows, queues, extras } = self;
        let mut tracer = Tracer::second_pass(extras.sinks(flows)?, bounds(), flows);
        pass(input, |times, packet| tracer.packet(times, packet))?;
        let (_, sinks) = tracer.finish();
        extras.write(sinks, flows, |recorder| fathom_trace_page::page(recorder, queues, run, &diagnose(run)))
    }
}

/// Writes a copy of a capture that can be shared: only headers, with other addresses.
///
/// # Errors
/// If the capture cannot be read, or the copy cannot be written.
pub fn anonymize(request: &TraceRequest, into: &Path, cancel: &CancelToken) -> Result<Anonymized, AppError> {
    request.check()?;
    let mut input = Input::of(&request.input, cancel)?;
    let key = random_key()?;
    let mut anonymizer = None;
    let mut file = None;
    let mut bytes = Vec::new();
    let mut result = Ok(());
    let mut frames = 0_u64;
    let ending = input.for_each(|_, frame| {
        let found = dissect(frame.link, frame.original_len, frame.bytes);
        let anonymizer = anonymizer.get_or_insert_with(|| {
            let new = Anonymizer::new(key, frame.link);
            bytes.extend(new.header());
            new
        });
        anonymizer.write(frame, &found, &mut bytes);
        frames += 1;
        if result.is_ok() {
            result = exports::append(&mut file, into, &bytes);
        }
        bytes.clear();
    })?;
    // A capture without frames still has a header.
    if anonymizer.is_none() {
        bytes.extend(Anonymizer::new(key, LinkType::RAW).header());
    }
    let written =
        result.and_then(|()| exports::append(&mut file, into, &bytes)).and_then(|()| exports::flush(file));
    written.map_err(|error| exports::unwritten(into, &error))?;
    Ok(Anonymized { frames, name: input.name(), trouble: ending.trouble })
}

/// A random key. It is not stored.
fn random_key() -> Result<[u8; 16], AppError> {
    let mut key = [0; 16];
    getrandom::fill(&mut key).map_err(|error| AppError::NoRandomness(error.to_string()))?;
    Ok(key)
}
