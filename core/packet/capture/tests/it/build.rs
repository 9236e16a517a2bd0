//! Builds packets and files by hand.
use fathom_units::Rng;

/// Ports, sequence numbers and timestamps of every TCP header built here.
pub(crate) const PORTS: (u16, u16) = (443, 50_000);
pub(crate) const SEQUENCE: u32 = 0x8000_0001;
pub(crate) const ACKNOWLEDGEMENT: u32 = 0x1234_5678;
pub(crate) const STAMPS: (u32, u32) = (0x0102_0304, 0x0a0b_0c0d);
pub(crate) const V4: ([u8; 4], [u8; 4]) = ([10, 201, 202, 203], [192, 168, 7, 9]);
pub(crate) const V6: ([u8; 16], [u8; 16]) = (
    [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
);

pub(crate) fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// Options as Linux sends them with each segment.
pub(crate) fn stamp_option() -> Vec<u8> {
    join(&[&[1, 1, 8, 10], &STAMPS.0.to_be_bytes(), &STAMPS.1.to_be_bytes()])
}

/// A TCP segment with ACK and PSH.
pub(crate) fn tcp(options: &[u8], payload: &[u8]) -> Vec<u8> {
    assert_eq!(options.len() % 4, 0);
    let offset = ((5 + options.len() / 4) as u8) << 4;
    let fixed = [offset, 0x18, 0x20, 0x00, 0xbe, 0xef, 0, 0];
    let (source, destination) = (PORTS.0.to_be_bytes(), PORTS.1.to_be_bytes());
    let numbers = [SEQUENCE.to_be_bytes(), ACKNOWLEDGEMENT.to_be_bytes()].concat();
    join(&[&source, &destination, &numbers, &fixed, options, payload])
}

/// The segment in the encapsulation tests: timestamps and 100 bytes.
pub(crate) fn segment() -> Vec<u8> {
    tcp(&stamp_option(), &[0x55; 100])
}

pub(crate) fn udp(ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len()) as u16;
    join(&[&ports.0.to_be_bytes(), &ports.1.to_be_bytes(), &length.to_be_bytes(), &[0, 0], payload])
}

/// DSCP 46 and ECT(0), hop limit 61, identification 0x4242.
pub(crate) fn v4(protocol: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
    assert_eq!(options.len() % 4, 0);
    let header = 20 + options.len();
    let first = [0x40 | (header / 4) as u8, 46 << 2 | 2];
    let total = ((header + payload.len()) as u16).to_be_bytes();
    let middle = [0x42, 0x42, 0x40, 0, 61, protocol, 0xca, 0xfe];
    join(&[&first, &total, &middle, &V4.0, &V4.1, options, payload])
}

/// [`v4`]'s fields, with a flow label.
pub(crate) fn v6(next: u8, payload: &[u8]) -> Vec<u8> {
    let class: u32 = 46 << 2 | 2;
    let first = (6 << 28 | class << 20 | 0x5_4321).to_be_bytes();
    let length = (payload.len() as u16).to_be_bytes();
    join(&[&first, &length, &[next, 61], &V6.0, &V6.1, payload])
}

pub(crate) fn ethernet(ethertype: u16, payload: &[u8]) -> Vec<u8> {
    join(&[&[2; 6], &[4; 6], &ethertype.to_be_bytes(), payload])
}

/// A pcapng block in either byte order.
pub(crate) fn block(big: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let padding = vec![0; body.len().next_multiple_of(4) - body.len()];
    let length = n32(big, (12 + body.len() + padding.len()) as u32);
    join(&[&n32(big, kind), &length, body, &padding, &length])
}

pub(crate) fn n32(big: bool, value: u32) -> [u8; 4] {
    if big { value.to_be_bytes() } else { value.to_le_bytes() }
}

pub(crate) fn n16(big: bool, value: u16) -> [u8; 2] {
    if big { value.to_be_bytes() } else { value.to_le_bytes() }
}

pub(crate) fn n64(big: bool, value: u64) -> [u8; 8] {
    if big { value.to_be_bytes() } else { value.to_le_bytes() }
}

/// An option of a pcapng block.
pub(crate) fn option(big: bool, code: u16, value: &[u8]) -> Vec<u8> {
    let padding = vec![0; value.len().next_multiple_of(4) - value.len()];
    join(&[&n16(big, code), &n16(big, value.len() as u16), value, &padding])
}

/// One of `good` with some bytes changed, truncated at any length.
pub(crate) fn damaged(good: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = good[rng.below(good.len() as u64) as usize].clone();
    for _ in 0..rng.below(6) {
        let at = rng.below(bytes.len() as u64) as usize;
        bytes[at] = rng.below(256) as u8;
    }
    bytes.truncate(rng.below(2 * bytes.len() as u64) as usize);
    bytes
}
