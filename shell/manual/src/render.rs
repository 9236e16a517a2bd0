//! Renders one manual page as roff.
use crate::{Manual, about, details, find_page};
use clap::{Arg, Command};
use std::fmt::Write;

/// The title of a command's page: `fathom-watch-alerts`.
#[must_use]
pub fn title(path: &str) -> String {
    format!("fathom {path}").trim_end().replace(' ', "-")
}

/// The page of `command`, which is at `path` below the root.
#[must_use]
pub fn render(manual: &Manual<'_>, command: &Command, path: &str) -> String {
    let (title, page) = (title(path), find_page(manual.pages, path));
    let version = manual.root.get_version().unwrap_or_default();
    let mut text =
        format!(".TH {} 1 \"\" \"Fathom {version}\" \"Fathom Manual\"\n", roff(&title.to_uppercase()));
    // No justification and no hyphenation: they would break flags and commands.
    text += ".ad l\n.nh\n";
    let _ = write!(text, ".SH NAME\n{} \\- {}\n", roff(&title), roff(&about(command)));
    let _ = write!(text, ".SH SYNOPSIS\n.nf\n{}\n.fi\n", lines(&usage(command)));
    let _ = write!(text, ".SH EXAMPLES\n{}", examples(page.examples));
    let details = details(command);
    let notes = if page.notes.is_empty() { String::new() } else { verbatim(page.notes) };
    if !details.is_empty() || !notes.is_empty() {
        let _ = write!(text, ".SH DESCRIPTION\n{}{notes}", paragraphs(&details));
    }
    text += &commands(manual, command, path);
    text += &options(command);
    if path.is_empty() {
        let codes = manual.exit_codes.split_once('\n').unwrap_or_default().1;
        let _ = write!(text, ".SH EXIT STATUS\n{}", verbatim(codes));
    } else {
        text += ".SH EXIT STATUS\nSee\n.BR fathom (1).\n";
    }
    text + &see_also(manual, path)
}

fn usage(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let lines = usage.lines().map(|line| line.trim_start_matches("Usage:").trim());
    lines.collect::<Vec<_>>().join("\n")
}

/// Escapes text for roff: dashes that can be searched for, and no line that roff takes for a
/// request.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('`', "\\`");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

fn lines(text: &str) -> String {
    text.lines().map(roff).collect::<Vec<_>>().join("\n")
}

fn paragraphs(text: &str) -> String {
    text.split("\n\n").map(|part| format!(".PP\n{}\n", lines(part))).collect()
}

/// Lines that roff does not fill.
fn verbatim(text: &str) -> String {
    format!(".PP\n.nf\n{}\n.fi\n", lines(text.trim_end()))
}

fn examples(examples: &[(&str, &str)]) -> String {
    let one = |(line, what): &(&str, &str)| match *what {
        "" => format!(".PP\n.B {}\n", roff(line)),
        what => format!(".TP\n.B {}\n{}\n", roff(line), roff(what)),
    };
    examples.iter().map(one).collect()
}

/// The commands below `command`.
fn commands(manual: &Manual<'_>, command: &Command, path: &str) -> String {
    let row = |name: &str| {
        let about = command.find_subcommand(name).map(about).unwrap_or_default();
        format!(".TP\n.BR {} (1)\n{}\n", roff(&title(format!("{path} {name}").trim())), roff(&about))
    };
    if std::ptr::eq(manual.root, command) {
        let group = |(heading, names): &(&str, &[&str])| {
            let rows: String = names.iter().map(|name| row(name)).collect();
            format!(".SS {heading}\n{rows}")
        };
        return format!(".SH COMMANDS\n{}", manual.groups.iter().map(group).collect::<String>());
    }
    let rows: String = below(command).map(row).collect();
    if rows.is_empty() { rows } else { format!(".SH COMMANDS\n{rows}") }
}

fn below(command: &Command) -> impl Iterator<Item = &str> {
    command.get_subcommands().map(Command::get_name).filter(|name| *name != "help")
}

/// Arguments and options, below the headings of the help.
fn options(command: &Command) -> String {
    let visible: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    let heading = |arg: &&Arg| {
        let usual = if arg.is_positional() { "Arguments" } else { "Options" };
        arg.get_help_heading().unwrap_or(usual).to_owned()
    };
    let mut headings: Vec<String> = Vec::new();
    for arg in &visible {
        if !headings.contains(&heading(arg)) {
            headings.push(heading(arg));
        }
    }
    headings.sort_by_key(|name| match name.as_str() {
        "Arguments" => 0,
        "Options" => 1,
        "Global options" => 3,
        _ => 2,
    });
    let section = |name: &String| {
        let args = visible.iter().filter(|arg| heading(arg) == *name);
        format!(".SS {name}\n{}", args.map(|arg| option(arg)).collect::<String>())
    };
    format!(".SH OPTIONS\n{}", headings.iter().map(section).collect::<String>())
}

/// One flag: its names, value and text.
fn option(arg: &Arg) -> String {
    let names: Vec<String> = (arg.get_short().map(|short| format!("-{short}")).into_iter())
        .chain(arg.get_long().map(|long| format!("--{long}")))
        .map(|name| format!("\\fB{}\\fR", roff(&name)))
        .collect();
    let value = arg.get_value_names().filter(|_| arg.get_action().takes_values());
    let value = value.map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    let value = value.map(|name| format!("\\fI{}\\fR", roff(&name)));
    let head: Vec<String> = [names.join(", ")].into_iter().chain(value).filter(|s| !s.is_empty()).collect();
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut parts = help.split("\n\n");
    let mut text = format!(".TP\n{}\n{}\n", head.join(" "), lines(parts.next().unwrap_or_default()));
    for part in parts {
        let _ = write!(text, ".IP\n{}\n", lines(part));
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|one| one.to_string_lossy().into_owned()).collect();
    if !defaults.is_empty() && arg.get_action().takes_values() {
        let _ = write!(text, ".IP\nDefault: {}\n", roff(&defaults.join(",")));
    }
    if let Some(variable) = arg.get_env() {
        let _ = write!(text, ".IP\nEnvironment variable: {}\n", roff(&variable.to_string_lossy()));
    }
    text
}

/// The page above, and those of the same group.
fn see_also(manual: &Manual<'_>, path: &str) -> String {
    let Some(first) = path.split(' ').next().filter(|name| !name.is_empty()) else {
        return String::new();
    };
    let above = path.rsplit_once(' ').map(|(above, _)| title(above));
    let group =
        manual.groups.iter().find(|(_, names)| names.contains(&first)).map_or(&[][..], |(_, names)| *names);
    let same = group.iter().filter(|name| **name != path && **name != first).map(|name| title(name));
    let pages: Vec<String> = ["fathom".to_owned()].into_iter().chain(above).chain(same).collect();
    let rows: Vec<String> = pages.iter().map(|name| format!(".BR {} (1)", roff(name))).collect();
    format!(".SH SEE ALSO\n{}\n", rows.join(",\n"))
}
