//! Random packets, and packets of a flood.
use fathom_capture::{Address, IcmpHeader, Packet, Stamps, TcpHeader, Transport, UdpHeader};
use fathom_units::Rng;

/// A random number that prefers limits of the field and earlier values.
fn number(rng: &mut Rng, last: u32) -> u32 {
    match rng.below(6) {
        0 => rng.next_u64() as u32,
        1 => [0, 1, u32::MAX, 0x7fff_ffff, 0x8000_0000][rng.below(5) as usize],
        _ => last.wrapping_add(rng.below(4000) as u32).wrapping_sub(500),
    }
}

pub(crate) fn packet<'a>(rng: &mut Rng, last: &mut [u32; 2], bytes: &'a [u8], ends: u64) -> Packet<'a> {
    let mut address = || Address::v4([10, 0, 0, rng.below(ends) as u8]);
    let (source, destination) = (address(), address());
    let [source_port, destination_port] = [(); 2].map(|()| [53, 443, 80, 50000][rng.below(4) as usize]);
    let payload_bytes = if rng.chance(0.1) { rng.next_u64() as u32 } else { rng.below(1500) as u32 };
    let cut = &bytes[..rng.below(bytes.len() as u64) as usize];
    let transport = match rng.below(20) {
        0 => Transport::Udp(UdpHeader { source_port, destination_port, payload_bytes, payload: cut }),
        1 => {
            let rest = (rng.next_u64() as u32 & 0x0001_0003).to_be_bytes();
            let kind = [0, 8, 128, 129, 3][rng.below(5) as usize];
            Transport::Icmp(IcmpHeader { is_v6: rng.chance(0.5), kind, code: 0, rest, payload: cut })
        }
        2 => Transport::Other { protocol: 47 },
        _ => {
            *last = last.map(|last| number(rng, last));
            Transport::Tcp(TcpHeader {
                source_port,
                destination_port,
                sequence: last[0],
                acknowledgement: last[1],
                flags: if rng.chance(0.5) { 0x10 } else { rng.next_u64() as u16 & 0x1ff },
                window: rng.next_u64() as u16,
                payload_bytes,
                stamps: rng
                    .chance(0.7)
                    .then(|| Stamps { value: rng.next_u64() as u32 & 0xff, echo: last[0] & 0xff }),
                options: &cut[..cut.len().min(40)],
                payload: cut,
            })
        }
    };
    let identification = Some(rng.below(3) as u16);
    let ecn = rng.below(4) as u8;
    Packet {
        source,
        destination,
        hop_limit: 1,
        dscp: 0,
        ecn,
        identification,
        ip_bytes: payload_bytes,
        wire_bytes: 1,
        transport,
    }
}

/// Arbitrary bytes, SACK blocks with or without timestamps, or a QUIC long header.
pub(crate) fn bytes(rng: &mut Rng) -> [u8; 60] {
    let mut bytes = [0; 60].map(|_: u8| rng.next_u64() as u8);
    match rng.below(4) {
        0 => bytes[..4].copy_from_slice(&[1, 1, 5, 34]),
        1 => bytes[..16].copy_from_slice(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 5, 26]),
        2 => bytes[..5].copy_from_slice(&[0xc0, 0, 0, 0, 1]),
        _ => {}
    }
    bytes
}

/// A segment from a port of `source` to a fixed host.
pub(crate) fn segment(source: u32, flags: u16, sequence: u32, payload_bytes: u32) -> Packet<'static> {
    Packet {
        source: Address::v4(source.to_be_bytes()),
        destination: Address::v4([198, 51, 100, 1]),
        hop_limit: 64,
        dscp: 0,
        ecn: 0,
        identification: None,
        ip_bytes: 40 + payload_bytes,
        wire_bytes: 54 + payload_bytes,
        transport: Transport::Tcp(TcpHeader {
            source_port: 1000,
            destination_port: 80,
            sequence,
            acknowledgement: 0,
            flags,
            window: 100,
            payload_bytes,
            stamps: None,
            options: &[],
            payload: &[],
        }),
    }
}
