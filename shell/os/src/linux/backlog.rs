//! Backlog of an interface's root queue, by rtnetlink(7).
use crate::netlink::{LOOPBACK, route_socket};
use fathom_units::Bytes;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::io;
use std::os::fd::OwnedFd;

/// `struct nlmsghdr` and `struct tcmsg`.
const HEADER_BYTES: usize = 16;
const TCMSG_BYTES: usize = 20;
/// Parent of the root qdisc, linux/pkt_sched.h.
const TC_H_ROOT: u32 = u32::MAX;
/// Attributes of linux/rtnetlink.h and linux/gen_stats.h: the statistics, and in them those of the
/// queue, whose second word is its backlog in bytes.
const TCA_STATS2: u16 = 7;
const TCA_STATS_QUEUE: u16 = 3;

/// Bytes in the root queue of `interface`; `None` if it keeps no such count.
///
/// # Errors
/// See `socket(2)`, `send(2)` and `recv(2)`.
pub fn backlog(interface: u32) -> io::Result<Option<Bytes>> {
    if interface == LOOPBACK {
        return Ok(None);
    }
    let socket = route_socket()?;
    request(&socket, interface)?;
    let mut found = None;
    let mut bytes = vec![0_u8; 32 * 1024];
    loop {
        let (got, _) = recv(&socket, &mut bytes[..], RecvFlags::empty())?;
        let mut rest = bytes.get(..got).unwrap_or_default();
        while let Some((kind, body, after)) = message(rest) {
            match i32::from(kind) {
                libc::NLMSG_DONE | libc::NLMSG_ERROR => return Ok(found),
                _ => found = found.or_else(|| root_backlog(body, interface)),
            }
            rest = after;
        }
    }
}

fn request(socket: &OwnedFd, interface: u32) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + TCMSG_BYTES);
    bytes.extend(((HEADER_BYTES + TCMSG_BYTES) as u32).to_ne_bytes());
    bytes.extend(libc::RTM_GETQDISC.to_ne_bytes());
    bytes.extend(((libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16).to_ne_bytes());
    // Sequence number and port 0 (the kernel), then family and padding.
    bytes.extend([0; 12]);
    bytes.extend(interface.to_ne_bytes());
    bytes.extend([0; 12]);
    send(socket, &bytes, SendFlags::empty())?;
    Ok(())
}

/// Type and body of the first message, and the bytes after it.
fn message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32_at(bytes, 0)? as usize;
    let kind = u16_at(bytes, 4)?;
    let body = bytes.get(HEADER_BYTES..length)?;
    Some((kind, body, bytes.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

fn root_backlog(body: &[u8], interface: u32) -> Option<Bytes> {
    let is_wanted = u32_at(body, 4)? == interface && u32_at(body, 12)? == TC_H_ROOT;
    let statistics = attribute(body.get(TCMSG_BYTES..)?, TCA_STATS2)?;
    let queue = attribute(statistics, TCA_STATS_QUEUE)?;
    u32_at(queue, 4).filter(|_| is_wanted).map(|bytes| Bytes(u64::from(bytes)))
}

/// The value of the first attribute of type `wanted`.
fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let (length, kind) = (usize::from(u16_at(bytes, 0)?), u16_at(bytes, 2)?);
        let value = bytes.get(4..length)?;
        // The two highest bits are flags, linux/netlink.h.
        if kind & 0x3fff == wanted {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute_bytes(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = ((4 + value.len()) as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn the_root_queue_of_the_interface_is_found() {
        let queue: Vec<u8> = [3_u32, 4_542, 0, 0, 0].iter().flat_map(|n| n.to_ne_bytes()).collect();
        let statistics = [attribute_bytes(1, &[0; 12]), attribute_bytes(TCA_STATS_QUEUE, &queue)].concat();
        let head = |interface: u32, parent: u32| {
            [0_u32, interface, 0x8001_0000, parent, 2]
                .iter()
                .flat_map(|n| n.to_ne_bytes())
                .collect::<Vec<u8>>()
        };
        let rest = [attribute_bytes(1, b"fq_codel\0"), attribute_bytes(TCA_STATS2, &statistics)].concat();
        let of = |interface, parent| root_backlog(&[head(interface, parent), rest.clone()].concat(), 7);
        assert_eq!(of(7, TC_H_ROOT), Some(Bytes(4_542)));
        assert_eq!((of(8, TC_H_ROOT), of(7, 1)), (None, None));
        let whole = [head(7, TC_H_ROOT), rest].concat();
        for length in 0..whole.len() - 4 {
            let _ = root_backlog(&whole[..length], 7);
        }
    }

    #[test]
    fn the_kernel_answers() {
        assert_eq!(backlog(LOOPBACK).unwrap(), None);
        // No interface has this index, so the list is empty.
        assert_eq!(backlog(0x7fff_fff0).unwrap(), None);
    }
}
