//! The header that Linux's `any` puts before packets: of it the place where the packet was seen is kept, by which copies are told from what
//! was sent again. Source: LINKTYPE_LINUX_SLL and LINKTYPE_LINUX_SLL2 of tcpdump's list of link types.
use crate::dissect::link::ethertype;
use crate::quality::place_of_header;
use crate::{Frame, LinkType, Packet};
use alloc::vec::Vec;

const SLL_BYTES: usize = 16;
const SLL2_BYTES: usize = 20;

/// Appends the header of a frame of type `link`, if that has one: without the sender's address. ARP stands for all that is not IP.
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
