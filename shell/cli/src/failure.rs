//! Errors of the program: one line each, with the exit code that belongs to it.
use fathom_app::AppError;
pub(crate) use fathom_app::ExitClass as Exit;
use std::fmt;

/// A command that did not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// Object, value seen, limit; and on lines of its own what to try.
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
            AppError::Trial { .. } => "--with ",
            _ => "",
        };
        let advice = match &error {
            AppError::UnknownLine { closest, .. } => format!("{closest}, or the path of a scenario file"),
            AppError::NothingToSend { .. } => "fathom lab --line FILE -- COMMAND".into(),
            AppError::TooManyCells { .. } => "fewer values with --vary, or fewer --seeds".into(),
            AppError::Format { path } => format!("{}.html", path.display()),
            AppError::NoDirectory { path } => format!("mkdir -p {}", path.display()),
            AppError::CannotMakeDirectory { .. } => "--output-dir DIR, or --no-save".into(),
            AppError::NothingToRead => "fathom trace FILE".into(),
            AppError::WouldOverwrite { .. } => "another name for what is written".into(),
            AppError::NeedsFile => "tcpdump -w up.pcap, or ... | tee up.pcap | fathom trace -".into(),
            AppError::Unwritable { .. } => "-o FILE on another disk".into(),
            AppError::History(_) => "--store DIR, or the configuration that is being watched".into(),
            AppError::NoStateDirectory => "--store DIR".into(),
            #[cfg(feature = "full")]
            AppError::Command(fathom_app::CommandError::NoPeriod(_)) => {
                "another --watch TARGET, --since or --until".into()
            }
            AppError::NothingToWatch { .. } => {
                "the file with *** Targets ***, or the one that includes it".into()
            }
            AppError::OtherContent { .. } => "-o with another name, or move it away".into(),
            AppError::NoDatabases { .. } => "--rrd with the datadir of SmokePing".into(),
            _ => String::new(),
        };
        let advice = if advice.is_empty() { advice } else { format!("\n  try: {advice}") };
        Failure { exit: error.class(), message: format!("{flag}{error}{advice}") }
    }
}

/// What a command gives back: how it ended, or why it could not.
pub(crate) type Outcome = Result<Exit, Failure>;
