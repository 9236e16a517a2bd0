//! Flags of `fathom test` and `fathom serve`.
use super::{ConnectionArgs, OutputArgs, TokenArgs};
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use clap::{Args, ValueEnum};
use fathom_app::test::PUBLIC_SERVERS;
use fathom_units::{Bytes, Duration, Ecn, Rate, dscp_of_name};
use std::fmt::Display;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// Measure latency under load and find the cause
///
/// Measures latency while the line is idle, while it downloads, while it uploads, and while it does
/// both, against a machine that runs `fathom serve`, or another server. Shows how much latency
/// grows under load, how large the buffer is, in which direction it is, and what to do. The result
/// is saved in the current directory.
///
/// Ctrl-C ends the test early; what was measured until then is shown and saved.
#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// Server that runs `fathom serve` (HOST or HOST:PORT), or a URL
    ///
    /// Without it: the first that can be reached of the servers that announce themselves on the
    /// local network, those of your list (the file ~/.config/fathom/servers, one per line), and
    /// public servers whose policy you have accepted.
    ///
    /// HOST is a hostname or an IP address. The default port is 3279. Put an IPv6 address in
    /// brackets if a port follows it: `[2001:db8::1]:3280`.
    ///
    /// A URL is that of a speed test (networkQuality, Cloudflare, LibreSpeed), of a large file, or
    /// of a server of iperf3, netperf, ndt7 or msak: `https://HOST/`, `https://HOST/large.iso`,
    /// `iperf3://HOST`, `ndt7://HOST`. `ndt7://` alone is Measurement Lab's nearest server, and
    /// `h3://HOST/` downloads from a speed test by HTTP/3. Such a server measures nothing itself,
    /// so one-way delays are missing; one of crusader (`crusader://HOST`) has them. A server of
    /// irtt or STAMP (`irtt://HOST`, `stamp://HOST`) has one-way delays and no load: see --load.
    #[arg(value_name = "SERVER", value_parser = NonEmptyStringValueParser::new())]
    #[cfg_attr(not(feature = "client"), arg(help = OWN_SERVER, long_help = OWN_SERVER))]
    pub(crate) server: Option<String>,
    /// Accept the policy of a public server
    ///
    /// Now and for later tests. cloudflare: `https://www.cloudflare.com/privacypolicy/`, apple:
    /// `https://www.apple.com/legal/privacy/`, mlab: `https://www.measurementlab.net/privacy/`
    #[cfg(feature = "client")]
    #[arg(long, value_name = "NAME", value_parser = public_names(), help_heading = "Connection options")]
    pub(crate) accept_policy: Option<String>,
    /// Load from another server
    ///
    /// SERVER is probed while the server at URL carries the load. URL is as for SERVER.
    #[cfg(feature = "client")]
    #[arg(long, value_name = "URL", requires = "server", help_heading = "Connection options")]
    pub(crate) load: Option<String>,
    /// Flows in each direction
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64), value_name = "N")]
    pub(crate) flows: u32,
    /// Pace the TCP load to this rate
    ///
    /// Payload of each direction, all flows together, as in 20mbit. The server runs `fathom serve`.
    /// A load below the rate of the line shows what such a load does, not how large the queue is.
    #[arg(long, value_name = "RATE", value_parser = load_rate)]
    pub(crate) pace: Option<Rate>,
    /// Load of UDP at this rate, not TCP
    ///
    /// Payload of each direction, all flows together, as in 110mbit. The server runs `fathom serve`
    /// or iperf3. Above the rate of the line, the queue fills and what exceeds the rate is lost:
    /// this is no defect of the line.
    #[arg(long, value_name = "RATE", value_parser = load_rate, conflicts_with_all = ["pace", "congestion_control"])]
    pub(crate) udp: Option<Rate>,
    /// Congestion control
    ///
    /// Congestion control of the load at both ends. The kernels of both machines must have it.
    #[arg(long, default_value = "cubic", value_name = "NAME")]
    pub(crate) congestion_control: String,
    /// Measure applications, too
    ///
    /// How long pages take, whether a video stalls, how a call sounds, and which updates of a game
    /// are late, without load and next to it: web, web-sharded, video, call, game, or a file with
    /// your own (docs/scenarios.md). The server runs `fathom serve`. -v shows the table. The test
    /// takes 15 s more, and at least 15 s for each load.
    #[cfg(feature = "client")]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) app: Vec<String>,
    /// Use an application as the load
    ///
    /// backup, swarm, web, web-sharded, video, or a file with your own. Phases that load another
    /// direction are left out.
    #[cfg(feature = "client")]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["load", "pace", "udp", "load_dscp"])]
    pub(crate) load_app: Option<String>,
    /// Phases of the test, in order
    ///
    /// Default: idle,down,up,both,drain,bursts. After an empty queue, bursts of UDP check the sizes
    /// of the buffers, with at most 10 MB in each direction, if the server runs `fathom serve`.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "idle,down,up,both,drain,bursts",
        value_name = "LIST",
        hide_default_value = true
    )]
    pub(crate) phases: Vec<PhaseName>,
    /// Time limit of a load phase
    ///
    /// A phase ends early once latency and throughput have stopped growing.
    #[arg(long, default_value = "30s", value_name = "TIME")]
    pub(crate) max_phase: Duration,
    /// At most 10 s of load in each direction
    ///
    /// Both directions are not loaded at once. A deep buffer may not be full after 10 s; then its
    /// delay is a lower bound.
    #[arg(long, conflicts_with_all = ["phases", "max_phase"])]
    pub(crate) quick: bool,
    /// Four classes of traffic, as flent's rrul
    ///
    /// Realtime Response Under Load: load in both directions with four flows each, of the classes
    /// BE, BK (CS1), CS5 and EF, and UDP probes of BE, BK and EF. -v and JSON show the goodput and
    /// latency of each class. The server runs `fathom serve`.
    #[arg(long, conflicts_with_all = ["phases", "quick", "flows", "udp", "pace", "dscp", "load_dscp", "load"])]
    pub(crate) rrul: bool,
    /// Interval of probes
    ///
    /// Time between two probes of the same kind.
    #[arg(long, default_value = "50ms", value_name = "TIME")]
    pub(crate) sample_every: Duration,
    /// Data cap: stop after this much data
    ///
    /// Both directions together, as in 500mb. Use it on a metered line.
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_bytes: Option<Bytes>,
    /// DSCP of probes: 0 to 63, or a name such as ef
    ///
    /// Of those that this computer sends. It shows whether a class of traffic waits less than the
    /// load does.
    #[arg(long, default_value = "0", value_parser = dscp, value_name = "CLASS", hide_default_value = true)]
    pub(crate) dscp: u8,
    /// DSCP of the load that this computer sends
    #[arg(long, default_value = "0", value_parser = dscp, value_name = "CLASS", hide_default_value = true)]
    pub(crate) load_dscp: u8,
    /// ECN codepoint of UDP probes and of --udp
    ///
    /// not-ect, ect0 or ect1, in both directions. -v and JSON show with which codepoint packets
    /// arrived: ce was marked by a queue, not-ect was cleared on the path. TCP has no such switch:
    /// sysctl net.ipv4.tcp_ecn=1 of this computer requests ECN, and -v shows how many flows use it.
    /// The server runs `fathom serve`.
    #[arg(long, value_name = "CODEPOINT", hide_possible_values = true)]
    pub(crate) ecn: Option<Codepoint>,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Print events as JSON, one per line, while the test runs
    ///
    /// The last line has the document of --json. Their schema is docs/schema/event.schema.json.
    #[arg(long, conflicts_with = "json", help_heading = "Output options")]
    pub(crate) json_lines: bool,
    /// Do not save the result in the current directory
    #[arg(long, help_heading = "Output options")]
    pub(crate) no_save: bool,
}

/// What a build without other protocols can test against.
#[cfg(not(feature = "client"))]
const OWN_SERVER: &str = "Server that runs `fathom serve` (HOST or HOST:PORT)";
/// Rates of a load: at least that of a slow modem, at most what the protocol allows a flow.
const MIN_LOAD: Rate = Rate::from_bits_per_second(50_000);
const MAX_LOAD: Rate = Rate::from_bits_per_second(10_000_000_000);

/// A program whose clients `fathom serve` can serve.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum OtherProtocol {
    Iperf3,
    Irtt,
    Stamp,
    Web,
    All,
}

/// ECN codepoints of senders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Codepoint {
    NotEct,
    Ect0,
    Ect1,
}

impl From<Codepoint> for Ecn {
    fn from(codepoint: Codepoint) -> Ecn {
        match codepoint {
            Codepoint::NotEct => Ecn::NotEct,
            Codepoint::Ect0 => Ecn::Ect0,
            Codepoint::Ect1 => Ecn::Ect1,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum PhaseName {
    Idle,
    Down,
    Up,
    Both,
    Drain,
    Bursts,
}

fn public_names() -> PossibleValuesParser {
    PossibleValuesParser::new(PUBLIC_SERVERS.map(|server| server.name))
}

/// Parses `--max-clients`.
/// Rate of a load.
fn load_rate(text: &str) -> Result<Rate, String> {
    let rate = text.parse::<Rate>().map_err(|error| error.to_string())?;
    let is_possible = (MIN_LOAD..=MAX_LOAD).contains(&rate);
    is_possible.then_some(rate).ok_or_else(|| format!("expected {MIN_LOAD} to {MAX_LOAD}"))
}

/// A DSCP by its number or name.
pub(super) fn dscp(text: &str) -> Result<u8, String> {
    let number = text.parse().ok().filter(|number| *number < 64);
    number
        .or_else(|| dscp_of_name(text))
        .ok_or_else(|| "expected 0 to 63, ef, le, cs0 to cs7, af11 to af43".to_owned())
}

fn client_limit(text: &str) -> Result<u32, String> {
    let limit = text.parse().map_err(|error| format!("{error} (expected 1 to {})", u32::MAX))?;
    if limit == 0 { Err("expected at least 1; leave the flag out for 16".to_owned()) } else { Ok(limit) }
}

/// A limit of time or data: with 0 the server would refuse everyone.
fn limit_above_zero<T: FromStr<Err: Display> + Default + PartialEq>(text: &str) -> Result<T, String> {
    match text.parse().map_err(|error: T::Err| error.to_string())? {
        limit if limit == T::default() => {
            Err("expected more than 0; leave the flag out for the default".into())
        }
        limit => Ok(limit),
    }
}

/// Run a test server (the remote endpoint for `fathom test`)
///
/// Answers the tests of other machines until Ctrl-C. A firewall must let the port through for TCP
/// and UDP. Browsers get a page at the same port that tests their line, unless a token is required.
/// The server needs no root and writes no files. It limits the number of clients, and the
/// time and data of each test.
#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// Address to listen on (repeatable) [default: all]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Vec<IpAddr>,
    /// TCP and UDP port; 0 selects a free one
    #[arg(long, default_value_t = fathom_app::test::DEFAULT_PORT, value_name = "PORT")]
    pub(crate) port: u16,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    /// Also serve clients of another program
    ///
    /// iperf3: port 5201, TCP and UDP. irtt: UDP port 2112. stamp: UDP port 862 (RFC 8762), which
    /// needs root. web: clients of networkQuality, ndt7, and Cloudflare's and LibreSpeed's speed
    /// tests, with and without TLS. all: each of them. Their clients cannot know a token.
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["token", "token_file"],
        help_heading = "Connection options")]
    pub(crate) with: Vec<OtherProtocol>,
    /// TCP port of web clients
    #[arg(
        long,
        default_value_t = 443,
        value_name = "PORT",
        requires = "with",
        help_heading = "Connection options"
    )]
    pub(crate) web_port: u16,
    /// PEM file of a certificate [default: self-signed]
    #[arg(long, value_name = "FILE", requires = "key", help_heading = "Connection options")]
    pub(crate) certificate: Option<PathBuf>,
    /// PEM file of its private key
    #[arg(long, value_name = "FILE", requires = "certificate", help_heading = "Connection options")]
    pub(crate) key: Option<PathBuf>,
    /// Directory for results of browsers
    ///
    /// Results whose users agree are kept there as files for `fathom report` and `fathom compare`,
    /// at most 10,000. Without it, they are kept in memory for a day.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["token", "token_file"], help_heading = "Connection options")]
    pub(crate) results: Option<PathBuf>,
    /// Address of a reverse proxy (repeatable)
    ///
    /// Its headers name its clients: X-Forwarded-For, which limits count, and X-Forwarded-Proto.
    /// Headers of others are ignored.
    #[arg(long, value_name = "ADDRESS", help_heading = "Connection options")]
    pub(crate) trust_proxy: Vec<IpAddr>,
    /// Announce the server on the local network
    ///
    /// Then `fathom test` without a server finds it there (DNS-SD).
    #[arg(long, help_heading = "Connection options")]
    pub(crate) announce: bool,
    /// Answer nothing to clients without the token
    ///
    /// Scanners then see an open port that closes each connection without a word.
    #[arg(long, help_heading = "Connection options")]
    pub(crate) silent: bool,
    /// Maximum number of concurrent clients
    #[arg(long, default_value_t = 16, value_parser = client_limit, value_name = "N", help_heading = "Limits")]
    pub(crate) max_clients: u32,
    /// Maximum duration of one client's test
    #[arg(long, default_value = "10min", value_parser = limit_above_zero::<Duration>, value_name = "TIME", help_heading = "Limits")]
    pub(crate) max_time: Duration,
    /// Maximum data of one client's test
    ///
    /// Both directions together.
    #[arg(long, default_value = "100gb", value_parser = limit_above_zero::<Bytes>, value_name = "SIZE", help_heading = "Limits")]
    pub(crate) max_bytes: Bytes,
    /// Maximum data of one address per hour
    ///
    /// An address is an IPv4 address or an IPv6 /64. A network (a /24 or a /56) may use twice as
    /// much.
    #[arg(long = "per-hour", default_value = "400gb", value_parser = limit_above_zero::<Bytes>, value_name = "SIZE", help_heading = "Limits")]
    pub(crate) max_hourly_bytes: Bytes,
}
