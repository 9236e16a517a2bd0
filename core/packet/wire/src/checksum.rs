//! The Internet checksum. Source: RFC 1071; incremental update RFC 1624.
use core::net::IpAddr;

/// Adds the 16-bit one's complement sum of `bytes` (network order) to `sum`. Then use [`fold`].
#[must_use]
pub fn add(sum: u32, bytes: &[u8]) -> u32 {
    let mut words = bytes.chunks_exact(2);
    // 65535 bytes of ones sum to less than 2^31; only more bytes need a u64.
    let total = words.by_ref().fold(u64::from(sum), |s, w| s + u64::from(u16::from_be_bytes([w[0], w[1]])));
    let odd = words.remainder().first().map_or(0, |last| u64::from(*last) << 8);
    u32::from(fold_wide(total + odd))
}

/// The 16-bit one's complement sum.
#[must_use]
pub fn fold(sum: u32) -> u16 {
    fold_wide(u64::from(sum))
}

const fn fold_wide(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The checksum of `bytes`, with the checksum field set to zero.
#[must_use]
pub fn of(bytes: &[u8]) -> u16 {
    !fold(add(0, bytes))
}

/// The checksum after a 16-bit word changes from `before` to `after`. Source: RFC 1624 equation 3.
#[must_use]
pub fn update(checksum: u16, before: u16, after: u16) -> u16 {
    !fold(u32::from(!checksum) + u32::from(!before) + u32::from(after))
}

/// Sum of the pseudo-header of TCP, UDP and ICMPv6: RFC 9293 section 3.1, RFC 8200 section 8.1.
#[must_use]
pub fn pseudo_header(source: IpAddr, destination: IpAddr, protocol: u8, length: u32) -> u32 {
    let sum = add_address(add_address(0, source), destination);
    add(add(sum, &length.to_be_bytes()), &[0, protocol])
}

fn add_address(sum: u32, address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(v4) => add(sum, &v4.octets()),
        IpAddr::V6(v6) => add(sum, &v6.octets()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_example_of_rfc_1071() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(fold(add(0, &bytes)), 0xddf2);
        assert_eq!(of(&bytes), !0xddf2);
        // A trailing byte is the high half of a word.
        assert_eq!(add(0, &[0x12]), 0x1200);
    }

    #[test]
    fn update_matches_recomputation_and_the_corner_case_of_rfc_1624() {
        // Section 4: sum 0xCD7A + 0x5555, field 0x5555 becomes 0x3285: checksum 0, not 0xFFFF.
        assert_eq!(update(0xdd2f, 0x5555, 0x3285), 0x0000);
        let mut bytes = [0x45, 0x00, 0x12, 0x34, 0xff, 0xff, 0x00, 0x01];
        for word in 0..=u16::MAX {
            let before = of(&bytes);
            let old = u16::from_be_bytes([bytes[2], bytes[3]]);
            bytes[2..4].copy_from_slice(&word.to_be_bytes());
            assert_eq!(update(before, old, word), of(&bytes), "{old:#x} to {word:#x}");
        }
    }
}
