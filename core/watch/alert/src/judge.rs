//! Evaluates conditions against the samples of a series.
use crate::condition::{Evidence, Verdict};
use crate::link::{self, Throughput};
use crate::past::Past;
use crate::phase::between;
use crate::rounds::{self, Rounds};
use crate::series::Series;
use crate::{Condition, Kind, Matcher, Pattern, words};
use alloc::format;
use alloc::vec::Vec;
use fathom_stats::percentile;
use fathom_units::{Duration, WallTime};

/// A baseline older than this describes another time of day.
const PAST_SERVES: Duration = Duration::from_secs(2 * 3_600);

impl Series {
    /// Evaluates a condition over a window. [`of_rounds`] evaluates patterns.
    pub(crate) fn judge(&self, condition: &Condition, link: &Throughput, now: WallTime) -> Verdict {
        match condition {
            Condition::Loss { above, clear, window, min_probes } => {
                self.loss((*above, *clear), *window, *min_probes, now)
            }
            Condition::Latency { above, clear, percentile, window, min_probes } => {
                let limits = (above.as_secs_f64(), clear.as_secs_f64());
                self.latency(limits, (*percentile, *window, *min_probes), now)
            }
            Condition::Unusual { by, spreads, percentile, window, min_probes, weeks } => {
                self.unusual((*by, *spreads), (*percentile, *window, *min_probes), *weeks, now)
            }
            Condition::Bufferbloat { above, clear, window, min_probes } => {
                let limits = (above.as_secs_f64(), clear.as_secs_f64());
                self.bufferbloat(limits, (*window, *min_probes), link, now)
            }
            Condition::Path { window } => self.path(*window, now),
            Condition::Unreachable { min_probes } => self.unreachable(*min_probes, now),
            Condition::Pattern { .. } | Condition::Matcher { .. } => Verdict::Unknown,
        }
    }
    fn loss(&self, limits: (f64, f64), window: Duration, min_probes: u64, now: WallTime) -> Verdict {
        let tally = self.ring.tally(window, now);
        let is_enough = tally.sent >= min_probes && self.ring.covers(window, now);
        let Some(ratio) = tally.loss_ratio().filter(|_| is_enough) else { return Verdict::Unknown };
        let text = format!(
            "loss is {} of {} probes in {} (limit {})",
            fathom_text::percent(ratio),
            tally.sent,
            words::length(window),
            fathom_text::percent(limits.0)
        );
        Verdict::of(ratio, limits, text)
    }
    /// The percentile of the delays in a window, and the number of delays.
    fn delay(
        &self,
        (percent, window, min_probes): (u64, Duration, u64),
        now: WallTime,
    ) -> Option<(f64, usize)> {
        let mut delays = self.ring.delays(window, now);
        let count = delays.len();
        let is_enough = count as u64 >= min_probes && self.ring.covers(window, now);
        percentile(&mut delays, percent as f64 / 100.0).filter(|_| is_enough).map(|value| (value, count))
    }
    fn latency(&self, limits: (f64, f64), over: (u64, Duration, u64), now: WallTime) -> Verdict {
        let Some((value, count)) = self.delay(over, now) else { return Verdict::Unknown };
        let text = format!(
            "{} of {count} answers in {} is {} (limit {})",
            named(over.0),
            words::length(over.1),
            fathom_text::delay(value),
            fathom_text::delay(limits.0)
        );
        Verdict::of(value, limits, text)
    }
    fn unusual(
        &self,
        (by, spreads): (Duration, u64),
        over: (u64, Duration, u64),
        weeks: u64,
        now: WallTime,
    ) -> Verdict {
        let past = self.pasts.get(&over.0).filter(|past| between(past.hour, now) < PAST_SERVES);
        let usual = past.and_then(|past| past.baseline(over.2, weeks));
        let (Some(usual), Some((value, count))) = (usual, self.delay(over, now)) else {
            return Verdict::Unknown;
        };
        let rise = by.as_secs_f64().max(spreads as f64 * usual.spread);
        let text = format!(
            "{} of {count} answers in {} is {}, {} (limit {})",
            named(over.0),
            words::length(over.1),
            fathom_text::delay(value),
            usual.words(),
            fathom_text::delay(usual.value + rise)
        );
        Verdict::of(value, (usual.value + rise, usual.value + rise / 2.0), text)
    }
    fn bufferbloat(
        &self,
        limits: (f64, f64),
        (window, min_probes): (Duration, u64),
        link: &Throughput,
        now: WallTime,
    ) -> Verdict {
        let reach = link::reach(window);
        let with_value = |(at, code): (WallTime, fathom_watch_samples::Code)| code.value().map(|v| (at, v));
        let delays: Vec<(WallTime, f64)> = self.ring.within(reach, now).filter_map(with_value).collect();
        let Some(bloat) = link.bloat(&delays, (window, now), min_probes) else { return Verdict::Unknown };
        let rise = bloat.busy - bloat.idle;
        let text = format!("delay is {} (limit {} above idle)", bloat.text, fathom_text::delay(limits.0));
        Verdict::of(rise, limits, text)
    }
    fn path(&self, window: Duration, now: WallTime) -> Verdict {
        match &self.path_change {
            Some((at, text)) if between(*at, now) < window => {
                Verdict::Bad(Evidence { text: text.clone(), ..Evidence::default() })
            }
            Some(_) => {
                let text = format!("no path change for {}", words::length(window));
                Verdict::Good(Evidence { text, ..Evidence::default() })
            }
            None => Verdict::Unknown,
        }
    }
    fn unreachable(&self, min_probes: u64, now: WallTime) -> Verdict {
        let run = &self.run;
        match (run.failing_since, run.answered) {
            (Some(since), _) if run.count >= min_probes => {
                let failed = run.has_failed && !run.reason.is_empty();
                let why = if failed { format!(": {}", run.reason) } else { alloc::string::String::new() };
                let value = between(since, now).as_secs_f64();
                let text = format!("no reply to {} probes since {}{why}", run.count, second(since));
                Verdict::Bad(Evidence { text, value: Some(value), limit: None })
            }
            (None, Some(_)) => {
                Verdict::Good(Evidence { text: "replies again".into(), ..Evidence::default() })
            }
            (Some(_), Some(_)) => Verdict::Between(Evidence::default()),
            _ => Verdict::Unknown,
        }
    }
}

/// Evaluates a pattern or matcher after a round was closed.
pub(crate) fn of_rounds(condition: &Condition, rounds: &mut Rounds, is_raised: bool) -> Verdict {
    match condition {
        Condition::Pattern { kind, pattern, .. } => of_pattern(*kind, pattern, rounds),
        Condition::Matcher { matcher, .. } => of_matcher(matcher, rounds, is_raised),
        _ => Verdict::Unknown,
    }
}

fn of_pattern(kind: Kind, pattern: &Pattern, rounds: &mut Rounds) -> Verdict {
    let (values, name, unit) = match kind {
        Kind::Loss => (&mut rounds.loss, "loss", "%"),
        Kind::Rtt => (&mut rounds.rtt, "rtt", " ms"),
    };
    let matches = pattern.matches(values.make_contiguous());
    let text = format!("{name} of the last rounds, oldest first: {}", rounds::shown(values, unit));
    verdict(matches, format!("{text} (pattern {})", pattern.text()))
}

fn of_matcher(matcher: &Matcher, rounds: &mut Rounds, is_raised: bool) -> Verdict {
    let found = matcher.matches(rounds.loss.make_contiguous(), rounds.rtt.make_contiguous(), is_raised);
    found.map_or(Verdict::Unknown, |(matches, text)| verdict(matches, format!("{text}: {}", matcher.text())))
}

fn verdict(is_bad: bool, text: alloc::string::String) -> Verdict {
    let evidence = Evidence { text, ..Evidence::default() };
    if is_bad { Verdict::Bad(evidence) } else { Verdict::Good(evidence) }
}

fn named(percent: u64) -> alloc::string::String {
    if percent == 50 { "median".into() } else { format!("p{percent}") }
}

/// Truncates a time to the second (UTC).
fn second(at: WallTime) -> WallTime {
    WallTime(at.0 / 1_000_000_000 * 1_000_000_000)
}

impl Series {
    /// The percentiles and hours whose past delays are needed but not yet requested.
    pub(crate) fn history_requests(&mut self, percentiles: &[u64], now: WallTime) -> Vec<(u64, WallTime)> {
        let hour = Past::hour_of(now);
        let mut wanted: Vec<u64> =
            percentiles.iter().copied().filter(|p| self.requested.get(p) != Some(&hour)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        self.requested.extend(wanted.iter().map(|percent| (*percent, hour)));
        wanted.into_iter().map(|percent| (percent, hour)).collect()
    }
}
