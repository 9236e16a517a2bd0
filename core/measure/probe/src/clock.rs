//! Offset and drift of the server's clock relative to the local one, for one-way delays.
use alloc::vec::Vec;
use fathom_units::{Duration, PerDirection, Time};

/// Of each window only the sample with the smallest round-trip time is kept.
const WINDOW_NS: u64 = 500_000_000;
/// Noise of an offset whose round trip is the smallest: interrupts alone add up to 100 us to a
/// round trip, half of which is an error of the offset.
const NOISE_NS: f64 = 50_000.0;
/// Computers' clocks drift by tens of 1e-6 (crystal tolerance); one that seems to drift more over a
/// short span is noise.
const TYPICAL_DRIFT: f64 = 3e-5;

/// The four timestamps of a UDP probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FourStamps {
    /// Send time of the probe.
    pub sent: Time,
    /// Arrival at the server, in ns on the server's clock.
    pub server_received_ns: u64,
    /// Send time of the response, in ns on the server's clock.
    pub server_sent_ns: u64,
    /// Arrival of the response.
    pub received: Time,
}

impl FourStamps {
    /// Time that the server held the probe.
    pub const fn held(&self) -> Duration {
        Duration::from_nanos(self.server_sent_ns.saturating_sub(self.server_received_ns))
    }
    /// Round-trip time without the time that the server held the probe.
    pub const fn round_trip(&self) -> Duration {
        self.received.saturating_since(self.sent).saturating_sub(self.held())
    }
    /// Server's clock minus local clock in ns, if both directions had equal delays.
    fn offset_ns(&self) -> i128 {
        let out = i128::from(self.server_received_ns) - i128::from(self.sent.as_nanos());
        let back = i128::from(self.server_sent_ns) - i128::from(self.received.as_nanos());
        i128::midpoint(out, back)
    }
}

#[derive(Clone, Copy, Debug)]
struct Best {
    window: u64,
    at: Time,
    round_trip: Duration,
    offset_ns: i128,
}

/// Samples for a [`ClockFit`].
#[derive(Clone, Default, Debug)]
pub struct ClockSamples {
    best: Vec<Best>,
}

/// The server's clock as a linear function of the local clock.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClockFit {
    /// Server's clock minus local clock at time zero of the run, in ns.
    pub offset_ns: i128,
    /// Relative drift: 1e-6 means that the server's clock gains one microsecond per second.
    pub drift_ratio: f64,
    /// Weighted mean distance of the samples from the line, and at least half of what their round
    /// trips exceed the smallest by. An asymmetry of the idle path is not in it: no measurement
    /// over this path can show it.
    pub uncertainty: Duration,
}

impl ClockSamples {
    /// Adds a sample. Samples must be roughly in send order.
    pub fn add(&mut self, stamps: &FourStamps) {
        let window = stamps.sent.as_nanos() / WINDOW_NS;
        let (round_trip, offset_ns) = (stamps.round_trip(), stamps.offset_ns());
        let sample = Best { window, at: stamps.sent, round_trip, offset_ns };
        match self.best.iter_mut().rev().find(|b| b.window == window) {
            Some(best) if best.round_trip <= round_trip => {}
            Some(best) => *best = sample,
            None => self.best.push(sample),
        }
    }
    /// The weighted line through the samples; `None` without samples.
    ///
    /// A round trip that exceeds the smallest by `e` spent `e` in queues. If all of it was in one
    /// direction, the offset is wrong by `e / 2`. The weight of a sample is the inverse of this
    /// variance plus that of `NOISE_NS`, so one idle sample outweighs many that were queued.
    pub fn fit(&self) -> Option<ClockFit> {
        let smallest = self.best.iter().map(|b| b.round_trip).min()?;
        let first = self.best.first()?;
        let error_ns = |b: &Best| b.round_trip.saturating_sub(smallest).as_nanos() as f64 / 2.0;
        // Relative to the first sample, to keep floating-point precision.
        let point = |b: &Best| Point {
            x_ns: b.at.as_nanos() as f64 - first.at.as_nanos() as f64,
            y_ns: (b.offset_ns - first.offset_ns) as f64,
            weight: 1.0 / (NOISE_NS * NOISE_NS + error_ns(b) * error_ns(b)),
            error_ns: error_ns(b),
        };
        let points: Vec<Point> = self.best.iter().map(point).collect();
        let line = line(&points);
        let at_zero = line.at_first_ns - line.slope * first.at.as_nanos() as f64;
        Some(ClockFit {
            offset_ns: first.offset_ns + at_zero as i128,
            drift_ratio: line.slope,
            uncertainty: Duration::from_nanos(line.uncertainty_ns as u64),
        })
    }
}

/// Tracks the server's clock without refitting for every sample.
#[derive(Clone, Debug)]
pub struct ClockTracker {
    refit_every: Duration,
    /// Samples are forgotten after one to two spans.
    span: Duration,
    /// Samples of the current and the previous span.
    older: ClockSamples,
    /// Samples of the current span.
    newer: ClockSamples,
    turned: Time,
    fitted: Time,
    fit: Option<ClockFit>,
}

impl ClockTracker {
    /// Fits all samples, at most once per `refit_every`.
    pub const fn new(refit_every: Duration) -> Self {
        Self::forgetting(Duration::MAX, refit_every)
    }
    /// Fits the samples of the last one to two `span`s, because the drift of a clock changes.
    pub const fn forgetting(span: Duration, refit_every: Duration) -> Self {
        ClockTracker {
            refit_every,
            span,
            older: ClockSamples { best: Vec::new() },
            newer: ClockSamples { best: Vec::new() },
            turned: Time::ZERO,
            fitted: Time::ZERO,
            fit: None,
        }
    }
    /// Adds a sample and returns the current fit.
    pub fn add(&mut self, stamps: &FourStamps) -> Option<ClockFit> {
        let now = stamps.received;
        if now.saturating_since(self.turned) > self.span {
            self.older = core::mem::take(&mut self.newer);
            self.turned = now;
        }
        self.older.add(stamps);
        if self.span != Duration::MAX {
            self.newer.add(stamps);
        }
        if self.fit.is_none() || now.saturating_since(self.fitted) > self.refit_every {
            (self.fit, self.fitted) = (self.older.fit(), now);
        }
        self.fit
    }
    /// The last fit; `None` before the first sample.
    pub const fn fit(&self) -> Option<ClockFit> {
        self.fit
    }
    /// Fits all remembered samples now.
    pub fn refit(&self) -> Option<ClockFit> {
        self.older.fit()
    }
}

/// A sample for the fit.
struct Point {
    /// Time since the first sample.
    x_ns: f64,
    /// Offset relative to the first sample.
    y_ns: f64,
    /// Inverse variance, in 1/ns^2.
    weight: f64,
    /// Largest error of the offset that a queue can have made.
    error_ns: f64,
}

struct Line {
    slope: f64,
    /// Value at the first sample.
    at_first_ns: f64,
    uncertainty_ns: f64,
}

/// Weighted least squares. The slope has a normal prior about zero with the standard deviation
/// [`TYPICAL_DRIFT`]: points that span little time show noise rather than drift. The uncertainty is
/// the weighted mean of what noise and queues leave to each point.
fn line(points: &[Point]) -> Line {
    let total: f64 = points.iter().map(|p| p.weight).sum();
    let mean =
        |value: &dyn Fn(&Point) -> f64| points.iter().map(|p| p.weight * value(p)).sum::<f64>() / total;
    let (mean_x, mean_y) = (mean(&|p| p.x_ns), mean(&|p| p.y_ns));
    let sxx = total * mean(&|p| (p.x_ns - mean_x) * (p.x_ns - mean_x));
    let sxy = total * mean(&|p| (p.x_ns - mean_x) * (p.y_ns - mean_y));
    let slope = sxy / (sxx + 1.0 / (TYPICAL_DRIFT * TYPICAL_DRIFT));
    let residual = |p: &Point| libm::fabs(p.y_ns - mean_y - slope * (p.x_ns - mean_x));
    let uncertainty_ns = mean(&|p| residual(p).max(p.error_ns));
    Line { slope, at_first_ns: mean_y - slope * mean_x, uncertainty_ns }
}

impl ClockFit {
    /// Local time at which the server's clock showed `server_ns`.
    pub fn local(&self, server_ns: u64) -> Time {
        let undrifted = i128::from(server_ns) - self.offset_ns;
        let drifted = (undrifted as f64 * self.drift_ratio / (1.0 + self.drift_ratio)) as i128;
        Time::from_nanos(u64::try_from(undrifted - drifted).unwrap_or(0))
    }
    /// One-way delays. Negative ones, caused by noise, become zero.
    pub fn one_way(&self, stamps: &FourStamps) -> PerDirection<Duration> {
        let up = self.local(stamps.server_received_ns).saturating_since(stamps.sent);
        PerDirection { up, down: stamps.received.saturating_since(self.local(stamps.server_sent_ns)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    const MS: u64 = 1_000_000;
    const BASE_UP: u64 = 10 * MS;

    struct Line {
        drift: f64,
        offset_ns: f64,
        /// Queueing delay in each direction at a second of the run, in ns.
        queue: fn(f64) -> PerDirection<u64>,
    }

    /// Sends probes every 50 ms for `seconds`, and returns each with its true one-way delays.
    fn run(line: &Line, seconds: u64, rng: &mut Rng) -> Vec<(FourStamps, PerDirection<u64>)> {
        let server = |t: u64| (line.offset_ns + t as f64 * (1.0 + line.drift)) as u64;
        (0..seconds * 20)
            .map(|n| {
                let sent = n * 50 * MS;
                let queue = (line.queue)(sent as f64 / 1e9);
                // 10 ms base delay each way, up to 100 us of jitter, 20 us at the server.
                let delays = queue.map(|q| BASE_UP + q + rng.below(100_000));
                let (arrive, leave) = (sent + delays.up, sent + delays.up + 20_000);
                let stamps = FourStamps {
                    sent: Time::from_nanos(sent),
                    server_received_ns: server(arrive),
                    server_sent_ns: server(leave),
                    received: Time::from_nanos(leave + delays.down),
                };
                (stamps, delays)
            })
            .collect()
    }

    fn worst_error_ns(fit: &ClockFit, run: &[(FourStamps, PerDirection<u64>)]) -> f64 {
        let error = |(stamps, truth): &(FourStamps, PerDirection<u64>)| {
            let errors = fit.one_way(stamps).zip(*truth).map(|(got, truth)| got.as_nanos().abs_diff(truth));
            errors.up.max(errors.down) as f64
        };
        run.iter().map(error).fold(0.0, f64::max)
    }

    /// 5 s idle, 20 s of queue on the downlink, 20 s on the uplink, 20 s on both, then idle.
    fn queues(t: f64) -> PerDirection<u64> {
        let (up, down) = match t {
            5.0..25.0 => (0, 800 * MS),
            25.0..45.0 => (1_000 * MS, 0),
            45.0..65.0 => (900 * MS, 300 * MS),
            _ => (0, 0),
        };
        PerDirection { up, down }
    }

    #[test]
    fn drift_and_offset_are_found_although_load_is_asymmetric() {
        for (seed, drift) in [(1, 0.0), (2, 50e-6), (3, -50e-6), (4, 5e-6)] {
            let line = Line { drift, offset_ns: 8.6e14, queue: queues };
            let run = run(&line, 70, &mut Rng::new(seed));
            let mut samples = ClockSamples::default();
            run.iter().for_each(|(s, _)| samples.add(s));
            let fit = samples.fit().unwrap();
            let error = worst_error_ns(&fit, &run);
            assert!(
                (fit.drift_ratio - drift).abs() < 2e-6,
                "seed {seed}: drift {} of {drift}",
                fit.drift_ratio
            );
            assert!(error < 150_000.0, "seed {seed}: one-way delay wrong by {error} ns");
            assert!(fit.uncertainty.as_nanos() < 200_000, "seed {seed}: {}", fit.uncertainty);
        }
    }

    #[test]
    fn a_few_seconds_of_idle_do_not_invent_a_drift() {
        let line = Line { drift: 0.0, offset_ns: -3e9 + 1e12, queue: |_| PerDirection::default() };
        for seed in 10..20 {
            let run = run(&line, 3, &mut Rng::new(seed));
            let mut samples = ClockSamples::default();
            run.iter().for_each(|(s, _)| samples.add(s));
            let drift = samples.fit().unwrap().drift_ratio;
            assert!(drift.abs() < 15e-6, "seed {seed}: {drift}");
        }
    }

    #[test]
    fn the_tracker_rarely_refits_and_ends_with_the_complete_fit() {
        let line = Line { drift: 50e-6, offset_ns: 8.6e14, queue: |_| PerDirection::default() };
        let run = run(&line, 70, &mut Rng::new(7));
        let (mut tracker, mut samples) = (ClockTracker::new(Duration::from_secs(1)), ClockSamples::default());
        let mut fits = 0;
        for (stamps, truth) in &run {
            let before = tracker.fit();
            let fit = tracker.add(stamps).unwrap();
            samples.add(stamps);
            fits += u32::from(before != Some(fit));
            let error = fit.one_way(stamps).up.as_nanos().abs_diff(truth.up);
            assert!(error < 300_000, "{error} ns at {}", stamps.sent);
        }
        assert!((60..=71).contains(&fits), "{fits} fits in 70 s");
        assert_eq!(tracker.refit(), samples.fit());
    }

    #[test]
    fn a_tracker_with_a_limited_span_follows_a_set_clock() {
        let seconds = Duration::from_secs;
        let mut tracker = ClockTracker::forgetting(seconds(20), seconds(1));
        for (seed, offset_ns) in [(8, 1e12), (9, 5e12)] {
            let line = Line { drift: 0.0, offset_ns, queue: |_| PerDirection::default() };
            for (stamps, _) in run(&line, 60, &mut Rng::new(seed)) {
                let later = if seed == 9 { seconds(60) } else { Duration::ZERO };
                let shifted = |at: Time| at + later;
                tracker.add(&FourStamps {
                    sent: shifted(stamps.sent),
                    received: shifted(stamps.received),
                    server_received_ns: stamps.server_received_ns + later.as_nanos(),
                    server_sent_ns: stamps.server_sent_ns + later.as_nanos(),
                });
            }
            let offset_ns = offset_ns as i128;
            let fit = tracker.fit().unwrap();
            assert!((fit.offset_ns - offset_ns).abs() < 2_000_000, "{fit:?}");
        }
    }

    #[test]
    fn moderate_queues_do_not_affect_the_offset() {
        // Three idle seconds, then a managed queue of 2 ms on the downlink for half a minute, which
        // is within a tenth of the round-trip time.
        let queue = |t: f64| PerDirection { up: 0, down: if t < 3.0 { 0 } else { 2 * MS } };
        let run = run(&Line { drift: 0.0, offset_ns: 5e12, queue }, 33, &mut Rng::new(21));
        let mut samples = ClockSamples::default();
        run.iter().for_each(|(s, _)| samples.add(s));
        let fit = samples.fit().unwrap();
        assert!((fit.offset_ns - 5_000_000_000_000).abs() < 100_000, "{fit:?}");
        assert!(fit.uncertainty < Duration::from_micros(150), "{fit:?}");
    }

    #[test]
    fn three_idle_seconds_fix_the_clock_of_a_run_that_is_loaded_otherwise() {
        // As 1.2 MB at 2 Mbit/s: 4.8 s of queue up for 72 s, which never empties.
        let queue = |t: f64| PerDirection { up: if t < 3.0 { 0 } else { 4_800 * MS }, down: 0 };
        for seed in 30..35 {
            let run = run(&Line { drift: 5e-6, offset_ns: 8.6e14, queue }, 75, &mut Rng::new(seed));
            let mut samples = ClockSamples::default();
            run.iter().for_each(|(s, _)| samples.add(s));
            let error = worst_error_ns(&samples.fit().unwrap(), &run);
            // 72 s at a drift that 3 s cannot show.
            assert!(error < 1_500_000.0, "seed {seed}: one-way delay wrong by {error} ns");
        }
    }

    #[test]
    fn without_samples_there_is_no_fit_and_one_sample_gives_an_offset() {
        let mut samples = ClockSamples::default();
        assert_eq!(samples.fit(), None);
        let stamps = FourStamps {
            sent: Time::from_nanos(100),
            server_received_ns: 1_150,
            server_sent_ns: 1_160,
            received: Time::from_nanos(210),
        };
        samples.add(&stamps);
        let fit = samples.fit().unwrap();
        assert_eq!((fit.offset_ns, fit.drift_ratio), (1_000, 0.0));
        assert_eq!(fit.one_way(&stamps).map(Duration::as_nanos), PerDirection { up: 50, down: 50 });
        assert_eq!(stamps.round_trip().as_nanos(), 100);
    }
}
