//! Errors of the use cases, and their exit classes.
#[cfg(any(feature = "host", feature = "analysis"))]
mod command;

use crate::output;
use fathom_client::TestError;
#[cfg(feature = "lab")]
use fathom_lab::LabError;
use fathom_scenario::{BUILTIN_NAMES, ScenarioError};
use fathom_server::ServerError;
use fathom_store::StoreError;
use fathom_units::Duration;
use std::path::PathBuf;
use std::{fmt, io};

#[cfg(any(feature = "host", feature = "analysis"))]
pub use command::CommandError;

/// Without emulated lines there are no such errors.
#[cfg(not(feature = "lab"))]
type LabError = core::convert::Infallible;

/// How a use case ended. The numbers are the exit codes of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExitClass {
    /// Completed, and no problem found.
    Healthy = 0,
    /// Completed, and a problem found.
    Bloated = 1,
    /// The request or one of its files is wrong.
    Input = 2,
    /// The environment prevents a complete result.
    Environment = 3,
    /// The measurement is invalid.
    Invalid = 4,
    /// Completed, but the data shows neither good nor bad latency.
    NoResult = 5,
}

impl ExitClass {
    /// All classes, in the order of their numbers.
    pub const ALL: [ExitClass; 6] = [
        ExitClass::Healthy,
        ExitClass::Bloated,
        ExitClass::Input,
        ExitClass::Environment,
        ExitClass::Invalid,
        ExitClass::NoResult,
    ];
    /// Orders the classes of several results: a problem that was found counts more than none to
    /// judge.
    #[must_use]
    pub const fn severity(self) -> u8 {
        match self {
            ExitClass::Healthy => 0,
            ExitClass::NoResult => 1,
            worse => 1 + worse as u8,
        }
    }
    /// The meaning of the exit code, for documentation.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            ExitClass::Healthy => "Completed, and no problem found",
            ExitClass::Bloated => "Completed, and a problem found: bufferbloat, or a failed check",
            ExitClass::Input => "Wrong arguments, or a wrong input file",
            ExitClass::Environment => {
                "No permission, missing kernel feature, unreachable host, or interrupted"
            }
            ExitClass::Invalid => "Invalid measurement: this computer was too busy to measure",
            ExitClass::NoResult => "Completed without a result: the data shows neither good nor bad latency",
        }
    }
}

/// Number of known names that an error lists.
#[cfg(feature = "analysis")]
const MANY: usize = 12;

/// Why a use case has no result. `Display` names the object, the value and the limit.
#[derive(Debug)]
pub enum AppError {
    /// An error of a command that `make demo` does not build.
    #[cfg(any(feature = "host", feature = "analysis"))]
    Command(CommandError),
    /// No built-in line has this name.
    UnknownLine {
        /// The name.
        name: String,
        /// The known name nearest to it.
        closest: Option<&'static str>,
    },
    /// A file of the request cannot be read.
    Unreadable {
        /// The file, as given.
        name: String,
        /// The system error.
        source: io::Error,
    },
    /// A scenario is not valid.
    Scenario(ScenarioError),
    /// A scenario has neither a load nor workloads.
    NothingToSend {
        /// The scenario's name.
        scenario: String,
    },
    /// A scenario has a workload that only the simulator has.
    Unplayable {
        /// The scenario's name.
        scenario: String,
        /// The workload and the reason.
        why: String,
    },
    /// A name of the request is unknown.
    NoSuch {
        /// The kind of object that the name should denote.
        object: &'static str,
        /// The name.
        name: String,
        /// The nearest known name, or the known names.
        hint: String,
    },
    /// The emulated line could not be created or failed.
    Lab(LabError),
    /// A program inside a lab could not be started.
    Program {
        /// The program.
        program: String,
        /// The reason.
        source: LabError,
    },
    /// The exit status of a program inside a lab is unknown.
    ProgramEnd {
        /// The system error.
        source: io::Error,
    },
    /// The server of a lab could not be started.
    Server(ServerError),
    /// The workloads of a scenario could not be started.
    Workload(io::Error),
    /// The test did not measure anything.
    Test(TestError),
    /// The sample interval is too short.
    SampleInterval {
        /// The interval.
        interval: Duration,
        /// The minimum.
        min: Duration,
    },
    /// The interval of probes without load is too short.
    ProbeInterval {
        /// The interval.
        interval: Duration,
        /// The minimum.
        min: Duration,
    },
    /// The user's settings cannot be read or written.
    Settings {
        /// The file.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// A result cannot be read.
    Load(StoreError),
    /// A result cannot be written.
    Save(StoreError),
    /// `truth.json` cannot be written.
    Truth {
        /// The file.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// A file cannot be written.
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The extension of a file name is unknown.
    Format {
        /// The file.
        path: PathBuf,
    },
    /// The directory of an output file does not exist.
    NoDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// A format holds one run, but there are several.
    SeveralRuns {
        /// The file.
        path: PathBuf,
        /// Number of runs.
        runs: usize,
    },
    /// No line can be fitted to a result.
    NoFit {
        /// The file of the result.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The queue to try on a fitted line is not valid.
    Trial {
        /// The text of the argument.
        text: String,
        /// The reason.
        why: String,
    },
    /// The direction to load was not loaded when the result was measured.
    NotLoaded,
    /// A sweep has more cells than a table can hold.
    TooManyCells {
        /// The limit.
        max: u64,
    },
    /// Neither a capture nor an interface is given.
    NothingToRead,
    /// Standard input is given as more than one capture.
    SeveralStdin,
    /// A capture cannot be opened.
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// An output file would overwrite an input file.
    WouldOverwrite {
        /// The file.
        path: PathBuf,
    },
    /// A page and exports need a file, because they read the capture a second time.
    NeedsFile,
    /// Captures are not of one path.
    CapturePath(String),
    /// A capture has no flow of this number.
    NoFlow {
        /// The number.
        number: u32,
        /// Number of flows in the capture.
        count: usize,
    },
    /// A file could not be written completely.
    CutShort {
        /// The file.
        path: PathBuf,
    },
    /// The system gives no random numbers.
    NoRandomness(String),
    /// The configuration of a watch has an error. The text names its place.
    WatchPlan(String),
    /// A gateway, an engine or an identity of a fleet, with the reason.
    Fleet(String),
    /// This process may not send the probes of a watch.
    NotPermitted(String),
    /// The threads of a watch could not be started.
    Monitor(String),
    /// A history cannot be opened, read or written. The text is the reason.
    History(String),
    /// Neither `XDG_STATE_HOME` nor `HOME` is set.
    NoStateDirectory,
    /// The configuration of another program has no target that a watch can probe.
    NothingToWatch {
        /// The configuration.
        file: String,
    },
    /// A file exists and has other content.
    OtherContent {
        /// The file.
        path: PathBuf,
    },
    /// The databases of another program cannot be found.
    NoDatabases {
        /// The directory.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// A directory for result files cannot be created.
    CannotMakeDirectory {
        /// The directory.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// A reloaded plan has a receiver that this process cannot notify.
    ReceiverRunsProgram {
        /// The receiver's name.
        receiver: String,
    },
}

impl AppError {
    /// The error of a name that is not among the `known` ones.
    #[cfg(feature = "analysis")]
    #[must_use]
    pub fn no_such(object: &'static str, name: &str, known: &[&str]) -> Self {
        let hint = match (fathom_text::nearest(name, known), known.len()) {
            (Some(near), _) => format!("did you mean \"{near}\"?"),
            (None, 0) => "there is none".to_owned(),
            (None, 1..=MANY) => format!("known: {}", known.join(", ")),
            (None, count) => format!("known: {}, and {} more", known[..MANY].join(", "), count - MANY),
        };
        AppError::NoSuch { object, name: name.to_owned(), hint }
    }
    /// The error of another crate that needs no further words.
    const fn cause(&self) -> Option<&dyn fmt::Display> {
        Some(match self {
            #[cfg(any(feature = "host", feature = "analysis"))]
            AppError::Command(error) => error,
            AppError::Scenario(error) => error,
            AppError::Lab(error) => error,
            AppError::ProgramEnd { source } | AppError::Workload(source) => source,
            AppError::Server(error) => error,
            AppError::Test(error) => error,
            AppError::Load(error) | AppError::Save(error) => error,
            AppError::CapturePath(text)
            | AppError::NoRandomness(text)
            | AppError::WatchPlan(text)
            | AppError::Fleet(text)
            | AppError::NotPermitted(text)
            | AppError::Monitor(text)
            | AppError::History(text) => text,
            _ => return None,
        })
    }
    /// The exit class of the error.
    #[must_use]
    pub fn class(&self) -> ExitClass {
        match self {
            #[cfg(any(feature = "host", feature = "analysis"))]
            AppError::Command(error) => error.class(),
            AppError::CannotOpen { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                ExitClass::Input
            }
            AppError::Lab(_)
            | AppError::Program { .. }
            | AppError::ProgramEnd { .. }
            | AppError::Server(_)
            | AppError::Workload(_)
            | AppError::Save(_)
            | AppError::Truth { .. }
            | AppError::Unwritable { .. }
            | AppError::CannotOpen { .. }
            | AppError::CutShort { .. }
            | AppError::NoRandomness(_)
            | AppError::NotPermitted(_)
            | AppError::Monitor(_)
            | AppError::History(_)
            | AppError::NoStateDirectory
            | AppError::CannotMakeDirectory { .. }
            | AppError::Settings { .. }
            | AppError::ReceiverRunsProgram { .. }
            | AppError::Fleet(_) => ExitClass::Environment,
            AppError::Test(error) if !matches!(error, TestError::Config(_)) => ExitClass::Environment,
            _ => ExitClass::Input,
        }
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let AppError::Test(error @ TestError::Lost(_, why)) = self {
            return write!(f, "{error}: {}", fathom_prose::interruption(why));
        }
        match self.cause() {
            Some(cause) => cause.fmt(f),
            None => self.describe(f),
        }
    }
}

impl AppError {
    /// Writes an error of this crate.
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AppError::UnknownLine { name, .. } => {
                write!(f, "unknown built-in line {name:?} (known: {})", BUILTIN_NAMES.join(", "))
            }
            AppError::Unreadable { name, source } => write!(f, "cannot read {name}: {source}"),
            AppError::NothingToSend { scenario } => {
                write!(f, "{scenario}: no [load] and no [[workload]]: nothing to send")
            }
            AppError::Unplayable { scenario, why } => write!(f, "{scenario}: {why}"),
            AppError::NoSuch { object, name, hint } => {
                write!(f, "unknown {object} {name:?} ({hint})")
            }
            AppError::Program { program, source } => write!(f, "{program:?}: {source}"),
            AppError::SampleInterval { interval, min } | AppError::ProbeInterval { interval, min } => {
                write!(f, "{interval} is too short: at least {min} (closer probes measure each other)")
            }
            AppError::Settings { path, source } => write!(f, "{}: {source}", path.display()),
            AppError::Truth { path, source } => write!(f, "cannot write {}: {source}", path.display()),
            AppError::Unwritable { path, reason } => write!(f, "cannot write {}: {reason}", path.display()),
            AppError::Format { path } => {
                write!(f, "{}: unknown extension (known: {})", path.display(), output::extensions())
            }
            AppError::NoDirectory { path } => write!(f, "{}: no such directory", path.display()),
            AppError::SeveralRuns { path, runs } => {
                write!(f, "{}: this format holds 1 result, not {runs}", path.display())
            }
            AppError::NoFit { path, why } => {
                write!(f, "{}: cannot fit a line to this result: {why}", path.display())
            }
            AppError::Trial { text, why } => write!(f, "\"{text}\": {why}"),
            AppError::NotLoaded => f.write_str("the result has no load in the direction to simulate"),
            AppError::TooManyCells { max } => write!(f, "the sweep has more cells than the limit of {max}"),
            AppError::NothingToRead => f.write_str("no capture file and no interface given"),
            AppError::SeveralStdin => f.write_str("standard input (-) is given more than once"),
            AppError::CannotOpen { path, source } => {
                write!(f, "cannot open {}: {source}", path.display())
            }
            AppError::WouldOverwrite { path } => {
                write!(f, "{}: the output would overwrite an input", path.display())
            }
            AppError::NeedsFile => f.write_str("a page and exports need a file: they read the capture twice"),
            AppError::NoFlow { number, count } => {
                write!(f, "there is no flow {number}: the capture has flows 1 to {count}")
            }
            AppError::CutShort { path } => {
                write!(f, "{}: incomplete: is the disk full?", path.display())
            }
            AppError::NoStateDirectory => {
                f.write_str("no directory for the history: XDG_STATE_HOME and HOME are unset")
            }
            AppError::NothingToWatch { file } => write!(f, "{file}: no target that fathom watch can probe"),
            AppError::OtherContent { path } => {
                write!(f, "{}: the file exists with other content", path.display())
            }
            AppError::NoDatabases { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            AppError::CannotMakeDirectory { path, source } => {
                write!(f, "cannot create {}: {source}", path.display())
            }
            AppError::ReceiverRunsProgram { receiver } => write!(
                f,
                "receiver \"{receiver}\" runs a program, which this process may no longer: restart it"
            ),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for AppError {}

impl From<ScenarioError> for AppError {
    fn from(error: ScenarioError) -> Self {
        AppError::Scenario(error)
    }
}

impl From<LabError> for AppError {
    fn from(error: LabError) -> Self {
        AppError::Lab(error)
    }
}

impl From<ServerError> for AppError {
    fn from(error: ServerError) -> Self {
        AppError::Server(error)
    }
}

impl From<TestError> for AppError {
    fn from(error: TestError) -> Self {
        AppError::Test(error)
    }
}
