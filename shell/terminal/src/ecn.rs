//! Flags of `fathom ecn`. They are here because `shell/cli` has reached its limit of lines.
use clap::Args;
use std::path::PathBuf;

/// Show whether ECN survives on a path, and which hop stops it
///
/// Sends SYN segments, data, datagrams and pings with each ECN codepoint to each hop, and the same
/// without ECN as the control. Takes about half a minute. Needs root or CAP_NET_RAW, and IPv4.
///
/// With several hosts or a list: a survey. Each host gets one connection and about 25 packets, and
/// the path is tested hop by hop only where ECN does not survive. Fill in --opt-out, and tell your
/// network's administrator, before you test hosts of others.
#[derive(Args, Clone, Debug)]
pub struct EcnArgs {
    /// Host, or HOST:PORT
    #[arg(required_unless_present = "list", value_name = "HOST")]
    pub hosts: Vec<String>,
    /// TCP port of hosts without one
    #[arg(long, value_name = "PORT", default_value_t = 443, value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,
    /// Test the hosts of this file, one per line
    ///
    /// A line is HOST, or RANK,HOST as in lists of top sites, or a JSON object of PATHspider.
    #[arg(long, value_name = "FILE", conflicts_with = "hosts")]
    pub list: Option<PathBuf>,
    /// Do not test the hosts of this file
    ///
    /// A line is a domain, with all names below it, or an address, or a prefix.
    #[arg(long, value_name = "FILE")]
    pub opt_out: Option<PathBuf>,
    /// Test at most this many hosts per second
    #[arg(long, value_name = "HOSTS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rate: u32,
    /// Keep the results of a survey here
    ///
    /// Hosts whose results are there already are not tested again. With --list, ecn.jsonl in the
    /// current folder if not given.
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Also write a survey as a table
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Also write a survey as a page
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Also write a survey in the format of PATHspider
    #[arg(long, value_name = "FILE")]
    pub pathspider: Option<PathBuf>,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

impl EcnArgs {
    /// The only host, if neither a list nor a file of results is asked for.
    #[must_use]
    pub fn single(&self) -> Option<&str> {
        let files = [&self.list, &self.opt_out, &self.out, &self.csv, &self.page, &self.pathspider];
        match &self.hosts[..] {
            [host] if files.iter().all(|file| file.is_none()) => Some(host),
            _ => None,
        }
    }
}
