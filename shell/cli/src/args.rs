//! The command line: every flag once. Help, man page and completions come from here.
use clap::{Args, Parser, Subcommand, ValueEnum};
use fathom_qdisc::Spec;
use fathom_units::{Bytes, Duration};
use std::net::IpAddr;
use std::path::PathBuf;

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

/// Where a result goes.
#[derive(Args, Debug, Clone)]
pub(crate) struct OutputArgs {
    /// Print the whole run as one JSON document instead of the summary
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the result to FILE as well; its ending says the form: .json .json.gz .html .svg .csv .flent.gz (repeatable)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Emulated line: a built-in name (see `fathom lab --list`) or a scenario file
    #[arg(long, default_value = "seifried-2011", value_name = "NAME|FILE")]
    pub(crate) line: String,
    /// Queue of the second run, as in `fq_codel` or `codel target 5ms`
    // RFC 8290 section 5.2.2 wants a target of at least one packet's time, and sqm-scripts more. At 3 Mbit/s that is 4 ms:
    // the default of 5 ms costs one upload some 5 % of its goodput, 10 ms some 2 %, and other flows notice neither.
    #[arg(long, default_value = "fq_codel target 10ms", value_name = "QUEUE")]
    pub(crate) queue: String,
    /// TCP flows of the upload
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64), value_name = "N")]
    pub(crate) flows: u32,
    /// Congestion control of the flows
    #[arg(long, default_value = "cubic", value_name = "NAME")]
    pub(crate) congestion_control: String,
    /// Directory for the two results and the report
    #[arg(long, default_value = "fathom-demo", value_name = "DIR")]
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

#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// Address to listen on; all of them when left out (repeatable)
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Vec<IpAddr>,
    /// Port, TCP and UDP; 0 takes a free one
    #[arg(long, default_value_t = fathom_probe::protocol::DEFAULT_PORT, value_name = "PORT")]
    pub(crate) port: u16,
    /// Clients must present this token
    #[arg(long, env = "FATHOM_TOKEN", hide_env_values = true, value_name = "TEXT")]
    pub(crate) token: Option<String>,
    /// Clients at one time
    #[arg(long, default_value_t = 16, value_name = "N")]
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
    /// Emulated line: a built-in name or a scenario file
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
    /// Write what the queues did to FILE (.json .json.gz .csv); repeatable
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    /// List the built-in lines
    #[arg(long)]
    pub(crate) list: bool,
    /// Program to run at the user's end, with its arguments; a shell when left out
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) program: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// Result files, as `fathom test` and `fathom demo` write them
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// Result files; the first is what the others are compared with
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write the comparison to FILE as well (.html .svg)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
}
