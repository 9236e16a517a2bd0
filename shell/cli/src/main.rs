//! The one program `fathom`: flags in, calls out. The only crate that prints.
mod args;
mod command;
mod failure;
mod live;
mod result;
mod signal;
mod terminal;

use args::{Cli, Command};
use clap::Parser;
use failure::Outcome;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let name = cli.command.name();
    let exit = run(cli).unwrap_or_else(|failure| {
        terminal::note(&format!("fathom {name}: {failure}"));
        failure.exit
    });
    ExitCode::from(exit as u8)
}

fn run(cli: Cli) -> Outcome {
    match cli.command {
        Command::Demo(args) => command::demo::run(&args, cli.color),
        Command::Test(args) => command::test::run(&args, cli.color),
        Command::Serve(args) => command::serve::run(&args),
        Command::Lab(args) => command::lab::run(&args, cli.color),
        Command::Sim(args) => command::sim::run(&args, cli.color),
        Command::Watch(args) => command::watch::run(&args),
        Command::Trace(args) => command::trace::run(&args, cli.color),
        Command::Audit(args) => command::audit::run(&args, cli.color),
        Command::Size(args) => command::size::run(&args, cli.color),
        Command::Fix(args) => command::fix::run(&args),
        Command::Report(args) => command::report::run(&args, cli.color),
        Command::Compare(args) => command::report::compare(&args, cli.color),
        Command::Man => command::man::page(),
        Command::Completions { shell } => command::man::completions(shell),
    }
}
