//! Detects what makes a shaper ineffective or removes it: from system files before, and from
//! counters afterwards.
use crate::look::Look;
use crate::sqm::{SqmQueue, sqm_queues};
use fathom_os::ethtool::card;
use fathom_run::ConflictCause;
use fathom_shape::fix::detect_bypass;
use std::fs;
use std::path::{Path, PathBuf};

/// Checks the files below `root`, which is `/` except in tests.
#[must_use]
pub fn detect(root: &Path, device: &str) -> Vec<ConflictCause> {
    let checks = [no_default_route, offloaded, network_manager, networkd, sqm_scripts];
    checks.iter().filter_map(|check| check(root, device)).collect()
}

fn read(root: &Path, path: &str) -> Option<String> {
    fs::read_to_string(root.join(path)).ok()
}

/// Interfaces with a default route, from the files below `root`.
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

/// The default route uses another interface, so the shaper would see no Internet traffic. Reported
/// only if there is a default route.
fn no_default_route(root: &Path, device: &str) -> Option<ConflictCause> {
    let by = default_routes(root);
    if by.is_empty() || by.iter().any(|name| name == device) {
        return None;
    }
    Some(ConflictCause::NoDefaultRoute { default_routes: by })
}

/// Parses interface, destination and mask in `/proc/net/route` (proc(5)).
fn v4_default(line: &str) -> Option<&str> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    (columns.get(1)? == &"00000000" && columns.get(7)? == &"00000000").then(|| columns[0])
}

/// Parses `/proc/net/ipv6_route`: destination and prefix come first, the interface last. The
/// kernel's own unreachable default route is on `lo`.
fn v6_default(line: &str) -> Option<&str> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    let is_default = columns.first()?.bytes().all(|b| b == b'0') && columns.get(1)? == &"00";
    columns.last().copied().filter(|name| is_default && *name != "lo")
}

/// Flows that the kernel or hardware forwards past all qdiscs.
fn offloaded(root: &Path, _: &str) -> Option<ConflictCause> {
    let flows = read(root, "proc/net/nf_conntrack")?;
    let is_offloaded = |line: &&str| line.contains("[OFFLOAD]") || line.contains("[HW_OFFLOAD]");
    let connection_count = flows.lines().filter(is_offloaded).count() as u64;
    (connection_count > 0).then_some(ConflictCause::Offload { connection_count })
}

/// Hardware that may forward flows given to it by a flowtable or a filter.
#[must_use]
pub fn hardware(device: &str) -> Option<ConflictCause> {
    let is_on = card(device).ok()?.hw_tc_offload == Some(true);
    is_on.then_some(ConflictCause::HardwareOffload)
}

/// Files in a directory with this extension.
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

/// A NetworkManager profile with `[tc]` sets its qdiscs at each activation and removes all others.
fn network_manager(root: &Path, device: &str) -> Option<ConflictCause> {
    const FOLDERS: [&str; 2] =
        ["etc/NetworkManager/system-connections", "run/NetworkManager/system-connections"];
    let profiles = FOLDERS.iter().flat_map(|folder| files(root, folder, ".nmconnection"));
    let ours = |text: &str| {
        let name = text.lines().find_map(|line| line.trim().strip_prefix("interface-name="));
        name.is_none_or(|name| name == device) && sections(text).any(|section| section == "tc")
    };
    let profile = profiles.into_iter().find(|path| fs::read_to_string(path).is_ok_and(|text| ours(&text)))?;
    Some(ConflictCause::NetworkManager { file: profile.display().to_string() })
}

/// networkd sets the qdiscs of a `.network` file whenever it configures the interface.
fn networkd(root: &Path, device: &str) -> Option<ConflictCause> {
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
    Some(ConflictCause::Networkd { file: network.display().to_string() })
}

/// Matches a name with a trailing star, as in `.network` files.
fn matches(glob: &str, name: &str) -> bool {
    glob.strip_suffix('*').map_or(glob == name, |begin| name.starts_with(begin))
}

/// sqm-scripts deletes the root qdisc at each event of the interface.
fn sqm_scripts(root: &Path, device: &str) -> Option<ConflictCause> {
    let queues = sqm_queues(root).unwrap_or_default();
    let is_ours = |queue: &SqmQueue| queue.is_enabled && queue.shape.device == device;
    let is_running = root.join(format!("var/run/sqm/{device}.state")).exists()
        || root.join(format!("run/sqm/{device}.state")).exists();
    (is_running || queues.iter().any(is_ours)).then_some(ConflictCause::SqmScripts)
}

/// Conflicts that the counters show between two looks.
#[must_use]
pub fn observed(before: &Look, after: &Look) -> Vec<ConflictCause> {
    let found = detect_bypass(&before.counters(), &after.counters());
    found.into_iter().map(|bypass| ConflictCause::Bypass { bypass }).collect()
}

/// No traffic in either direction. This means little for a moment, but much for a long period.
#[must_use]
pub fn idle(before: &Look, after: &Look) -> Option<ConflictCause> {
    let packets = |look: &Look| look.link.sent_packets + look.link.received_packets;
    (packets(before) == packets(after)).then_some(ConflictCause::NoTraffic)
}
