//! A database of SmokePing to samples.
use crate::rrd::{Archive, Row, Rrd};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_units::{Rng, WallTime};
use fathom_watch_samples::{Code, Stored};

/// More than any round has: a larger count is damage.
const MAX_PINGS: usize = 10_000;

/// What a database has.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Rounds {
    /// In the order of time. Of a round only the sorted values are kept, so that which of its probes took which time is made up, by
    /// a seed that is the round's time: sorted, each round would look like a queue that fills.
    pub samples: Vec<Stored>,
    /// From and until when the values are averages of many rounds: of each rank by itself, which understates the tails.
    pub averaged: Option<(WallTime, WallTime)>,
    /// Probes of a round.
    pub pings: usize,
    /// Rounds of which all values are known.
    pub rounds: u64,
    /// Rows of averages that were used.
    pub averages: u64,
}

/// Reads the rounds of a database. Averages are used where no finer row reaches.
///
/// # Errors
/// If it is none of SmokePing's.
pub fn rounds(rrd: &Rrd<'_>) -> Result<Rounds, String> {
    let places = Places::of(rrd)?;
    let mut archives: Vec<&Archive> = rrd.archives.iter().filter(|a| a.function == "AVERAGE").collect();
    archives.sort_by_key(|archive| archive.steps);
    let mut all = Rounds { pings: places.pings.len(), ..Rounds::default() };
    let mut reached_ms = u64::MAX;
    for archive in archives {
        let mut maker = Maker { places: &places, width_s: rrd.step_s * archive.steps, carried: 0.0 };
        let (mut first_ms, before) = (reached_ms, all.samples.len());
        for row in rrd.rows(archive) {
            let start_ms = row.end_s.saturating_sub(maker.width_s).saturating_mul(1_000);
            if start_ms >= reached_ms {
                break;
            }
            let made = maker.samples(&row);
            if made.is_empty() {
                continue;
            }
            first_ms = first_ms.min(start_ms);
            all.samples.extend(made.into_iter().filter(|sample| sample.at_ms < reached_ms));
            *(if archive.steps == 1 { &mut all.rounds } else { &mut all.averages }) += 1;
        }
        if archive.steps > 1 && all.samples.len() > before {
            all.average(first_ms, all.samples.iter().skip(before).map(|s| s.at_ms).max());
        }
        reached_ms = reached_ms.min(first_ms);
    }
    all.samples.sort_by_key(|sample| sample.at_ms);
    Ok(all)
}

impl Rounds {
    fn average(&mut self, from_ms: u64, until_ms: Option<u64>) {
        let wall = |ms: u64| WallTime(ms.saturating_mul(1_000_000));
        let (from, until) = (wall(from_ms), wall(until_ms.unwrap_or(from_ms)));
        let (first, last) = self.averaged.unwrap_or((from, until));
        self.averaged = Some((first.min(from), last.max(until)));
    }
}

/// Where the values of a round stand in a row.
struct Places {
    loss: usize,
    median: usize,
    pings: Vec<usize>,
}

impl Places {
    fn of(rrd: &Rrd<'_>) -> Result<Places, String> {
        let not = || {
            "is no database of SmokePing (those have the sources loss, median, ping1 and so on)".to_string()
        };
        let (loss, median) = (rrd.source("loss").ok_or_else(not)?, rrd.source("median").ok_or_else(not)?);
        let is_ping = |name: &str| {
            name.strip_prefix("ping").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        };
        let places = rrd.sources.iter().enumerate().filter(|(_, s)| is_ping(&s.name)).map(|(place, _)| place);
        let pings: Vec<usize> = places.collect();
        if pings.is_empty() || pings.len() > MAX_PINGS {
            Err(not())
        } else {
            Ok(Places { loss, median, pings })
        }
    }
}

struct Maker<'p> {
    places: &'p Places,
    width_s: u64,
    /// Loss of part of a probe, which an average has, is carried over to the next row, so that the sum is right.
    carried: f64,
}

impl Maker<'_> {
    fn samples(&mut self, row: &Row) -> Vec<Stored> {
        let codes = self.codes(row);
        let Some(start_s) = row.end_s.checked_sub(self.width_s) else { return Vec::new() };
        let count = codes.len() as u64;
        let at_ms = |n: u64| {
            let inside = u128::from(self.width_s) * 1_000 * (2 * u128::from(n) + 1) / (2 * u128::from(count));
            start_s.saturating_mul(1_000).saturating_add(inside as u64)
        };
        codes.into_iter().zip(0..).map(|(code, n)| Stored { at_ms: at_ms(n), code }).collect()
    }
    /// What became of each probe of a row; none if that is not known.
    fn codes(&mut self, row: &Row) -> Vec<Code> {
        let value = |place: &usize| row.values.get(*place).copied().filter(|v| v.is_finite() && *v >= 0.0);
        let all = self.places.pings.len();
        let mut known: Vec<f64> = self.places.pings.iter().filter_map(value).collect();
        known.sort_unstable_by(f64::total_cmp);
        let loss = value(&self.places.loss);
        if known.is_empty() {
            known.extend(value(&self.places.median));
        }
        let Some(loss) = loss.or_else(|| (!known.is_empty()).then(|| all.saturating_sub(known.len()) as f64))
        else {
            return Vec::new();
        };
        let wanted = loss.min(all as f64) + self.carried;
        let lost = if known.is_empty() { all } else { ((wanted + 0.5) as usize).min(all) };
        self.carried = (wanted - lost as f64).clamp(-1.0, 1.0);
        let answered = all - lost;
        // Of more values than answers, or fewer, those of the same ranks.
        let rank = |n: usize| known.get((2 * n + 1) * known.len() / (2 * answered.max(1)));
        let mut codes: Vec<Code> =
            (0..answered).filter_map(rank).map(|seconds| Code::level(*seconds)).collect();
        codes.resize(all, Code::LOST);
        shuffle(&mut codes, &mut Rng::new(row.end_s));
        codes
    }
}

/// Fisher and Yates, in Durstenfeld's form.
fn shuffle(codes: &mut [Code], rng: &mut Rng) {
    for last in (1..codes.len()).rev() {
        codes.swap(last, rng.below(last as u64 + 1) as usize);
    }
}
