//! The most recent samples of a series, in few bytes each.
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_units::{Duration, WallTime};
use fathom_watch_samples::{Code, RecentSample, Sample, Tally};

/// Samples in send order.
#[derive(Clone, Default, Debug)]
pub(crate) struct Ring {
    samples: VecDeque<RecentSample>,
    /// Samples older than this are removed.
    reach_ms: u32,
}

const fn millis(time: Duration) -> u32 {
    let ms = time.as_nanos() / 1_000_000;
    if ms > i32::MAX as u64 { i32::MAX as u32 } else { ms as u32 }
}

impl Ring {
    /// Sets the maximum age of samples.
    pub(crate) fn reach(&mut self, reach: Duration) {
        self.reach_ms = millis(reach);
        self.samples.shrink_to_fit();
    }
    /// Inserts a sample in send order. Losses are known later than answers.
    pub(crate) fn add(&mut self, sample: Sample) {
        if self.reach_ms == 0 {
            return;
        }
        let recent = RecentSample::of(&sample);
        let behind = self.samples.iter().rev().take_while(|k| k.at.age_ms(sample.at) < 0).count();
        self.samples.insert(self.samples.len() - behind, recent);
        let newest = sample.at;
        // After the clock is set back, samples with future times would never be removed.
        while self.samples.front().is_some_and(|k| k.at.age_ms(newest).unsigned_abs() > self.reach_ms) {
            self.samples.pop_front();
        }
    }
    /// Replaces a loss with the late answer.
    pub(crate) fn amend(&mut self, sample: Sample) {
        let amended = RecentSample::of(&sample);
        let lost = self.samples.iter_mut().rev().find(|k| k.at == amended.at && k.code == Code::LOST);
        lost.into_iter().for_each(|lost| *lost = amended);
    }
    /// The samples of the window that ends now, with their times.
    pub(crate) fn within(&self, window: Duration, now: WallTime) -> impl Iterator<Item = (WallTime, Code)> {
        let most = millis(window) as i32;
        let inside = self.samples.iter().rev().take_while(move |k| k.at.age_ms(now) < most);
        inside.filter(move |k| k.at.age_ms(now) >= 0).map(move |k| {
            let back = Duration::from_millis(k.at.age_ms(now).unsigned_abs().into());
            (WallTime((now.0 / 1_000_000 * 1_000_000).saturating_sub(back.as_nanos())), k.code)
        })
    }
    /// Whether the samples cover at least half the window. Right after a start, one loss in ten
    /// probes would be 10 %.
    pub(crate) fn covers(&self, window: Duration, now: WallTime) -> bool {
        let half = millis(window) as i32 / 2;
        self.samples.front().is_some_and(|oldest| oldest.at.age_ms(now) >= half)
    }
    pub(crate) fn tally(&self, window: Duration, now: WallTime) -> Tally {
        let mut tally = Tally::default();
        self.within(window, now).for_each(|(_, code)| tally.add(code));
        tally
    }
    /// Delays in seconds, in no order. Losses have none.
    pub(crate) fn delays(&self, window: Duration, now: WallTime) -> Vec<f64> {
        self.within(window, now).filter_map(|(_, code)| code.value()).collect()
    }
}
