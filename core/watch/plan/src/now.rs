//! The current state of a target, for the page and tables.
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use fathom_stats::percentile;
use fathom_units::{Duration, WallTime};
use fathom_watch_samples::{Outcome, RecentSample, Sample, ShortTime, Tally};

/// The period that a current state covers.
pub const WINDOW: Duration = Duration::from_secs(60);

/// The current state of one series of a target.
#[derive(Clone, PartialEq, Debug)]
pub struct TargetNow {
    /// The target with its group: `home/router`.
    pub name: String,
    /// The group; empty if there is none.
    pub group: String,
    /// Hostname or address as configured.
    pub host: String,
    /// The address that is probed; `None` while the name does not resolve.
    pub address: Option<IpAddr>,
    /// The series: `icmp`, `tcp:443`, `hop 3`.
    pub probe: String,
    /// Number of the series in the history.
    pub series: u32,
    /// Outcome of the last completed probe.
    pub last: Option<Outcome>,
    /// When that probe was sent.
    pub last_at: Option<WallTime>,
    /// Counts over the last minute.
    pub tally: Tally,
    /// Median delay over the last minute, late answers included, to the bucket width of the history
    /// (1.1 %).
    pub median: Option<Duration>,
    /// 95th percentile of the same delays.
    pub p95: Option<Duration>,
    /// Start of the current failure and its reason in words: `no answer`,
    /// `name does not resolve: ...`.
    pub failing_since: Option<(WallTime, String)>,
    /// Names of the raised alerts.
    pub alerts: Vec<String>,
}

/// The router that is known now at a hop of the path to a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RouterNow {
    /// The target with its group: `home/router`.
    pub target: String,
    /// The series: `hop 3`.
    pub probe: String,
    /// Its address.
    pub address: IpAddr,
    /// For how long this has been the address of this hop.
    pub known_for: Duration,
}

/// Outcomes of one series in the last minute. Compact, because there may be 100,000 series.
#[derive(Clone, Default, Debug)]
pub struct LastMinute {
    recent: VecDeque<RecentSample>,
    duplicates: VecDeque<ShortTime>,
    reordered: VecDeque<ShortTime>,
    last: Option<Sample>,
    failing_since: Option<WallTime>,
    reason: String,
}

/// Compares absolute ages: a send time may be slightly after `now`, and the clock may be set back.
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
    /// Adds duplicate and reordered replies.
    pub fn count(&mut self, at: WallTime, duplicates: u64, reordered: u64) {
        self.duplicates.extend((0..duplicates).map(|_| ShortTime::of(at)));
        self.reordered.extend((0..reordered).map(|_| ShortTime::of(at)));
        self.prune(at);
    }
    /// Sets the reason for failed probes; [`TargetNow::failing_since`] reports it.
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
    /// Fills `now` with the statistics of the minute that ends at `time`.
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
