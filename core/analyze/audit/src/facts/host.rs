//! Facts about the host as a whole.
use crate::Tree;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_units::Bytes;

/// Facts about the host except for its interfaces.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Host {
    /// Host name.
    pub name: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    pub(crate) default_routes: Vec<String>,
    pub(crate) is_forwarding: bool,
    pub(crate) default_qdisc: Option<String>,
    pub(crate) wmem_max: Option<u64>,
    pub(crate) rmem_max: Option<u64>,
    pub(crate) tcp_wmem: Option<u64>,
    pub(crate) tcp_rmem: Option<u64>,
    pub(crate) tcp_wmem_text: Option<String>,
    pub(crate) limit_output: Option<u64>,
    pub(crate) notsent_lowat: Option<u64>,
    pub(crate) congestion_control: Option<String>,
    /// Pacing rate in slow start and in congestion avoidance, in percent of the flow's rate.
    pub(crate) pacing_percents: Option<[u64; 2]>,
    pub(crate) max_backlog: Option<u64>,
    pub(crate) flow_limit: bool,
    pub(crate) softnet: Softnet,
    pub(crate) programs: BTreeSet<String>,
    pub(crate) is_container: bool,
    /// Offloaded connections, which bypass the queue disciplines, among those read.
    pub(crate) offloaded: usize,
    /// Configuration files that enable flow offload.
    pub(crate) offload_files: Vec<&'static str>,
    /// Flow tables: name, software or hardware, interfaces.
    pub(crate) flow_tables: Vec<String>,
    /// Configuration files that set queue disciplines when an interface comes up.
    pub(crate) manager_files: Vec<String>,
    /// Queues of the first Wi-Fi phy that reports them in debugfs.
    pub(crate) wifi: Vec<Wifi>,
    pub(crate) has_debugfs: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Wifi {
    pub(crate) phy: u64,
    pub(crate) limit_packets: Option<u64>,
    pub(crate) memory_limit: Option<u64>,
    /// Airtime limit of a station in the firmware, in microseconds.
    pub(crate) airtime_us: Option<u64>,
}

/// Counters of the receive backlog, summed over all CPUs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Softnet {
    pub(crate) drops: u64,
    pub(crate) squeezed: u64,
}

impl Host {
    pub(crate) fn of(tree: &Tree) -> Host {
        let core = |file: &str| tree.number(&["proc/sys/net/core/", file].concat());
        let tcp = |file: &str| tree.number(&["proc/sys/net/ipv4/", file].concat());
        let line = |path: &str| tree.line(path);
        let is_forwarding = ["proc/sys/net/ipv4/ip_forward", "proc/sys/net/ipv6/conf/all/forwarding"];
        Host {
            name: line("proc/sys/kernel/hostname"),
            kernel: line("proc/sys/kernel/osrelease"),
            default_routes: default_routes(tree),
            is_forwarding: is_forwarding.iter().any(|path| tree.number(path).is_some_and(|on| on > 0)),
            default_qdisc: line("proc/sys/net/core/default_qdisc"),
            wmem_max: core("wmem_max"),
            rmem_max: core("rmem_max"),
            tcp_wmem: third(tree, "proc/sys/net/ipv4/tcp_wmem"),
            tcp_rmem: third(tree, "proc/sys/net/ipv4/tcp_rmem"),
            tcp_wmem_text: line("proc/sys/net/ipv4/tcp_wmem").map(|text| words(&text)),
            limit_output: tcp("tcp_limit_output_bytes"),
            notsent_lowat: tcp("tcp_notsent_lowat"),
            congestion_control: line("proc/sys/net/ipv4/tcp_congestion_control"),
            pacing_percents: tcp("tcp_pacing_ss_ratio").zip(tcp("tcp_pacing_ca_ratio")).map(<[u64; 2]>::from),
            max_backlog: core("netdev_max_backlog"),
            flow_limit: line("proc/sys/net/core/flow_limit_cpu_bitmap")
                .is_some_and(|bitmap| bitmap.chars().any(|c| c != '0' && c != ',')),
            softnet: softnet(tree),
            programs: programs(tree),
            is_container: tree.has(".dockerenv") || tree.has("run/.containerenv"),
            offloaded: offloaded(tree),
            offload_files: offload_files(tree),
            flow_tables: tree
                .text("replies/flowtables")
                .unwrap_or_default()
                .lines()
                .map(str::to_string)
                .collect(),
            manager_files: manager_files(tree),
            wifi: wifi(tree),
            has_debugfs: tree.has_below("sys/kernel/debug"),
        }
    }
    pub(crate) fn runs(&self, start: &str) -> bool {
        self.programs.iter().any(|program| program.starts_with(start))
    }
}

/// Replaces tabs by single spaces.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Maximum in a file with minimum, initial and maximum value.
fn third(tree: &Tree, path: &str) -> Option<u64> {
    tree.line(path)?.split_whitespace().nth(2)?.parse().ok()
}

/// Interfaces in `proc/net/route` with destination and mask zero.
fn default_routes(tree: &Tree) -> Vec<String> {
    let text = tree.text("proc/net/route").unwrap_or_default();
    let default = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let is_default = *cells.get(1)? == "00000000" && *cells.get(7)? == "00000000";
        is_default.then(|| cells[0].to_string())
    };
    text.lines().skip(1).filter_map(default).collect()
}

/// One line per CPU, hexadecimal: the second column counts drops, the third time squeezes.
pub(crate) fn softnet(tree: &Tree) -> Softnet {
    let text = tree.text("proc/net/softnet_stat").unwrap_or_default();
    let column = |line: &str, at: usize| {
        line.split_whitespace().nth(at).and_then(|word| u64::from_str_radix(word, 16).ok()).unwrap_or(0)
    };
    text.lines().fold(Softnet::default(), |sum, line| Softnet {
        drops: sum.drops.saturating_add(column(line, 1)),
        squeezed: sum.squeezed.saturating_add(column(line, 2)),
    })
}

/// Longest send and receive queue of a TCP socket. The fifth column of `proc/net/tcp` is `tx:rx`,
/// hexadecimal; listening sockets (state 0A) count connections there and are skipped.
pub(crate) fn tcp_queues(tree: &Tree) -> (Bytes, Bytes) {
    let mut longest = (Bytes(0), Bytes(0));
    for file in ["proc/net/tcp", "proc/net/tcp6"] {
        for line in tree.text(file).unwrap_or_default().lines().skip(1) {
            let cells: Vec<&str> = line.split_whitespace().collect();
            let (Some(state), Some(queues)) = (cells.get(3), cells.get(4)) else { continue };
            let Some((sent, received)) = queues.split_once(':').filter(|_| *state != "0A") else { continue };
            let number = |word: &str| Bytes(u64::from_str_radix(word, 16).unwrap_or(0));
            longest = (longest.0.max(number(sent)), longest.1.max(number(received)));
        }
    }
    longest
}

/// Maximum number of unsent bytes of a socket, from lines `notsent_bytes 1234` in `replies/tcp`.
pub(crate) fn unsent(tree: &Tree) -> Option<Bytes> {
    let line = tree.line("replies/tcp")?;
    line.strip_prefix("notsent_bytes ")?.trim().parse().ok().map(Bytes)
}

fn programs(tree: &Tree) -> BTreeSet<String> {
    let is_comm = |path: &&str| path.strip_prefix("proc/").is_some_and(|rest| rest.ends_with("/comm"));
    tree.iter().map(|(path, _)| path).filter(is_comm).filter_map(|path| tree.line(path)).collect()
}

fn offloaded(tree: &Tree) -> usize {
    let text = tree.text("proc/net/nf_conntrack").unwrap_or_default();
    text.lines().filter(|line| line.contains("[OFFLOAD]") || line.contains("[HW_OFFLOAD]")).count()
}

fn offload_files(tree: &Tree) -> Vec<&'static str> {
    let uncommented = |path: &str, word: &str| {
        let text = tree.text(path).unwrap_or_default();
        text.lines().map(str::trim).any(|line| !line.starts_with('#') && line.contains(word))
    };
    let is_on = |line: &str| {
        let line: String = line.chars().filter(|c| !matches!(c, '\'' | '"')).collect();
        let words: Vec<&str> = line.split_whitespace().collect();
        matches!(words[..], ["option", "flow_offloading" | "flow_offloading_hw", "1"])
    };
    let firewall = tree.text("etc/config/firewall").unwrap_or_default();
    let mut files = Vec::new();
    files.extend(firewall.lines().any(is_on).then_some("/etc/config/firewall"));
    files.extend(uncommented("etc/nftables.conf", "flowtable").then_some("/etc/nftables.conf"));
    files
}

/// Sections of systemd-networkd that set a queue discipline. Source: systemd.network(5).
const NETWORKD_SECTIONS: [&str; 18] = [
    "[QDisc]",
    "[NetworkEmulator]",
    "[TokenBucketFilter]",
    "[PIE]",
    "[FlowQueuePIE]",
    "[StochasticFairBlue]",
    "[StochasticFairnessQueueing]",
    "[BFIFO]",
    "[PFIFO]",
    "[PFIFOHeadDrop]",
    "[PFIFOFast]",
    "[CAKE]",
    "[ControlledDelay]",
    "[DeficitRoundRobinScheduler]",
    "[FairQueueing]",
    "[FairQueueingControlledDelay]",
    "[HierarchyTokenBucket]",
    "[TrivialLinkEqualizer]",
];

fn manager_files(tree: &Tree) -> Vec<String> {
    let sets_queues = |path: &str, text: &str| {
        let has = |word: &str| text.lines().any(|line| line.trim() == word);
        match path.rsplit('/').next() {
            _ if path.starts_with("etc/config/") => path.ends_with("/sqm") || path.ends_with("/qosmate"),
            _ if path.ends_with(".network") => NETWORKD_SECTIONS.iter().any(|section| has(section)),
            _ if path.contains("system-connections/") => has("[tc]"),
            _ if path.contains("/if-up.d/") || path.contains("/hotplug.d/") => {
                text.contains("tc qdisc") || text.contains("sqm")
            }
            _ => false,
        }
    };
    let of = |(path, bytes): (&str, &[u8])| {
        let is_set = path.starts_with("etc/") || path.starts_with("run/");
        (is_set && sets_queues(path, &String::from_utf8_lossy(bytes))).then(|| ["/", path].concat())
    };
    tree.iter().filter_map(of).collect()
}

fn wifi(tree: &Tree) -> Vec<Wifi> {
    let folder = "sys/kernel/debug/ieee80211";
    let phy = |name: &&str| {
        let path = |file: &str| [folder, "/", name, "/", file].concat();
        let aqm = tree.text(&path("aqm"))?;
        let of_aqm = |key: &str| {
            let value = |line: &str| {
                let words: Vec<&str> = line.split_whitespace().collect();
                let at = words.iter().position(|word| *word == key)?;
                words.get(at + 1)?.parse().ok()
            };
            aqm.lines().find_map(value)
        };
        let numbers = tree.text(&path("aql_txq_limit")).unwrap_or_default();
        let is_off = tree.number(&path("aql_enable")) == Some(0);
        let longest = numbers.split_whitespace().filter_map(|word| word.parse::<u64>().ok()).max();
        Some(Wifi {
            phy: name.strip_prefix("phy")?.parse().ok()?,
            limit_packets: of_aqm("fq_limit"),
            memory_limit: of_aqm("fq_memory_limit"),
            airtime_us: longest.filter(|_| !is_off),
        })
    };
    tree.entries(folder).iter().filter_map(phy).collect()
}
