//! The configuration and the history of a watch: where they are.
mod source;

use crate::AppError;
use crate::CommandError;
use fathom_units::WallTime;
use fathom_watch_plan::Plan;
use fathom_watch_store::HistoryReader;
use fathom_watch_web::{Past, history};
use std::path::{Path, PathBuf};

pub use source::Source;

/// The history of a configuration or in a directory. If neither is given, the default of this user.
#[derive(Clone, Default, Debug)]
pub struct HistorySource {
    /// The configuration.
    pub config: Option<PathBuf>,
    /// The directory.
    pub store: Option<PathBuf>,
}

impl HistorySource {
    /// The plan of the configuration, if one is given.
    ///
    /// # Errors
    /// The first error of the configuration.
    pub fn plan(&self) -> Result<Option<Plan>, AppError> {
        self.config.clone().map(|path| Source::File(path).read()).transpose()
    }
    /// The directory.
    ///
    /// # Errors
    /// An error of the configuration, or no state directory.
    pub fn directory(&self) -> Result<PathBuf, AppError> {
        directory(self.store.as_deref(), self.plan()?.as_ref())
    }
    /// A reader of the history.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn open(&self) -> Result<HistoryReader, AppError> {
        HistoryReader::open(&self.directory()?).map_err(AppError::history)
    }
    /// A reader of the history, as the web page of a watch uses it.
    ///
    /// # Errors
    /// As [`HistorySource::open`].
    pub fn past(&self) -> Result<Box<dyn Past>, AppError> {
        history(self.directory()?)().map_err(AppError::History)
    }
}

/// The directory of the history: `given`, otherwise that of the plan, otherwise
/// `$XDG_STATE_HOME/fathom/watch`, which is `~/.local/state/fathom/watch` by default.
///
/// # Errors
/// If none is given, and neither `XDG_STATE_HOME` nor `HOME` is set.
pub fn directory(given: Option<&Path>, plan: Option<&Plan>) -> Result<PathBuf, AppError> {
    if let Some(path) = given.or(plan.and_then(|plan| plan.store.as_deref()).map(Path::new)) {
        return Ok(path.to_owned());
    }
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = of("XDG_STATE_HOME").or_else(|| of("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("fathom/watch")).ok_or(AppError::NoStateDirectory)
}

/// A range of wall time: from its start to just before its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Period {
    /// The start.
    pub from: WallTime,
    /// Its end.
    pub to: WallTime,
}

impl Period {
    /// This period, if it is one.
    ///
    /// # Errors
    /// If it is empty.
    pub const fn check(self) -> Result<Self, AppError> {
        let Period { from, to } = self;
        if from.0 < to.0 { Ok(self) } else { Err(AppError::Command(CommandError::EmptyPeriod(self))) }
    }
}
