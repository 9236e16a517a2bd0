//! Messages of the kernel of macOS (XNU), as functions over bytes: every system tests them. All
//! processors of macOS are little-endian.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

pub mod control;
pub mod icmp;
pub mod route;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn v6_at(bytes: &[u8], at: usize) -> Option<core::net::Ipv6Addr> {
    let mut octets: [u8; 16] = bytes.get(at..at + 16)?.try_into().ok()?;
    // In addresses of one link, the kernel keeps the interface in the second pair of bytes.
    if octets[0] == 0xfe && octets[1] & 0xc0 == 0x80 {
        octets[2..4].fill(0);
    }
    Some(octets.into())
}
