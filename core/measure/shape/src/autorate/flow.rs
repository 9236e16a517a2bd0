//! Recent history of one direction's shaper queue.
use super::observation::QueueReading;
use alloc::collections::VecDeque;
use fathom_units::Time;

/// How long readings are kept, s: the longest requested span is 1.5 s, and a tick may be late.
const KEPT: f64 = 2.5;
/// Maximum number of readings: 2.5 s at 100 Hz.
const MOST: usize = 250;
/// Backlog that proves demand: two packets of 1514 bytes. One may be in transit at any load.
const DEMAND_BYTES: f64 = 3_028.0;
/// Backlog that proves demand at high rates, as time at the rate, s. CoDel's target is 5 ms.
const DEMAND_TIME: f64 = 0.001;
/// Less than this share of the mean rate is no load.
const NO_LOAD: f64 = 0.25;

#[derive(Clone, Copy, Debug)]
struct Reading {
    at: Time,
    /// Bytes sent since the first reading.
    sent: f64,
    /// Bytes that arrived since the first reading, without drops.
    came: f64,
    /// Bytes that the shaper's rate allowed since the first reading.
    allowed: f64,
    is_busy: bool,
    /// Delay beyond the shaper above the baseline, s.
    excess: f64,
}

#[derive(Clone, Default, Debug)]
pub(crate) struct Flow {
    readings: VecDeque<Reading>,
    last: Option<QueueReading>,
}

impl Flow {
    /// Adds a reading, later than the previous one; `rate` is the shaper's, bit/s.
    pub(crate) fn read(&mut self, at: Time, queue: QueueReading, rate: f64) {
        let last = self.last.unwrap_or(queue);
        let since = |now: u64, then: u64| if now >= then { now - then } else { now };
        let bytes = since(queue.sent.get(), last.sent.get()) as f64;
        let sent = self.readings.back().map_or(0.0, |reading| reading.sent + bytes);
        let has_acted = since(queue.drops, last.drops) > 0 || since(queue.marks, last.marks) > 0;
        let came = sent + queue.backlog.get() as f64;
        let allowed = self
            .readings
            .back()
            .map_or(0.0, |reading| reading.allowed + rate / 8.0 * seconds(reading.at, at));
        let proof = (rate * DEMAND_TIME / 8.0).max(DEMAND_BYTES);
        let is_busy = has_acted || queue.backlog.get() as f64 > proof;
        self.last = Some(queue);
        self.readings.push_back(Reading { at, sent, came, allowed, is_busy, excess: 0.0 });
        while self.readings.len() > MOST || self.span() > KEPT {
            self.readings.pop_front();
        }
    }
    pub(crate) fn note_excess(&mut self, excess: f64) {
        if let Some(reading) = self.readings.back_mut() {
            reading.excess = excess;
        }
    }
    /// Rate delivered over the last `span` s, bit/s; 0 before the second tick.
    pub(crate) fn delivered(&self, span: f64) -> f64 {
        self.between(span, 0.0)
    }
    /// Rate delivered from `from` s ago to `to` s ago, bit/s.
    pub(crate) fn between(&self, from: f64, to: f64) -> f64 {
        let (Some(early), Some(late)) = (self.ago(from), self.ago(to)) else { return 0.0 };
        rate_between(early, late)
    }
    /// Arrival rate at the shaper's queue over the last `span` s, bit/s.
    pub(crate) fn came(&self, span: f64) -> f64 {
        let (Some(early), Some(late)) = (self.ago(span), self.readings.back()) else { return 0.0 };
        came_between(early, late)
    }
    /// Arrival rate over the last `span` s, or since the load started within it. This is the rate
    /// of an upstream bottleneck; the departure rate may include packets that waited in the shaper
    /// before.
    pub(crate) fn delivered_under_load(&self, span: f64) -> f64 {
        let (Some(early), Some(late)) = (self.ago(span), self.readings.back()) else { return 0.0 };
        let least = came_between(early, late) * NO_LOAD;
        let readings = self.readings.iter().skip_while(|reading| reading.at < early.at);
        let pairs = readings.clone().zip(readings.skip(1));
        let loaded = pairs.skip_while(|(earlier, later)| came_between(earlier, later) < least);
        loaded.map(|(earlier, _)| came_between(earlier, late)).next().unwrap_or(0.0)
    }
    /// Bytes sent over the last `span` s as a share of what the rate allowed.
    pub(crate) fn use_of_rate(&self, span: f64) -> f64 {
        let (Some(early), Some(late)) = (self.ago(span), self.readings.back()) else { return 1.0 };
        let allowed = late.allowed - early.allowed;
        if allowed > 0.0 { (late.sent - early.sent) / allowed } else { 1.0 }
    }
    /// Rate of a downstream bottleneck over the last `span` s, bit/s: the bytes sent divided by the
    /// time between their arrivals beyond it, which is longer by the growth of the delay.
    pub(crate) fn dispersed(&self, span: f64) -> f64 {
        let (Some(early), Some(late)) = (self.ago(span), self.readings.back()) else { return 0.0 };
        let elapsed = seconds(early.at, late.at);
        let arrivals = (elapsed + late.excess - early.excess).clamp(elapsed * 0.6, elapsed * 4.0);
        if arrivals > 0.0 { (late.sent - early.sent) * 8.0 / arrivals } else { 0.0 }
    }
    pub(crate) fn growth(&self, span: f64) -> f64 {
        let (Some(early), Some(late)) = (self.ago(span), self.readings.back()) else { return 0.0 };
        late.excess - early.excess
    }
    /// Share of the last `span` s in which the shaper's queue proved demand.
    pub(crate) fn busy(&self, span: f64) -> f64 {
        let Some(now) = self.readings.back().map(|reading| reading.at) else { return 0.0 };
        let lately = || self.readings.iter().rev().take_while(|reading| seconds(reading.at, now) < span);
        let count = lately().count();
        lately().filter(|reading| reading.is_busy).count() as f64 / count.max(1) as f64
    }
    pub(crate) fn span(&self) -> f64 {
        match (self.readings.front(), self.readings.back()) {
            (Some(first), Some(last)) => seconds(first.at, last.at),
            _ => 0.0,
        }
    }
    /// The last reading that is at least `span` s old, or the oldest.
    fn ago(&self, span: f64) -> Option<&Reading> {
        let now = self.readings.back()?.at;
        let aged = self.readings.iter().rev().find(|reading| seconds(reading.at, now) >= span);
        aged.or(self.readings.front())
    }
}

fn rate_between(early: &Reading, late: &Reading) -> f64 {
    per_second(late.sent - early.sent, early, late)
}

fn came_between(early: &Reading, late: &Reading) -> f64 {
    per_second(late.came - early.came, early, late)
}

/// Rate for this number of bytes between two readings, bit/s; 0 if they are at the same time.
fn per_second(bytes: f64, early: &Reading, late: &Reading) -> f64 {
    let elapsed = seconds(early.at, late.at);
    if elapsed > 0.0 { bytes * 8.0 / elapsed } else { 0.0 }
}

pub(crate) fn seconds(early: Time, late: Time) -> f64 {
    late.saturating_since(early).as_secs_f64()
}
