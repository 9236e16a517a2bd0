//! Facts about one network interface.
use super::{Host, Qdisc};
use crate::Tree;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::InterfaceKind;
use fathom_units::{Bytes, Rate};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ByteLimits {
    pub(crate) limit: Bytes,
    pub(crate) limit_max: Bytes,
}

/// One network interface.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Interface {
    /// Name; may contain any character except `/` and spaces.
    pub name: String,
    /// Type of the interface.
    pub kind: InterfaceKind,
    /// Driver, if the interface has a device.
    pub driver: Option<String>,
    /// Carries packets.
    pub is_up: bool,
    /// The default route uses it.
    pub has_default_route: bool,
    /// Link speed; `None` if the driver does not know it.
    pub speed: Option<Rate>,
    pub(crate) mtu: u64,
    pub(crate) tx_queue_len: u64,
    pub(crate) tx_queues: u64,
    pub(crate) byte_limits: Option<ByteLimits>,
    pub(crate) sent: Bytes,
    pub(crate) ring: Option<u64>,
    pub(crate) ring_max: Option<u64>,
    pub(crate) tx_usecs: Option<u64>,
    pub(crate) has_tso: Option<bool>,
    pub(crate) has_gso: Option<bool>,
    pub(crate) has_gro: Option<bool>,
    pub(crate) has_hw_offload: bool,
    pub(crate) usb_speed_mbit: Option<u64>,
    pub(crate) ncm_tx_max: Option<u64>,
    /// Time that cdc_ncm waits for more packets to aggregate.
    pub(crate) ncm_timer_us: Option<u64>,
    pub(crate) phy: Option<u64>,
    /// Bitrate of the slowest station on Wi-Fi.
    pub(crate) bitrate: Option<Rate>,
    pub(crate) air_limit: Option<u64>,
    pub(crate) air_memory: Option<u64>,
    pub(crate) qdiscs: Vec<Qdisc>,
}

const IFF_UP: u64 = 1;
const IFF_TUN: u64 = 1;
const ARPHRD_PPP: u64 = 512;
const ARPHRD_LOOPBACK: u64 = 772;

/// In Mbit/s. No current link is faster; larger numbers are driver errors.
const FASTEST_MBIT: u64 = 10_000_000;

impl Interface {
    /// Whether packets can queue in it: because of its type, or because it has a queue discipline.
    pub(crate) fn has_queue(&self) -> bool {
        !self.is_queueless() || self.qdiscs.iter().any(|qdisc| qdisc.kind != "noqueue")
    }
    /// Whether it forwards packets at once (`IFF_NO_QUEUE`). Source: the kernel drivers.
    pub(crate) const fn is_queueless(&self) -> bool {
        use InterfaceKind::{Bridge, Loopback, Stacked, Veth, Wireguard};
        matches!(self.kind, Loopback | Wireguard | Veth | Bridge | Stacked)
    }
    pub(crate) const fn has_ring(&self) -> bool {
        matches!(self.kind, InterfaceKind::Ethernet | InterfaceKind::Virtio)
    }
    pub(crate) fn of(tree: &Tree, name: &str, host: &Host, qdiscs: &[Qdisc]) -> Interface {
        let folder = ["sys/class/net/", name].concat();
        let number = |file: &str| tree.number(&[&folder, "/", file].concat());
        let line = |file: &str| tree.line(&[&folder, "/", file].concat()).unwrap_or_default();
        let is_down = matches!(line("operstate").as_str(), "down" | "lowerlayerdown" | "notpresent");
        let speed = number("speed").filter(|mbit| (1..FASTEST_MBIT).contains(mbit));
        let reply = Reply::of(tree, "ethtool", name);
        let air = Reply::of(tree, "wifi", name);
        Interface {
            name: name.to_string(),
            kind: kind(tree, &folder, name),
            driver: value(tree, &[&folder, "/device/uevent"].concat(), "DRIVER"),
            is_up: number("flags").is_some_and(|flags| flags & IFF_UP != 0) && !is_down,
            has_default_route: host.default_routes.iter().any(|route| route == name),
            speed: speed.map(|mbit| Rate::from_bits_per_second(mbit * 1_000_000)),
            mtu: number("mtu").unwrap_or(1500),
            tx_queue_len: number("tx_queue_len").unwrap_or(0),
            tx_queues: tree.entries(&[&folder, "/queues"].concat()).len().max(1) as u64,
            byte_limits: byte_limits(tree, &[&folder, "/queues"].concat()),
            sent: Bytes(number("statistics/tx_bytes").unwrap_or(0)),
            ring: reply.number("ring_tx"),
            ring_max: reply.number("ring_tx_max"),
            tx_usecs: reply.number("tx_usecs"),
            has_tso: reply.number("tso").map(|on| on != 0),
            has_gso: reply.number("gso").map(|on| on != 0),
            has_gro: reply.number("gro").map(|on| on != 0),
            has_hw_offload: reply.number("hw_tc_offload").is_some_and(|on| on != 0),
            usb_speed_mbit: number("usb_speed"),
            ncm_tx_max: number("cdc_ncm/tx_max"),
            ncm_timer_us: number("cdc_ncm/tx_timer_usecs"),
            phy: number("phy80211/index"),
            bitrate: air.number("bitrate_bits_per_second").map(Rate::from_bits_per_second),
            air_limit: air.number("limit_packets"),
            air_memory: air.number("memory_limit_bytes"),
            qdiscs: qdiscs.iter().filter(|qdisc| qdisc.interface == name).cloned().collect(),
        }
    }
}

/// Driver data in `replies/ethtool/NAME` and `replies/wifi/NAME`: a name and a number per line.
pub(crate) struct Reply(String);

impl Reply {
    pub(crate) fn of(tree: &Tree, whose: &str, name: &str) -> Reply {
        Reply(tree.text(&["replies/", whose, "/", name].concat()).unwrap_or_default())
    }
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        let of_line =
            |line: &str| line.split_once(' ').filter(|(name, _)| *name == key)?.1.trim().parse().ok();
        self.0.lines().find_map(of_line)
    }
}

/// Value of a `KEY=value` line.
fn value(tree: &Tree, path: &str, key: &str) -> Option<String> {
    let text = tree.text(path)?;
    let found = text.lines().filter_map(|line| line.split_once('=')).find(|(name, _)| *name == key)?;
    Some(found.1.trim().to_string())
}

fn kind(tree: &Tree, folder: &str, name: &str) -> InterfaceKind {
    let path = |file: &str| [folder, "/", file].concat();
    let arp_type = tree.number(&path("type"));
    if arp_type == Some(ARPHRD_LOOPBACK) {
        return InterfaceKind::Loopback;
    }
    if let Some(flags) = tree.number(&path("tun_flags")) {
        return if flags & IFF_TUN != 0 { InterfaceKind::Tun } else { InterfaceKind::Tap };
    }
    let devtype = value(tree, &path("uevent"), "DEVTYPE").unwrap_or_default();
    if let Some(kind) = of_devtype(&devtype) {
        return kind;
    }
    if tree.has_below(&path("bridge")) {
        return InterfaceKind::Bridge;
    }
    if arp_type == Some(ARPHRD_PPP) {
        return InterfaceKind::Ppp;
    }
    if tree.has_below(&path("phy80211")) {
        return InterfaceKind::Wifi;
    }
    if tree.has(&path("device/uevent")) {
        return of_device(tree, folder);
    }
    // Interfaces without a device: an ifb only has its name, a veth a link to another index.
    match (tree.number(&path("ifindex")), tree.number(&path("iflink"))) {
        _ if name.starts_with("ifb") => InterfaceKind::Ifb,
        (Some(own), Some(other)) if own != other => InterfaceKind::Veth,
        _ => InterfaceKind::Stacked,
    }
}

/// Interface type from `DEVTYPE`. Source: `SET_NETDEV_DEVTYPE` in the kernel drivers.
fn of_devtype(devtype: &str) -> Option<InterfaceKind> {
    Some(match devtype {
        "wlan" => InterfaceKind::Wifi,
        "bridge" => InterfaceKind::Bridge,
        "wireguard" => InterfaceKind::Wireguard,
        "ppp" => InterfaceKind::Ppp,
        "wwan" => InterfaceKind::Usb,
        "bond" | "dsa" | "vlan" | "vxlan" | "macvlan" | "geneve" | "gretap" | "team" => {
            InterfaceKind::Stacked
        }
        _ => return None,
    })
}

fn of_device(tree: &Tree, folder: &str) -> InterfaceKind {
    let bus = tree.line(&[folder, "/device/modalias"].concat()).unwrap_or_default();
    match bus.split(':').next() {
        Some("usb") => InterfaceKind::Usb,
        Some("virtio") => InterfaceKind::Virtio,
        _ => InterfaceKind::Ethernet,
    }
}

/// `None` if no queue has byte queue limits.
fn byte_limits(tree: &Tree, queues: &str) -> Option<ByteLimits> {
    let mut sum = ByteLimits { limit: Bytes(0), limit_max: Bytes(0) };
    let mut any = false;
    for queue in tree.entries(queues) {
        let number = |file: &str| tree.number(&[queues, "/", queue, "/byte_queue_limits/", file].concat());
        let (Some(limit), limit_max) = (number("limit"), number("limit_max").unwrap_or(0)) else { continue };
        sum = ByteLimits {
            limit: Bytes(sum.limit.0.saturating_add(limit)),
            limit_max: Bytes(sum.limit_max.0.saturating_add(limit_max)),
        };
        any = true;
    }
    any.then_some(sum)
}
