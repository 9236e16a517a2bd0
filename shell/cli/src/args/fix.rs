//! Flags of `fathom fix`.
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};
use fathom_shaper::{Place, ShaperKind};
use fathom_units::{Direction, Duration, Rate};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  fathom fix --server server.example.net                  measure, find the rates, shape, verify; otherwise roll back
  fathom fix --server server.example.net --dry-run        measure, find the rates, show what would be done
  fathom fix eth0 --up 9.5mbit --down 47mbit --dry-run    only show what would be done
  fathom fix eth0 --up 9.5mbit --down 47mbit              on for a minute, then rolled back
  fathom fix eth0 --up 9.5mbit --down 47mbit --commit     on until it is undone
  fathom fix eth0 --auto --server HOST --up 20mbit --down 60mbit    follow a line that varies
  fathom fix --status
  fathom fix --undo eth0

With --server (a machine that runs `fathom serve`) the rates are searched, by some two minutes of load on the line.
Rates given by hand are what the line really carries, less a few percent: above that the queue stays in the modem.
With --server they too are verified, or rolled back.
With --auto (LTE, Starlink, cable in the evening) the rates follow the line for as long as this runs, without any load of its own.
If this program ends in any way before it is done, a watchdog process rolls back.";

/// Shape an interface: measure, find the rates, apply an AQM shaper, verify it or roll back (crash-safe)
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, group(ArgGroup::new("mode").args(["status", "undo", "watchdog"])),
    group(ArgGroup::new("stays").args(["commit", "server"]).multiple(true)))]
pub(crate) struct FixArgs {
    /// The interface to the slow line; with --server that of the default route if left out
    #[arg(value_name = "DEV", value_parser = interface)]
    pub(crate) device: Option<String>,
    /// Server running `fathom serve`: measure against it, search the rates that are not given, and keep the shaper only if it
    /// passes all checks
    #[arg(long, value_name = "HOST", conflicts_with = "mode")]
    pub(crate) server: Option<String>,
    /// Allowed median queueing delay under load (above idle); default 5ms (20ms for tbf) plus two packet times on slow links
    #[arg(long, value_name = "TIME", requires = "server")]
    pub(crate) budget: Option<Duration>,
    /// Shape this direction alone
    #[arg(long, value_name = "WAY", requires = "server", conflicts_with_all = ["up", "down"], value_parser = direction())]
    pub(crate) only: Option<Direction>,
    /// Shape even a line without bufferbloat
    #[arg(long, requires = "server")]
    pub(crate) force: bool,
    /// Authentication token, if the server requires one
    #[arg(long, env = "FATHOM_TOKEN", hide_env_values = true, value_name = "TEXT")]
    pub(crate) token: Option<String>,
    /// IPv4 only
    #[arg(short = '4', long, requires = "server", conflicts_with = "ipv6")]
    pub(crate) ipv4: bool,
    /// IPv6 only
    #[arg(short = '6', long, requires = "server")]
    pub(crate) ipv6: bool,
    /// Keep the tests before and after as files in this directory
    #[arg(long, value_name = "DIR", requires = "server")]
    pub(crate) results: Option<PathBuf>,
    /// Egress (upload) rate, e.g. 9.5mbit
    #[arg(long, value_name = "RATE", conflicts_with = "mode", value_parser = rate)]
    pub(crate) up: Option<Rate>,
    /// Ingress (download) rate
    #[arg(long, value_name = "RATE", conflicts_with = "mode", value_parser = rate)]
    pub(crate) down: Option<Rate>,
    /// Shaper: cake_mq, cake, htb+fq_codel, flow-hash or tbf; the first of these that the kernel has if left out
    #[arg(long, alias = "rung", value_name = "NAME", conflicts_with = "mode")]
    pub(crate) shaper: Option<ShaperKind>,
    /// Bytes that a packet has on the line beyond IP: 18 DOCSIS, 30 PPPoE on VDSL2, 38 Ethernet, 44 if unknown
    #[arg(long, value_name = "N", conflicts_with = "mode", value_parser = clap::value_parser!(u16).range(0..=256))]
    pub(crate) overhead: Option<u16>,
    /// Minimum packet unit on the link, in bytes (tc `mpu`): 64 DOCSIS, 84 Ethernet
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=256))]
    pub(crate) mpu: u16,
    /// The line carries cells of 53 bytes (ADSL)
    #[arg(long, conflicts_with = "mode")]
    pub(crate) atm: bool,
    /// Only show what would be done; with --server after measuring, and a fix within the hour need not search again
    #[arg(long, conflicts_with_all = ["mode", "commit", "boot"])]
    pub(crate) dry_run: bool,
    /// Roll back after this time
    #[arg(long, default_value = "60s", value_name = "TIME", conflicts_with_all = ["mode", "commit", "server"])]
    pub(crate) keep_for: Duration,
    /// Leave it on until it is undone
    #[arg(long, conflicts_with = "mode")]
    pub(crate) commit: bool,
    /// Do the same each time the system starts (systemd, OpenWrt); --undo ends that too
    #[arg(long, requires = "stays")]
    pub(crate) boot: bool,
    /// Show what is on, with its counters
    #[arg(long)]
    pub(crate) status: bool,
    /// Roll back: restore DEV, or all interfaces
    #[arg(long)]
    pub(crate) undo: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Directory for rollback state
    #[arg(long, default_value = Place::USUAL, value_name = "DIR")]
    pub(crate) state: PathBuf,
    /// Where /etc of the system that starts is
    #[arg(long, hide = true, default_value = "/", value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// Leave alone what is started with the system
    #[arg(long, hide = true, requires = "undo")]
    pub(crate) keep_boot: bool,
    /// Watch over another process that fixes DEV
    #[arg(long, alias = "guard", hide = true, requires = "device")]
    pub(crate) watchdog: bool,
    #[command(flatten, next_help_heading = "Lines that vary")]
    pub(crate) auto: AutoArgs,
}

/// Flags of a line that varies.
#[derive(Args, Debug)]
pub(crate) struct AutoArgs {
    /// Continuously adjust the shaper rates on a variable-rate link (autorate), using delay to --server, --reflector or --passive; until
    /// Ctrl-C
    #[arg(long, requires_all = ["up", "down"],
        conflicts_with_all = ["mode", "budget", "only", "force", "results", "dry_run", "keep_for", "boot"])]
    pub(crate) auto: bool,
    /// A host that answers ICMP timestamps, which tell each way, or else ping; four or more of them. A server is better: its clock is finer
    #[arg(long, value_name = "ADDR", requires = "auto")]
    pub(crate) reflector: Vec<IpAddr>,
    /// Fall back to passive RTTs of TCP flows on DEV when no reflector answers (also sufficient alone)
    #[arg(long, requires = "auto")]
    pub(crate) passive: bool,
    /// What the line carries at its worst; a fifth of --up if left out
    #[arg(long, value_name = "RATE", requires = "auto", value_parser = rate)]
    pub(crate) least_up: Option<Rate>,
    /// The same of --down
    #[arg(long, value_name = "RATE", requires = "auto", value_parser = rate)]
    pub(crate) least_down: Option<Rate>,
    /// Never more than this; twice --up if left out
    #[arg(long, value_name = "RATE", requires = "auto", value_parser = rate)]
    pub(crate) most_up: Option<Rate>,
    /// The same of --down
    #[arg(long, value_name = "RATE", requires = "auto", value_parser = rate)]
    pub(crate) most_down: Option<Rate>,
    /// Serve a page at / and OpenMetrics at /metrics: ADDR:PORT, or PORT of this host alone
    #[arg(long, value_name = "WHERE", requires = "auto", value_parser = listen)]
    pub(crate) metrics: Option<SocketAddr>,
    /// End after this time
    #[arg(long, value_name = "TIME", requires = "auto")]
    pub(crate) duration: Option<Duration>,
}

fn direction() -> impl TypedValueParser<Value = Direction> {
    PossibleValuesParser::new(Direction::BOTH.map(Direction::name)).try_map(|name| name.parse::<Direction>())
}

fn interface(text: &str) -> Result<String, String> {
    if fathom_tc::is_interface_name(text) {
        return Ok(text.to_owned());
    }
    Err("not the name of an interface (1 to 15 characters, no space, no / : %)".to_owned())
}

fn listen(text: &str) -> Result<SocketAddr, String> {
    let of_port = text.parse().ok().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let address = of_port.or_else(|| text.parse().ok()).filter(|address| address.port() > 0);
    address.ok_or_else(|| "not a port or ADDR:PORT, as in 9841 or [::1]:9841".to_owned())
}

/// Below this no burst of one packet is short, and above it limits have more than their 32 bits.
const MIN_RATE: u64 = 64_000;
const MAX_RATE: u64 = 400_000_000_000;

fn rate(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse().map_err(|error: fathom_units::UnitError| error.to_string())?;
    if (MIN_RATE..=MAX_RATE).contains(&rate.as_bits_per_second()) {
        return Ok(rate);
    }
    let [min, max] = [MIN_RATE, MAX_RATE].map(Rate::from_bits_per_second);
    Err(format!("a line of {rate} cannot be shaped (from {min} to {max})"))
}
