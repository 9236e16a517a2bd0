//! Parses pure ACKs for an ACK filter.
use fathom_qdisc::PureAck;
use fathom_wire::{IpPacket, TcpOption, TcpSegment, flag, protocol};

/// Flags of segments that are not pure ACKs.
const MORE: u8 = flag::FIN | flag::SYN | flag::RST | flag::PSH | flag::URG;
/// The reserved bits among the four before the flags; the fourth is NS, which goes below ECE and
/// CWR.
const RESERVED: u8 = 0b1110;
const NS: u8 = 0b0001;

/// The acknowledgment in the IP packet `bytes`, if it is a pure ACK; `connection` is the hash of
/// its flow.
pub(crate) fn pure_ack(bytes: &[u8], connection: u64) -> Option<PureAck> {
    let ip = IpPacket::new_checked(bytes).ok()?;
    let at = ip.transport().filter(|(number, _)| *number == protocol::TCP)?.1;
    let tcp = TcpSegment::new_checked(bytes.get(at..ip.total_len())?).ok()?;
    let carries_data = at + tcp.header_len() != ip.total_len();
    let is_plain = tcp.flags() & (MORE | flag::ACK) == flag::ACK && tcp.upper_flags() & RESERVED == 0;
    if carries_data || !is_plain {
        return None;
    }
    let mut ack = PureAck {
        connection,
        ack: tcp.acknowledgement(),
        ecn_flags: tcp.flags() & (flag::ECE | flag::CWR) | tcp.upper_flags() & NS,
        sack: [(0, 0); 4],
        timestamp: None,
        other_options: false,
    };
    for option in tcp.options() {
        match option {
            TcpOption::Timestamps { value, .. } => ack.timestamp = Some(value),
            TcpOption::Sack(blocks) => ack.sack = blocks,
            _ => ack.other_options = true,
        }
    }
    Some(ack)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 TCP packet with these flags, options and payload; 0x0f00 covers the bits before the
    /// flags.
    fn packet(flags: u16, options: &[u8], payload: &[u8]) -> Vec<u8> {
        let words = (5 + options.len() / 4) as u16;
        let tcp = [0x12, 0x34, 0x56, 0x78, 0, 0, 0, 1, 0, 0, 3, 0xe8];
        let rest = [0, 64, 0, 0, 0, 0];
        let flags = (words << 12 | flags).to_be_bytes();
        let tcp = [&tcp[..], &flags, &rest, options, payload].concat();
        let mut ip =
            vec![0x45, 0, 0, (20 + tcp.len()) as u8, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        ip.extend(tcp);
        ip
    }
    const ACK: u16 = 0x10;
    const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9];

    #[test]
    fn an_acknowledgement_is_taken_apart() {
        let sack = [1, 1, 5, 10, 0, 0, 7, 208, 0, 0, 11, 184];
        let ack = pure_ack(&packet(ACK, &[&TIMESTAMPS[..], &sack].concat(), &[]), 5).unwrap();
        let expected = PureAck {
            connection: 5,
            ack: 1000,
            ecn_flags: 0,
            sack: [(2000, 3000), (0, 0), (0, 0), (0, 0)],
            timestamp: Some(7),
            other_options: false,
        };
        assert_eq!(ack, expected);
        // ECE, CWR and NS.
        let flags = |flags| pure_ack(&packet(ACK | flags, &[], &[]), 5).map(|it| it.ecn_flags);
        assert_eq!([0x40, 0x80, 0x100].map(flags), [Some(0x40), Some(0x80), Some(1)]);
        let md5 = pure_ack(&packet(ACK, &[19, 3, 0, 1], &[]), 5).unwrap();
        assert!(md5.other_options);
    }

    #[test]
    fn what_carries_more_is_none() {
        assert_eq!(pure_ack(&packet(ACK, &TIMESTAMPS, &[1]), 5), None);
        for more in [0x01, 0x02, 0x04, 0x08, 0x20, 0x200, 0x400, 0x800] {
            assert_eq!(pure_ack(&packet(ACK | more, &[], &[]), 5), None, "{more:#x}");
        }
        assert_eq!(pure_ack(&packet(0, &[], &[]), 5), None);
        let mut udp = packet(ACK, &[], &[]);
        udp[9] = 17;
        assert_eq!(pure_ack(&udp, 5), None);
        let mut fragment = packet(ACK, &[], &[]);
        fragment[7] = 1;
        assert_eq!(pure_ack(&fragment, 5), None);
    }
}
