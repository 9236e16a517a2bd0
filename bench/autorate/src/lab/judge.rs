//! Scores a run by what users experienced: datagrams unknown to the law, and delivered bytes.
use super::bed::Came;
use super::schedule::{self, LENGTH, PROBE_MS, SAMPLE_MS};
use super::track::Track;
use crate::score::{Score, Way};
use fathom_run::{Metric, Series, Value};
use fathom_units::{Direction, IP_PER_PAYLOAD, PerDirection};

/// Payload share of the line's traffic: 1448 of 1500 bytes, counted from IP on.
const PAYLOAD: f64 = 1.0 / IP_PER_PAYLOAD;

/// Delays of one direction's datagrams above the minimum in s, with send times; `None` for lost
/// ones.
struct Delays(Vec<(f64, Option<f64>)>);

impl Delays {
    fn of(came: &Came, direction: Direction) -> Delays {
        let series = came.series(Metric::PacketDelay, direction);
        let values = || series.iter().flat_map(|one| one.iter());
        let least = values().filter_map(|one| one.value.observed()).fold(f64::MAX, f64::min);
        let above = |value: Value| value.observed().map(|delay| delay - least);
        Delays(values().map(|one| (came.seconds(one.at.as_secs_f64()), above(one.value))).collect())
    }
    /// Delay of the latest datagram sent until `now`. A lost one counts as a full queue.
    fn at(&self, now: f64) -> f64 {
        let until = self.0.partition_point(|(sent, _)| *sent <= now);
        until.checked_sub(1).map_or(0.0, |latest| self.0[latest].1.unwrap_or(1.0))
    }
}

impl Came {
    fn seconds(&self, on_the_clock: f64) -> f64 {
        on_the_clock - self.begin.as_secs_f64()
    }
    fn series(&self, metric: Metric, direction: Direction) -> Option<&Series> {
        let is_it = |one: &&Series| one.key.metric == metric && one.key.direction == Some(direction);
        self.played.series.iter().find(is_it)
    }
    /// The score of the law on this line.
    pub(super) fn score(&self, track: &Track) -> Score {
        let mut score = Score { hours: LENGTH / 3_600.0, ..Score::default() };
        let delays =
            PerDirection { up: Delays::of(self, Direction::Up), down: Delays::of(self, Direction::Down) };
        wait(&mut score.up, &delays.up, |at| schedule::loaded(at).up);
        wait(&mut score.down, &delays.down, |at| schedule::loaded(at).down);
        self.carry(&mut score.up, Direction::Up, |at| schedule::loaded(at).up.then(|| track.capacity(at).up));
        self.carry(&mut score.down, Direction::Down, |at| {
            schedule::loaded(at).down.then(|| track.capacity(at).down)
        });
        for tick in &self.ticks {
            let queues = PerDirection { up: delays.up.at(tick.at), down: delays.down.at(tick.at) };
            score.blame(tick.cuts, schedule::idle(tick.at), queues, schedule::is_noisy(tick.at));
        }
        score
    }
    /// `capacity` in bit/s, if there is load.
    fn carry(&self, way: &mut Way, direction: Direction, capacity: impl Fn(f64) -> Option<f64>) {
        let bytes = |rate: f64| rate / 8.0 * SAMPLE_MS as f64 / 1e3;
        for sample in 0..(LENGTH * 1e3) as u64 / SAMPLE_MS {
            let at = (sample as f64 + 0.5) * SAMPLE_MS as f64 / 1e3;
            way.carry(capacity(at).map_or(0.0, bytes), 0.0);
        }
        for seen in self.series(Metric::Goodput, direction).iter().flat_map(|one| one.iter()) {
            // A report describes the interval before it.
            let at = self.seconds(seen.at.as_secs_f64()) - SAMPLE_MS as f64 / 2e3;
            let goodput = seen.value.observed().filter(|_| capacity(at).is_some());
            way.carry(0.0, goodput.map_or(0.0, bytes) / PAYLOAD);
        }
    }
}

fn wait(way: &mut Way, delays: &Delays, is_loaded: impl Fn(f64) -> bool) {
    let dt = PROBE_MS as f64 / 1e3;
    for (_, delay) in delays.0.iter().filter(|(sent, _)| is_loaded(*sent)) {
        match delay {
            Some(delay) => way.wait(dt, *delay),
            None => way.lose(dt),
        }
    }
}

impl Came {
    /// Prints each second: capacity, rate, goodput and maximum delay.
    pub(super) fn print(&self, track: &Track) {
        println!("     s  up: line   rate  goodput  delay   down: line   rate  goodput  delay");
        for second in 0..LENGTH as u64 {
            let range = second as f64..second as f64 + 1.0;
            let rates = self.ticks.iter().filter(|tick| range.contains(&tick.at));
            let sum =
                rates.clone().fold((0.0, 0.0), |sum, tick| (sum.0 + tick.rates.up, sum.1 + tick.rates.down));
            let count = rates.count().max(1) as f64;
            let way = |direction, rate: f64, of: fn(PerDirection<f64>) -> f64| {
                let steps =
                    (0..10).map(|tenth| of(track.capacity(range.start + f64::from(tenth) / 10.0 + 0.05)));
                let values = |metric| {
                    let series = self.series(metric, direction).into_iter().flat_map(|one| one.iter());
                    let within = series.filter(|one| range.contains(&self.seconds(one.at.as_secs_f64())));
                    within.filter_map(|one| one.value.observed()).collect::<Vec<_>>()
                };
                let (goodput, delay) = (values(Metric::Goodput), values(Metric::PacketDelay));
                let mean = goodput.iter().sum::<f64>() / goodput.len().max(1) as f64;
                let most = delay.iter().copied().fold(0.0, f64::max);
                format!(
                    "{:8.1} {:6.1} {:8.1} {:5.0}",
                    steps.sum::<f64>() / 1e7,
                    rate / count / 1e6,
                    mean / 1e6,
                    most * 1e3
                )
            };
            let (up, down) =
                (way(Direction::Up, sum.0, |both| both.up), way(Direction::Down, sum.1, |both| both.down));
            println!("{second:6} {up} {down}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::drive::Tick;
    use crate::line::Kind;
    use fathom_lab::workload::Played;
    use fathom_run::{Load, Observation, SeriesKey};
    use fathom_units::{Duration, Time};

    const BEGIN: Time = Time::from_nanos(5_000_000_000);

    fn series(metric: Metric, direction: Direction, every_ms: u64, value: impl Fn(f64) -> Value) -> Series {
        let mut series = Series::new(SeriesKey::directed(metric, direction));
        for number in 0..(LENGTH * 1e3) as u64 / every_ms {
            let at = Duration::from_millis(number * every_ms);
            series.push(Observation { at: BEGIN + at, value: value(at.as_secs_f64()) });
        }
        series
    }

    #[test]
    fn a_run_with_known_delays_goodput_and_cuts() {
        let track = Track::new(Kind::Docsis);
        // Up: 10 ms of path. 50 ms more in the first tenth of the first load and losses in the
        // second: 4 of its 20 s, of 48 in total.
        let upwards = |at: f64| match at {
            9.0..11.0 => Value::Observed(0.060),
            11.0..13.0 => Value::Censored { at_least: 60.0 },
            _ => Value::Observed(0.010),
        };
        // Down: 100 ms during the upload alone, which is not a delay of a download; and half of the
        // capacity.
        let downwards = |at: f64| Value::Observed(if (12.0..20.0).contains(&at) { 0.110 } else { 0.010 });
        let half = |at: f64| Value::Observed(track.capacity(at - 0.05).down / 2.0 * PAYLOAD);
        let all = vec![
            series(Metric::PacketDelay, Direction::Up, PROBE_MS, upwards),
            series(Metric::PacketDelay, Direction::Down, PROBE_MS, downwards),
            series(Metric::Goodput, Direction::Down, SAMPLE_MS, half),
        ];
        let nothing = Load {
            flows_up: 0,
            flows_down: 0,
            congestion_control: String::new(),
            delivered_up_bytes: 0,
            delivered_down_bytes: 0,
        };
        let played = Played { series: all, load: nothing, notes: Vec::new() };
        let cut = |at, up, down| Tick { at, cuts: PerDirection { up, down }, rates: PerDirection::default() };
        // During path noise while all is idle; down while the upload's queue is full; up by its own
        // load; when all is quiet.
        let ticks = vec![cut(4.0, 1, 1), cut(10.0, 0, 1), cut(10.5, 1, 0), cut(32.0, 1, 0)];
        let score = Came { ticks, played, begin: BEGIN }.score(&track);
        assert!((score.up.late_share() - 4.0 / 48.0).abs() < 1e-3, "{:?}", score.up);
        assert_eq!((score.down.late_share(), score.up.used_share()), (0.0, 0.0));
        assert!((score.down.used_share() - 0.5).abs() < 0.005, "{:?}", score.down);
        assert_eq!((score.up.cuts, score.up.idle_cuts, score.up.cross_cuts), (3, 1, 0));
        assert_eq!((score.down.cuts, score.down.idle_cuts, score.down.cross_cuts), (2, 1, 1));
    }
}
