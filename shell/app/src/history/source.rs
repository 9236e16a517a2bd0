//! The source of the plan of a watch.
use crate::AppError;
use fathom_os::files::read_text_at_most;
use fathom_watch_plan::{Plan, toml_string};
use std::fmt;
use std::path::PathBuf;

/// The source of the plan of a watch.
#[derive(Clone, Debug)]
pub enum Source {
    /// A configuration.
    File(PathBuf),
    /// Hosts, one target each.
    Hosts(Vec<String>),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Hosts(hosts) => f.write_str(&hosts.join(", ")),
        }
    }
}

impl Source {
    /// Reads the plan.
    ///
    /// # Errors
    /// The first error of the configuration, with its place.
    pub fn read(&self) -> Result<Plan, AppError> {
        match self {
            Source::File(path) => {
                let text = read_text_at_most(path, fathom_watch_plan::MAX_FILE_BYTES as u64)
                    .map_err(|source| AppError::Unreadable { name: path.display().to_string(), source })?;
                fathom_watch_plan::parse(&text, &path.display().to_string())
                    .map_err(|e| AppError::WatchPlan(e.to_string()))
            }
            Source::Hosts(hosts) => {
                let text: String = hosts
                    .iter()
                    .map(|h| format!("[[target]]\nname = {0}\nhost = {0}\n", toml_string(h)))
                    .collect();
                fathom_watch_plan::parse(&text, "hosts").map_err(|e| AppError::WatchPlan(e.what))
            }
        }
    }
}
