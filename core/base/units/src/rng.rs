//! A seeded generator with the same output on every machine and in every version.
//!
//! Not `rand`, which may change its output between versions: golden files depend on it.

/// xoshiro256++ 1.0 with SplitMix64 (Blackman and Vigna, prng.di.unimi.it). Not for secrets.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Creates a generator from `seed`.
    pub fn new(seed: u64) -> Self {
        let mut mix = seed;
        Rng { state: core::array::from_fn(|_| split_mix(&mut mix)) }
    }
    /// An independent stream per `purpose`, so that a new consumer does not change the others.
    pub fn stream(seed: u64, purpose: &str) -> Self {
        // FNV-1a; any fixed hash works, since SplitMix64 scrambles it.
        let hash = purpose
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        Rng::new(seed ^ hash)
    }
    /// A uniform 64-bit number.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }
    /// Uniform in `0.0..1.0`, 53 bits.
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
    /// Uniform in `0..n` with a bias below n / 2^64; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }
    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.next_f64() < p
    }
    /// Exponentially distributed with this mean; only compares, so all machines agree.
    ///
    /// Von Neumann, Various techniques used in connection with random digits, 1951: a descending
    /// run of uniform numbers has odd length with a probability that makes its first number the
    /// fraction of the result; each failure adds one mean.
    pub fn exponential(&mut self, mean: u64) -> u64 {
        let mut whole = 0_u64;
        loop {
            let first = self.next_u64();
            let (mut last, mut odd) = (first, true);
            loop {
                let next = self.next_u64();
                if next >= last {
                    break;
                }
                (last, odd) = (next, !odd);
            }
            if odd {
                let fraction = (u128::from(first) * u128::from(mean)) >> 64;
                return whole.saturating_mul(mean).saturating_add(fraction as u64);
            }
            whole += 1;
        }
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_matches_the_published_vector() {
        // First outputs of the reference C code for seed 1234567.
        let mut state = 1_234_567;
        let got: [u64; 3] = core::array::from_fn(|_| split_mix(&mut state));
        assert_eq!(got, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn streams_differ_and_repeat() {
        let take = |mut r: Rng| [r.next_u64(), r.next_u64()];
        assert_eq!(take(Rng::stream(1, "loss")), take(Rng::stream(1, "loss")));
        assert_ne!(take(Rng::stream(1, "loss")), take(Rng::stream(1, "reorder")));
    }

    #[test]
    fn the_exponential_distribution() {
        let mut rng = Rng::new(7);
        let (n, mean) = (200_000_u64, 1_000_000_u64);
        let shares = [(1, 0.367_879), (2, 0.135_335), (5, 0.006_738)];
        let (mut sum, mut beyond) = (0_u64, [0_u64; 3]);
        for _ in 0..n {
            let value = rng.exponential(mean);
            sum += value;
            for (count, (times, _)) in beyond.iter_mut().zip(shares) {
                *count += u64::from(value > times * mean);
            }
        }
        let n = n as f64;
        // The standard deviation equals the mean; 447 is the square root of the sample size.
        assert!((sum as f64 / (n * mean as f64) - 1.0).abs() < 3.0 / 447.0, "{sum}");
        for (count, (times, share)) in beyond.into_iter().zip(shares) {
            // Four standard deviations, squared, because there is no square root without std.
            let (off, variance) = (count as f64 / n - share, share * (1.0 - share) / n);
            assert!(off * off < 16.0 * variance, "beyond {times}: {count}");
        }
    }
}
