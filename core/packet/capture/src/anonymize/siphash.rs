//! SipHash-2-4, a keyed hash. Source: Aumasson and Bernstein 2012, "SipHash: a fast short-input
//! PRF". Our own code, because no_std lacks it; a test compares it with the standard library.

/// The hash of `words`, in little-endian byte order.
pub(super) fn siphash(key: [u64; 2], words: [u64; 3]) -> u64 {
    let mut state = [
        key[0] ^ 0x736f_6d65_7073_6575,
        key[1] ^ 0x646f_7261_6e64_6f6d,
        key[0] ^ 0x6c79_6765_6e65_7261,
        key[1] ^ 0x7465_6462_7974_6573,
    ];
    // The last word has the length in its top byte.
    for word in words.into_iter().chain([(8 * words.len() as u64) << 56]) {
        state[3] ^= word;
        round(&mut state);
        round(&mut state);
        state[0] ^= word;
    }
    state[2] ^= 0xff;
    for _ in 0..4 {
        round(&mut state);
    }
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

fn round([a, b, c, d]: &mut [u64; 4]) {
    *a = a.wrapping_add(*b);
    *b = b.rotate_left(13) ^ *a;
    *a = a.rotate_left(32);
    *c = c.wrapping_add(*d);
    *d = d.rotate_left(16) ^ *c;
    *a = a.wrapping_add(*d);
    *d = d.rotate_left(21) ^ *a;
    *c = c.wrapping_add(*b);
    *b = b.rotate_left(17) ^ *c;
    *c = c.rotate_left(32);
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::siphash;
    use std::hash::Hasher;

    /// Compares with `std`, which this crate itself cannot use.
    #[test]
    #[expect(deprecated, reason = "an oracle: it is what the standard library used before SipHash-1-3")]
    fn agrees_with_the_standard_library() {
        for seed in 0..1000_u64 {
            let word = |n: u64| (seed * 7 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let (key, words) = ([word(0), word(1)], [word(2), word(3), word(4)]);
            let mut oracle = std::hash::SipHasher::new_with_keys(key[0], key[1]);
            words.iter().for_each(|one| oracle.write(&one.to_le_bytes()));
            assert_eq!(siphash(key, words), oracle.finish(), "seed {seed}");
        }
    }
}
