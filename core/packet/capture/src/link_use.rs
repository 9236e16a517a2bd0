//! For which hosts and which virtual network a frame is, as far as its link shows it.
use crate::dissect::link::ethertype;
use crate::{Frame, LinkType};

/// The hosts that receive a frame, if it is not for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Audience {
    /// All hosts of the link.
    Broadcast,
    /// The hosts of a group.
    Multicast,
}

/// Who receives a frame, of Ethernet or of Linux's `any` device; `None` if it is one host, or the
/// link does not show it.
pub fn audience(frame: &Frame<'_>) -> Option<Audience> {
    match frame.link {
        LinkType::ETHERNET => match frame.bytes.first_chunk::<6>()? {
            [0xff, 0xff, 0xff, 0xff, 0xff, 0xff] => Some(Audience::Broadcast),
            // The group bit is sent first (IEEE 802.3 section 3.2.3).
            [first, ..] => (first & 1 == 1).then_some(Audience::Multicast),
        },
        LinkType::LINUX_SLL => cooked(*frame.bytes.get(1)?),
        LinkType::LINUX_SLL2 => cooked(*frame.bytes.get(10)?),
        _ => None,
    }
}

/// Source: linux/if_packet.h, `PACKET_BROADCAST` and `PACKET_MULTICAST`.
const fn cooked(kind: u8) -> Option<Audience> {
    match kind {
        1 => Some(Audience::Broadcast),
        2 => Some(Audience::Multicast),
        _ => None,
    }
}

/// Identifier of the outer VLAN of an Ethernet frame. 0 is none: such a tag has a priority alone
/// (IEEE 802.1Q section 9.6).
pub fn vlan(frame: &Frame<'_>) -> Option<u16> {
    let tag: [u8; 4] = frame.bytes.get(12..16)?.try_into().ok()?;
    let kind = u16::from_be_bytes([tag[0], tag[1]]);
    let identifier = u16::from_be_bytes([tag[2], tag[3]]) & 0x0fff;
    (frame.link == LinkType::ETHERNET && ethertype::is_vlan(kind) && identifier > 0).then_some(identifier)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(link: LinkType, bytes: &[u8]) -> Frame<'_> {
        Frame { at: 0, link, original_len: bytes.len() as u32, interface: 0, lost_before: 0, bytes }
    }

    #[test]
    fn the_audience_of_each_link() {
        let of = |link, bytes: &[u8]| audience(&frame(link, bytes));
        assert_eq!(of(LinkType::ETHERNET, &[0xff; 14]), Some(Audience::Broadcast));
        assert_eq!(of(LinkType::ETHERNET, &[1, 0, 0x5e, 0, 0, 1, 2]), Some(Audience::Multicast));
        assert_eq!(of(LinkType::ETHERNET, &[2, 0xff, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(of(LinkType::LINUX_SLL, &[0, 1]), Some(Audience::Broadcast));
        assert_eq!(of(LinkType::LINUX_SLL2, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]), Some(Audience::Multicast));
        assert_eq!(of(LinkType::RAW, &[0xff; 14]), None);
        for length in 0..6 {
            assert_eq!(of(LinkType::ETHERNET, &[0xff; 6][..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn the_vlan_of_a_tagged_frame() {
        let of = |tag: [u8; 4]| vlan(&frame(LinkType::ETHERNET, &[&[2; 12][..], &tag].concat()));
        assert_eq!(of([0x81, 0x00, 0xe0, 0x0c]), Some(12), "the priority is left out");
        assert_eq!(of([0x88, 0xa8, 0x0f, 0xfe]), Some(4094));
        assert_eq!(of([0x81, 0x00, 0xe0, 0x00]), None, "a priority alone");
        assert_eq!(of([0x08, 0x00, 0x00, 0x0c]), None);
        assert_eq!(vlan(&frame(LinkType::ETHERNET, &[2; 15])), None);
    }
}
