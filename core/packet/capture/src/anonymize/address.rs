//! Prefix-preserving address replacement: Crypto-PAn (Xu, Fan, Ammar and Moon 2002), where each bit
//! is flipped depending on a keyed function of the bits before it. That function is SipHash.
use super::siphash::siphash;
use crate::Address;
use alloc::vec;
use alloc::vec::Vec;

/// Size of the cache of replacements; a capture has few frequent addresses.
const REMEMBERED: usize = 4096;

/// Replaces addresses.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    key: [u64; 2],
    /// Addresses and their replacements, by a hash of the address.
    remembered: Vec<Option<(Address, Address)>>,
}

/// Special-purpose networks that are preserved (IANA registries): prefix and its length.
const KEPT_V4: [(u32, u32); 9] = [
    (0x0000_0000, 8),
    (0x0a00_0000, 8),
    (0x6440_0000, 10),
    (0x7f00_0000, 8),
    (0xa9fe_0000, 16),
    (0xac10_0000, 12),
    (0xc0a8_0000, 16),
    (0xe000_0000, 4),
    (0xf000_0000, 4),
];
/// Global unicast: all bits but this prefix are replaced.
const GLOBAL_V6: (u128, u32) = (0x2 << 124, 3);
/// Unique local, link local, and multicast including its scope.
const KEPT_V6: [(u128, u32); 3] = [(0xfc << 120, 8), (0xfe80 << 112, 16), (0xff << 120, 16)];
/// Preserved prefix length of IPv6 addresses outside these networks.
const UNKNOWN_V6_BITS: u32 = 16;

impl Addresses {
    pub(super) fn new(key: [u8; 16]) -> Self {
        let key = u128::from_le_bytes(key);
        Addresses { key: [key as u64, (key >> 64) as u64], remembered: vec![None; REMEMBERED] }
    }
    pub(super) fn replace(&mut self, address: Address) -> Address {
        let bits = address.bits();
        let hash = ((bits ^ bits >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        let slot = hash as usize % REMEMBERED;
        if let Some(Some((from, to))) = self.remembered.get(slot)
            && *from == address
        {
            return *to;
        }
        let replaced = if address.is_v4() { self.v4(bits as u32) } else { self.v6(bits) };
        if let Some(remembered) = self.remembered.get_mut(slot) {
            *remembered = Some((address, replaced));
        }
        replaced
    }
    fn v4(&self, address: u32) -> Address {
        // Unspecified and broadcast.
        if address == 0 || address == u32::MAX {
            return Address::v4(address.to_be_bytes());
        }
        let kept = kept_v4(address);
        let mut replaced = self.permute(address.into(), 32, kept.unwrap_or(0)) as u32;
        // A global address must not become a special one: replace it until it is not (this ends, as
        // replacement is one-to-one). Common prefixes may get shorter.
        while kept.is_none() && kept_v4(replaced).is_some() {
            replaced = self.permute(replaced.into(), 32, 0) as u32;
        }
        Address::v4(replaced.to_be_bytes())
    }
    fn v6(&self, address: u128) -> Address {
        // Unspecified and loopback.
        if address <= 1 {
            return Address::from_bits(address);
        }
        let begins = |(network, bits): (u128, u32)| (address ^ network) >> (128 - bits.min(8)) == 0;
        let kept = if (address ^ GLOBAL_V6.0) >> (128 - GLOBAL_V6.1) == 0 {
            GLOBAL_V6.1
        } else {
            KEPT_V6.into_iter().find(|network| begins(*network)).map_or(UNKNOWN_V6_BITS, |(_, bits)| bits)
        };
        Address::from_bits(self.permute(address, 128, kept))
    }
    /// Replaces all but the first `kept` bits of an address with `bits` bits.
    fn permute(&self, address: u128, bits: u32, kept: u32) -> u128 {
        let mut replaced = address;
        for index in kept..bits {
            let before = address.checked_shr(bits - index).unwrap_or(0);
            let words = [before as u64, (before >> 64) as u64, u64::from(index) << 8 | u64::from(bits)];
            let flip = siphash(self.key, words) & 1;
            replaced ^= u128::from(flip) << (bits - 1 - index);
        }
        replaced
    }
}

/// Length of the preserved prefix, if the address is in a special network.
fn kept_v4(address: u32) -> Option<u32> {
    KEPT_V4.into_iter().find(|(network, bits)| (address ^ network) >> (32 - bits) == 0).map(|(_, bits)| bits)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeSet;

    fn addresses() -> Addresses {
        Addresses::new(*b"a key of 16 byte")
    }

    fn random(count: u32, seed: u32) -> impl Iterator<Item = u32> {
        (0..count).map(move |n| (n ^ seed << 16).wrapping_mul(0x9e37_79b1) ^ 0x5bd1_e995)
    }

    /// Length of the common prefix of two addresses.
    fn common(a: Address, b: Address) -> u32 {
        (a.bits() ^ b.bits()).leading_zeros()
    }

    #[test]
    fn networks_stay_together() {
        let mut all = addresses();
        for base in random(500, 1) {
            // In one /8 either all or no addresses are special here.
            for bits in 11..32 {
                let other = base ^ (1 << (31 - bits));
                if kept_v4(base) != kept_v4(other) {
                    continue;
                }
                let pair = [base, other].map(|a| all.replace(Address::v4(a.to_be_bytes())));
                if common(pair[0], pair[1]) != 96 + bits {
                    // One was replaced again, so it is not in a network that is special as a whole.
                    assert!(kept_v4(base).is_none(), "{base:x} {other:x}");
                    assert!(common(pair[0], pair[1]) >= 96, "{base:x} {other:x}");
                }
            }
        }
        let global = |n: u128| Address::from_bits(0x2001_0db8 << 96 | n);
        for bit in 0..96 {
            let (near, far) = (all.replace(global(7)), all.replace(global(7 ^ 1 << bit)));
            assert_eq!(common(near, far), 127 - bit);
        }
    }

    #[test]
    fn replacements_are_unique_and_keep_special_networks() {
        let mut all = addresses();
        let mut seen = BTreeSet::new();
        for address in random(50_000, 2).collect::<BTreeSet<_>>() {
            let replaced = all.replace(Address::v4(address.to_be_bytes()));
            assert!(seen.insert(replaced), "{address:x}");
            assert_eq!(kept_v4(address), kept_v4(replaced.bits() as u32), "{address:x}");
            assert_eq!(replaced, all.replace(Address::v4(address.to_be_bytes())));
        }
        for (text, start) in
            [("fe80::1:2", "fe80:"), ("fd12:3456::9", "fd"), ("ff02::1:ff00:1", "ff02:"), ("2a00::1", "")]
        {
            let address = Address::v6(text.parse::<core::net::Ipv6Addr>().unwrap().octets());
            let replaced = std::format!("{}", all.replace(address));
            assert!(replaced.starts_with(start) && replaced != text, "{text} {replaced}");
        }
        for text in ["::1", "::"] {
            let address = Address::v6(text.parse::<core::net::Ipv6Addr>().unwrap().octets());
            assert_eq!(all.replace(address), address);
        }
        for kept in [[0; 4], [255; 4]] {
            assert_eq!(all.replace(Address::v4(kept)), Address::v4(kept));
        }
    }

    #[test]
    fn another_key_gives_other_replacements() {
        let (mut one, mut other) = (addresses(), Addresses::new([1; 16]));
        let same = random(1000, 3).filter(|address| {
            let address = Address::v4(address.to_be_bytes());
            one.replace(address) == other.replace(address)
        });
        assert!(same.count() < 3);
    }
}
