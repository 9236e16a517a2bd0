//! Content of the files read from a host. Malformed content gives `None`, never an error.
use alloc::collections::BTreeMap;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Files that an audit reads, relative to the root; `*` matches a name or a part of one.
pub const PATHS: &[&str] = &[
    "sys/class/net/*/type",
    "sys/class/net/*/uevent",
    "sys/class/net/*/flags",
    "sys/class/net/*/operstate",
    "sys/class/net/*/speed",
    "sys/class/net/*/mtu",
    "sys/class/net/*/tx_queue_len",
    "sys/class/net/*/ifindex",
    "sys/class/net/*/iflink",
    "sys/class/net/*/tun_flags",
    "sys/class/net/*/statistics/tx_bytes",
    "sys/class/net/*/device/uevent",
    "sys/class/net/*/device/modalias",
    "sys/class/net/*/device/../speed",
    "sys/class/net/*/usb_speed",
    "sys/class/net/*/cdc_ncm/tx_max",
    "sys/class/net/*/cdc_ncm/tx_timer_usecs",
    "sys/class/net/*/phy80211/index",
    "sys/class/net/*/bridge/stp_state",
    "sys/class/net/*/queues/tx-*/tx_timeout",
    "sys/class/net/*/queues/tx-*/byte_queue_limits/limit",
    "sys/class/net/*/queues/tx-*/byte_queue_limits/limit_max",
    "sys/class/net/*/queues/tx-*/byte_queue_limits/inflight",
    "sys/kernel/debug/ieee80211/phy*/aqm",
    "sys/kernel/debug/ieee80211/phy*/aql_enable",
    "sys/kernel/debug/ieee80211/phy*/aql_txq_limit",
    "proc/sys/net/core/default_qdisc",
    "proc/sys/net/core/netdev_max_backlog",
    "proc/sys/net/core/wmem_max",
    "proc/sys/net/core/rmem_max",
    "proc/sys/net/core/flow_limit_cpu_bitmap",
    "proc/sys/net/ipv4/ip_forward",
    "proc/sys/net/ipv4/tcp_wmem",
    "proc/sys/net/ipv4/tcp_rmem",
    "proc/sys/net/ipv4/tcp_limit_output_bytes",
    "proc/sys/net/ipv4/tcp_notsent_lowat",
    "proc/sys/net/ipv4/tcp_congestion_control",
    "proc/sys/net/ipv4/tcp_pacing_ss_ratio",
    "proc/sys/net/ipv4/tcp_pacing_ca_ratio",
    "proc/sys/net/ipv6/conf/all/forwarding",
    "proc/sys/kernel/osrelease",
    "proc/sys/kernel/hostname",
    "proc/net/route",
    "proc/net/softnet_stat",
    "proc/net/nf_conntrack",
    "proc/net/tcp",
    "proc/net/tcp6",
    "proc/*/comm",
    ".dockerenv",
    "run/.containerenv",
    "etc/nftables.conf",
    "etc/config/firewall",
    "etc/config/sqm",
    "etc/config/qosmate",
    "etc/hotplug.d/iface/*",
    "etc/systemd/network/*.network",
    "run/systemd/network/*.network",
    "etc/NetworkManager/system-connections/*",
    "etc/network/if-up.d/*",
    "replies/ethtool/*",
    "replies/qdisc",
    "replies/tcp",
    "replies/wifi/*",
    "replies/flowtables",
];

/// Files that are read repeatedly during an observation under load.
pub const SAMPLED: &[&str] = &[
    "sys/class/net/*/statistics/tx_bytes",
    "sys/class/net/*/queues/tx-*/byte_queue_limits/inflight",
    "proc/net/softnet_stat",
    "proc/net/tcp",
    "proc/net/tcp6",
    "replies/qdisc",
    "replies/tcp",
    "replies/wifi/*",
];

/// NetworkManager's connections, which contain passwords.
pub(crate) const CONNECTIONS: &str = "etc/NetworkManager/system-connections/";

/// Keeps only section names, which show if queue disciplines are set. Passwords are neither stored
/// nor sent.
fn sections(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"["));
    lines.flat_map(|line| line.iter().copied().chain([b'\n'])).collect()
}

/// Files by path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tree {
    files: BTreeMap<String, Vec<u8>>,
}

impl Tree {
    /// Adds a file with a path relative to the root. The path of a USB port's speed is changed to
    /// one that can exist in a folder. Files with passwords are reduced to their section names.
    pub fn insert(&mut self, path: impl Into<String>, bytes: Vec<u8>) {
        let path: String = path.into();
        let bytes = if path.starts_with(CONNECTIONS) { sections(&bytes) } else { bytes };
        let port = path.strip_suffix("/device/../speed").map(|interface| [interface, "/usb_speed"].concat());
        self.files.insert(port.unwrap_or(path), bytes);
    }
    /// All files.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }
    /// Whether no file was read.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
    /// Content as text; invalid UTF-8 is replaced.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        self.files.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
    /// First line, trimmed; `None` if it is empty.
    pub(crate) fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_string())
    }
    /// First word as a number, decimal or `0x`; `None` if negative, the kernel's "unknown".
    pub(crate) fn number(&self, path: &str) -> Option<u64> {
        let line = self.line(path)?;
        let word = line.split_whitespace().next()?;
        match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        }
    }
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }
    pub(crate) fn has_below(&self, folder: &str) -> bool {
        self.below(folder).next().is_some()
    }
    /// Paths of all files in a folder, relative to it.
    pub(crate) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        let start = [folder, "/"].concat();
        let rest = move |path: &'a String| path.strip_prefix(folder)?.strip_prefix('/');
        self.files.range(start..).map(|(path, _)| path).map_while(rest)
    }
    /// Names of a folder's entries, without duplicates.
    pub(crate) fn entries(&self, folder: &str) -> BTreeSet<&str> {
        let first = |path: &str| path.split('/').next().map(str::len);
        self.files
            .range([folder, "/"].concat()..)
            .map_while(|(path, _)| path.strip_prefix(folder)?.strip_prefix('/'))
            .filter_map(|rest| rest.get(..first(rest)?))
            .collect()
    }
}
