//! Help: command groups, examples first, short and long forms. All of it is made from the flags in
//! `args`, the table of groups below, and the examples in `pages`.
#[cfg(test)]
mod documented;
mod exit_codes;
mod pages;
mod typo;

use crate::args::Cli;
use clap::{Arg, Command, CommandFactory};
pub(crate) use exit_codes::exit_codes;
use fathom_manual::{Page, about, details};
pub(crate) use pages::PAGES;
use std::fmt::Write;
pub(crate) use typo::correct;
#[cfg(feature = "client")]
pub(crate) use typo::refuse_misspelt;

/// Headings of the list of commands, and the commands below each.
pub(crate) const GROUPS: [(&str, &[&str]); 6] = [
    ("Measure", &["test", "ping", "serve", "demo", "report", "compare"]),
    ("Find", &["path", "ecn", "buffer", "dut", "trace", "audit"]),
    ("Fix", &["fix"]),
    ("Study", &["sim", "lab", "size"]),
    ("Monitor", &["watch"]),
    ("Other", &["fleet", "doctor", "help", "man", "completions"]),
];

/// Examples and flags of a command. The description and the notes follow at the end of `--help`,
/// which is what a terminal shows without scrolling.
const TEMPLATE: &str = "{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// The command line with its help texts.
pub(crate) fn command() -> Command {
    let command = decorated(Cli::command(), "");
    let (header, groups) = (command.get_styles().get_header(), groups(&command));
    let template = format!(
        "{{before-help}}{{usage-heading}} {{usage}}\n\n{{author}}\n{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    // clap wraps the author, unlike text of the template. It has to live as long as the program.
    command.author(&*groups.leak()).help_template(template)
}

/// The screen of `fathom` without arguments. Fits in 80x24.
pub(crate) fn welcome() -> String {
    let command = command();
    let mut text = format!("{}\nUsage: fathom COMMAND [OPTIONS]\n", about(&command));
    for (group, names) in &GROUPS[..5] {
        let mut heading = *group;
        for (name, about) in names.iter().filter_map(|name| Some((name, about_of(&command, name)?))) {
            let _ = writeln!(text, "{heading:8} {name:8} {about}");
            heading = "";
        }
    }
    let _ = writeln!(text, "Examples:\n{}", examples(find_page("").examples));
    text + "More: fathom COMMAND -h (short), fathom COMMAND --help (long), fathom --help\n"
}

/// The page of a command such as `watch alerts`.
fn find_page(path: &str) -> Page {
    fathom_manual::find_page(PAGES, path)
}

/// The first line of a command's description; `None` if this build does not have it.
fn about_of(root: &Command, name: &str) -> Option<String> {
    root.find_subcommand(name).map(about)
}

/// All commands below their headings.
fn groups(root: &Command) -> String {
    let header = root.get_styles().get_header();
    let mut text = String::new();
    for (group, names) in GROUPS {
        let known = names.iter().filter_map(|name| Some((name, about_of(root, name)?)));
        for (index, (name, about)) in known.enumerate() {
            if index == 0 {
                let _ = writeln!(text, "{header}{group}:{header:#}");
            }
            let _ = writeln!(text, "  {name:13}{about}");
        }
    }
    text
}

/// Example lines, in two columns.
pub(crate) fn examples(examples: &[(&str, &str)]) -> String {
    // If the longest line leaves no room for a description, only its own description moves right.
    let fits = |wide: &usize| examples.iter().all(|(line, what)| line.len().max(*wide) + what.len() <= 76);
    let wide = examples.iter().map(|(line, _)| line.len()).filter(fits).max().unwrap_or_default();
    let line = |(line, what): &(&str, &str)| format!("  {line:wide$}  {what}").trim_end().to_owned();
    examples.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Adds the title, the examples and the details to a command and to those below it.
fn decorated(command: Command, path: &str) -> Command {
    let (header, page) = (command.get_styles().get_header(), find_page(path));
    let title = about(&command);
    let before = format!("{title}\n\n{header}Examples:{header:#}\n{}", examples(page.examples));
    let mut after: Vec<String> = vec![details(&command), page.notes.to_owned()];
    if path.is_empty() {
        after.push(exit_codes());
    } else {
        after.push("Exit codes: see `fathom help exit-codes`.".to_owned());
    }
    after.retain(|text| !text.is_empty());
    command
        .before_help(before)
        .after_long_help(after.join("\n\n"))
        .help_template(TEMPLATE)
        .mut_args(with_values)
        .mut_subcommands(|sub| {
            let below = format!("{path} {}", sub.get_name());
            decorated(sub, below.trim())
        })
}

/// Moves the possible values of a flag from `-h`, where they need a separate line, to `--help`.
fn with_values(arg: Arg) -> Arg {
    let values: Vec<String> =
        arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if values.is_empty() || !arg.get_action().takes_values() {
        return arg;
    }
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    arg.hide_possible_values(true).long_help(format!("{help}\n\nPossible values: {}", values.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All commands with their paths, except the `help` commands that clap adds.
    fn all(command: &Command, path: &str, found: &mut Vec<(String, Command)>) {
        found.push((path.to_owned(), command.clone()));
        for sub in command.get_subcommands().filter(|sub| path.is_empty() || sub.get_name() != "help") {
            all(sub, format!("{path} {}", sub.get_name()).trim(), found);
        }
    }

    fn commands() -> Vec<(String, Command)> {
        let (mut root, mut found) = (command(), Vec::new());
        root.build();
        all(&root, "", &mut found);
        found
    }

    #[test]
    fn each_command_is_in_exactly_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let root = command();
        let mut known: Vec<&str> = root.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        known.sort_unstable();
        assert_eq!(grouped, known);
    }

    #[test]
    fn each_command_has_a_page_and_details() {
        let commands = commands();
        for (path, command) in &commands {
            assert!(!find_page(path).examples.is_empty(), "no examples: {path}");
            assert!(
                path == "watch import" || path == "completions" || !details(command).is_empty(),
                "{path}"
            );
        }
        for page in PAGES {
            assert!(commands.iter().any(|(path, _)| path == page.command), "no command: {}", page.command);
        }
    }

    #[test]
    fn examples_parse_and_fit_in_80_columns() {
        for (line, what) in PAGES.iter().flat_map(|page| page.examples) {
            // The last command of a pipe, or its first.
            let own = line.split(" | ").find(|part| part.starts_with("fathom")).unwrap();
            let words = own.split(' ').map(|word| word.trim_matches('\''));
            let quoted = own.contains('\'');
            let parsed = command().try_get_matches_from(words);
            assert!(quoted || parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            assert!(what.is_empty() || !what.ends_with('.'), "{what}");
        }
        for page in PAGES {
            for line in examples(page.examples).lines() {
                assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
            }
        }
    }

    #[test]
    fn short_help_has_one_line_per_flag_in_80_columns() {
        for (path, command) in commands() {
            let text = command.clone().term_width(80).render_help().to_string();
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{path}: {line}");
            }
            let flags = text.lines().filter(|line| line.trim_start().starts_with('-')).count();
            let visible = |arg: &&Arg| !arg.is_positional() && !arg.is_hide_set();
            let known = command.get_arguments().filter(visible).count();
            assert_eq!(flags, known, "{path}:\n{text}");
            let wrapped = text.lines().any(|line| line.starts_with(&" ".repeat(10)));
            assert!(!wrapped, "{path}: a flag takes two lines:\n{text}");
            let long = command.clone().term_width(80).render_long_help().to_string();
            assert!(long.lines().count() > text.lines().count() + 10, "{path}: --help is no longer than -h");
        }
    }

    #[test]
    fn the_welcome_screen_fits_in_80x24() {
        let text = welcome();
        assert!(text.lines().count() <= 23, "{}", text.lines().count());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
