//! Interfaces as sysfs and procfs describe them.
pub use crate::medium::Medium;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes received and sent by an interface since it came up.
pub type ByteCounts = (u64, u64);

/// Type of an Ethernet interface, and of Wi-Fi. Source: linux/if_arp.h, `ARPHRD_ETHER`.
const ETHERNET: &str = "1";

/// Kind of the link of an interface.
#[must_use]
pub fn medium(interface: u32) -> Option<Medium> {
    medium_in("/sys/class/net".as_ref(), interface)
}

/// Kind of the link of an interface, one of `interfaces`.
fn medium_in(interfaces: &Path, interface: u32) -> Option<Medium> {
    let number = interface.to_string();
    let read = |folder: &Path, name| {
        std::fs::read_to_string(folder.join(name)).unwrap_or_default().trim().to_owned()
    };
    let is_it = |folder: &PathBuf| read(folder, "ifindex") == number;
    let folders = std::fs::read_dir(interfaces).ok()?;
    let folder = folders.filter_map(Result::ok).map(|entry| entry.path()).find(is_it)?;
    if ["wireless", "phy80211"].iter().any(|name| folder.join(name).exists()) {
        return Some(Medium::Wifi);
    }
    (read(&folder, "type") == ETHERNET).then_some(Medium::Ethernet)
}

/// Counts of the interfaces of this thread's network namespace, by name.
///
/// # Errors
/// If procfs is not mounted.
pub fn byte_counts() -> io::Result<BTreeMap<String, ByteCounts>> {
    let text = std::fs::read_to_string("/proc/thread-self/net/dev")?;
    Ok(text.lines().filter_map(counts_of).collect())
}

/// A line of `/proc/net/dev`: bytes received and sent are the first and ninth number.
fn counts_of(line: &str) -> Option<(String, ByteCounts)> {
    let (name, numbers) = line.rsplit_once(':')?;
    let mut numbers = numbers.split_whitespace().map(str::parse);
    let (received, sent) = (numbers.next()?.ok()?, numbers.nth(7)?.ok()?);
    Some((name.trim().to_owned(), (received, sent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ethernet_is_a_cable() {
        let root = std::env::temp_dir().join(format!("fathom-links-{}", std::process::id()));
        // Types of linux/if_arp.h: Ethernet, Wi-Fi as well, a tunnel without a header, PPP.
        for (name, number, kind) in [("eth0", 2, 1), ("wlan0", 3, 1), ("wg0", 4, 65_534), ("ppp0", 5, 512)] {
            let folder = root.join(name);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("ifindex"), format!("{number}\n")).unwrap();
            std::fs::write(folder.join("type"), format!("{kind}\n")).unwrap();
        }
        std::fs::create_dir(root.join("wlan0/phy80211")).unwrap();
        let found = [2, 3, 4, 5, 6].map(|number| medium_in(&root, number));
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(found, [Some(Medium::Ethernet), Some(Medium::Wifi), None, None, None]);
    }
}
