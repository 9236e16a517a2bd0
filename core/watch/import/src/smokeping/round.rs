//! Converts a SmokePing database to samples.
use crate::rrd::{Archive, Row, Rrd};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_units::{Rng, WallTime};
use fathom_watch_samples::{Code, Stored};

/// Most probes of a round: a larger count means corrupt data.
const MAX_PINGS: usize = 10_000;

/// The content of a database.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Rounds {
    /// Samples in order of time. A database keeps only the sorted values of a round. The values are
    /// shuffled with the time of the round as seed: in sorted order, each round would look like a
    /// growing queue.
    pub samples: Vec<Stored>,
    /// Period in which values are averages of many rounds. RRDtool averages each rank separately,
    /// which understates the tails.
    pub averaged: Option<(WallTime, WallTime)>,
    /// Probes per round.
    pub pings: usize,
    /// Number of rounds with all values known.
    pub rounds: u64,
    /// Number of rows of averages used.
    pub averages: u64,
}

/// Reads the rounds of a database. Averages are used only where no finer rows exist.
///
/// # Errors
/// If it is not a SmokePing database.
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

/// Positions of a round's values in a row.
struct Places {
    loss: usize,
    median: usize,
    pings: Vec<usize>,
}

impl Places {
    fn of(rrd: &Rrd<'_>) -> Result<Places, String> {
        let not = || "is not a SmokePing database (without loss, median, ping1)".to_string();
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
    /// Fraction of a lost probe, carried to the next row so that the total loss is right.
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
    /// The outcome of each probe of a row; empty if unknown.
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
        // If the numbers of values and answers differ, take the values at the same ranks.
        let rank = |n: usize| known.get((2 * n + 1) * known.len() / (2 * answered.max(1)));
        let mut codes: Vec<Code> =
            (0..answered).filter_map(rank).map(|seconds| Code::level(*seconds)).collect();
        codes.resize(all, Code::LOST);
        shuffle(&mut codes, &mut Rng::new(row.end_s));
        codes
    }
}

/// Fisher-Yates shuffle in Durstenfeld's form.
fn shuffle(codes: &mut [Code], rng: &mut Rng) {
    for last in (1..codes.len()).rev() {
        codes.swap(last, rng.below(last as u64 + 1) as usize);
    }
}
