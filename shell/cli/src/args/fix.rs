//! Flags of `fathom fix`.
use super::{TokenArgs, direction};
use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args};
use fathom_app::fix::Platform;
use fathom_shaper::{Place, ShaperKind, shaper_rate, shaper_round_trip};
use fathom_units::{Direction, Duration, Rate};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// Shape an interface, verify the result, or roll back
///
/// With --server, measures the line, searches for the rates, applies an AQM shaper, and verifies
/// that latency under load has fallen. Otherwise it rolls back. The search takes about two minutes
/// and loads the line.
///
/// With --up and --down, shapes to these rates. Give the rates that the line really carries, less a
/// few percent: with more, the queue stays in the modem. The shaper is removed after a minute
/// unless --commit is given; with --server it is verified as well.
///
/// With --auto, the rates follow a line whose rate varies (LTE, Starlink, cable in the evening) for
/// as long as the command runs. It adds no load.
///
/// If this program ends early for any reason, a watchdog process rolls back. Needs root.
#[derive(Args, Debug, Clone)]
#[command(group(ArgGroup::new("mode").args(["status", "undo", "watchdog", "restore_sqm"])),
    group(ArgGroup::new("stays").args(["commit", "server"]).multiple(true)))]
pub(crate) struct FixArgs {
    /// Interface to the slow line
    ///
    /// With --server, the default is the interface with the default route.
    #[arg(value_name = "DEV")]
    pub(crate) device: Option<String>,
    /// Show what is shaped, with counters
    #[arg(long)]
    pub(crate) status: bool,
    /// Roll back: restore DEV, or all interfaces
    #[arg(long)]
    pub(crate) undo: bool,
    /// Only show what would be done
    ///
    /// With --server, after measuring. A fix within the next hour reuses the search.
    #[arg(long, conflicts_with_all = ["mode", "commit", "boot"])]
    pub(crate) dry_run: bool,
    /// Keep the shaper until it is undone
    #[arg(long, conflicts_with = "mode")]
    pub(crate) commit: bool,
    /// Roll back after this time
    #[arg(long, default_value = "60s", value_name = "TIME", conflicts_with_all = ["mode", "commit", "server"])]
    pub(crate) keep_for: Duration,
    /// Also shape whenever the system starts
    ///
    /// Installs a systemd unit or an OpenWrt init script. --undo removes it.
    #[arg(long, requires = "stays")]
    pub(crate) boot: bool,
    /// Shape in the place of sqm-scripts (OpenWrt)
    ///
    /// Reads /etc/config/sqm, stops and disables its queues, and shapes as they do, also whenever
    /// the system starts. With --dry-run, only shows what it would do. --restore-sqm reverses it.
    #[arg(long, conflicts_with_all = ["mode", "server", "auto", "up", "down", "overhead", "mpu", "atm",
        "commit", "keep_for", "boot", "json"])]
    pub(crate) replace_sqm: bool,
    /// Give the queues back to sqm-scripts
    #[arg(long, conflicts_with = "json")]
    pub(crate) restore_sqm: bool,
    /// Print the configuration of another router
    ///
    /// openwrt-sqm, mikrotik, vyos, opnsense, pfsense, edgeos, cisco, junos, linux-tc,
    /// systemd-networkd or networkmanager. DEV is the interface there. Changes nothing.
    #[arg(long, value_name = "PLATFORM", conflicts_with_all = ["mode", "dry_run", "commit", "keep_for", "boot", "replace_sqm",
        "server", "auto"], help_heading = EXPORT)]
    pub(crate) export: Option<Platform>,
    /// Result of `fathom test` with the rates
    #[arg(long, value_name = "FILE", requires = "export", help_heading = EXPORT)]
    pub(crate) from: Option<PathBuf>,
    /// Interface to the LAN (mikrotik, cisco, junos)
    #[arg(long, value_name = "DEV", requires = "export", help_heading = EXPORT)]
    pub(crate) lan: Option<String>,
    /// Print one JSON document instead
    #[arg(long)]
    pub(crate) json: bool,
    /// Directory for rollback state
    #[arg(long, default_value = Place::USUAL, value_name = "DIR")]
    pub(crate) state: PathBuf,
    /// Server that runs `fathom serve`
    ///
    /// Measures against it, searches for the rates that are not given, and keeps the shaper only if
    /// it passes all checks.
    #[arg(long, value_name = "HOST", conflicts_with = "mode", help_heading = MEASURE, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: Option<String>,
    /// Allowed queueing delay under load
    ///
    /// Median above the idle latency. Default: 5ms (20ms for tbf) plus two packet times on slow
    /// links.
    #[arg(long, value_name = "TIME", requires = "server", help_heading = MEASURE)]
    pub(crate) budget: Option<Duration>,
    /// Shape only this direction
    #[arg(long, value_name = "DIRECTION", requires = "server", conflicts_with_all = ["up", "down"], value_parser = direction(),
        help_heading = MEASURE)]
    pub(crate) only: Option<Direction>,
    /// Shape even a line without bufferbloat
    #[arg(long, requires = "server", help_heading = MEASURE)]
    pub(crate) force: bool,
    /// Save the tests before and after to DIR
    #[arg(long, value_name = "DIR", requires = "server", help_heading = MEASURE)]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    /// Use IPv4 only
    #[arg(short = '4', long, requires = "server", conflicts_with = "ipv6", help_heading = MEASURE)]
    pub(crate) ipv4: bool,
    /// Use IPv6 only
    #[arg(short = '6', long, requires = "server", help_heading = MEASURE)]
    pub(crate) ipv6: bool,
    /// Egress (upload) rate, e.g. 9.5mbit
    #[arg(long, value_name = "RATE", conflicts_with = "mode", value_parser = shaper_rate, help_heading = SHAPE)]
    pub(crate) up: Option<Rate>,
    /// Ingress (download) rate, e.g. 47mbit
    #[arg(long, value_name = "RATE", conflicts_with = "mode", value_parser = shaper_rate, help_heading = SHAPE)]
    pub(crate) down: Option<Rate>,
    /// Shaper [default: the best that the kernel has]
    ///
    /// cake_mq, cake, htb+fq_codel, flow-hash or tbf, in this order of preference.
    #[arg(long, alias = OLD_SHAPER.trim_start_matches('-'), value_name = "NAME", conflicts_with = "mode", help_heading = SHAPE)]
    pub(crate) shaper: Option<ShaperKind>,
    /// Bytes that the link adds to each IP packet
    ///
    /// 18 for DOCSIS, 30 for PPPoE on VDSL2, 38 for Ethernet, 44 if unknown (tc `overhead`).
    #[arg(long, value_name = "N", conflicts_with = "mode", value_parser = clap::value_parser!(u16).range(0..=256), help_heading = SHAPE)]
    pub(crate) overhead: Option<u16>,
    /// Minimum packet size on the link, in bytes
    ///
    /// 64 for DOCSIS, 84 for Ethernet (tc `mpu`).
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=256), help_heading = SHAPE)]
    pub(crate) mpu: u16,
    /// The link carries ATM cells (ADSL)
    ///
    /// Each cell has 53 bytes, 48 of them payload.
    #[arg(long, conflicts_with = "mode", help_heading = SHAPE)]
    pub(crate) atm: bool,
    /// Round-trip time of the paths, if longer than 100 ms
    ///
    /// For satellites and far servers, with cake or fq_codel (tc `rtt`). Default: 1.5 times the
    /// idle latency to --server if that exceeds 100 ms.
    #[arg(long, value_name = "TIME", conflicts_with = "mode", value_parser = shaper_round_trip, help_heading = SHAPE)]
    pub(crate) rtt: Option<Duration>,
    /// Root directory of the system that --boot changes
    #[arg(long, hide = true, default_value = "/", value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// Keep what starts with the system
    #[arg(long, hide = true, requires = "undo")]
    pub(crate) keep_boot: bool,
    /// Run the watchdog of another process that fixes DEV
    #[arg(long, alias = "guard", hide = true, requires = "device")]
    pub(crate) watchdog: bool,
    #[command(flatten)]
    pub(crate) auto: AutoArgs,
}

const MEASURE: &str = "Measure and search";
const SHAPE: &str = "Shaper";
const EXPORT: &str = "Other routers";
/// The name of `--shaper` before version 0.2. It still works.
const OLD_SHAPER: &str = "--rung";

/// Flags of a line whose rate varies.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Variable-rate lines")]
pub(crate) struct AutoArgs {
    /// Adjust the rates continuously (autorate)
    ///
    /// Uses the delay to --server, --reflector or --passive. Runs until Ctrl-C.
    #[arg(long, requires_all = ["up", "down"],
        conflicts_with_all = ["mode", "budget", "only", "force", "results", "dry_run", "keep_for", "boot"])]
    pub(crate) auto: bool,
    /// Host that answers ICMP (four or more)
    ///
    /// ICMP timestamp replies give the delay of each direction; ping replies only their sum. A
    /// --server is better, because its clock is finer.
    #[arg(long, value_name = "ADDR", requires = "auto")]
    pub(crate) reflector: Vec<IpAddr>,
    /// Fall back to RTTs of TCP flows on DEV
    ///
    /// Measures the flows passively while no reflector answers. Also sufficient alone.
    #[arg(long, requires = "auto")]
    pub(crate) passive: bool,
    /// Minimum egress rate [default: --up / 5]
    #[arg(long, value_name = "RATE", requires = "auto", value_parser = shaper_rate)]
    pub(crate) least_up: Option<Rate>,
    /// Minimum ingress rate [default: --down / 5]
    #[arg(long, value_name = "RATE", requires = "auto", value_parser = shaper_rate)]
    pub(crate) least_down: Option<Rate>,
    /// Maximum egress rate [default: --up x 2]
    #[arg(long, value_name = "RATE", requires = "auto", value_parser = shaper_rate)]
    pub(crate) most_up: Option<Rate>,
    /// Maximum ingress rate [default: --down x 2]
    #[arg(long, value_name = "RATE", requires = "auto", value_parser = shaper_rate)]
    pub(crate) most_down: Option<Rate>,
    /// Serve a status page and OpenMetrics
    ///
    /// The page is at /, the metrics at /metrics. With PORT alone, only on this host.
    #[arg(long, value_name = "[ADDR:]PORT", requires = "auto", value_parser = listen)]
    pub(crate) metrics: Option<SocketAddr>,
    /// Stop after this time
    #[arg(long, value_name = "TIME", requires = "auto")]
    pub(crate) duration: Option<Duration>,
}

fn listen(text: &str) -> Result<SocketAddr, String> {
    let of_port = text.parse().ok().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let address = of_port.or_else(|| text.parse().ok()).filter(|address| address.port() > 0);
    address.ok_or_else(|| {
        "invalid port or address (expected PORT or ADDR:PORT, as in 9841 or [::1]:9841)".to_owned()
    })
}
