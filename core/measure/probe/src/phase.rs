//! The end of a phase, as a function of the observations in it.
//!
//! - **Load** settles when working latency and the senders have stopped growing. Latency: within
//!   the last 3 s (or the last quarter of the phase, if longer) no half second had a median that
//!   exceeded all earlier ones by more than 5 % and 1 ms. Senders: they have lost a segment, or the
//!   sum of their windows has reached no new maximum for as long. A loss-based sender without
//!   losses has not filled the buffer yet, and CUBIC that left slow start early stays on a plateau
//!   before it continues to grow.
//!   A narrow confidence interval does not end a load before its minimum duration, even while these
//!   rules hold: on 150 random paths that saved 9.7 % of the bytes, but cost one verdict, and moved
//!   the median of 2 of the 75 shorter phases by more than 5 %.
//! - **Idle** settles when both halves have the same median (within 10 % and 1 ms) and the minimum
//!   is not at the end.
//! - **Drain** settles when the last five responses are close to the idle latency; if that is
//!   unknown, when delays have stopped falling.
use crate::PhasePlan;
use alloc::vec::Vec;
use fathom_run::{PhaseEnd, PhaseKind};
use fathom_stats::{median, percentile_of_sorted, sorted};
use fathom_units::{Duration, Time};

/// One median is computed for the probes sent within each interval of this length.
const BUCKET: Duration = Duration::from_millis(500);
/// Minimum time without growth that counts as its end.
const QUIET: Duration = Duration::from_secs(3);
/// Divisor: this part of the phase must be without growth.
const QUIET_SHARE: u64 = 4;
/// Growth of the median that exceeds noise.
const GROWTH_RATIO: f64 = 1.05;
const GROWTH_S: f64 = 1e-3;
/// Growth of the windows that exceeds noise. CUBIC adds 0.4 t^3 segments after slow start: 1 %
/// within 3 s for windows of up to 1,000 segments.
const WINDOW_GROWTH_RATIO: f64 = 1.01;
/// Number of consecutive responses near the idle latency after which the queue counts as empty.
const DRAINED_ANSWERS: usize = 5;
/// Margin above the idle median that counts as empty: relative, and in seconds.
const DRAINED_RATIO: f64 = 0.25;
const DRAINED_S: f64 = 2e-3;

/// Delay without load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Baseline {
    /// Median, in seconds.
    pub median_s: f64,
    /// 95th percentile, in seconds.
    pub high_s: f64,
}

impl Baseline {
    /// The longest delay that counts as unloaded.
    fn limit_s(&self) -> f64 {
        self.high_s.max(self.median_s + DRAINED_S.max(self.median_s * DRAINED_RATIO))
    }
}

/// Collects the observations of one phase and decides when it ends.
#[derive(Clone, Debug)]
pub struct PhaseControl {
    plan: PhasePlan,
    start: Time,
    idle: Option<Baseline>,
    /// Send time and delay in seconds, in order of arrival.
    answers: Vec<(Time, f64)>,
    largest_s: f64,
    window_record: (Time, f64),
    lost: bool,
}

impl PhaseControl {
    /// Creates the control of a phase from `start`; `idle` is the delay without load, if known.
    pub const fn new(plan: PhasePlan, start: Time, idle: Option<Baseline>) -> Self {
        PhaseControl {
            plan,
            start,
            idle,
            answers: Vec::new(),
            largest_s: 0.0,
            window_record: (start, 0.0),
            lost: false,
        }
    }
    /// Records the response to a probe of this phase sent at `sent`. All probes have the same kind.
    pub fn answered(&mut self, sent: Time, delay_s: f64) {
        if sent >= self.start {
            self.answers.push((sent, delay_s));
            self.largest_s = self.largest_s.max(delay_s);
        }
    }
    /// Records the load flows' total congestion window and their retransmissions in this phase.
    pub fn senders(&mut self, at: Time, window_bytes: u64, retransmits: u64) {
        self.lost |= retransmits > 0;
        if window_bytes as f64 > self.window_record.1 * WINDOW_GROWTH_RATIO {
            self.window_record = (at, window_bytes as f64);
        }
    }
    /// Median and 95th percentile of the responses so far.
    pub fn baseline(&self) -> Option<Baseline> {
        let delays = sorted(self.answers.iter().map(|a| a.1));
        let at = |p| percentile_of_sorted(&delays, p);
        Some(Baseline { median_s: at(0.5)?, high_s: at(0.95)? })
    }
    /// Why the phase ends at `now`, if it does; `oldest` is when the oldest open probe was sent.
    pub fn decide(&self, now: Time, oldest: Option<Time>) -> Option<PhaseEnd> {
        let elapsed = now.saturating_since(self.start);
        if elapsed >= self.plan.max {
            return Some(PhaseEnd::TimeLimit);
        }
        let known = self.known_until(now, oldest);
        let settled = elapsed >= self.plan.min
            && match self.plan.kind {
                PhaseKind::Idle => self.idle_is_stable(),
                PhaseKind::Down | PhaseKind::Up | PhaseKind::Both => self.load_has_settled(now, known),
                PhaseKind::Drain => self.has_drained(),
                PhaseKind::Watch => false,
            };
        settled.then_some(PhaseEnd::Settled)
    }
    /// Time up to which delays are known. A probe that has been outstanding for much longer than
    /// any other delay is lost, not late. If no later probe was answered either, nothing is known
    /// since then.
    fn known_until(&self, now: Time, oldest: Option<Time>) -> Time {
        let patience = Duration::from_secs_f64(2.0 * self.largest_s + 1.0);
        let known = oldest.filter(|sent| now.saturating_since(*sent) < patience).unwrap_or(now);
        let last_answered = self.answers.iter().map(|a| a.0).max().unwrap_or(self.start);
        known.min(last_answered + BUCKET)
    }
    fn load_has_settled(&self, now: Time, known: Time) -> bool {
        let quiet = QUIET.max(now.saturating_since(self.start) / QUIET_SHARE);
        let windows_quiet = self.lost || now.saturating_since(self.window_record.0) >= quiet;
        let latency_quiet = self.last_growth(known).is_some_and(|at| known.saturating_since(at) >= quiet);
        windows_quiet && latency_quiet
    }
    /// End of the last interval with a median above all earlier ones.
    fn last_growth(&self, known: Time) -> Option<Time> {
        let bucket_ns = BUCKET.as_nanos();
        let whole = known.saturating_since(self.start).as_nanos() / bucket_ns;
        let bucket_of = |sent: Time| sent.saturating_since(self.start).as_nanos() / bucket_ns;
        let mut record = None;
        for bucket in 0..whole {
            let delays = self.answers.iter().filter(|(sent, _)| bucket_of(*sent) == bucket).map(|a| a.1);
            let Some(level) = median(delays) else { continue };
            if record.is_none_or(|(_, high): (u64, f64)| level > (high * GROWTH_RATIO).max(high + GROWTH_S)) {
                record = Some((bucket, level));
            }
        }
        record.map(|(bucket, _)| self.start + BUCKET * (bucket + 1))
    }
    fn idle_is_stable(&self) -> bool {
        let delays: Vec<f64> = self.answers.iter().map(|a| a.1).collect();
        let (first, second) = delays.split_at(delays.len() / 2);
        let of = |half: &[f64]| median(half.iter().copied());
        let Some((early, late)) = of(first).zip(of(second)) else { return false };
        let lowest = |part: &[f64]| part.iter().copied().fold(f64::MAX, f64::min);
        let (before, last) = delays.split_at(delays.len() - delays.len() / 4);
        let same = (late - early).abs() <= (0.1 * early).max(GROWTH_S);
        same && lowest(last) >= lowest(before) - (0.1 * early).max(GROWTH_S)
    }
    fn has_drained(&self) -> bool {
        let recent = |skip: usize| self.answers.iter().rev().skip(skip).take(DRAINED_ANSWERS).map(|a| a.1);
        let enough = |n: usize| self.answers.len() >= n * DRAINED_ANSWERS;
        match self.idle {
            Some(idle) => enough(1) && recent(0).all(|delay| delay <= idle.limit_s()),
            None => {
                let falling = median(recent(0)) < median(recent(DRAINED_ANSWERS)).map(|m| m * 0.95);
                enough(2) && !falling
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    const STEP_S: f64 = 0.01;
    const SEGMENT: f64 = 1500.0;

    /// A sender on a queue of limited capacity. Slow start ends when the delay has grown by an
    /// eighth (HyStart) or on loss; then the window follows CUBIC (RFC 9438: C = 0.4, beta = 0.7)
    /// or grows by one segment per round trip.
    struct Sender {
        rate_bits: f64,
        base_s: f64,
        buffer_bytes: f64,
        cubic: bool,
        window: f64,
        slow_start: bool,
        origin: f64,
        since_s: f64,
        losses: u64,
    }

    impl Sender {
        fn new(rate_mbit: f64, base_ms: f64, buffer_bytes: f64, cubic: bool) -> Self {
            let (rate_bits, base_s) = (rate_mbit * 1e6, base_ms / 1e3);
            Sender {
                rate_bits,
                base_s,
                buffer_bytes,
                cubic,
                window: 10.0,
                slow_start: true,
                origin: 0.0,
                since_s: 0.0,
                losses: 0,
            }
        }
        fn queue_bytes(&self) -> f64 {
            (self.window * SEGMENT - self.rate_bits / 8.0 * self.base_s).max(0.0)
        }
        fn delay_s(&self) -> f64 {
            self.base_s + self.queue_bytes().min(self.buffer_bytes) * 8.0 / self.rate_bits
        }
        fn step(&mut self) {
            let rounds = STEP_S / self.delay_s();
            self.since_s += STEP_S;
            if self.slow_start {
                self.window *= libm::pow(2.0, rounds);
                let early = self.delay_s() > self.base_s + (self.base_s / 8.0).clamp(0.004, 0.016);
                if early {
                    (self.slow_start, self.origin, self.since_s) = (false, self.window, 0.0);
                }
            } else if self.cubic {
                let k = libm::cbrt(self.origin * (if self.losses > 0 { 0.3 } else { 0.0 }) / 0.4);
                let x = self.since_s - k;
                self.window = self.window.max(self.origin + 0.4 * x * x * x);
            } else {
                self.window += rounds;
            }
            if self.queue_bytes() > self.buffer_bytes {
                self.losses += 1;
                (self.slow_start, self.origin, self.since_s) = (false, self.window, 0.0);
                self.window *= if self.cubic { 0.7 } else { 0.5 };
            }
        }
    }

    struct Outcome {
        end: PhaseEnd,
        seconds: f64,
        seen_max_s: f64,
    }

    /// Sends a probe every 50 ms, with up to `noise_s` of additional delay.
    fn run(
        kind: PhaseKind,
        mut delay: impl FnMut(f64) -> (f64, f64, u64),
        noise_s: f64,
        seed: u64,
    ) -> Outcome {
        let mut rng = Rng::new(seed);
        let mut control = PhaseControl::new(PhasePlan::of(kind), Time::ZERO, None);
        let mut flying: Vec<(Time, f64)> = Vec::new();
        let (mut seen_max_s, mut n) = (0.0_f64, 0_u64);
        loop {
            let now = Time::from_nanos(n * 10_000_000);
            let (delay_s, window, losses) = delay(now.as_secs_f64());
            control.senders(now, window as u64, losses);
            if n.is_multiple_of(5) {
                flying.push((now, delay_s + noise_s * rng.next_f64()));
            }
            flying.retain(|(sent, took_s)| {
                let arrived = now.saturating_since(*sent).as_secs_f64() >= *took_s;
                if arrived {
                    control.answered(*sent, *took_s);
                    seen_max_s = seen_max_s.max(*took_s);
                }
                !arrived
            });
            if let Some(end) = control.decide(now, flying.first().map(|f| f.0)) {
                return Outcome { end, seconds: now.as_secs_f64(), seen_max_s };
            }
            n += 1;
        }
    }

    fn run_sender(mut sender: Sender, seed: u64) -> Outcome {
        let step = |_| {
            sender.step();
            (sender.delay_s(), sender.window * SEGMENT, sender.losses)
        };
        run(PhaseKind::Up, step, 0.001, seed)
    }

    #[test]
    fn load_lasts_until_a_deep_buffer_has_been_full() {
        // Mbit/s, base delay in ms, buffer bytes, CUBIC; minimum and maximum duration in seconds.
        let cases = [
            (3.0, 50.0, 375_000.0, true, 9.0, 20.0),
            (3.0, 50.0, 64_000.0, true, 6.0, 14.0),
            (20.0, 20.0, 1_250_000.0, true, 10.0, 25.0),
            (20.0, 20.0, 250_000.0, true, 6.0, 18.0),
            (50.0, 30.0, 600_000.0, true, 6.0, 25.0),
            (3.0, 50.0, 100_000.0, false, 6.0, 20.0),
        ];
        for (rate, base, buffer, cubic, at_least, at_most) in cases {
            for seed in [1, 2, 3] {
                let got = run_sender(Sender::new(rate, base, buffer, cubic), seed);
                let full_s = base / 1e3 + buffer * 8.0 / (rate * 1e6);
                let case = alloc::format!(
                    "{rate} Mbit/s {base} ms {buffer} B cubic {cubic} seed {seed}: {} s, {:?}, max {} of {full_s}",
                    got.seconds,
                    got.end,
                    got.seen_max_s
                );
                assert_eq!(got.end, PhaseEnd::Settled, "{case}");
                assert!(got.seen_max_s > 0.95 * full_s, "left before the buffer was full: {case}");
                assert!((at_least..=at_most).contains(&got.seconds), "{case}");
            }
        }
    }

    #[test]
    fn the_curve_measured_on_a_bloated_uplink_is_followed_to_its_top() {
        // Measured delay in ms at each second: 375 kB, 3 Mbit/s, one CUBIC flow, base 50 ms.
        let points = [
            (0.0, 50.0),
            (2.0, 222.0),
            (5.0, 373.0),
            (10.0, 999.0),
            (11.5, 1049.0),
            (12.0, 750.0),
            (40.0, 750.0),
        ];
        let curve = |t: f64| {
            let above = points.iter().position(|p| p.0 > t).unwrap();
            let ((t0, y0), (t1, y1)) = (points[above - 1], points[above]);
            let delay_s = (y0 + (y1 - y0) * (t - t0) / (t1 - t0)) / 1e3;
            (delay_s, delay_s * 375_000.0, u64::from(t > 11.5))
        };
        let got = run(PhaseKind::Up, curve, 0.002, 7);
        assert_eq!(got.end, PhaseEnd::Settled);
        assert!((12.5..18.0).contains(&got.seconds) && got.seen_max_s > 1.0, "{} s", got.seconds);
    }

    #[test]
    fn a_plain_line_does_not_run_to_the_limit() {
        for seed in 0..20 {
            // 2 ms with jitter; the window is steady after a second. First lossless, then an AQM.
            let plain = |t: f64| (0.002, 40_000.0 * t.min(1.0), 0);
            let aqm =
                |t: f64| (0.012 + 0.002 * libm::sin(t * 5.0), 90_000.0 + 30_000.0 * libm::sin(t * 5.0), 3);
            for got in [run(PhaseKind::Down, plain, 0.001, seed), run(PhaseKind::Down, aqm, 0.002, seed)] {
                assert_eq!(got.end, PhaseEnd::Settled, "seed {seed}");
                assert!(got.seconds <= 8.0, "seed {seed}: {} s", got.seconds);
            }
        }
    }

    #[test]
    fn a_growing_queue_ends_the_phase_at_the_limit() {
        let got = run(PhaseKind::Up, |t| (0.05 + 0.2 * t, 20_000.0 * t, 0), 0.001, 1);
        assert_eq!((got.end, got.seconds), (PhaseEnd::TimeLimit, 30.0));
    }

    #[test]
    fn idle_settles_when_stable() {
        let steady = run(PhaseKind::Idle, |_| (0.020, 0.0, 0), 0.001, 1);
        assert_eq!((steady.end, steady.seconds), (PhaseEnd::Settled, 3.0));
        let falling = run(PhaseKind::Idle, |t| ((0.5 - 0.1 * t).max(0.02), 0.0, 0), 0.001, 1);
        assert_eq!(falling.end, PhaseEnd::TimeLimit);
    }

    #[test]
    fn drain_waits_until_delays_are_back_at_idle() {
        let idle = Some(Baseline { median_s: 0.050, high_s: 0.055 });
        for (baseline, least, most) in [(idle, 2.0, 3.5), (None, 2.0, 3.8)] {
            let mut control = PhaseControl::new(PhasePlan::of(PhaseKind::Drain), Time::ZERO, baseline);
            let mut n = 0;
            let end = loop {
                let sent = Time::from_nanos(n * 50_000_000);
                // A queue of 1 s drains at half speed because of other traffic.
                let delay_s = 0.050 + (1.0 - sent.as_secs_f64() / 2.0).max(0.0);
                control.answered(sent, delay_s);
                let now = sent + Duration::from_secs_f64(delay_s);
                if let Some(end) = control.decide(now, None) {
                    break (end, now.as_secs_f64());
                }
                n += 1;
            };
            assert_eq!(end.0, PhaseEnd::Settled, "{baseline:?}");
            assert!((least..most).contains(&end.1), "{baseline:?}: {} s", end.1);
        }
    }

    #[test]
    fn missing_responses_do_not_count_as_stable() {
        let mut control = PhaseControl::new(PhasePlan::of(PhaseKind::Up), Time::ZERO, None);
        // 2 s of responses, then the line is dead.
        for n in 0..40 {
            control.answered(Time::from_nanos(n * 50_000_000), 0.020);
        }
        for second in 6..30 {
            let now = Time::from_nanos(second * 1_000_000_000);
            assert_eq!(control.decide(now, Some(Time::from_nanos(2_000_000_000))), None, "at {second} s");
        }
    }

    #[test]
    fn late_probes_extend_a_phase_and_lost_ones_do_not() {
        let mut control = PhaseControl::new(PhasePlan::of(PhaseKind::Up), Time::ZERO, None);
        for n in 0..200 {
            control.answered(Time::from_nanos(n * 50_000_000), 0.020);
        }
        let now = Time::from_nanos(10_000_000_000);
        // A probe sent 0.9 s ago may still show growth, but 8.6 s without growth are known.
        assert_eq!(control.decide(now, Some(Time::from_nanos(9_100_000_000))), Some(PhaseEnd::Settled));
        // A probe sent 9 s ago is lost, because all others took 20 ms.
        assert_eq!(control.decide(now, Some(Time::from_nanos(1_000_000_000))), Some(PhaseEnd::Settled));
        control.answered(Time::from_nanos(500_000_000), 6.0);
        // Now 9 s can be a delay, and nothing is known since then.
        assert_eq!(control.decide(now, Some(Time::from_nanos(1_000_000_000))), None);
    }
}
