//! The pseudo-header of Linux's `any` device: only the interface or direction is kept, to tell
//! copies from retransmissions. Source: LINKTYPE_LINUX_SLL and LINKTYPE_LINUX_SLL2 of tcpdump.
use crate::dissect::link::ethertype;
use crate::quality::place_of_header;
use crate::{Frame, LinkType, Packet};
use alloc::vec::Vec;

const SLL_BYTES: usize = 16;
const SLL2_BYTES: usize = 20;

/// Appends the pseudo-header of `link`, if any, without the sender. What is not IP becomes ARP.
pub(super) fn write(link: LinkType, frame: &Frame<'_>, packet: Option<&Packet<'_>>, into: &mut Vec<u8>) {
    let start = into.len();
    let what_follows = match packet {
        Some(packet) if packet.source.is_v4() => ethertype::IPV4,
        Some(_) => ethertype::IPV6,
        None => ethertype::ARP,
    };
    let place = place_of_header(frame);
    match link {
        LinkType::LINUX_SLL => {
            into.extend_from_slice(&(place as u16).to_be_bytes());
            into.resize(start + SLL_BYTES - 2, 0);
            into.extend_from_slice(&what_follows.to_be_bytes());
        }
        LinkType::LINUX_SLL2 => {
            into.extend_from_slice(&what_follows.to_be_bytes());
            into.extend_from_slice(&[0; 2]);
            into.extend_from_slice(&place.to_be_bytes());
            into.resize(start + SLL2_BYTES, 0);
        }
        _ => {}
    }
}
