//! `fathom` without arguments on a terminal: the three things that most people want.
use crate::failure::Failure;
use crate::terminal::warn;
use std::io::{self, BufRead, IsTerminal, Write};

/// What can be chosen, and the command that does it. The target of the watch is a public resolver
/// that answers pings everywhere.
const CHOICES: [(&str, &[&str]); 3] = [
    ("Test my line", &["fathom", "test"]),
    ("See what bufferbloat is, on this machine", &["fathom", "demo"]),
    ("Monitor my line", &["fathom", "watch", "--target", "1.1.1.1"]),
];

/// Whether a person can answer.
pub(crate) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The words of the command that the user chooses; `None` for none.
///
/// # Errors
/// If the terminal cannot be read.
pub(crate) fn choose() -> Result<Option<&'static [&'static str]>, Failure> {
    warn(&screen());
    let mut answers = io::stdin().lock();
    loop {
        // If the terminal cannot be written, reading fails too.
        let _ = write!(io::stderr().lock(), "1, 2 or 3 (Enter: none): ").and_then(|()| io::stderr().flush());
        let mut line = String::new();
        let length = answers.read_line(&mut line).map_err(Failure::environment)?;
        match line.trim() {
            "" => {
                if length == 0 {
                    warn("");
                }
                return Ok(None);
            }
            answer => {
                let number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                if let Some((_, words)) = number.and_then(|index| CHOICES.get(index)) {
                    warn(&format!("\n$ {}", words.join(" ")));
                    return Ok(Some(words));
                }
            }
        }
    }
}

fn screen() -> String {
    let mut text = "Fathom measures, finds, explains and fixes bufferbloat: delay under load.\n\n".to_owned();
    for (index, (what, words)) in CHOICES.iter().enumerate() {
        text += &format!("  {}  {what:42}{}\n", index + 1, words.join(" "));
    }
    text + "\nAll commands: fathom --help\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::Parser;

    #[test]
    fn every_choice_is_a_command_and_fits() {
        for (_, words) in CHOICES {
            assert!(Cli::try_parse_from(words).is_ok(), "{words:?}");
        }
        assert!(screen().lines().all(|line| line.len() <= 80), "{}", screen());
    }
}
