//! The command line: every flag once. Help, man page and completions come from here.
mod alerts;
mod audit;
mod diagnose;
mod export;
mod fix;
mod size;
mod watch;

pub(crate) use alerts::{WatchAlertsArgs, WatchTestAlertArgs};
pub(crate) use audit::AuditArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
pub(crate) use diagnose::WatchDiagnoseArgs;
pub(crate) use export::{Moment, Range, TableFormat, WatchExportArgs, period};
use fathom_app::results::ResultSource;
use fathom_app::scenario::Changes;
use fathom_app::trace::{Export, ExportForm};
use fathom_app::watch::{HistorySource, Period};
use fathom_qdisc::Spec;
use fathom_run::Measure;
use fathom_scenario::{Axis, Setting};
use fathom_units::{Bytes, Duration};
pub(crate) use fix::FixArgs;
pub(crate) use size::SizeArgs;
use std::net::IpAddr;
use std::path::PathBuf;
pub(crate) use watch::{StoreArgs, WatchAction, WatchArgs, WatchImport, WatchSmokepingArgs, WatchStatusArgs};

const EXAMPLES: &str = "\
Examples:
  fathom demo                        see bufferbloat on this machine, in under a minute
  fathom serve                       on one machine, then ...
  fathom test server.example.net     ... on another: test the path between the two
  fathom lab --line dsl -- ping -c 5 198.19.0.2

Exit codes: 0 done and healthy; 1 done, bufferbloat found; 2 usage or input error;
3 environment (permission, missing kernel feature, unreachable); 4 measurement invalid.";

/// Takes soundings of the Internet's dark buffers: detects, proves and explains bufferbloat,
/// the excess queueing delay of a loaded line.
#[derive(Parser, Debug)]
#[command(name = "fathom", version, after_help = EXAMPLES, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// When to use colour; NO_COLOR and TERM=dumb are respected
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub(crate) color: When,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Show bufferbloat here and now: real TCP through an emulated line, before and after a managed queue
    Demo(DemoArgs),
    /// Test the path to a server: latency when idle, and while downloading, uploading, and both
    Test(TestArgs),
    /// Be the far end of other people's tests
    Serve(ServeArgs),
    /// Run any program behind an emulated line
    Lab(LabArgs),
    /// Simulate a scenario in virtual time: any queue, any congestion control, any link
    Sim(Box<SimArgs>),
    /// Watch the latency of many targets for years: every probe kept, on a page
    Watch(WatchArgs),
    /// Diagnose a capture of packets: which queue, where, how large, who filled it, who waited in it
    Trace(TraceArgs),
    /// Find the dark buffers of this host or of another: where packets may wait, how long, and what to do
    Audit(AuditArgs),
    /// Do the arithmetic of a queue: buffer, rate, delay, flows, overload; one unknown from the others
    Size(SizeArgs),
    /// Keep queues short on an interface: measure, find the rates, shape, prove it or undo it; the undo outlives crashes
    Fix(Box<FixArgs>),
    /// Show a result file, or turn it into HTML, CSV or a Flent file
    Report(ReportArgs),
    /// Show two or more results side by side
    Compare(CompareArgs),
    /// Print the manual page: `fathom man | man -l -`
    Man,
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

impl Command {
    /// As it is typed, for messages.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Command::Demo(_) => "demo",
            Command::Test(_) => "test",
            Command::Serve(_) => "serve",
            Command::Lab(_) => "lab",
            Command::Sim(_) => "sim",
            Command::Watch(_) => "watch",
            Command::Trace(_) => "trace",
            Command::Audit(_) => "audit",
            Command::Size(_) => "size",
            Command::Fix(_) => "fix",
            Command::Report(_) => "report",
            Command::Compare(_) => "compare",
            Command::Man => "man",
            Command::Completions { .. } => "completions",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

fn output_help() -> String {
    let endings = fathom_app::output::extensions();
    format!("Write the result to FILE as well; its ending says the form: {endings} (repeatable)")
}

/// Where a result goes.
#[derive(Args, Debug, Clone)]
pub(crate) struct OutputArgs {
    /// Print the whole run as one JSON document instead of the summary
    #[arg(long)]
    pub(crate) json: bool,
    #[arg(short, long, value_name = "FILE", help = output_help())]
    pub(crate) output: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Emulated line: a built-in name (see `fathom lab --list`) or a scenario file
    #[arg(long, default_value = fathom_app::demo::LINE, value_name = "NAME|FILE")]
    pub(crate) line: String,
    /// Queue of the second run, as in `fq_codel` or `codel target 5ms`
    #[arg(long, default_value = fathom_app::demo::QUEUE, value_name = "QUEUE")]
    pub(crate) queue: String,
    /// TCP flows of the upload
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64), value_name = "N")]
    pub(crate) flows: u32,
    /// Congestion control of the flows
    #[arg(long, default_value = "cubic", value_name = "NAME")]
    pub(crate) congestion_control: String,
    /// Directory for the two results and the report
    #[arg(long, default_value = fathom_app::demo::FOLDER, value_name = "DIR")]
    pub(crate) output_dir: PathBuf,
    /// Write no files
    #[arg(long)]
    pub(crate) no_save: bool,
    /// Print both runs as JSON lines instead of the summary
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// The machine that runs `fathom serve`: a name or an address, with :PORT if it is not 3279 (IPv6 in brackets then)
    #[arg(value_name = "HOST")]
    pub(crate) server: String,
    /// TCP flows in each direction
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64), value_name = "N")]
    pub(crate) flows: u32,
    /// Congestion control of the load, at both ends
    #[arg(long, default_value = "cubic", value_name = "NAME")]
    pub(crate) congestion_control: String,
    /// Phases, in order
    #[arg(long, value_delimiter = ',', default_value = "idle,down,up,both,drain", value_name = "LIST")]
    pub(crate) phases: Vec<PhaseName>,
    /// Longest time of each load phase; it ends sooner, when the working latency has stopped growing
    #[arg(long, default_value = "30s", value_name = "TIME")]
    pub(crate) max_phase: Duration,
    /// Time between two samples of each kind
    #[arg(long, default_value = "50ms", value_name = "TIME")]
    pub(crate) sample_every: Duration,
    /// Stop when this much has been moved, as in 500mb
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_bytes: Option<Bytes>,
    /// IPv4 only
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub(crate) ipv4: bool,
    /// IPv6 only
    #[arg(short = '6', long)]
    pub(crate) ipv6: bool,
    /// Token, where the server wants one
    #[arg(long, env = "FATHOM_TOKEN", hide_env_values = true, value_name = "TEXT")]
    pub(crate) token: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Do not keep a result file in the current directory
    #[arg(long)]
    pub(crate) no_save: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum PhaseName {
    Idle,
    Down,
    Up,
    Both,
    Drain,
}

/// Parses `--max-clients`.
fn client_limit(text: &str) -> Result<u32, String> {
    let limit = text.parse().map_err(|error| format!("{error} (a whole number, from 1 to {})", u32::MAX))?;
    if limit == 0 { Err("the least is 1; try 1, or leave it out for 16".to_owned()) } else { Ok(limit) }
}

#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// Address to listen on; all of them when left out (repeatable)
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Vec<IpAddr>,
    /// Port, TCP and UDP; 0 takes a free one
    #[arg(long, default_value_t = fathom_app::test::DEFAULT_PORT, value_name = "PORT")]
    pub(crate) port: u16,
    /// Clients must present this token
    #[arg(long, env = "FATHOM_TOKEN", hide_env_values = true, value_name = "TEXT")]
    pub(crate) token: Option<String>,
    /// Clients at one time
    #[arg(long, default_value_t = 16, value_parser = client_limit, value_name = "N")]
    pub(crate) max_clients: u32,
    /// Longest time of one client's test
    #[arg(long, default_value = "10min", value_name = "TIME")]
    pub(crate) max_time: Duration,
    /// Most bytes of one client's test, both directions together
    #[arg(long, default_value = "100gb", value_name = "SIZE")]
    pub(crate) max_bytes: Bytes,
}

#[derive(Args, Debug)]
pub(crate) struct LabArgs {
    /// Run the scenario's own load and works (a built-in name or a file), measure, and show the result as `fathom test` does
    #[arg(value_name = "SCENARIO", conflicts_with_all = ["line", "far", "capture", "program"])]
    pub(crate) scenario: Option<String>,
    /// Emulated line for COMMAND: a built-in name or a scenario file
    #[arg(long, default_value = "dsl", value_name = "NAME|FILE")]
    pub(crate) line: String,
    /// Replace every bottleneck queue by this one, as in `fq_codel` or `fifo limit 100ms`
    #[arg(long, value_name = "QUEUE")]
    pub(crate) queue: Option<Spec>,
    /// Congestion control of both ends' routes
    #[arg(long, default_value = "cubic", value_name = "NAME")]
    pub(crate) congestion_control: String,
    /// Run this at the far end too, through the shell, as in 'iperf3 -s'; `fathom serve` runs there anyway
    #[arg(long, value_name = "COMMAND")]
    pub(crate) far: Option<String>,
    /// Seed of loss, reordering and flow hashes
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) capture: CaptureArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// List the built-in lines
    #[arg(long)]
    pub(crate) list: bool,
    /// Program to run at the user's end, with its arguments; a shell when left out
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) program: Vec<String>,
}

/// Capture files of the line.
#[derive(Args, Debug)]
pub(crate) struct CaptureArgs {
    /// Write captures of both ends and of every link's ends to DIR, and the truth about their queues as truth.json
    #[arg(long, value_name = "DIR")]
    pub(crate) capture: Option<PathBuf>,
    /// Bytes kept of each captured packet, from its IP header on
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(60..=65_535), value_name = "BYTES", requires = "capture")]
    pub(crate) snaplen: u32,
    /// Capture super-packets at the ends, as on a network card that segments and joins (TSO, GRO)
    #[arg(long, requires = "capture")]
    pub(crate) super_packets: bool,
}

const SIM_EXAMPLES: &str = "\
Examples:
  fathom sim seifried-2011                              what the upload does to the line
  fathom sim seifried-2011 --queue 'fq_codel target 10ms'
  fathom sim home.toml --set hop.modem.up.rate=5mbit -o home.html
  fathom sim --from test.json.gz --with cake@95%        what CAKE would do on that line
  fathom sim home.toml --vs-lab                         the same with real kernel TCP, side by side
  fathom sim sweep home.toml --vary queue=codel,pie,fq_codel --seeds 1..10 -o sweep.csv
  fathom sim gallery                                    every numeric claim of the project's sources";

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, after_help = SIM_EXAMPLES, arg_required_else_help = true)]
pub(crate) struct SimArgs {
    #[command(subcommand)]
    pub(crate) action: Option<SimAction>,
    /// A built-in name (see `fathom lab --list`) or a scenario file
    #[arg(value_name = "SCENARIO", required_unless_present = "from")]
    pub(crate) scenario: Option<String>,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
    /// Seed of all chance
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// Run it in the lab too, with real kernel TCP in real time, and compare
    #[arg(long, conflicts_with = "from")]
    pub(crate) vs_lab: bool,
    /// Fit rate, delay and buffer to this result, and simulate the line that it shows
    #[arg(long, value_name = "RUN", conflicts_with = "scenario")]
    pub(crate) from: Option<PathBuf>,
    /// The queue to try on the fitted line; QUEUE@SHARE puts it behind a shaper at that share of the rate
    #[arg(long, value_name = "QUEUE[@SHARE]", requires = "from")]
    pub(crate) with: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl ChangeArgs {
    /// What the use cases call it.
    pub(crate) fn changes(&self) -> Changes {
        Changes { settings: self.set.clone(), queue: self.queue.clone() }
    }
}

/// Changes of a scenario from the command line.
#[derive(Args, Debug, Clone, Default, PartialEq)]
pub(crate) struct ChangeArgs {
    /// Replace every bottleneck queue by this one, as in `fq_codel` or `fifo limit 100ms`
    #[arg(long, value_name = "QUEUE")]
    pub(crate) queue: Option<Spec>,
    /// Set a value of the file, as in `hop.modem.up.rate=5mbit` (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<Setting>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum SimAction {
    /// Simulate a scenario over many parameters and seeds, on all cores
    Sweep(SweepArgs),
    /// Simulate every scenario that has claims, and hold them against what comes out
    Gallery(GalleryArgs),
}

#[derive(Args, Debug)]
pub(crate) struct SweepArgs {
    /// A built-in name or a scenario file
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenario: String,
    /// Vary a value: KEY=V1,V2 or KEY=FROM..TO/COUNT (even steps) or KEY=FROM..TO*COUNT (multiples); `queue` is every
    /// bottleneck's queue (repeatable: all combinations)
    #[arg(long, value_name = "KEY=VALUES")]
    pub(crate) vary: Vec<Axis>,
    /// Seeds, as in 7 or 1..10
    #[arg(long, default_value = "1", value_name = "N|FROM..TO")]
    pub(crate) seeds: String,
    /// A column: METRIC [up|down] STATISTIC [while PHASE], as in 'udp_rtt_s p95 while up' (repeatable)
    #[arg(long, value_name = "MEASURE")]
    pub(crate) measure: Vec<Measure>,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
    /// The table (.csv; .parquet and .html beside it are made from it); one that was cut short is gone on with
    #[arg(short, long, default_value = "sweep.csv", value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    /// Begin anew although the table exists
    #[arg(long)]
    pub(crate) restart: bool,
    /// Threads; as many as there are CPUs when left out
    #[arg(short, long, value_parser = clap::value_parser!(u16).range(1..=1024), value_name = "N")]
    pub(crate) jobs: Option<u16>,
    /// Only every N-th cell, beginning at the I-th: for several machines
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Start although it will take longer than an hour
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct GalleryArgs {
    /// Only these scenarios
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Directory for the page with all pictures
    #[arg(long, default_value = "fathom-gallery", value_name = "DIR")]
    pub(crate) output_dir: PathBuf,
    /// Write no files
    #[arg(long)]
    pub(crate) no_save: bool,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

const TRACE_EXAMPLES: &str = "\
Examples:
  fathom trace upload.pcapng                      what happened, and why
  fathom trace upload.pcap.zst -o upload.html     every packet, on a page to zoom into
  fathom trace client.pcap router.pcap            what the path between them did to the packets
  fathom trace --interface eth0 --duration 1min
  ssh router tcpdump -i wan -s 128 -w - | fathom trace -
  fathom trace upload.pcap --export xplot=graphs --export tcptrace=flows.csv
  fathom trace upload.pcap --anonymize share.pcap

Capture 128 bytes of each packet, at the host that is slow or at its router, while it is slow.
TCP timestamps tell on which side of the capture the queue is.";

#[derive(Args, Debug)]
#[command(after_help = TRACE_EXAMPLES, arg_required_else_help = true)]
pub(crate) struct TraceArgs {
    /// Captures: pcap or pcapng, as they are or in gzip, zstd, lz4 or xz; `-` is standard input. Several of one path and one
    /// time tell what happens between them; the diagnosis is of the first
    #[arg(value_name = "FILE", required_unless_present = "interface")]
    pub(crate) files: Vec<PathBuf>,
    /// Capture here and now, until Ctrl-C; `any` is all interfaces
    #[arg(short, long, value_name = "NAME", conflicts_with = "files")]
    pub(crate) interface: Option<String>,
    /// End the capture after this time
    #[arg(long, value_name = "TIME", requires = "interface", conflicts_with = "files")]
    pub(crate) duration: Option<Duration>,
    /// Bytes captured of each frame
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(128..=65_535), value_name = "BYTES", requires = "interface", conflicts_with = "files")]
    pub(crate) snaplen: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Write another tool's format: xplot=DIR, tcptrace=FILE, tstat=FILE, pping=FILE or qlog=DIR (repeatable)
    #[arg(long, value_parser = export, value_name = "FORM=PATH")]
    pub(crate) export: Vec<Export>,
    /// Flows of the page, of graphs and of qlog, by number; the eight largest when left out (repeatable)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) flow: Vec<u32>,
    /// Write a copy to share, and no diagnosis: headers alone, addresses replaced; it gives the same diagnosis
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "export", "json"])]
    pub(crate) anonymize: Option<PathBuf>,
    /// All captures were stamped by one clock: take delays as they are
    #[arg(long)]
    pub(crate) one_clock: bool,
    /// Threads that follow flows, 1 or 2; as many as gain time when left out. The result is the same
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2), conflicts_with = "interface")]
    pub(crate) threads: Option<u8>,
}

/// Parses `FORM=PATH`.
fn export(text: &str) -> Result<Export, String> {
    let (name, path) = text.split_once('=').unwrap_or((text, ""));
    let form = match name {
        "xplot" => ExportForm::Xplot,
        "tcptrace" => ExportForm::Tcptrace,
        "tstat" => ExportForm::Tstat,
        "pping" => ExportForm::Pping,
        "qlog" => ExportForm::Qlog,
        _ => return Err(format!("unknown form {name:?} (known: xplot, tcptrace, tstat, pping, qlog)")),
    };
    if path.is_empty() {
        return Err(format!("{name} needs a path, as in {name}=PATH"));
    }
    Ok(Export { form, path: PathBuf::from(path) })
}

#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// Result files, as `fathom test` and `fathom demo` write them
    #[arg(required_unless_present = "watch", conflicts_with = "watch", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) history: HistoryArgs,
    /// Start of the period: a time in UTC, or how long ago, as in 90min, 24h, 7d
    #[arg(long, value_name = "TIME", requires = "watch", default_value = "24h")]
    pub(crate) since: Moment,
    /// End of the period [default: now]
    #[arg(long, value_name = "TIME", requires = "watch")]
    pub(crate) until: Option<Moment>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// A target of `fathom watch`, and where its history is.
#[derive(Args, Debug)]
pub(crate) struct HistoryArgs {
    /// Take a period of the history of `fathom watch` for TARGET instead of a file
    #[arg(long, value_name = "TARGET")]
    pub(crate) watch: Option<String>,
    /// Configuration of the watch, for its `store`
    #[arg(long, value_name = "CONFIG", requires = "watch")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of the history
    #[arg(long, value_name = "DIR", requires = "watch", conflicts_with = "config")]
    pub(crate) store: Option<PathBuf>,
}

impl HistoryArgs {
    /// The source of `periods` if a target is named, else of `files`.
    pub(crate) fn results(&self, files: &[PathBuf], periods: Vec<Period>) -> ResultSource {
        let history = HistorySource { config: self.config.clone(), store: self.store.clone() };
        self.watch.clone().map_or_else(
            || ResultSource::Files(files.to_vec()),
            |target| ResultSource::Watch { history, target, periods },
        )
    }
}

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// Result files; the first is what the others are compared with
    #[arg(required_unless_present = "watch", conflicts_with = "watch", num_args = 2.., value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) history: HistoryArgs,
    /// A period to compare: a day in UTC such as 2026-11-23, or FROM..TO (two or more)
    #[arg(long, value_name = "PERIOD", requires = "watch")]
    pub(crate) period: Vec<Range>,
    /// Write the comparison to FILE as well (.html .svg)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
}
