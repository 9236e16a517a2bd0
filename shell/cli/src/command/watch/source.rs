//! Where the plan comes from, and where the history goes.
use crate::args::WatchArgs;
use crate::failure::Failure;
use fathom_watch_plan::Plan;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file, or hosts from the command line.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    File(PathBuf),
    Hosts(Vec<String>),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Hosts(_) => write!(f, "--target"),
        }
    }
}

impl Source {
    pub(crate) fn of(args: &WatchArgs) -> Self {
        args.config.clone().map_or_else(|| Source::Hosts(args.target.clone()), Source::File)
    }
    /// The plan, free of mistakes.
    pub(crate) fn read(&self) -> Result<Plan, Failure> {
        match self {
            Source::File(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|e| Failure::input(format_args!("{}: {e}", path.display())))?;
                fathom_watch_plan::parse(&text, &path.display().to_string()).map_err(Failure::input)
            }
            Source::Hosts(hosts) => {
                let quoted = |host: &String| toml_text(host);
                let text: String = hosts
                    .iter()
                    .map(|h| format!("[[target]]\nname = {0}\nhost = {0}\n", quoted(h)))
                    .collect();
                fathom_watch_plan::parse(&text, "--target").map_err(|e| Failure::input(e.what))
            }
        }
    }
}

/// A text as a file would hold it.
fn toml_text(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}

/// The directory of the history: from the command line, the plan, or the XDG state directory.
pub(crate) fn store(given: Option<&Path>, plan: &Plan) -> Result<PathBuf, Failure> {
    match (given, &plan.store) {
        (Some(given), _) => Ok(given.to_owned()),
        (None, Some(store)) => Ok(PathBuf::from(store)),
        (None, None) => usual_store(),
    }
}

/// `$XDG_STATE_HOME/fathom/watch`, by default `~/.local/state/fathom/watch`.
pub(crate) fn usual_store() -> Result<PathBuf, Failure> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = of("XDG_STATE_HOME").or_else(|| of("HOME").map(|home| home.join(".local/state")));
    let found = state.map(|state| state.join("fathom/watch"));
    found.ok_or_else(|| Failure::environment("neither XDG_STATE_HOME nor HOME is set\n  try: --store DIR"))
}

/// The text of a file of another program, whatever its letters are encoded in.
pub(super) fn text_of(path: &Path) -> Result<String, String> {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(|e| e.to_string())
}
