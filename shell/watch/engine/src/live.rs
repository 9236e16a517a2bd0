//! The current state of all series, shared with readers.
use crate::report::SeriesSlot;
use fathom_os::clock::{boot_now, wall_now};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_plan::{LastMinute, OwnState, RouterNow, TargetNow};
use fathom_watch_samples::{Code, Outcome, Sample, Sketch, Tally};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The current state of each series, shared between the history writer and readers.
#[derive(Default, Debug)]
pub struct LiveState {
    rows: Mutex<Vec<Option<Row>>>,
    host: Mutex<BTreeMap<SeriesSlot, HostSeries>>,
    own: Mutex<OwnState>,
    tests: Mutex<BTreeMap<String, Vec<(&'static str, f64)>>>,
    /// Start and end of the last test.
    tested: Mutex<Option<(WallTime, Option<WallTime>)>>,
}

/// The period that counts as now for this host's own state: the usual interval of scrapers.
const NOW: Duration = Duration::from_secs(15);

/// A router that has not answered for so long is no longer known: the path may have become shorter,
/// or another one may be there that never answers. The least frequent probe is one per day.
const ROUTER_KEPT: Duration = Duration::from_secs(25 * 3_600);

/// Recent values of a host series.
#[derive(Debug)]
struct HostSeries {
    probe: String,
    values: VecDeque<(WallTime, f64)>,
}

/// Values of a host series in the last 15 seconds.
#[derive(Clone, PartialEq, Debug)]
pub struct HostNow {
    /// Name of the series: `eth0 sent`, `lateness of icmp`.
    pub probe: String,
    /// Mean, in the unit of the series.
    pub mean: f64,
    /// Maximum.
    pub max: f64,
}

impl HostSeries {
    fn add(&mut self, at: WallTime, value: f64) {
        let is_old =
            |first: &(WallTime, f64)| at.0.saturating_sub(first.0.0) >= NOW.as_nanos() || first.0 > at;
        while self.values.front().is_some_and(is_old) {
            self.values.pop_front();
        }
        self.values.push_back((at, value));
    }
    fn at(&self, time: WallTime) -> Option<HostNow> {
        let is_now = |value: &&(WallTime, f64)| time.0.saturating_sub(value.0.0) < NOW.as_nanos();
        let values: Vec<f64> = self.values.iter().filter(is_now).map(|value| value.1).collect();
        let max = values.iter().copied().reduce(f64::max)?;
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Some(HostNow { probe: self.probe.clone(), mean, max })
    }
}

#[derive(Debug)]
struct Row {
    now: TargetNow,
    minute: LastMinute,
    tally: Tally,
    sketch: Sketch,
    since: WallTime,
    router: Option<Router>,
}

/// The router at a hop.
#[derive(Clone, Copy, Debug)]
struct Router {
    address: IpAddr,
    /// When this became its address. By the clock since the boot, which is never set.
    since: Time,
    /// When it answered last.
    answered: Time,
}

/// Cumulative counts of a series since it was added to the plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Total {
    /// Current state of the series.
    pub now: TargetNow,
    /// Counts of outcomes.
    pub tally: Tally,
    /// Histogram of the delays, including late answers.
    pub sketch: Sketch,
    /// Start of counting.
    pub since: WallTime,
}

impl Row {
    fn new(now: TargetNow) -> Self {
        let (minute, since) = (LastMinute::default(), wall_now());
        Row { now, minute, tally: Tally::default(), sketch: Sketch::default(), since, router: None }
    }
    /// The address is that of the router also after the name of the target was resolved again.
    fn at(&self, time: WallTime) -> TargetNow {
        let mut now = self.now.clone();
        now.address = self.router.map(|router| router.address).or(now.address);
        self.minute.fill(&mut now, time);
        now
    }
    fn router_is(&mut self, address: IpAddr, time: Time) {
        let since = self.router.filter(|before| before.address == address).map_or(time, |same| same.since);
        self.router = Some(Router { address, since, answered: time });
    }
    fn answered(&mut self, outcome: Outcome, time: Time) {
        if matches!(outcome, Outcome::Answered(_) | Outcome::Late(_)) {
            self.router.iter_mut().for_each(|router| router.answered = time);
        }
    }
    fn router_at(&self, time: Time) -> Option<RouterNow> {
        let is_known = |router: &Router| time.saturating_since(router.answered) <= ROUTER_KEPT;
        let router = self.router.filter(is_known)?;
        Some(RouterNow {
            target: self.now.name.clone(),
            probe: self.now.probe.clone(),
            address: router.address,
            known_for: time.saturating_since(router.since),
        })
    }
}

/// The rows under a lock.
pub(crate) struct LockedRows<'b> {
    rows: MutexGuard<'b, Vec<Option<Row>>>,
}

impl LiveState {
    pub(crate) fn lock(&self) -> LockedRows<'_> {
        LockedRows { rows: self.rows.lock().unwrap_or_else(PoisonError::into_inner) }
    }
    /// The routers on the paths of all targets with the probe `hops`.
    #[must_use]
    pub fn routers(&self) -> Vec<RouterNow> {
        let time = boot_now();
        self.lock().rows.iter().flatten().filter_map(|row| row.router_at(time)).collect()
    }
    /// All series that have a sample or a reason for having none, in plan order.
    #[must_use]
    pub fn targets(&self) -> Vec<TargetNow> {
        let time = wall_now();
        let locked = self.lock();
        locked.rows.iter().flatten().map(|row| row.at(time)).collect()
    }
    /// This host's own values in the last seconds; series without recent values are omitted.
    #[must_use]
    pub fn host(&self) -> Vec<HostNow> {
        let time = wall_now();
        self.lock_host().values().filter_map(|series| series.at(time)).collect()
    }
    /// The values of the last result of each test, by name of the test: those of its series that
    /// have one, in seconds, bit/s and bytes.
    #[must_use]
    pub fn tests(&self) -> BTreeMap<String, Vec<(&'static str, f64)>> {
        self.lock_tests().clone()
    }
    /// Notes that a test begins to load the line.
    pub fn begin_test(&self, at: WallTime) {
        *self.lock_tested() = Some((at, None));
    }
    /// Notes that the test has ended, and the queue is empty again.
    pub fn end_test(&self, at: WallTime) {
        self.lock_tested().iter_mut().for_each(|(_, end)| *end = Some(at));
    }
    /// Whether a test loaded the line at this time.
    pub(crate) fn was_tested(&self, at: WallTime) -> bool {
        let tested = *self.lock_tested();
        tested.is_some_and(|(begin, end)| at >= begin && end.is_none_or(|end| at < end))
    }
    fn lock_tested(&self) -> MutexGuard<'_, Option<(WallTime, Option<WallTime>)>> {
        self.tested.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Records the result of a test; a failed one has no values.
    pub(crate) fn set_test(&self, name: &str, values: Vec<(&'static str, f64)>) {
        self.lock_tests().insert(name.to_owned(), values);
    }
    pub(crate) fn remove_test(&self, name: &str) {
        self.lock_tests().remove(name);
    }
    fn lock_tests(&self) -> MutexGuard<'_, BTreeMap<String, Vec<(&'static str, f64)>>> {
        self.tests.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// The state of the program itself.
    #[must_use]
    pub fn own(&self) -> OwnState {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    pub(crate) fn set_own(&self, own: OwnState) {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = own;
    }
    pub(crate) fn open_host(&self, slot: SeriesSlot, probe: String) {
        self.lock_host().insert(slot, HostSeries { probe, values: VecDeque::new() });
    }
    /// Records a value if the series is a host series.
    pub(crate) fn host_value(&self, slot: SeriesSlot, at: WallTime, value: f64) {
        self.lock_host().get_mut(&slot).into_iter().for_each(|series| series.add(at, value));
    }
    fn lock_host(&self) -> MutexGuard<'_, BTreeMap<SeriesSlot, HostSeries>> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Cumulative counts of each series.
    #[must_use]
    pub fn totals(&self) -> Vec<Total> {
        let time = wall_now();
        let locked = self.lock();
        let total = |row: &Row| Total {
            now: row.at(time),
            tally: row.tally,
            sketch: row.sketch.clone(),
            since: row.since,
        };
        locked.rows.iter().flatten().map(total).collect()
    }
}

impl LockedRows<'_> {
    pub(crate) fn open(&mut self, slot: SeriesSlot, now: TargetNow) {
        let index = slot as usize;
        if self.rows.len() <= index {
            self.rows.resize_with(index + 1, || None);
        }
        if let Some(row) = self.rows.get_mut(index) {
            *row = Some(Row::new(now));
        }
    }
    pub(crate) fn close(&mut self, slot: SeriesSlot) {
        self.rows.get_mut(slot as usize).into_iter().for_each(|row| *row = None);
    }
    pub(crate) fn address(&mut self, slot: SeriesSlot, address: IpAddr) {
        self.row(slot).into_iter().for_each(|row| row.now.address = Some(address));
    }
    /// The address of the router at this hop.
    pub(crate) fn router(&mut self, slot: SeriesSlot, address: IpAddr, time: Time) {
        self.row(slot).into_iter().for_each(|row| row.router_is(address, time));
    }
    /// Adds a sample that was reported at `time`.
    pub(crate) fn sample(&mut self, slot: SeriesSlot, sample: Sample, time: Time) {
        let Some(row) = self.row(slot) else { return };
        row.answered(sample.outcome, time);
        row.minute.add(sample);
        let code = Code::of(sample.outcome);
        row.tally.add(code);
        row.sketch.add(code);
    }
    pub(crate) fn amend(&mut self, slot: SeriesSlot, sample: Sample) {
        let Some(row) = self.row(slot) else { return };
        row.minute.amend(sample);
        // It was counted as lost before.
        row.tally.lost = row.tally.lost.saturating_sub(1);
        row.tally.late += 1;
        row.sketch.add(Code::of(sample.outcome));
    }
    pub(crate) fn count(&mut self, slot: SeriesSlot, at: WallTime, duplicates: u64, reordered: u64) {
        let Some(row) = self.row(slot) else { return };
        row.minute.count(at, duplicates, reordered);
        row.tally.duplicates += duplicates;
        row.tally.reordered += reordered;
    }
    pub(crate) fn reason(&mut self, slot: SeriesSlot, reason: &str) {
        self.row(slot).into_iter().for_each(|row| row.minute.reason(reason));
    }
    pub(crate) fn alerts(&mut self, slot: SeriesSlot, names: Vec<String>) {
        self.row(slot).into_iter().for_each(|row| row.now.alerts.clone_from(&names));
    }
    /// Number of a series in the history; `None` before its first sample.
    pub(crate) fn number(&mut self, slot: SeriesSlot) -> Option<u32> {
        self.row(slot).map(|row| row.now.series)
    }
    fn row(&mut self, slot: SeriesSlot) -> Option<&mut Row> {
        self.rows.get_mut(slot as usize)?.as_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_router_is_known_from_its_address_until_it_is_silent_for_a_day() {
        let at = |s: u64| Time::from_nanos(s * 1_000_000_000);
        let (first, second): (IpAddr, IpAddr) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        let now = TargetNow {
            name: "far".into(),
            group: String::new(),
            host: "far.example.net".into(),
            address: "198.51.100.1".parse().ok(),
            probe: "hop 2".into(),
            series: 0,
            last: None,
            last_at: None,
            tally: Tally::default(),
            median: None,
            p95: None,
            failing_since: None,
            alerts: Vec::new(),
        };
        let mut row = Row::new(now);
        row.answered(Outcome::Answered(Duration::from_millis(1)), at(5));
        assert_eq!(row.router_at(at(9)), None, "its address is that of the target");
        let known = |address, s| {
            let known_for = Duration::from_secs(s);
            Some(RouterNow { target: "far".into(), probe: "hop 2".into(), address, known_for })
        };
        row.router_is(first, at(10));
        assert_eq!(row.router_at(at(25)), known(first, 15));
        // The name was resolved again, and the prober started again.
        row.now.address = "198.51.100.2".parse().ok();
        row.router_is(first, at(30));
        assert_eq!((row.router_at(at(35)), row.at(WallTime(0)).address), (known(first, 25), Some(first)));
        // A change of the path.
        row.router_is(second, at(40));
        assert_eq!(row.router_at(at(41)), known(second, 1));
        // Only answers show that it is still there.
        let day = 25 * 3_600;
        row.answered(Outcome::Late(Duration::from_secs(6)), at(50));
        row.answered(Outcome::Lost, at(60));
        row.answered(Outcome::Failed, at(70));
        assert_eq!(row.router_at(at(50 + day)), known(second, 10 + day));
        assert_eq!(row.router_at(at(51 + day)), None);
    }

    #[test]
    fn of_this_host_the_last_seconds_count() {
        let at = |s: u64| WallTime(s * 1_000_000_000);
        let mut series = HostSeries { probe: "eth0 sent".into(), values: VecDeque::new() };
        assert_eq!(series.at(at(1)), None, "nothing was read");
        for (second, value) in [(1, 900.0), (20, 1.0), (25, 5.0), (30, 3.0)] {
            series.add(at(second), value);
        }
        let now = |mean, max| Some(HostNow { probe: "eth0 sent".into(), mean, max });
        assert_eq!(series.at(at(31)), now(3.0, 5.0));
        assert_eq!(series.at(at(36)), now(4.0, 5.0));
        assert_eq!(series.at(at(45)), None, "what is old is not now");
        // After the clock is set back, the old values no longer count.
        series.add(at(7), 8.0);
        assert_eq!(series.at(at(8)), now(8.0, 8.0));
        assert_eq!(series.values.len(), 1);
    }
}
