//! What one direction's own queue did lately.
use super::observation::QueueReading;
use alloc::collections::VecDeque;
use fathom_units::Time;

/// Readings are kept for so long, s: the longest span that is asked for is 1.5 s, and a tick may be late.
const KEPT: f64 = 2.5;
/// Readings kept, whatever the rate of ticks: 2.5 s at 100 Hz.
const MOST: usize = 250;
/// A backlog that proves demand: two packets of 1514 bytes, as one may be passing at any load.
const DEMAND_BYTES: f64 = 3_028.0;
/// At fast rates two packets are nothing: this long at the rate, s. CoDel's target is 5 ms.
const DEMAND_TIME: f64 = 0.001;
/// Less than this share of the mean rate is no load.
const NO_LOAD: f64 = 0.25;

/// One tick.
#[derive(Clone, Copy, Debug)]
struct Reading {
    at: Time,
    /// Bytes since the first reading.
    sent: f64,
    /// The same of what came to it, but for what it dropped.
    came: f64,
    /// And what the shaper's rate allowed.
    allowed: f64,
    is_busy: bool,
    /// Excess of delay beyond our queue, s.
    excess: f64,
}

/// Ticks of the last seconds.
#[derive(Clone, Default, Debug)]
pub(crate) struct Flow {
    readings: VecDeque<Reading>,
    last: Option<QueueReading>,
}

impl Flow {
    /// Adds a tick, later than the one before; `rate` is the shaper's, bit/s.
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
    /// Notes the delay of the tick that was added last.
    pub(crate) fn note_excess(&mut self, excess: f64) {
        if let Some(reading) = self.readings.back_mut() {
            reading.excess = excess;
        }
    }
    /// Delivered over the last `span` s, bit/s; 0 before the second tick.
    pub(crate) fn delivered(&self, span: f64) -> f64 {
        self.between(span, 0.0)
    }
    /// Delivered from `from` s ago until `to` s ago, bit/s.
    pub(crate) fn between(&self, from: f64, to: f64) -> f64 {
        let (Some(early), Some(late)) = (self.ago(from), self.ago(to)) else { return 0.0 };
        rate_between(early, late)
    }
    /// Came to our queue over the last `span` s, bit/s.
    pub(crate) fn came(&self, span: f64) -> f64 {
        let (Some(early), Some(late)) = (self.ago(span), self.readings.back()) else { return 0.0 };
        came_between(early, late)
    }
    /// The same, or since the load began in it: so much less than the mean is none. That is what a bottleneck before us let
    /// through; what left us may have waited here before.
    pub(crate) fn delivered_under_load(&self, span: f64) -> f64 {
        let (Some(early), Some(late)) = (self.ago(span), self.readings.back()) else { return 0.0 };
        let least = came_between(early, late) * NO_LOAD;
        let readings = self.readings.iter().skip_while(|reading| reading.at < early.at);
        let pairs = readings.clone().zip(readings.skip(1));
        let loaded = pairs.skip_while(|(earlier, later)| came_between(earlier, later) < least);
        loaded.map(|(earlier, _)| came_between(earlier, late)).next().unwrap_or(0.0)
    }
    /// Sent over the last `span` s, as a share of what the rate allowed.
    pub(crate) fn use_of_rate(&self, span: f64) -> f64 {
        let (Some(early), Some(late)) = (self.ago(span), self.readings.back()) else { return 1.0 };
        let allowed = late.allowed - early.allowed;
        if allowed > 0.0 { (late.sent - early.sent) / allowed } else { 1.0 }
    }
    /// What a bottleneck behind us let through over the last `span` s, bit/s: the bytes between two moments over the time
    /// between their arrivals beyond it, which is longer by what the delay grew.
    pub(crate) fn dispersed(&self, span: f64) -> f64 {
        let (Some(early), Some(late)) = (self.ago(span), self.readings.back()) else { return 0.0 };
        let elapsed = seconds(early.at, late.at);
        let arrivals = (elapsed + late.excess - early.excess).clamp(elapsed * 0.6, elapsed * 4.0);
        if arrivals > 0.0 { (late.sent - early.sent) * 8.0 / arrivals } else { 0.0 }
    }
    /// Growth of the delay over the last `span` s, s.
    pub(crate) fn growth(&self, span: f64) -> f64 {
        let (Some(early), Some(late)) = (self.ago(span), self.readings.back()) else { return 0.0 };
        late.excess - early.excess
    }
    /// Share of the last `span` s in which our own queue proved demand.
    pub(crate) fn busy(&self, span: f64) -> f64 {
        let Some(now) = self.readings.back().map(|reading| reading.at) else { return 0.0 };
        let lately = || self.readings.iter().rev().take_while(|reading| seconds(reading.at, now) < span);
        let count = lately().count();
        lately().filter(|reading| reading.is_busy).count() as f64 / count.max(1) as f64
    }
    /// From the first reading kept to the last, s.
    pub(crate) fn span(&self) -> f64 {
        match (self.readings.front(), self.readings.back()) {
            (Some(first), Some(last)) => seconds(first.at, last.at),
            _ => 0.0,
        }
    }
    /// The last reading that is `span` s old, or the oldest.
    fn ago(&self, span: f64) -> Option<&Reading> {
        let now = self.readings.back()?.at;
        let aged = self.readings.iter().rev().find(|reading| seconds(reading.at, now) >= span);
        aged.or(self.readings.front())
    }
}

/// Sent, bit/s.
fn rate_between(early: &Reading, late: &Reading) -> f64 {
    per_second(late.sent - early.sent, early, late)
}

/// Came, bit/s.
fn came_between(early: &Reading, late: &Reading) -> f64 {
    per_second(late.came - early.came, early, late)
}

/// So many bytes in that time, bit/s; 0 of no time.
fn per_second(bytes: f64, early: &Reading, late: &Reading) -> f64 {
    let elapsed = seconds(early.at, late.at);
    if elapsed > 0.0 { bytes * 8.0 / elapsed } else { 0.0 }
}

/// From `early` to `late`, s.
pub(crate) fn seconds(early: Time, late: Time) -> f64 {
    late.saturating_since(early).as_secs_f64()
}
