//! Which series of a site are active.
use alloc::vec::Vec;

/// How long a series is active after its last point.
const KEPT_MIN: u32 = 120;

/// Numbers of series with the minute in which each was seen last, sorted. Twelve bytes per series.
#[derive(Clone, Default, Debug)]
pub(crate) struct Active {
    numbers: Vec<u64>,
    seen_min: Vec<u32>,
}

pub(crate) fn minute(now_ms: u64) -> u32 {
    u32::try_from(now_ms / 60_000).unwrap_or(u32::MAX)
}

impl Active {
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }
    pub(crate) fn contains(&self, number: u64) -> bool {
        self.numbers.binary_search(&number).is_ok()
    }
    /// Forgets series that were not seen for two hours.
    pub(crate) fn expire(&mut self, now_ms: u64) {
        let oldest = minute(now_ms).saturating_sub(KEPT_MIN);
        if self.seen_min.iter().all(|seen| *seen >= oldest) {
            return;
        }
        let seen_min = core::mem::take(&mut self.seen_min);
        let both = core::mem::take(&mut self.numbers).into_iter().zip(seen_min);
        (self.numbers, self.seen_min) = both.filter(|(_, seen)| *seen >= oldest).unzip();
    }
    /// Records series as seen.
    pub(crate) fn see(&mut self, mut numbers: Vec<u64>, now_ms: u64) {
        let now = minute(now_ms);
        numbers.sort_unstable();
        numbers.dedup();
        let mut new = Vec::new();
        for number in numbers {
            match self.numbers.binary_search(&number) {
                Ok(at) => {
                    if let Some(seen) = self.seen_min.get_mut(at) {
                        *seen = now;
                    }
                }
                Err(_) => new.push(number),
            }
        }
        if new.is_empty() {
            return;
        }
        let old = core::mem::take(&mut self.numbers).into_iter().zip(core::mem::take(&mut self.seen_min));
        let mut all: Vec<(u64, u32)> = old.chain(new.into_iter().map(|number| (number, now))).collect();
        all.sort_unstable();
        (self.numbers, self.seen_min) = all.into_iter().unzip();
    }
}
