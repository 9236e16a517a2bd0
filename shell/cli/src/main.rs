//! The program `fathom`: parses flags and calls a use case. The only crate that prints.
#![cfg_attr(
    not(feature = "client"),
    expect(dead_code, reason = "what the commands that are left out share with the others")
)]
mod args;
mod command;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod failure;
mod help;
mod live;
#[cfg(feature = "full")]
mod menu;
mod result;
mod signal;
mod terminal;

use args::{Cli, Command};
use clap::FromArgMatches;
use failure::{Exit, Outcome};
use fathom_text::printable;
use std::ffi::OsString;
use std::process::ExitCode;
use terminal::warn;

fn main() -> ExitCode {
    #[cfg(windows)]
    fathom_os::console::enable_sequences();
    let words = match words() {
        Ok(words) => words,
        Err(exit) => return exit,
    };
    #[cfg(not(target_os = "linux"))]
    if let Some(refusal) = elsewhere::refusal(&words) {
        warn(&refusal);
        return ExitCode::from(Exit::Environment as u8);
    }
    let cli = match parse(words) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let name = cli.command.name();
    let exit = run(cli).unwrap_or_else(|failure| {
        warn(&format!("fathom {name}: {failure}"));
        failure.exit
    });
    ExitCode::from(exit as u8)
}

/// The command line. If it is empty, a person chooses one, and everything else gets the summary.
fn words() -> Result<Vec<OsString>, ExitCode> {
    let words: Vec<OsString> = std::env::args_os().collect();
    if words.len() > 1 {
        return Ok(words);
    }
    #[cfg(feature = "full")]
    if menu::is_possible() {
        return match menu::choose() {
            Ok(Some(chosen)) => Ok(chosen.iter().map(OsString::from).collect()),
            Ok(None) => Err(ExitCode::SUCCESS),
            Err(failure) => {
                warn(&format!("fathom: {failure}"));
                Err(ExitCode::from(failure.exit as u8))
            }
        };
    }
    warn(help::welcome().trim_end());
    Err(ExitCode::from(Exit::Input as u8))
}

fn parse(words: Vec<OsString>) -> Result<Cli, clap::Error> {
    let mut command = help::command();
    let parsed = command.try_get_matches_from_mut(&words);
    parsed.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|mut error| {
        let words = words.iter().map(|word| word.to_string_lossy().into_owned());
        help::correct(&mut error, &command, words);
        error
    })
}

/// Prints the help, the version, or what is wrong with the arguments.
fn refuse(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if error.use_stderr() && printable(&text) != text.trim_end() {
        // An argument with control characters, or a very long one.
        warn(&text);
    } else if let Err(failure) = terminal::printed(error.print()) {
        warn(&format!("fathom: {failure}"));
        return ExitCode::from(failure.exit as u8);
    }
    ExitCode::from(error.exit_code() as u8)
}

fn run(cli: Cli) -> Outcome {
    let console = cli.console.console();
    match cli.command {
        Command::Test(args) => command::test::run(&args, console),
        Command::Ping(args) => command::ping::run(&args, console),
        #[cfg(feature = "serve")]
        Command::Serve(args) => command::serve::run(&args, console),
        #[cfg(feature = "serve")]
        Command::Demo(args) => command::demo::run(&args, console),
        #[cfg(feature = "client")]
        Command::Report(args) => command::report::run(&args, console),
        #[cfg(feature = "client")]
        Command::Compare(args) => command::report::compare(&args, console),
        #[cfg(feature = "client")]
        Command::Trace(args) => command::trace::run(&args, console),
        Command::Buffer(args) => command::buffer::run(&args, console),
        Command::Path(args) => command::path::run(&args, console),
        #[cfg(feature = "full")]
        Command::Ecn(args) => command::ecn::run(&args, console),
        #[cfg(feature = "full")]
        Command::Dut(args) => command::dut::run(&args, console),
        #[cfg(feature = "router")]
        Command::Audit(args) => command::audit::run(&args, console),
        #[cfg(feature = "router")]
        Command::Fix(args) => command::fix::run(&args, console),
        #[cfg(feature = "client")]
        Command::Sim(args) => command::sim::run(&args, console),
        #[cfg(feature = "full")]
        Command::Lab(args) => command::lab::run(&args, console),
        #[cfg(feature = "client")]
        Command::Size(args) => command::size::run(&args, console),
        #[cfg(feature = "full")]
        Command::Watch(args) => command::watch::run(&args, console),
        #[cfg(all(feature = "router", not(feature = "full")))]
        Command::Watch(args) => command::minimal_watch::run(&args, console),
        #[cfg(feature = "full")]
        Command::Fleet(args) => command::fleet::run(&args, console),
        #[cfg(target_os = "linux")]
        Command::Doctor(args) => command::doctor::run(&args, console),
        Command::Help(args) => command::man::help(&args),
        #[cfg(feature = "client")]
        Command::Man(args) => command::man::run(&args, console),
        #[cfg(feature = "client")]
        Command::Completions(args) => command::man::completions(args.shell),
    }
}
