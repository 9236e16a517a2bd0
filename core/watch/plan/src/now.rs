//! The state of a target now, as a page or a table shows it.
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use fathom_stats::percentile;
use fathom_units::{Duration, WallTime};
use fathom_watch_samples::{Outcome, RecentSample, Sample, ShortTime, Tally};

/// The window over which a state is summed up.
pub const WINDOW: Duration = Duration::from_secs(60);

/// A series of a target, as it is now.
#[derive(Clone, PartialEq, Debug)]
pub struct TargetNow {
    /// The target, with its group before it: `home/router`.
    pub name: String,
    /// Its group; empty for none.
    pub group: String,
    /// Name or address as the configuration has it.
    pub host: String,
    /// The address that is asked; `None` while there is none.
    pub address: Option<IpAddr>,
    /// The series: `icmp`, `tcp:443`, `hop 3`.
    pub probe: String,
    /// Its number in the history.
    pub series: u32,
    /// What came of the last probe that has an outcome.
    pub last: Option<Outcome>,
    /// When that probe was sent.
    pub last_at: Option<WallTime>,
    /// Counts over the last minute.
    pub tally: Tally,
    /// Median over the last minute's answers, late ones among them, to a bucket of the history (1.1 %).
    pub median: Option<Duration>,
    /// Their 95th percentile.
    pub p95: Option<Duration>,
    /// Since when there is no answer, and why, in words: `no answer`, `name does not resolve: ...`.
    pub failing_since: Option<(WallTime, String)>,
    /// Names of the alerts that are raised.
    pub alerts: Vec<String>,
}

/// The outcomes of a series' last minute, as small as they go: there may be 100,000 series.
#[derive(Clone, Default, Debug)]
pub struct LastMinute {
    recent: VecDeque<RecentSample>,
    duplicates: VecDeque<ShortTime>,
    reordered: VecDeque<ShortTime>,
    last: Option<Sample>,
    failing_since: Option<WallTime>,
    reason: String,
}

/// A time of sending may lie a little after what is taken for now; the clock may have been set back, too.
const fn is_within(at: ShortTime, now: WallTime) -> bool {
    at.age_ms(now).unsigned_abs() as u64 <= WINDOW.as_nanos() / 1_000_000
}

impl LastMinute {
    /// Adds an outcome.
    pub fn add(&mut self, sample: Sample) {
        if self.last.is_none_or(|last| last.at <= sample.at) {
            self.last = Some(sample);
            self.note(&sample);
        }
        self.recent.push_back(RecentSample::of(&sample));
        self.prune(sample.at);
    }
    fn note(&mut self, sample: &Sample) {
        if matches!(sample.outcome, Outcome::Answered(_) | Outcome::Late(_)) {
            self.failing_since = None;
        } else {
            self.failing_since.get_or_insert(sample.at);
        }
    }
    /// Replaces a loss by the late answer to the same probe.
    pub fn amend(&mut self, sample: Sample) {
        let amended = RecentSample::of(&sample);
        let lost = self.recent.iter_mut().find(|recent| recent.at == amended.at);
        lost.into_iter().for_each(|lost| *lost = amended);
        if self.last.is_some_and(|last| last.at == sample.at) {
            self.last = Some(sample);
        }
    }
    /// Counts duplicate and reordered replies.
    pub fn count(&mut self, at: WallTime, duplicates: u64, reordered: u64) {
        self.duplicates.extend((0..duplicates).map(|_| ShortTime::of(at)));
        self.reordered.extend((0..reordered).map(|_| ShortTime::of(at)));
        self.prune(at);
    }
    /// Sets why probes fail; it is reported with [`TargetNow::failing_since`].
    pub fn reason(&mut self, reason: &str) {
        if self.reason != reason {
            self.reason.clear();
            self.reason.push_str(reason);
        }
    }
    fn prune(&mut self, now: WallTime) {
        while self.recent.front().is_some_and(|recent| !is_within(recent.at, now)) {
            self.recent.pop_front();
        }
        for times in [&mut self.duplicates, &mut self.reordered] {
            while times.front().is_some_and(|at| !is_within(*at, now)) {
                times.pop_front();
            }
        }
    }
    /// Writes what it knows into `now`; `time` ends the minute.
    pub fn fill(&self, now: &mut TargetNow, time: WallTime) {
        let recent = self.recent.iter().filter(|recent| is_within(recent.at, time));
        let mut delays: Vec<f64> = Vec::with_capacity(self.recent.len());
        now.tally = Tally::default();
        for RecentSample { code, .. } in recent {
            now.tally.add(*code);
            delays.extend(code.value());
        }
        let count =
            |times: &VecDeque<ShortTime>| times.iter().filter(|at| is_within(**at, time)).count() as u64;
        (now.tally.duplicates, now.tally.reordered) = (count(&self.duplicates), count(&self.reordered));
        let mut at = |share| percentile(&mut delays, share).map(Duration::from_secs_f64);
        (now.median, now.p95) = (at(0.5), at(0.95));
        now.last = self.last.map(|s| s.outcome);
        now.last_at = self.last.map(|s| s.at);
        now.failing_since = self.failing_since.map(|since| (since, self.why()));
    }
    fn why(&self) -> String {
        let failed = matches!(self.last.map(|s| s.outcome), Some(Outcome::Failed));
        if failed && !self.reason.is_empty() { self.reason.clone() } else { String::from("no answer") }
    }
}
