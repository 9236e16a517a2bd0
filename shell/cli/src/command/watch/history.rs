//! Opens the history of a watch for a command that reads it.
use super::store::{store, usual_store};
use crate::args::HistoryArgs;
use crate::failure::Failure;
use fathom_app::watch::Source;
use fathom_watch_web::{Past, history};

/// A reader of the history that the flags name.
pub(crate) fn reader(args: &HistoryArgs) -> Result<Box<dyn Past>, Failure> {
    let dir = match &args.config {
        Some(path) => store(None, &Source::File(path.clone()).read()?)?,
        None => args.store.clone().map_or_else(usual_store, Ok)?,
    };
    history(dir)().map_err(|why| {
        Failure::environment(format_args!(
            "{why}\n  try: --store DIR, or --config with the configuration that is being watched"
        ))
    })
}
