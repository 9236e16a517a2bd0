//! Corrects what clap says of wrong arguments.
use crate::args::Cli;
use crate::failure::Failure;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, Error};
use fathom_text::nearest;
use std::path::Path;

/// Replaces clap's suggestion, which may be a hidden or an old flag, by the nearest visible flag.
pub(crate) fn correct(error: &mut Error, root: &Command, words: impl Iterator<Item = String>) {
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg) else { return };
    let Some(wrong) = wrong.strip_prefix("--").map(str::to_owned) else { return };
    let command = words.fold(root, |at, word| at.find_subcommand(word).unwrap_or(at));
    let visible = command.get_arguments().chain(root.get_arguments()).filter(|arg| !arg.is_hide_set());
    let known: Vec<&str> = visible.filter_map(clap::Arg::get_long).collect();
    error.remove(ContextKind::SuggestedArg);
    if let Some(known) = nearest(&wrong, &known) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{known}")));
    }
}

/// Refuses a file name that is a misspelt command below `parent`, and no file.
pub(crate) fn refuse_misspelt(parent: &str, name: &str) -> Result<(), Failure> {
    let root = Cli::command();
    let known = root.find_subcommand(parent).into_iter().flat_map(Command::get_subcommands);
    let known: Vec<&str> = known.map(Command::get_name).collect();
    match nearest(name, &known) {
        Some(near) if !Path::new(name).exists() => Err(Failure::input(format_args!(
            "{name:?}: no such file or command\n  try: fathom {parent} {near}"
        ))),
        _ => Ok(()),
    }
}
