//! Made-up sites: names, and labels as an operator of many lines has them.

/// Number of regions.
pub(crate) const REGIONS: u64 = 50;
const PROVIDERS: u64 = 30;
const PLANS: u64 = 8;

/// A site, which replays one of the recordings from some moment on.
pub(crate) struct Site {
    /// The labels that replace those of the recording.
    pub(crate) labels: [(&'static str, String); 5],
    /// Number of the recording, before the remainder.
    pub(crate) recording: u64,
    /// Where in the recording it begins, before the remainder.
    pub(crate) begin: u64,
    /// What the results of its tests are multiplied by, so that sites differ.
    pub(crate) factor: f64,
}

/// SplitMix64 (Steele, 2014): numbers without a pattern, the same ones each time.
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A provider: the size of the k-th largest is 1/k of that of the largest (Zipf).
fn provider(share: f64) -> u64 {
    let weight = |rank: u64| 1.0 / rank as f64;
    let total: f64 = (1..=PROVIDERS).map(weight).sum();
    let mut left = share * total;
    for rank in 1..PROVIDERS {
        left -= weight(rank);
        if left < 0.0 {
            return rank;
        }
    }
    PROVIDERS
}

/// The name of a region.
pub(crate) fn region(number: u64) -> String {
    format!("region-{number:02}")
}

impl Site {
    /// The site with this number.
    pub(crate) fn of(seed: u64, number: u64) -> Site {
        let dice = |purpose: u64| mixed(mixed(seed ^ (purpose << 56)) ^ number);
        let share = |purpose: u64| (dice(purpose) >> 11) as f64 / (1u64 << 53) as f64;
        let provider = provider(share(1));
        let plan = dice(2) % PLANS;
        Site {
            labels: [
                ("instance", format!("host-{number:07}")),
                ("plan", format!("provider-{provider:02} {} Mbit/s", 25 << plan)),
                ("provider", format!("provider-{provider:02}")),
                ("region", region(dice(3) % REGIONS)),
                ("site", format!("site-{number:07}")),
            ],
            recording: number,
            begin: dice(4),
            factor: 4f64.powf(share(5) - 0.5),
        }
    }
    /// Its value of a label.
    pub(crate) fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_largest_provider_is_thirty_times_the_smallest() {
        let mut sizes = BTreeMap::new();
        for number in 0..100_000 {
            *sizes.entry(Site::of(1, number).labels[2].1.clone()).or_insert(0u32) += 1;
        }
        assert_eq!(sizes.len(), 30);
        let ratio = f64::from(sizes["provider-01"]) / f64::from(sizes["provider-30"]);
        assert!((24.0..36.0).contains(&ratio), "{ratio}");
    }
}
