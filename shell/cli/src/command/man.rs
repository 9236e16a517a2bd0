//! `fathom help`, manual pages and completions, made from the flags.
use crate::args::HelpArgs;
#[cfg(feature = "client")]
use crate::args::ManArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::help;
use crate::terminal;
#[cfg(feature = "client")]
use crate::terminal::Console;
use clap::Command;
#[cfg(feature = "client")]
use fathom_manual::{Manual, render, title};
use fathom_text::nearest;
#[cfg(feature = "client")]
use std::path::Path;

/// Prints the long help of a command, or a topic.
pub(crate) fn help(args: &HelpArgs) -> Outcome {
    if args.words == ["exit-codes"] {
        terminal::print(&(help::exit_codes() + "\n"))?;
        return Ok(Exit::Healthy);
    }
    let mut root = help::command();
    root.build();
    let mut command = find(&root, &args.words, &["exit-codes"])?.clone();
    terminal::printed(command.print_long_help())?;
    Ok(Exit::Healthy)
}

/// Prints a manual page, or writes all of them.
#[cfg(feature = "client")]
pub(crate) fn run(args: &ManArgs, console: Console) -> Outcome {
    let mut root = help::command();
    root.build();
    if let Some(directory) = &args.all {
        let written = write_all(&root, directory)?;
        console.note(&format!("wrote {written} pages to {}", directory.display()));
        return Ok(Exit::Healthy);
    }
    let command = find(&root, &args.words, &[])?;
    let codes = help::exit_codes();
    terminal::print(&render(&manual(&root, &codes), command, &args.words.join(" ")))?;
    Ok(Exit::Healthy)
}

/// The command that `words` name below `root`. `topics` are known as well, for the suggestion.
fn find<'c>(root: &'c Command, words: &[String], topics: &[&str]) -> Result<&'c Command, Failure> {
    let mut command = root;
    for word in words {
        command = command.find_subcommand(word).ok_or_else(|| {
            let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            let known: Vec<&str> = known.into_iter().chain(topics.iter().copied()).collect();
            let advice = nearest(word, &known).map_or_else(
                || format!("known: {}", known.join(", ")),
                |near| format!("did you mean \"{near}\"?"),
            );
            Failure::input(format_args!("{word:?}: no such command ({advice})"))
        })?;
    }
    Ok(command)
}

#[cfg(feature = "client")]
const fn manual<'m>(root: &'m Command, exit_codes: &'m str) -> Manual<'m> {
    Manual { root, groups: &help::GROUPS, pages: help::PAGES, exit_codes }
}

/// Writes the pages of all commands; returns their number.
#[cfg(feature = "client")]
fn write_all(root: &Command, directory: &Path) -> Result<usize, Failure> {
    fathom_app::output::make_directory(directory)?;
    let codes = help::exit_codes();
    for page in help::PAGES {
        let words: Vec<String> = page.command.split_whitespace().map(str::to_owned).collect();
        let text = render(&manual(root, &codes), find(root, &words, &[])?, page.command);
        let path = directory.join(format!("{}.1", title(page.command)));
        std::fs::write(&path, text).map_err(|error| {
            Failure::environment(format_args!("{}: {error}\n  try: another DIR", path.display()))
        })?;
    }
    Ok(help::PAGES.len())
}

/// Prints the completions of `shell`.
#[cfg(feature = "client")]
pub(crate) fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut help::command(), "fathom", &mut out);
    terminal::print(&String::from_utf8_lossy(&out))?;
    Ok(Exit::Healthy)
}
