//! Which processes own sockets, from procfs.
use fathom_run::Process;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Owners of sockets by inode: of several the one with the lowest number. Those of other users are
/// visible to root only.
pub(crate) fn owners(inodes: &BTreeSet<u32>) -> BTreeMap<u32, Process> {
    let mut owners = BTreeMap::new();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let mut ids: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    ids.sort_unstable();
    for id in ids {
        for inode in sockets(id).filter(|inode| inodes.contains(inode)) {
            owners.entry(inode).or_insert_with(|| Process { id, name: name(id) });
        }
        if owners.len() == inodes.len() {
            break;
        }
    }
    owners
}

/// Inodes of the sockets of a process.
fn sockets(id: u32) -> impl Iterator<Item = u32> {
    let files = std::fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().filter_map(Result::ok);
    files.filter_map(|file| socket(&file.path()))
}

/// The inode of an open file, if it is a socket.
fn socket(file: &Path) -> Option<u32> {
    let target = std::fs::read_link(file).ok()?;
    target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The name that the kernel has for a process. The process chose it, so it may be anything.
fn name(id: u32) -> String {
    let name = std::fs::read(format!("/proc/{id}/comm")).unwrap_or_default();
    let name = String::from_utf8_lossy(&name).replace(char::is_control, "");
    if name.is_empty() { "?".to_owned() } else { name }
}

#[cfg(test)]
pub(crate) fn socket_of(stream: &impl std::os::fd::AsRawFd) -> Option<u32> {
    socket(format!("/proc/self/fd/{}", stream.as_raw_fd()).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_a_socket() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let inode = socket_of(&listener).unwrap();
        let found = owners(&BTreeSet::from([inode]));
        assert_eq!(found[&inode].id, std::process::id());
        assert!(!found[&inode].name.is_empty());
        assert_eq!(owners(&BTreeSet::from([0])), BTreeMap::new());
    }
}
