//! Lower bound for compressing single samples: the entropy of their codes.
use fathom_watch_samples::{Code, Outcome};
use std::collections::BTreeMap;

/// Seconds per chunk, whose codes are compressed together.
const CHUNK: u64 = 6 * 3_600;

/// Entropy (Shannon, 1948) of the codes of each chunk, samples taken as independent. A compressor
/// that knows the frequency of each code in each chunk needs this much, plus the table.
#[derive(Clone, Default)]
pub(crate) struct Floor {
    counts: BTreeMap<u16, u64>,
    bits: f64,
}

impl Floor {
    pub(crate) fn add(&mut self, second: u64, outcome: Outcome) {
        if second.is_multiple_of(CHUNK) {
            self.close();
        }
        *self.counts.entry(Code::of(outcome).number()).or_default() += 1;
    }
    pub(crate) fn bytes(mut self) -> f64 {
        self.close();
        self.bits / 8.0
    }
    fn close(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        let all = counts.values().sum::<u64>() as f64;
        self.bits +=
            counts.into_values().map(|count| count as f64 * (all / count as f64).log2()).sum::<f64>();
    }
}
