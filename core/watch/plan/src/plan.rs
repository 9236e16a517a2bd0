//! A complete, validated configuration.
use crate::archive::Archive;
use crate::line_test::LineTest;
use crate::push::Push;
use crate::site::Site;
use crate::target::Target;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::SocketAddr;
use fathom_units::Bytes;

/// The configuration of `fathom watch`.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Directory of the history; `None` for the program's default.
    pub store: Option<String>,
    /// Maximum size of the history; `None` for the size of the disk.
    pub disk_budget: Option<Bytes>,
    /// Address of the web page; `None` for the program's default.
    pub listen: Option<SocketAddr>,
    /// File with the password of the web page; `None` for the program's default.
    pub password_file: Option<String>,
    /// Whether the web page uses TLS; `None` for the program's default.
    pub tls: Option<bool>,
    /// Files of the certificate of the web page and of its private key, in PEM format; `None` for a
    /// self-signed certificate.
    pub certificate: Option<(String, String)>,
    /// Additional hostnames that requests for the page may use, such as that of a reverse proxy.
    pub hosts: Vec<String>,
    /// Directory of test results that the page shows next to the watched targets.
    pub results: Option<String>,
    /// Maximum packets per second of all targets together; `None` for the program's default.
    pub max_packets_per_second: Option<u64>,
    /// Seed of the send phases: the same file always gives the same send times within an interval.
    pub seed: u64,
    /// Interfaces whose load is recorded. Empty: that of the default route; `none`: no interface.
    pub interfaces: Vec<String>,
    /// The line that this watch measures, if it belongs to a fleet.
    pub site: Option<Site>,
    /// The targets, in file order, and one for each test.
    pub targets: Vec<Target>,
    /// Scheduled tests.
    pub tests: Vec<LineTest>,
    /// Destinations for metrics.
    pub pushes: Vec<Push>,
    /// Destinations for single samples and results.
    pub archives: Vec<Archive>,
    /// Receivers of notifications.
    pub receivers: Vec<fathom_watch_alert::Receiver>,
    /// Alert rules.
    pub alerts: Vec<fathom_watch_alert::Rule>,
}

impl Plan {
    /// Whether addresses of devices in the local network stay here: what leaves a site that allows
    /// nothing else has none.
    pub fn hides_local_addresses(&self) -> bool {
        self.site.as_ref().is_some_and(|site| !site.local_addresses)
    }
    /// Approximate packets per second of all targets together.
    pub fn packets_per_second(&self) -> f64 {
        self.targets.iter().map(|t| t.pace.per_second() * t.protocol.packets(t.options.max_hops) as f64).sum()
    }
    /// Refuses a plan that sends more than `limit` packets per second. `source` says where the
    /// limit was set.
    ///
    /// # Errors
    /// The calculation: which targets send most, and what to change.
    pub fn within(&self, limit: u64, source: &str) -> Result<(), String> {
        let sent = self.packets_per_second();
        if sent <= limit as f64 {
            return Ok(());
        }
        let stretch = sent / limit as f64;
        Err(format!(
            "{sent:.0} packets/s exceed the limit of {limit} ({source}), from {}: make the intervals {stretch:.1} times as \
             long, remove targets, or raise max_packets_per_second",
            self.heaviest()
        ))
    }
    /// The targets that use the most common probe: `10000 icmp targets every 100ms`.
    fn heaviest(&self) -> String {
        let mut kinds: Vec<(f64, usize, &Target)> = Vec::new();
        for target in &self.targets {
            let sent = target.pace.per_second() * target.protocol.packets(target.options.max_hops) as f64;
            let same = |(_, _, t): &&mut (f64, usize, &Target)| {
                t.protocol == target.protocol && t.pace == target.pace
            };
            match kinds.iter_mut().find(same) {
                Some((sum, count, _)) => (*sum, *count) = (*sum + sent, *count + 1),
                None => kinds.push((sent, 1, target)),
            }
        }
        let largest = kinds.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        largest.map_or_else(String::new, |(_, count, target)| {
            let others = if count < self.targets.len() { " and other targets" } else { "" };
            let round =
                if target.pace.probes > 1 { format!("{} times ", target.pace.probes) } else { String::new() };
            let plural = if count == 1 { "" } else { "s" };
            format!(
                "{count} {} target{plural} {round}every {}{others}",
                target.protocol, target.pace.interval
            )
        })
    }
}
