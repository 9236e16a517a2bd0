//! When probes are due: open loop, on fixed slots.
use crate::ProbeKind;
use fathom_units::Bytes;

/// Bytes in each direction, on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct BytesPerRound {
    /// From the user.
    pub up: Bytes,
    /// To the user.
    pub down: Bytes,
}

/// Wire bytes of one probe and its answer, Ethernet, IP and transport headers included.
const fn probe_bytes(kind: ProbeKind) -> (u64, u64) {
    match kind {
        // 14 Ethernet + 20 IP + 8 ICMP + 56 payload.
        ProbeKind::Icmp => (98, 98),
        // 14 + 20 + 8 UDP + 64 payload.
        ProbeKind::Udp => (106, 106),
        // Up: SYN 74, ACK 66, GET 66 + 60, ACK 66, RST 54. Down: SYN-ACK 74, ACK 66, answer 66 + 80.
        ProbeKind::Connect => (386, 286),
        // Up: GET 66 + 60, ACK 66. Down: answer 66 + 80.
        ProbeKind::Kept => (192, 146),
    }
}

/// Wire bytes of one round of all `kinds`.
pub fn round_bytes(kinds: &[ProbeKind]) -> BytesPerRound {
    kinds.iter().map(|k| probe_bytes(*k)).fold(BytesPerRound::default(), |sum, (up, down)| BytesPerRound {
        up: sum.up + Bytes(up),
        down: sum.down + Bytes(down),
    })
}
