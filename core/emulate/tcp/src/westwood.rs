//! Westwood+ (Mascolo et al., Computer Communications 27, 2004) as in Linux: Reno whose window
//! after a reduction is what the path carried, estimated from the ACKs.
use crate::reno::MIN_SSTHRESH;
use crate::{AckEvent, Cause, Control, ControlConfig, Reno, Window, WindowEvent};
use fathom_units::{Duration, Time};

/// A bandwidth sample lasts an RTT, and at least this long.
const MIN_SAMPLE: Duration = Duration::from_millis(50);
/// RTT before the first sample.
const FIRST_RTT: Duration = Duration::from_secs(20);

/// Westwood+, with the integers of Linux: bytes and clock ticks.
#[derive(Clone, Debug)]
pub struct Westwood {
    reno: Reno,
    mss: u64,
    /// Duration of a clock tick (the kernel's jiffy), ns.
    tick: u64,
    /// Bandwidth after one and after two low-pass filters, in bytes per tick.
    once: u64,
    twice: u64,
    /// Start of this sample in ticks; `None` before the first ACK.
    began: Option<u64>,
    /// Bytes ACKed in this sample.
    acked: u64,
    /// Last and minimum RTT, in ticks.
    rtt: u64,
    min_rtt: u64,
    /// The path may have changed: the next RTT replaces the minimum.
    restarts_min_rtt: bool,
}

/// Low-pass filter: 7/8 of the past.
const fn filter(past: u64, sample: u64) -> u64 {
    (7 * past + sample) >> 3
}

impl Westwood {
    /// Creates the control for a new connection.
    #[must_use]
    pub fn new(config: &ControlConfig) -> Self {
        let tick = config.granularity.as_nanos().max(1);
        let first = FIRST_RTT.as_nanos().div_ceil(tick);
        Westwood {
            reno: Reno::new(),
            mss: u64::from(config.mss.max(1)),
            tick,
            once: 0,
            twice: 0,
            began: None,
            acked: 0,
            rtt: first,
            min_rtt: first,
            restarts_min_rtt: true,
        }
    }
    /// Packets that the path carries without a queue.
    fn held_by_path(&self) -> u32 {
        let packets = self.twice.saturating_mul(self.min_rtt) / self.mss;
        u32::try_from(packets).unwrap_or(u32::MAX).max(MIN_SSTHRESH)
    }
    /// Ends the sample if it is long enough.
    fn end_sample(&mut self, now: u64) {
        let began = *self.began.get_or_insert(now);
        let least = self.rtt.max(MIN_SAMPLE.as_nanos() / self.tick);
        if now - began <= least {
            return;
        }
        let sample = self.acked / (now - began);
        let is_first = self.once == 0 && self.twice == 0;
        self.once = if is_first { sample } else { filter(self.once, sample) };
        self.twice = if is_first { sample } else { filter(self.twice, self.once) };
        (self.began, self.acked) = (Some(now), 0);
    }
}

impl Control for Westwood {
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window) {
        let is_first = self.began.is_none();
        self.end_sample(ack.now.as_nanos() / self.tick);
        if !is_first {
            self.acked += u64::from(ack.newly_acked) * self.mss;
        }
        self.min_rtt = if self.restarts_min_rtt { self.rtt } else { self.min_rtt.min(self.rtt) };
        self.restarts_min_rtt = false;
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt.as_nanos().div_ceil(self.tick).max(1);
        }
        self.reno.on_ack(ack, window);
    }
    fn reduce(&mut self, cause: Cause, now: Time, window: &Window) -> u32 {
        let halved = self.reno.reduce(cause, now, window);
        if cause == Cause::Timeout {
            self.restarts_min_rtt = true;
            return self.held_by_path();
        }
        halved
    }
    fn on_event(&mut self, event: WindowEvent, now: Time, window: &mut Window) {
        self.reno.on_event(event, now, window);
        if event == WindowEvent::Recovered {
            window.ssthresh = self.held_by_path();
            window.cwnd = window.ssthresh;
        }
    }
}
