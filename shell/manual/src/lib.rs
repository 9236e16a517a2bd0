//! Manual pages of a command line, made from its flags, its examples and its notes.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod render;

use clap::Command;
pub use render::{render, title};

/// What the help and the manual page of a command show in addition to its flags.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Command as typed, without the name of the program.
    pub command: &'static str,
    /// Command lines, each with what it does.
    pub examples: &'static [(&'static str, &'static str)],
    /// Shown as it is.
    pub notes: &'static str,
}

/// What the pages have in common.
#[derive(Clone, Copy)]
pub struct Manual<'m> {
    /// The program, built.
    pub root: &'m Command,
    /// Headings of the list of commands, and the commands below each.
    pub groups: &'m [(&'m str, &'m [&'m str])],
    /// The page of each command.
    pub pages: &'m [Page],
    /// Exit codes below a heading.
    pub exit_codes: &'m str,
}

/// The first line of a command's description.
#[must_use]
pub fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// A command's description without its first line.
#[must_use]
pub fn details(command: &Command) -> String {
    let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    long.split_once("\n\n").map_or_else(String::new, |(_, rest)| rest.trim_end().to_owned())
}

/// The page of a command such as `watch alerts`; an empty one if there is none.
#[must_use]
pub fn find_page(pages: &[Page], command: &str) -> Page {
    let found = pages.iter().find(|page| page.command == command).copied();
    found.unwrap_or(Page { command: "", examples: &[], notes: "" })
}
