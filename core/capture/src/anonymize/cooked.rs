//! The header that Linux's `any` puts before packets: of it the place where the packet was seen is kept, by which copies are told from what
//! was sent again. Source: LINKTYPE_LINUX_SLL and LINKTYPE_LINUX_SLL2 of tcpdump's list of link types.
use crate::quality::place_of_header;
use crate::{Frame, LinkType, Packet};
use alloc::vec::Vec;

const SLL_BYTES: usize = 16;
const SLL2_BYTES: usize = 20;
/// EtherTypes (IANA): of the two versions of IP, and of what stands for all that is not IP.
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ARP: u16 = 0x0806;

/// Appends the header of a frame of type `link`, if that has one: without the sender's address.
pub(super) fn write(link: LinkType, frame: &Frame<'_>, packet: Option<&Packet<'_>>, into: &mut Vec<u8>) {
    let start = into.len();
    let ethertype = packet.map_or(ARP, |packet| if packet.source.is_v4() { IPV4 } else { IPV6 });
    let place = place_of_header(frame);
    match link {
        LinkType::LINUX_SLL => {
            into.extend_from_slice(&(place as u16).to_be_bytes());
            into.resize(start + SLL_BYTES - 2, 0);
            into.extend_from_slice(&ethertype.to_be_bytes());
        }
        LinkType::LINUX_SLL2 => {
            into.extend_from_slice(&ethertype.to_be_bytes());
            into.extend_from_slice(&[0; 2]);
            into.extend_from_slice(&place.to_be_bytes());
            into.resize(start + SLL2_BYTES, 0);
        }
        _ => {}
    }
}
