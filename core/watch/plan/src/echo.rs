//! ICMP echo messages that carry what their answers are told by.
use crate::book::Echo;
use crate::settings::MIN_SIZE;
use fathom_units::{Time, WallTime};

/// Before the payload: type, code, checksum, identifier, sequence number.
pub const HEADER_BYTES: usize = 8;
const REQUEST: [u8; 2] = [8, 128];
const REPLY: [u8; 2] = [0, 129];

/// What names the probes of one run of the program, and which of the two ICMPs it speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EchoForm {
    /// ICMPv6 (RFC 4443), else ICMP (RFC 792).
    pub v6: bool,
    /// A number that no other run has: by it the answers to other programs are told.
    pub token: u64,
    /// The header's identifier; a socket on which the kernel sets it ignores it.
    pub identifier: u16,
    /// Nobody else fills the checksum in.
    pub checksum: bool,
}

impl EchoForm {
    /// Writes the request of `target` into `bytes`, all of which is sent; it must have room for header and [`MIN_SIZE`].
    ///
    /// Names are the payload's 64 bits, never the header's 16: those wrap within seconds, and routers rewrite them.
    pub fn write(&self, bytes: &mut [u8], target: u32, echo: &Echo) {
        let fields: [(usize, u64); 4] = [
            (HEADER_BYTES, self.token),
            (16, u64::from(target) << 32 | u64::from(echo.sequence)),
            (24, echo.at.0),
            (32, echo.sent.as_nanos()),
        ];
        let sequence = (echo.sequence as u16).to_be_bytes();
        let head = [REQUEST[usize::from(self.v6)], 0, 0, 0];
        put(bytes, 0, &head);
        put(bytes, 4, &self.identifier.to_be_bytes());
        put(bytes, 6, &sequence);
        for (at, value) in fields {
            put(bytes, at, &value.to_be_bytes());
        }
        if self.checksum {
            let sum = checksum(bytes).to_be_bytes();
            put(bytes, 2, &sum);
        }
    }
    /// Target and probe of a reply to a request of this run; `None` for anything else. A raw IPv4 socket gives the IP
    /// header too.
    pub fn read(&self, received: &[u8]) -> Option<(u32, Echo)> {
        // ICMP types are below 0x40 or above 0x7f; an IPv4 header begins with 0x4.
        let first = *received.first()?;
        let header = if !self.v6 && first >> 4 == 4 { usize::from(first & 0xf) * 4 } else { 0 };
        let icmp = received.get(header..)?;
        if *icmp.first()? != REPLY[usize::from(self.v6)] || word(icmp, HEADER_BYTES)? != self.token {
            return None;
        }
        payload(icmp, HEADER_BYTES)
    }
    /// Target and probe of a request of this run, with whatever headers before it.
    pub fn read_sent(&self, packet: &[u8]) -> Option<(u32, Echo)> {
        // Behind IPv4 with and without an Ethernet header, and behind IPv6; then wherever it may be.
        const USUAL: [usize; 4] = [42, 28, 62, 48];
        let is_here = |at: &usize| word(packet, *at) == Some(self.token);
        let found = USUAL.into_iter().find(is_here).or_else(|| (0..packet.len()).find(is_here));
        payload(packet, found?)
    }
}

/// What stands behind the token at `at`.
fn payload(bytes: &[u8], at: usize) -> Option<(u32, Echo)> {
    let name = word(bytes, at + 8)?;
    let (wall, sent) = (WallTime(word(bytes, at + 16)?), Time::from_nanos(word(bytes, at + 24)?));
    Some(((name >> 32) as u32, Echo { sequence: name as u32, at: wall, sent }))
}

// The four words of the payload are just what the configuration asks for at least.
const _: () = assert!(MIN_SIZE == 4 * 8);

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..at + 8)?.try_into().ok()?;
    Some(u64::from_be_bytes(eight))
}

/// RFC 1071.
fn checksum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| match pair {
        [high, low] => u32::from(u16::from_be_bytes([*high, *low])),
        [high] => u32::from(*high) << 8,
        _ => 0,
    };
    let sum: u32 = bytes.chunks(2).map(word).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const FORM: EchoForm =
        EchoForm { v6: false, token: 0x0102_0304_0506_0708, identifier: 7, checksum: true };

    fn request(form: EchoForm, target: u32, echo: &Echo) -> [u8; 40] {
        let mut bytes = [0; 40];
        form.write(&mut bytes, target, echo);
        bytes
    }

    #[test]
    fn a_reply_tells_target_probe_and_times() {
        let echo = Echo { sequence: u32::MAX, at: WallTime(u64::MAX - 1), sent: Time::from_nanos(5) };
        for v6 in [false, true] {
            let form = EchoForm { v6, ..FORM };
            let mut reply = request(form, 0xfedc_ba98, &echo);
            assert_eq!(form.read(&reply), None, "a request is no reply");
            for before in [0, 20, 34, 37, 40, 54] {
                let packet = [vec![1; before], reply.to_vec()].concat();
                assert_eq!(form.read_sent(&packet), Some((0xfedc_ba98, echo)), "{before} bytes before it");
                assert_eq!(form.read_sent(&packet[..before + 39]), None);
            }
            reply[0] = if v6 { 129 } else { 0 };
            assert_eq!(form.read(&reply), Some((0xfedc_ba98, echo)));
            assert_eq!(EchoForm { token: 1, ..form }.read(&reply), None, "another program's");
            for length in 0..40 {
                assert_eq!(form.read(&reply[..length]), None, "{length} bytes");
            }
            let mut raw = [0_u8; 60];
            raw[0] = 0x45;
            raw[20..].copy_from_slice(&reply);
            assert_eq!(form.read(&raw).is_some(), !v6, "with the header of IPv4");
        }
    }

    #[test]
    fn the_checksum_makes_the_sum_zero() {
        let bytes =
            request(FORM, 3, &Echo { sequence: 9, at: WallTime(1 << 60), sent: Time::from_nanos(77) });
        assert_eq!(checksum(&bytes), 0);
        assert_eq!(checksum(&[0xff, 0xff, 0x80]), 0x7fff, "an odd byte");
    }
}
