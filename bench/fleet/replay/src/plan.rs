//! Which points are sent, with which labels and times. The same plan checks them.
use crate::message::{put_histogram, put_label, put_sample, put_series};
use crate::recording::{Recording, Series, Value};
use crate::site::Site;
use crate::{Failure, Words};
use serde_json::{Value as Json, json};

/// A replay. In each round, each site sends one point of each of its series.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Plan {
    /// Numbers of the sites, the second excluded.
    pub(crate) sites: (u64, u64),
    /// Number of rounds.
    pub(crate) rounds: u64,
    /// Rounds of this recording that other replays of these sites sent before.
    pub(crate) skip: u64,
    /// Rounds that all replays of these sites need together.
    pub(crate) span: u64,
    /// Time of the first point, since 1970.
    pub(crate) begin_ms: i64,
    /// Time between rounds.
    pub(crate) step_ms: i64,
    /// Results of tests, instead of everything else.
    pub(crate) tests: bool,
    /// Determines labels and beginnings.
    pub(crate) seed: u64,
}

/// A point that was sent.
pub(crate) struct Point<'a> {
    pub(crate) at_ms: i64,
    pub(crate) value: &'a Value,
    /// What a number is multiplied by.
    pub(crate) factor: f64,
}

impl Plan {
    /// Reads it from words.
    pub(crate) fn of(words: &Words) -> Result<Plan, Failure> {
        let rounds = words.number("rounds", 1)?;
        let skip = words.number("skip", 0)?;
        Ok(Plan {
            sites: (words.number("from", 0)?, words.text("sites")?.parse()?),
            rounds,
            skip,
            span: words.number("span", rounds + skip)?,
            begin_ms: words.text("begin_ms")?.parse()?,
            step_ms: words.number("step_ms", 60_000)?,
            tests: words.number("tests", 0u8)? == 1,
            seed: words.number("seed", 1)?,
        })
    }
    pub(crate) fn to_json(&self) -> Json {
        json!({
            "from": self.sites.0, "sites": self.sites.1, "rounds": self.rounds, "skip": self.skip,
            "span": self.span, "begin_ms": self.begin_ms, "step_ms": self.step_ms,
            "tests": u8::from(self.tests), "seed": self.seed,
        })
    }
    /// Reads it from a ledger.
    pub(crate) fn of_json(json: &Json) -> Result<Plan, Failure> {
        let pairs = json.as_object().ok_or("no plan")?.iter();
        Plan::of(&Words(pairs.map(|(key, value)| (key.clone(), value.to_string())).collect()))
    }
    /// When a site sends in a round: sites are spread over the time between rounds.
    pub(crate) fn at_ms(&self, site: u64, round: u64) -> i64 {
        let (from, to) = self.sites;
        let phase = (site - from) as f64 / (to - from) as f64 * self.step_ms as f64;
        self.begin_ms + round as i64 * self.step_ms + phase as i64
    }
    /// The recording that a site replays, and its first slot.
    fn source<'a>(&self, site: &Site, all: &'a [Recording]) -> Result<(&'a Recording, i64), Failure> {
        let place = usize::try_from(site.recording)? % all.len();
        let recording = all.get(place).ok_or("no recording")?;
        let (first, last) = recording.slots;
        let length = u64::try_from(last - first)? + 1;
        if self.span > length && !self.tests {
            return Err(format!("{} rounds of a recording with {length}", self.span).into());
        }
        let begin = if self.tests { 0 } else { site.begin % (length - self.span + 1) + self.skip };
        Ok((recording, first + begin as i64))
    }
    /// What a site sends in a round.
    pub(crate) fn points<'a>(
        &self,
        (number, site): (u64, &Site),
        round: u64,
        all: &'a [Recording],
    ) -> Result<Vec<(&'a Series, Point<'a>)>, Failure> {
        let (recording, first) = self.source(site, all)?;
        let at_ms = self.at_ms(number, round);
        let wanted = recording.series.iter().filter(|series| series.is_of_test == self.tests);
        Ok(wanted
            .filter_map(|series| {
                let value =
                    if self.tests { series.test(round + self.skip) } else { series.at(first + round as i64) };
                let factor = if self.tests { site.factor } else { 1.0 };
                Some((series, Point { at_ms, value: value?, factor }))
            })
            .collect())
    }
    /// Adds what a site sends in a round to a request. Returns the number of samples.
    pub(crate) fn encode(
        &self,
        of: (u64, &Site),
        round: u64,
        all: &[Recording],
        out: &mut Vec<u8>,
    ) -> Result<u64, Failure> {
        let points = self.points(of, round, all)?;
        let mut bytes = Vec::with_capacity(1_024);
        for (series, point) in &points {
            bytes.clear();
            for (name, value) in &series.labels {
                put_label(&mut bytes, name, of.1.label(name).unwrap_or(value));
            }
            match point.value {
                Value::Number(value) => put_sample(&mut bytes, value * point.factor, point.at_ms),
                Value::Histogram(_, encoded) => put_histogram(&mut bytes, encoded, point.at_ms),
            }
            put_series(out, &bytes);
        }
        Ok(points.len() as u64)
    }
}
