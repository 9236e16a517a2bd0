//! Flags of `fathom sim`.
use super::OutputArgs;
use clap::{Args, Subcommand};
use fathom_app::scenario::Changes;
use fathom_qdisc::Spec;
#[cfg(feature = "full")]
use fathom_run::Measure;
#[cfg(feature = "full")]
use fathom_scenario::Axis;
use fathom_scenario::Setting;
use std::path::PathBuf;

/// Simulate a scenario in virtual time
///
/// Simulates a line, its queues, and the TCP connections and other traffic of a scenario, and shows
/// what `fathom test` would measure there. The same seed always gives the same result. Scenarios
/// are TOML files (docs/scenarios.md).
///
/// With --from, fits a line to a measured result and simulates it, with another queue if --with is
/// given: this shows what the queue would do on that line.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct SimArgs {
    #[command(subcommand)]
    pub(crate) action: Option<SimAction>,
    /// Built-in name (see `fathom lab --list`) or scenario file
    #[arg(value_name = "SCENARIO", required_unless_present = "from")]
    pub(crate) scenario: Option<String>,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    #[cfg(feature = "lab")]
    /// Run it in the lab too, and compare
    ///
    /// The lab runs the scenario with real kernel TCP in real time.
    #[arg(long, conflicts_with = "from")]
    pub(crate) vs_lab: bool,
    /// Fit a line to this result and simulate it
    ///
    /// Takes rate, delay and buffer from a result of `fathom test`.
    #[arg(long, value_name = "RUN", conflicts_with = "scenario")]
    pub(crate) from: Option<PathBuf>,
    /// Queue to try on the fitted line
    ///
    /// A queue discipline, as in `fq_codel`. With @SHARE, as in `cake@95%`, the queue is behind a
    /// shaper at that share of the line's rate.
    #[arg(long, value_name = "QUEUE[@SHARE]", requires = "from")]
    pub(crate) with: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl ChangeArgs {
    /// The changes as the use cases take them.
    pub(crate) fn changes(&self) -> Changes {
        Changes { settings: self.set.clone(), queue: self.queue.clone(), plugins: Vec::new() }
    }
}

/// Changes of a scenario from the command line.
#[derive(Args, Debug, Clone, Default, PartialEq)]
pub(crate) struct ChangeArgs {
    /// Replace the queue of every bottleneck
    ///
    /// A queue discipline with its parameters, as in `fq_codel` or `fifo limit 100ms`.
    #[arg(long, value_name = "QUEUE")]
    pub(crate) queue: Option<Spec>,
    /// Change a value of the scenario (repeatable)
    ///
    /// KEY is the path of the value in the file, as in hop.modem.up.rate=5mbit.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<Setting>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum SimAction {
    #[cfg(feature = "full")]
    Sweep(Box<SweepArgs>),
    Gallery(GalleryArgs),
}

/// Simulate a scenario over many parameters and seeds
///
/// Simulates every combination of the varied values and seeds on all CPUs, and writes one row for
/// each to a table. An interrupted sweep is resumed when the same command runs again.
#[cfg(feature = "full")]
#[derive(Args, Debug)]
pub(crate) struct SweepArgs {
    /// Built-in name or scenario file
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenario: String,
    /// Vary a value (repeatable: all combinations)
    ///
    /// KEY=V1,V2 lists values, KEY=FROM..TO/COUNT takes even steps, and KEY=FROM..TO*COUNT
    /// multiplies by a constant factor. The key `queue` is the queue of every bottleneck.
    #[arg(long, value_name = "KEY=VALUES")]
    pub(crate) vary: Vec<Axis>,
    /// Random seeds, as in 7 or 1..10
    #[arg(long, default_value = "1", value_name = "N|FROM..TO")]
    pub(crate) seeds: String,
    /// Column of the table (repeatable)
    ///
    /// METRIC [up|down] STATISTIC [while PHASE], as in 'udp_rtt_s p95 while up'. docs/metrics.md
    /// lists the metrics.
    #[arg(long, value_name = "MEASURE")]
    pub(crate) measure: Vec<Measure>,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
    /// Table to write (repeatable)
    ///
    /// The extension selects the format: .csv, .parquet or .html. Rows are first written to the
    /// .csv file, from which an interrupted sweep is resumed; the other files are made from it at
    /// the end. A name that ends in / is a folder of Parquet files, for sweeps of millions of rows:
    /// an interrupted one is resumed where files are missing.
    #[arg(short, long, default_value = "sweep.csv", value_name = "FILE|FOLDER/")]
    pub(crate) output: Vec<PathBuf>,
    /// Rows of each file of a folder
    ///
    /// By default what one thread simulates in 2 s, at most 1000.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub(crate) rows_per_file: Option<u64>,
    /// Start over, overwriting the existing table
    #[arg(long)]
    pub(crate) restart: bool,
    /// Number of threads [default: one per CPU]
    #[arg(short, long, value_parser = clap::value_parser!(u16).range(1..=1024), value_name = "N")]
    pub(crate) jobs: Option<u16>,
    /// Simulate one part of N, to use several machines
    ///
    /// Simulates every N-th combination, or file of a folder, starting at number I (from 0).
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Start even if it takes more than an hour
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Simulate all scenarios with expected results, and check them
///
/// Each scenario quotes a number that a paper, an RFC or a measurement has published. The gallery
/// simulates it, compares the result with that number, and writes a page with all charts. Exit code
/// 1: a result is not as published.
#[derive(Args, Debug)]
pub(crate) struct GalleryArgs {
    /// Scenarios to simulate [default: all]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Directory for the page
    #[arg(long, default_value = "fathom-gallery", value_name = "DIR")]
    pub(crate) output_dir: PathBuf,
    /// Write no files
    #[arg(long)]
    pub(crate) no_save: bool,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}
