//! What would make a shaper useless or short-lived, as files of the system tell before, and counters afterwards.
use crate::look::Look;
use fathom_os::ethtool::card;
use fathom_shape::fix::{Bypass, detect_bypass};
use fathom_units::Direction;
use std::fs;
use std::path::{Path, PathBuf};

/// One such thing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// What it is and what comes of it.
    pub what: String,
    /// What to do about it.
    pub advice: String,
}

fn conflict(what: impl Into<String>, advice: impl Into<String>) -> Option<Conflict> {
    Some(Conflict { what: what.into(), advice: advice.into() })
}

/// Looks through the files below `root`, which is `/` but in tests.
#[must_use]
pub fn detect(root: &Path, device: &str) -> Vec<Conflict> {
    let checks = [no_default_route, offloaded, network_manager, networkd, sqm_scripts];
    checks.iter().filter_map(|check| check(root, device)).collect()
}

fn read(root: &Path, path: &str) -> Option<String> {
    fs::read_to_string(root.join(path)).ok()
}

/// Interfaces that lead to everywhere, by the files below `root`.
#[must_use]
pub fn default_routes(root: &Path) -> Vec<String> {
    let v4 = read(root, "proc/net/route").unwrap_or_default();
    let v6 = read(root, "proc/net/ipv6_route").unwrap_or_default();
    let both = v4.lines().skip(1).filter_map(v4_default).chain(v6.lines().filter_map(v6_default));
    let mut by: Vec<String> = both.map(ToOwned::to_owned).collect();
    by.sort_unstable();
    by.dedup();
    by
}

/// The way to the Internet leads elsewhere: the shaper would see nothing of it. Said only where there is such a way.
fn no_default_route(root: &Path, device: &str) -> Option<Conflict> {
    let by = default_routes(root);
    if by.is_empty() || by.iter().any(|name| name == device) {
        return None;
    }
    let names = by.join(", ");
    conflict(
        format!("no default route leads through {device}, but through {names}: the wrong interface?"),
        format!("fathom fix {}, if that is where the slow line is", by[0]),
    )
}

/// Interface, destination and mask of `/proc/net/route` (proc(5)).
fn v4_default(line: &str) -> Option<&str> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    (columns.get(1)? == &"00000000" && columns.get(7)? == &"00000000").then(|| columns[0])
}

/// Destination and its prefix first, interface last, of `/proc/net/ipv6_route`; the kernel's own unreachable default is on `lo`.
fn v6_default(line: &str) -> Option<&str> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    let is_default = columns.first()?.bytes().all(|b| b == b'0') && columns.get(1)? == &"00";
    columns.last().copied().filter(|name| is_default && *name != "lo")
}

/// Flows that the kernel, or hardware, forwards past all queue disciplines.
fn offloaded(root: &Path, _: &str) -> Option<Conflict> {
    let flows = read(root, "proc/net/nf_conntrack")?;
    let count = flows.lines().filter(|l| l.contains("[OFFLOAD]") || l.contains("[HW_OFFLOAD]")).count();
    if count == 0 {
        return None;
    }
    conflict(
        format!(
            "{count} connections are offloaded (nft flowtable): they pass by every queue, the shaper's too"
        ),
        "take the flowtable out of the firewall; on OpenWrt: uci set firewall.@defaults[0].flow_offloading=0; \
         uci set firewall.@defaults[0].flow_offloading_hw=0; uci commit firewall; service firewall restart",
    )
}

/// Hardware that may forward by itself what a flowtable or a filter gives it.
#[must_use]
pub fn hardware(device: &str) -> Option<Conflict> {
    if card(device).ok()?.hw_tc_offload != Some(true) {
        return None;
    }
    conflict(
        format!(
            "the card of {device} may forward packets by itself (hw-tc-offload is on): those pass by the shaper"
        ),
        format!("ethtool -K {device} hw-tc-offload off"),
    )
}

/// Files of a directory with this ending.
fn files(root: &Path, folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.join(folder)).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(ending));
    files.sort();
    files
}

fn sections(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim().strip_prefix('[')?.strip_suffix(']'))
}

/// A profile with `[tc]` sets the queues each time it is activated, and takes all others away.
fn network_manager(root: &Path, device: &str) -> Option<Conflict> {
    const FOLDERS: [&str; 2] =
        ["etc/NetworkManager/system-connections", "run/NetworkManager/system-connections"];
    let profiles = FOLDERS.iter().flat_map(|folder| files(root, folder, ".nmconnection"));
    let ours = |text: &str| {
        let name = text.lines().find_map(|line| line.trim().strip_prefix("interface-name="));
        name.is_none_or(|name| name == device) && sections(text).any(|section| section == "tc")
    };
    let profile = profiles.into_iter().find(|path| fs::read_to_string(path).is_ok_and(|text| ours(&text)))?;
    conflict(
        format!(
            "NetworkManager sets queues by {}: it takes ours away when it activates that",
            profile.display()
        ),
        format!("take [tc] out of it: nmcli connection modify {} remove tc", stem(&profile)),
    )
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// networkd sets the queues that a `.network` names, whenever it configures the interface.
fn networkd(root: &Path, device: &str) -> Option<Conflict> {
    const FOLDERS: [&str; 3] = ["etc/systemd/network", "run/systemd/network", "usr/lib/systemd/network"];
    const QUEUES: [&str; 12] = [
        "QDisc",
        "CAKE",
        "TokenBucketFilter",
        "FairQueueingControlledDelay",
        "FairQueueing",
        "HierarchyTokenBucket",
        "ControlledDelay",
        "StochasticFairnessQueueing",
        "PFIFO",
        "BFIFO",
        "PIE",
        "NetworkEmulator",
    ];
    let networks = FOLDERS.iter().flat_map(|folder| files(root, folder, ".network"));
    let ours = |text: &str| {
        let name = text.lines().find_map(|line| line.trim().strip_prefix("Name="));
        let is_named = name.is_none_or(|names| names.split_whitespace().any(|glob| matches(glob, device)));
        is_named && sections(text).any(|section| QUEUES.contains(&section))
    };
    let network = networks.into_iter().find(|path| fs::read_to_string(path).is_ok_and(|text| ours(&text)))?;
    conflict(
        format!(
            "systemd-networkd sets queues by {}: it replaces ours when it configures {device}",
            network.display()
        ),
        "take the queue's section out of it, then: networkctl reload",
    )
}

/// A name with a star at its end, as in `.network` files.
fn matches(glob: &str, name: &str) -> bool {
    glob.strip_suffix('*').map_or(glob == name, |begin| name.starts_with(begin))
}

/// sqm-scripts deletes the root queue at each event of the interface.
fn sqm_scripts(root: &Path, device: &str) -> Option<Conflict> {
    let config = read(root, "etc/config/sqm").unwrap_or_default();
    let value = |line: &str, key: &str| {
        let rest = line.trim().strip_prefix("option")?.trim_start().strip_prefix(key)?;
        Some(rest.trim().trim_matches(['\'', '"']).to_owned())
    };
    let queues = config.split("config queue").skip(1);
    let is_ours = |queue: &&str| {
        let of = |key| queue.lines().find_map(|line| value(line, key));
        of("enabled").as_deref() == Some("1") && of("interface").as_deref() == Some(device)
    };
    let is_running = root.join(format!("var/run/sqm/{device}.state")).exists()
        || root.join(format!("run/sqm/{device}.state")).exists();
    if !is_running && queues.filter(is_ours).count() == 0 {
        return None;
    }
    conflict(
        format!("sqm-scripts shapes {device} too: it takes our queues away at each event of the interface"),
        "service sqm stop; service sqm disable",
    )
}

/// What the counters say of the time between two looks.
#[must_use]
pub fn observed(before: &Look, after: &Look) -> Vec<Conflict> {
    let found = detect_bypass(&before.counters(), &after.counters());
    found.iter().map(|bypass| bypassed(&after.link.name, bypass)).collect()
}

/// A bypass in words, each with what to try.
#[must_use]
pub fn bypassed(device: &str, bypass: &Bypass) -> Conflict {
    match *bypass {
        Bypass::Unshaped { direction, interface_bytes, shaped_bytes } => {
            let how = match direction {
                Direction::Up => "left",
                Direction::Down => "arrived",
            };
            Conflict {
                what: format!(
                    "{interface_bytes} bytes {how} by {device}, but {shaped_bytes} passed the shaper: the rest bypasses it"
                ),
                advice: format!(
                    "look for offload: nft list flowtables; ethtool -k {device} (hw-tc-offload); for an XDP program: ip link show \
                     {device}; and for filters that take packets before ours: tc filter show dev {device} ingress"
                ),
            }
        }
        Bypass::Unclassified { packets } => Conflict {
            what: format!("{packets} packets passed HTB outside of all classes, unshaped"),
            advice: "something changed its classes: fathom fix --undo, then fix again".to_owned(),
        },
    }
}

/// Nothing passed in either direction, which says nothing of a moment, but much of a while.
#[must_use]
pub fn idle(before: &Look, after: &Look) -> Option<Conflict> {
    let packets = |look: &Look| look.link.sent_packets + look.link.received_packets;
    if packets(before) != packets(after) {
        return None;
    }
    let device = &after.link.name;
    conflict(
        format!("not one packet passed by {device} in that time: the wrong interface?"),
        "ip route get 1.1.1.1, for the interface that leads to the Internet",
    )
}
