//! The command line: every flag once. Help, man pages and completions come from here.
//!
//! The first line of a flag's comment is its help in `-h`; the paragraphs after it appear in
//! `--help` and in the man page.
#[cfg(feature = "full")]
mod alerts;
#[cfg(feature = "router")]
mod audit;
mod buffer;
#[cfg(feature = "serve")]
mod demo;
#[cfg(feature = "full")]
mod diagnose;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(feature = "full")]
mod dut;
#[cfg(feature = "full")]
mod export;
#[cfg(feature = "router")]
mod fix;
#[cfg(feature = "full")]
mod fleet;
#[cfg(feature = "full")]
mod lab;
#[cfg(all(feature = "router", not(feature = "full")))]
mod minimal_watch;
mod path;
mod ping;
#[cfg(feature = "client")]
mod report;
#[cfg(feature = "client")]
mod sim;
#[cfg(feature = "client")]
mod size;
mod test;
mod token;
#[cfg(feature = "client")]
mod trace;
#[cfg(feature = "full")]
mod watch;

use crate::terminal::Console;
#[cfg(feature = "full")]
pub(crate) use alerts::{WatchAlertsArgs, WatchTestAlertArgs};
#[cfg(feature = "router")]
pub(crate) use audit::AuditArgs;
pub(crate) use buffer::BufferArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
#[cfg(feature = "serve")]
pub(crate) use demo::DemoArgs;
#[cfg(feature = "full")]
pub(crate) use diagnose::WatchDiagnoseArgs;
#[cfg(target_os = "linux")]
pub(crate) use doctor::DoctorArgs;
#[cfg(feature = "full")]
pub(crate) use dut::DutArgs;
#[cfg(feature = "full")]
pub(crate) use export::{Moment, Range, TableFormat, WatchExportArgs, period};
use fathom_client::Family;
use fathom_report::Detail;
use fathom_terminal::When;
use fathom_units::{Direction, Duration, UnitError};
#[cfg(feature = "router")]
pub(crate) use fix::FixArgs;
#[cfg(feature = "full")]
pub(crate) use fleet::{
    FleetAction, FleetArgs, FleetBuffersArgs, FleetChangesArgs, FleetGatewayArgs, FleetPageArgs,
    FleetPlaceArgs, FleetScopeArgs, FleetSiteArgs, FleetSitesArgs, FleetTogetherArgs, FleetTokenArgs,
    FleetTrendArgs,
};
#[cfg(feature = "full")]
pub(crate) use lab::{CaptureArgs, LabArgs};
#[cfg(all(feature = "router", not(feature = "full")))]
pub(crate) use minimal_watch::{PushFormat, WatchArgs};
pub(crate) use path::PathArgs;
pub(crate) use ping::PingArgs;
#[cfg(feature = "client")]
pub(crate) use report::{CompareArgs, ReportArgs};
#[cfg(feature = "full")]
pub(crate) use sim::SweepArgs;
#[cfg(feature = "client")]
pub(crate) use sim::{ChangeArgs, GalleryArgs, SimAction, SimArgs};
#[cfg(feature = "client")]
pub(crate) use size::SizeArgs;
use std::path::PathBuf;
#[cfg(feature = "serve")]
pub(crate) use test::{OtherProtocol, ServeArgs};
pub(crate) use test::{PhaseName, TestArgs};
pub(crate) use token::TokenArgs;
#[cfg(feature = "client")]
pub(crate) use trace::TraceArgs;
#[cfg(feature = "full")]
pub(crate) use watch::{
    StoreArgs, WatchAction, WatchArgs, WatchBackupArgs, WatchEnrollArgs, WatchImport, WatchSmokepingArgs,
    WatchStatusArgs,
};

/// Measures, finds, explains and fixes bufferbloat: queueing delay under load
///
/// Bufferbloat makes video calls break up and games lag while something else uploads or downloads:
/// a buffer that is too large fills up, and every packet waits behind it. Fathom measures how long,
/// finds the buffer, and shapes the line so that the queue stays short. It also analyzes packet
/// captures, emulates and simulates lines, and monitors latency for years.
///
/// Results go to stdout; progress, warnings and errors go to stderr.
#[derive(Parser, Debug)]
#[command(name = "fathom", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) console: ConsoleArgs,
}

/// Flags of every command: how it prints.
#[derive(Args, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct ConsoleArgs {
    /// Print only the headline
    ///
    /// Leaves out tables, charts, findings, progress and notices. Warnings and errors still go to
    /// stderr, and the exit code is the same. --json and files written with -o stay complete.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Print everything: tables, charts, all findings
    ///
    /// Also prints progress as lines when stderr is not a terminal.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// Do not show progress
    ///
    /// Progress goes to stderr, and only when stderr is a terminal. This flag turns it off there.
    #[arg(long, global = true)]
    no_progress: bool,
    /// When to use color
    ///
    /// With `auto`, colors are used on a terminal unless NO_COLOR is set or TERM is `dumb`.
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    color: When,
}

impl ConsoleArgs {
    /// The settings that every command prints with.
    pub(crate) const fn console(&self) -> Console {
        let detail = match (self.quiet, self.verbose) {
            (true, _) => Detail::Quiet,
            (false, true) => Detail::Verbose,
            (false, false) => Detail::Normal,
        };
        Console { color: self.color, detail, has_progress: !self.no_progress && !self.quiet }
    }
}

/// How to reach a host, and a token for one that runs `fathom serve`.
#[derive(Args, Debug)]
#[command(next_help_heading = "Connection options")]
pub(crate) struct ConnectionArgs {
    /// Use IPv4 only
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Use IPv6 only
    #[arg(short = '6', long)]
    ipv6: bool,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
}

impl ConnectionArgs {
    /// The address family, if one is given.
    pub(crate) const fn family(&self) -> Option<Family> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(Family::V4),
            (_, true) => Some(Family::V6),
            _ => None,
        }
    }
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Test(TestArgs),
    Ping(PingArgs),
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    #[cfg(feature = "serve")]
    Demo(DemoArgs),
    #[cfg(feature = "client")]
    Report(ReportArgs),
    #[cfg(feature = "client")]
    Compare(CompareArgs),
    #[cfg(feature = "client")]
    Trace(TraceArgs),
    Buffer(BufferArgs),
    Path(PathArgs),
    #[cfg(feature = "full")]
    Ecn(fathom_terminal::EcnArgs),
    #[cfg(feature = "full")]
    Dut(DutArgs),
    #[cfg(feature = "router")]
    Audit(AuditArgs),
    #[cfg(feature = "router")]
    Fix(Box<FixArgs>),
    #[cfg(feature = "client")]
    Sim(Box<SimArgs>),
    #[cfg(feature = "full")]
    Lab(LabArgs),
    #[cfg(feature = "client")]
    Size(SizeArgs),
    #[cfg(feature = "router")]
    Watch(WatchArgs),
    #[cfg(feature = "full")]
    Fleet(FleetArgs),
    #[cfg(target_os = "linux")]
    Doctor(DoctorArgs),
    Help(HelpArgs),
    #[cfg(feature = "client")]
    Man(ManArgs),
    #[cfg(feature = "client")]
    Completions(CompletionsArgs),
}

impl Command {
    /// The name of the command, for messages.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            #[cfg(feature = "serve")]
            Command::Demo(_) => "demo",
            Command::Test(_) => "test",
            Command::Ping(_) => "ping",
            #[cfg(feature = "serve")]
            Command::Serve(_) => "serve",
            #[cfg(feature = "full")]
            Command::Lab(_) => "lab",
            #[cfg(feature = "client")]
            Command::Sim(_) => "sim",
            #[cfg(feature = "router")]
            Command::Watch(_) => "watch",
            #[cfg(feature = "full")]
            Command::Fleet(_) => "fleet",
            #[cfg(feature = "client")]
            Command::Trace(_) => "trace",
            Command::Buffer(_) => "buffer",
            Command::Path(_) => "path",
            #[cfg(feature = "full")]
            Command::Ecn(_) => "ecn",
            #[cfg(feature = "full")]
            Command::Dut(_) => "dut",
            #[cfg(feature = "router")]
            Command::Audit(_) => "audit",
            #[cfg(feature = "client")]
            Command::Size(_) => "size",
            #[cfg(feature = "router")]
            Command::Fix(_) => "fix",
            #[cfg(feature = "client")]
            Command::Report(_) => "report",
            #[cfg(feature = "client")]
            Command::Compare(_) => "compare",
            #[cfg(target_os = "linux")]
            Command::Doctor(_) => "doctor",
            Command::Help(_) => "help",
            #[cfg(feature = "client")]
            Command::Man(_) => "man",
            #[cfg(feature = "client")]
            Command::Completions(_) => "completions",
        }
    }
}

/// Show the help of a command, or of a topic
///
/// The topic `exit-codes` explains how the exit code of every command is chosen.
#[derive(Args, Debug)]
pub(crate) struct HelpArgs {
    /// Command, such as `watch alerts`, or the topic exit-codes
    #[arg(value_name = "COMMAND|TOPIC")]
    pub(crate) words: Vec<String>,
}

/// Print a manual page, or write all of them
///
/// Without arguments, prints the page fathom(1), which lists all commands. Every command has its
/// own page, such as fathom-test(1) and fathom-watch-alerts(1).
#[cfg(feature = "client")]
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Command, such as `watch alerts`
    #[arg(value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
    /// Write the pages of all commands to DIR, for packages
    #[arg(long, value_name = "DIR", conflicts_with = "words")]
    pub(crate) all: Option<PathBuf>,
}

/// Print shell completions
///
/// Prints a script that completes the commands and flags of `fathom`. See the documentation of the
/// shell for where to put it.
#[cfg(feature = "client")]
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// Shell
    pub(crate) shell: clap_complete::Shell,
}

/// Destination of a result.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Output options")]
pub(crate) struct OutputArgs {
    /// Print one JSON document instead of the summary
    ///
    /// The document has all measurements and findings. Its schema is
    /// docs/schema/result.schema.json.
    #[arg(long)]
    pub(crate) json: bool,
    #[arg(short, long, value_name = "FILE", help = "Also write the result to FILE (repeatable)",
        long_help = output_help())]
    pub(crate) output: Vec<PathBuf>,
}

fn output_help() -> String {
    let extensions = fathom_app::output::extensions();
    format!(
        "Also write the result to FILE (repeatable)\n\nThe extension of FILE selects the format: {extensions}"
    )
}

/// Parses a direction, and lists both.
pub(crate) fn direction() -> impl TypedValueParser<Value = Direction> {
    PossibleValuesParser::new(Direction::BOTH.map(Direction::name)).try_map(|name| name.parse::<Direction>())
}

/// A time: a number of seconds, or with a unit.
fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        Ok(_) => Err("expected a positive number of seconds".to_owned()),
        Err(_) => text.parse().map_err(|error: UnitError| error.to_string()),
    }
}
