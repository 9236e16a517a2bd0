//! Corrects what clap says of wrong arguments.
use crate::terminal::printable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use fathom_text::nearest;

/// Replaces clap's suggestion, which may be a hidden or an old flag, by the nearest visible flag, and
/// escapes control characters of the arguments.
pub(crate) fn correct(error: &mut Error, root: &Command, words: &[String]) {
    suggest(error, root, words);
    let given = [ContextKind::InvalidArg, ContextKind::InvalidValue, ContextKind::InvalidSubcommand];
    for kind in given {
        if let Some(ContextValue::String(text)) = error.get(kind) {
            let text = printable(text);
            error.insert(kind, ContextValue::String(text));
        }
    }
}

fn suggest(error: &mut Error, root: &Command, words: &[String]) {
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg) else { return };
    let Some(wrong) = wrong.strip_prefix("--").map(str::to_owned) else { return };
    let command = words.iter().fold(root, |at, word| at.find_subcommand(word).unwrap_or(at));
    let visible = command.get_arguments().chain(root.get_arguments()).filter(|arg| !arg.is_hide_set());
    let known: Vec<&str> = visible.filter_map(clap::Arg::get_long).collect();
    error.remove(ContextKind::SuggestedArg);
    if let Some(known) = nearest(&wrong, &known) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{known}")));
    }
}
