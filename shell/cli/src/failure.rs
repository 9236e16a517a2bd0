//! Errors of the program: what failed, the value and the limit, what to try, and the exit code.
use fathom_app::AppError;
pub(crate) use fathom_app::ExitClass as Exit;
use fathom_app::output::with_known_extension;
use std::fmt;

/// A command that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What failed, the value and the limit. Lines after the first say what to try.
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn input(message: impl fmt::Display) -> Self {
        Failure { exit: Exit::Input, message: message.to_string() }
    }
    pub(crate) fn environment(message: impl fmt::Display) -> Self {
        Failure { exit: Exit::Environment, message: message.to_string() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        let flag = match &error {
            AppError::SampleInterval { .. } => "--sample-every ",
            AppError::ProbeInterval { .. } => "--interval ",
            AppError::Trial { .. } => "--with ",
            _ => "",
        };
        let advice = match &error {
            AppError::UnknownLine { closest: Some(near), .. } => {
                format!("{near}, or the path of a scenario file")
            }
            AppError::UnknownLine { .. } => "fathom lab --list, or the path of a scenario file".into(),
            AppError::NothingToSend { .. } => "fathom lab --line FILE -- COMMAND".into(),
            AppError::TooManyCells { .. } => "fewer values with --vary, or fewer --seeds".into(),
            AppError::Format { path } => with_known_extension(path).display().to_string(),
            AppError::SeveralRuns { .. } => "-o FILE.html or -o FILE.svg".into(),
            AppError::NoDirectory { path } => format!("mkdir -p {}", path.display()),
            AppError::CannotMakeDirectory { .. } => "--output-dir DIR, or --no-save".into(),
            AppError::NothingToRead => "fathom trace FILE, or fathom trace -i eth0".into(),
            AppError::WouldOverwrite { .. } => "another name for the output".into(),
            AppError::NeedsFile => "tcpdump -w FILE, then fathom trace FILE".into(),
            AppError::Unwritable { .. } => "-o FILE on another disk".into(),
            AppError::History(_) => "--store DIR, or the configuration of the running watch".into(),
            AppError::NoStateDirectory => "--store DIR".into(),
            AppError::SeveralStdin => "save one of the captures to a file".into(),
            #[cfg(feature = "full")]
            AppError::Command(fathom_app::CommandError::NoPeriod(_)) => {
                "another --watch TARGET, --since or --until".into()
            }
            AppError::NothingToWatch { .. } => {
                "the file that contains *** Targets ***, or one that includes it".into()
            }
            AppError::OtherContent { .. } => "another name with -o, or remove the file".into(),
            AppError::NoDatabases { .. } => "--rrd DIR, where DIR is the datadir of SmokePing".into(),
            _ => String::new(),
        };
        let advice = if advice.is_empty() { advice } else { format!("\n  try: {advice}") };
        Failure { exit: error.class(), message: format!("{flag}{error}{advice}") }
    }
}

/// The result of a command: its exit code, or its error.
pub(crate) type Outcome = Result<Exit, Failure>;
