//! A whole configuration, checked.
use crate::push::Push;
use crate::target::Target;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::SocketAddr;

/// What `fathom watch` is told to do.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Directory of the history; `None` leaves it to the program.
    pub store: Option<String>,
    /// Where the page is served; `None` leaves it to the program.
    pub listen: Option<SocketAddr>,
    /// File with the page's password; `None` leaves it to the program.
    pub password_file: Option<String>,
    /// Further names by which the page may be asked, such as that of a proxy in front of it.
    pub hosts: Vec<String>,
    /// Directory of results of tests that the page shows beside what it watched.
    pub results: Option<String>,
    /// Most packets that all targets together may send in a second; `None` leaves it to the program.
    pub max_packets_per_second: Option<u64>,
    /// Seed of the phases; the same file gives the same times of sending within an interval.
    pub seed: u64,
    /// Interfaces of this host whose load is kept; empty means that of the default route, `none` none.
    pub interfaces: Vec<String>,
    /// The targets, in the file's order.
    pub targets: Vec<Target>,
    /// Where figures are sent.
    pub pushes: Vec<Push>,
    /// Who can be told.
    pub receivers: Vec<fathom_watch_alert::Receiver>,
    /// When they are.
    pub alerts: Vec<fathom_watch_alert::Rule>,
}

impl Plan {
    /// Packets that all targets together send in a second, about.
    pub fn packets_per_second(&self) -> f64 {
        self.targets.iter().map(|t| t.pace.per_second() * t.protocol.packets(t.options.max_hops) as f64).sum()
    }
    /// Refuses a plan that sends more than `limit`, with the arithmetic. `source` says where the limit comes from.
    ///
    /// # Errors
    /// In words: which targets ask for most, and what to try.
    pub fn within(&self, limit: u64, source: &str) -> Result<(), String> {
        let sent = self.packets_per_second();
        if sent <= limit as f64 {
            return Ok(());
        }
        let stretch = sent / limit as f64;
        Err(format!(
            "{} send {sent:.0} packets/s, and the limit is {limit} ({source}): make the intervals {stretch:.1} times as \
             long, take targets out, or set max_packets_per_second under [watch] if this machine and its line bear it",
            self.heaviest()
        ))
    }
    /// The targets of the commonest way of asking: `10000 icmp targets every 100ms`.
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
            let others = if count < self.targets.len() { " and the others" } else { "" };
            let round =
                if target.pace.probes > 1 { format!("{} times ", target.pace.probes) } else { String::new() };
            format!("{count} {} targets {round}every {}{others}", target.protocol, target.pace.interval)
        })
    }
}
