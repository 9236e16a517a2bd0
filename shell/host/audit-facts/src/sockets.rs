//! Unsent data of TCP sockets, queried from sock_diag(7).
use crate::exchange::list;
use fathom_audit::Tree;
use fathom_os::dump::Part;
use fathom_tc::attributes;
use std::io;

/// Source: linux/sock_diag.h, linux/inet_diag.h, linux/netlink.h.
mod number {
    pub(super) const SOCK_DIAG_BY_FAMILY: u16 = 20;
    pub(super) const REQUEST_DUMP: u16 = 0x301;
    pub(super) const INET_DIAG_INFO: u16 = 2;
    pub(super) const TCP: u8 = 6;
    pub(super) const FAMILIES: [u8; 2] = [2, 10];
}

/// All states except listening (10), whose queues hold connections, not bytes.
const STATES: u32 = 0xfff & !(1 << 10);

/// Bytes of `struct inet_diag_req_v2`, whose last 48 identify a socket, and of
/// `struct inet_diag_msg`.
const REQUEST_BYTES: usize = 56;
const MESSAGE_BYTES: usize = 72;

/// Offset of `tcpi_notsent_bytes` in `struct tcp_info`.
const NOTSENT_AT: usize = 144;

/// Adds the largest amount of unsent data in a single socket of this namespace.
///
/// # Errors
/// If the kernel does not list its sockets.
pub fn add_unsent(tree: &mut Tree) -> io::Result<()> {
    let mut most = 0;
    for family in number::FAMILIES {
        let told = list(Part::Sockets, &request(family))?;
        most = most.max(told.iter().filter_map(|part| unsent(&part.body)).max().unwrap_or(0));
    }
    tree.insert("replies/tcp", format!("notsent_bytes {most}\n").into_bytes());
    Ok(())
}

fn request(family: u8) -> Vec<u8> {
    let length = 16 + REQUEST_BYTES as u32;
    let mut bytes = Vec::from(length.to_ne_bytes());
    bytes.extend(number::SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(number::REQUEST_DUMP.to_ne_bytes());
    // Sequence number, and the kernel as receiver.
    bytes.extend([0; 8]);
    bytes.extend([family, number::TCP, 1 << (number::INET_DIAG_INFO - 1), 0]);
    bytes.extend(STATES.to_ne_bytes());
    bytes.resize(length as usize, 0);
    bytes
}

fn unsent(body: &[u8]) -> Option<u32> {
    let info = attributes(body.get(MESSAGE_BYTES..)?).find(|found| found.number == number::INET_DIAG_INFO)?;
    let bytes = info.value.get(NOTSENT_AT..NOTSENT_AT + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}
