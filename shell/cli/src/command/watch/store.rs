//! Where the history of a watch is.
use crate::failure::Failure;
use fathom_watch_plan::Plan;
use std::path::{Path, PathBuf};

/// The directory of the history: from the command line, the plan, or the XDG state directory.
pub(super) fn store(given: Option<&Path>, plan: &Plan) -> Result<PathBuf, Failure> {
    match (given, &plan.store) {
        (Some(given), _) => Ok(given.to_owned()),
        (None, Some(store)) => Ok(PathBuf::from(store)),
        (None, None) => usual_store(),
    }
}

/// `$XDG_STATE_HOME/fathom/watch`, by default `~/.local/state/fathom/watch`.
pub(super) fn usual_store() -> Result<PathBuf, Failure> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = of("XDG_STATE_HOME").or_else(|| of("HOME").map(|home| home.join(".local/state")));
    let found = state.map(|state| state.join("fathom/watch"));
    found.ok_or_else(|| Failure::environment("neither XDG_STATE_HOME nor HOME is set\n  try: --store DIR"))
}

/// The text of a file of another program, whatever its letters are encoded in.
pub(super) fn text_of(path: &Path) -> Result<String, String> {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(|e| e.to_string())
}
