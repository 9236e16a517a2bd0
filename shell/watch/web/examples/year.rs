//! Generates a history of many targets at one probe per second that ends now, and serves its page:
//!
//! ```text
//! year DIRECTORY TARGETS DAYS_OF_ALL DAYS_OF_THE_FIRST [PORT]
//! ```
//! Runs until its input ends. For `bench/watch/page.py`, and to look at the page.
use fathom_units::{Duration, Rng, WallTime};
use fathom_watch_plan::TargetNow;
use fathom_watch_samples::{Code, Outcome, Sample, Sketch, Tally, Unit};
use fathom_watch_store::{History, HistoryConfig, Retention, SeriesId, SeriesKey};
use fathom_watch_web::{Live, Total, history, serve};
use fathom_web::WebConfig;
use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

const SECOND: u64 = 1_000_000_000;
/// The writer creates chunks of this length.
const STEP_S: u64 = 3_600;

/// A cable link: base delay, jitter, evenings with a queue, a step once a month, upload bursts, and
/// loss.
struct Line {
    dice: Rng,
    base_us: u64,
    burst: u64,
}

impl Line {
    fn new(seed: u32) -> Line {
        let mut dice = Rng::new(u64::from(seed) + 1);
        let base_us = 4_000 + dice.next_u64() % 40_000;
        Line { dice, base_us, burst: 0 }
    }

    fn next(&mut self, second: u64) -> Outcome {
        let roll = self.dice.next_u64();
        if self.burst == 0 && roll.is_multiple_of(10_800) {
            self.burst = 20 + roll / 10_800 % 240;
        }
        self.burst = self.burst.saturating_sub(1);
        let of_day = second % 86_400;
        let step_us = second / 86_400 / 30 % 4 * 900;
        let evening_us = if (68_400..82_800).contains(&of_day) { roll >> 8 & 0x3fff } else { 0 };
        let burst_us = if self.burst > 0 { 90_000 + (roll >> 24) % 60_000 } else { 0 };
        let jitter_us = (roll >> 40) % 900;
        let outage = (second / 7 / 86_400 * 7_919 % 604_800..).take(900).any(|at| at == second % 604_800);
        let loses = if self.burst > 0 { 40 } else { 2_500 };
        if outage || (roll >> 16).is_multiple_of(loses) {
            return Outcome::Lost;
        }
        Outcome::Answered(Duration::from_micros(self.base_us + step_us + evening_us + burst_us + jitter_us))
    }
}

struct Watched(Vec<TargetNow>);

impl Live for Watched {
    fn targets(&self) -> Vec<TargetNow> {
        self.0.clone()
    }
    fn totals(&self) -> Vec<Total> {
        Vec::new()
    }
}

fn write(
    directory: &Path,
    targets: u32,
    days: (u64, u64),
    now_s: u64,
) -> Result<Vec<TargetNow>, Box<dyn Error>> {
    let keep = Retention { samples: None, ..Retention::default() };
    let config = HistoryConfig { keep, ..HistoryConfig::default() };
    let (mut history, _) = History::open(directory, &config)?;
    let names: Vec<String> =
        (0..targets).map(|n| format!("site {}/line {}", n / 25 + 1, n % 25 + 1)).collect();
    let key = |name: &String| SeriesKey { target: name.clone(), probe: "icmp".into(), unit: Unit::Seconds };
    let ids: Vec<SeriesId> = names.iter().map(|name| history.series(&key(name))).collect::<Result<_, _>>()?;
    let mut lines: Vec<Line> = (0..targets).map(Line::new).collect();
    let mut newest: Vec<Vec<Sample>> = vec![Vec::new(); targets as usize];
    let first_s = (now_s - days.1.max(days.0) * 86_400) / STEP_S * STEP_S;
    for start in (first_s..now_s).step_by(STEP_S as usize) {
        let end = (start + STEP_S).min(now_s);
        for (n, line) in lines.iter_mut().enumerate() {
            if n > 0 && start + days.0 * 86_400 < now_s {
                continue;
            }
            let at = |second: u64| WallTime(second * SECOND + n as u64 * 1_000_000);
            newest[n] = (start..end).map(|s| Sample { at: at(s), outcome: line.next(s) }).collect();
            history.record(ids[n], &newest[n]);
        }
        history.flush(WallTime(end * SECOND));
    }
    history.save(WallTime(now_s * SECOND));
    Ok((0..targets as usize).map(|n| now_of(&names[n], ids[n], &newest[n])).collect())
}

fn now_of(name: &str, SeriesId(series): SeriesId, samples: &[Sample]) -> TargetNow {
    let (mut tally, mut sketch) = (Tally::default(), Sketch::default());
    for sample in samples.iter().rev().take(60) {
        tally.add(Code::of(sample.outcome));
        sketch.add(Code::of(sample.outcome));
    }
    let last = samples.last();
    TargetNow {
        name: name.into(),
        group: name.split('/').next().unwrap_or_default().into(),
        host: format!("198.51.100.{}", series % 250),
        address: None,
        probe: "icmp".into(),
        series,
        last: last.map(|sample| sample.outcome),
        last_at: last.map(|sample| sample.at),
        tally,
        median: sketch.quantile(0.5).map(Duration::from_secs_f64),
        p95: sketch.quantile(0.95).map(Duration::from_secs_f64),
        failing_since: None,
        alerts: Vec::new(),
    }
}

#[allow(clippy::print_stdout, reason = "an example prints its address")]
fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let number = |n: usize, usual: u64| given.get(n).map_or(Ok(usual), |text| text.parse());
    let directory =
        Path::new(given.first().ok_or("usage: year DIRECTORY TARGETS DAYS_OF_ALL DAYS_OF_THE_FIRST [PORT]")?);
    let (targets, all, first) = (number(1, 500)? as u32, number(2, 1)?, number(3, 365)?);
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let watched = write(directory, targets, (all, first), now_s)?;
    let listen = format!("127.0.0.1:{}", number(4, 0)?).parse()?;
    let config = WebConfig { listen, ..WebConfig::default() };
    let server = serve(&config, Arc::new(Watched(watched)), history(directory.into()))?;
    println!("http://{}", server.address);
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
