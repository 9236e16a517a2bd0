//! Counts of periods, compared with those of all samples.
use fathom_probe::{Reply, ReplyKind};
use fathom_units::{Duration, Rng, Time, WallTime};
use fathom_watch_minimal::{Counted, PeriodConfig, Periods};
use fathom_watch_samples::{Code, Outcome, Window};
use std::collections::BTreeMap;

const CONFIG: PeriodConfig = PeriodConfig {
    interval: Duration::from_secs(60),
    timeout: Duration::from_secs(5),
    settle: Duration::from_secs(20),
};
/// 40 s before the end of a minute.
const START_MS: u64 = 1_700_000_000_000;

const fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

const fn wall(ms: u64) -> WallTime {
    WallTime((START_MS + ms) * 1_000_000)
}

const fn reply(kind: ReplyKind, delay_ms: u64, is_reordered: bool) -> Reply {
    Reply { kind, at: (), delay: Duration::from_millis(delay_ms), is_reordered }
}

fn periods() -> Periods {
    Periods::new(CONFIG, 1, wall(0))
}

/// The points until a time: end of the period since the start, and the counts of the first target.
fn complete(periods: &mut Periods, ms: u64) -> Vec<(u64, Window)> {
    let mut points = Vec::new();
    periods.complete(at(ms), wall(ms), &mut |_, counted| points.extend(points_of(counted)));
    points
}

fn points_of(counted: &[Counted]) -> Vec<(u64, Window)> {
    counted[0].points.iter().map(|(at_ms, window)| (at_ms - START_MS, window.clone().unwrap())).collect()
}

/// What can happen to a probe, at which time after it was sent.
enum Fate {
    Replies(Vec<(u64, Reply)>),
    Failed,
}

fn fate(rng: &mut Rng) -> (Fate, Option<Outcome>) {
    let delay_ms = 1 + rng.below(400);
    let late_ms = 5_001 + rng.below(14_000);
    let first = |ms| (ms, reply(ReplyKind::InTime, ms, false));
    match rng.below(20) {
        0 | 1 => (Fate::Replies(Vec::new()), Some(Outcome::Lost)),
        2 => (Fate::Failed, Some(Outcome::Failed)),
        3 => (Fate::Replies(vec![first(late_ms)]), Some(Outcome::Late(Duration::from_millis(late_ms)))),
        // After it has settled, it stays lost.
        4 => (Fate::Replies(vec![first(21_000 + delay_ms)]), Some(Outcome::Lost)),
        _ => (Fate::Replies(vec![first(delay_ms)]), Some(Outcome::Answered(Duration::from_millis(delay_ms)))),
    }
}

#[test]
fn points_have_the_counts_of_all_probes_that_were_sent_before() {
    for seed in 0..50 {
        let mut rng = Rng::new(seed);
        let mut periods = periods();
        let (mut truth, mut arriving): (Vec<(u64, Outcome)>, BTreeMap<_, _>) = Default::default();
        let mut seen = Vec::new();
        for ms in (0..400_000).step_by(100) {
            if ms % 1_000 == 300 && ms < 330_000 {
                let (fate, outcome) = fate(&mut rng);
                truth.extend(outcome.map(|outcome| (ms, outcome)));
                match fate {
                    Fate::Failed => periods.failed(0, wall(ms)),
                    Fate::Replies(replies) => {
                        periods.sent(0, at(ms), wall(ms));
                        for (delay_ms, reply) in replies {
                            arriving.insert((ms + delay_ms, ms), reply);
                        }
                    }
                }
            }
            while let Some(entry) = arriving.first_entry().filter(|entry| entry.key().0 <= ms) {
                let (_, sent_ms) = *entry.key();
                let arrived = entry.remove();
                periods.reply(0, at(sent_ms), &arrived);
            }
            seen.extend(complete(&mut periods, ms).into_iter().map(|point| (ms, point)));
        }
        let ends: Vec<u64> = seen.iter().map(|(_, (end_ms, _))| *end_ms).collect();
        assert_eq!(ends, [0, 40_000, 100_000, 160_000, 220_000, 280_000, 340_000], "seed {seed}");
        for (ms, (end_ms, got)) in seen {
            assert!(ms >= end_ms + 20_000 && ms < end_ms + 21_000 || end_ms == 0, "{end_ms} known at {ms}");
            let mut want = Window::default();
            for (_, outcome) in truth.iter().filter(|(sent_ms, _)| *sent_ms < end_ms) {
                want.add(Code::of(*outcome));
            }
            assert_eq!(got, want, "seed {seed}: the point at {end_ms}");
        }
    }
}

#[test]
fn duplicate_and_reordered_replies_belong_to_the_period_of_their_probe() {
    let mut periods = periods();
    for ms in [39_000, 39_500, 41_000] {
        periods.sent(0, at(ms), wall(ms));
    }
    periods.reply(0, at(39_500), &reply(ReplyKind::InTime, 1_600, false));
    periods.reply(0, at(39_000), &reply(ReplyKind::InTime, 2_200, true));
    periods.reply(0, at(39_500), &reply(ReplyKind::Duplicate, 2_300, false));
    periods.reply(0, at(41_000), &reply(ReplyKind::InTime, 10, false));
    periods.reply(0, at(7), &reply(ReplyKind::InTime, 10, false));
    let points = complete(&mut periods, 60_000);
    let tally = points[1].1.tally;
    assert_eq!((points[1].0, tally.answered, tally.duplicates, tally.reordered), (40_000, 2, 1, 1));
    assert_eq!(complete(&mut periods, 120_000)[0].1.tally.answered, 3);
}

#[test]
fn a_clock_that_is_set_forward_loses_no_probe() {
    let mut periods = periods();
    periods.sent(0, at(1_000), wall(1_000));
    // A year.
    let ahead = |ms: u64| wall(ms + 31_536_000_000);
    let mut points = Vec::new();
    let mut complete = |from: &mut Periods, ms| {
        from.complete(at(ms), ahead(ms), &mut |_, counted| points.extend(points_of(counted)));
    };
    complete(&mut periods, 2_000);
    periods.reply(0, at(1_000), &reply(ReplyKind::InTime, 1_500, false));
    periods.sent(0, at(3_000), ahead(3_000));
    periods.reply(0, at(3_000), &reply(ReplyKind::InTime, 5, false));
    complete(&mut periods, 62_000);
    let counts: Vec<_> = points.iter().map(|(end_ms, w)| (*end_ms, w.tally.answered, w.tally.lost)).collect();
    assert_eq!(counts, [(0, 0, 0), (40_000, 1, 0), (31_536_000_000 + 40_000, 2, 0)]);
}

#[test]
fn a_clock_that_is_set_back_sends_no_time_again() {
    let mut periods = periods();
    periods.sent(0, at(1_000), wall(1_000));
    periods.reply(0, at(1_000), &reply(ReplyKind::InTime, 5, false));
    assert_eq!(complete(&mut periods, 61_000).len(), 2);
    // An hour before the start.
    let back = |ms: u64| WallTime(wall(ms).0 - 3_600_000_000_000);
    periods.sent(0, at(70_000), back(70_000));
    periods.reply(0, at(70_000), &reply(ReplyKind::InTime, 5, false));
    let mut points = Vec::new();
    periods.complete(at(700_000), back(700_000), &mut |_, counted| points.extend(points_of(counted)));
    assert_eq!(points, []);
    // It catches up.
    let caught_up = complete(&mut periods, 800_000);
    assert_eq!(
        caught_up.iter().map(|(end_ms, w)| (*end_ms, w.tally.answered)).collect::<Vec<_>>(),
        [(100_000, 2)]
    );
}

#[test]
fn the_end_has_the_counts_so_far_and_a_new_start_is_later() {
    let mut periods = periods();
    for ms in [1_000, 30_000, 50_000, 59_000] {
        periods.sent(0, at(ms), wall(ms));
    }
    periods.reply(0, at(50_000), &reply(ReplyKind::InTime, 5, false));
    let mut points = Vec::new();
    periods.finish(at(59_100), wall(59_100), &mut |_, counted| points.extend(points_of(counted)));
    let counts: Vec<_> = points.iter().map(|(end_ms, w)| (*end_ms, w.tally.answered, w.tally.lost)).collect();
    // The first two are lost; of the last, nothing is known.
    assert_eq!(counts, [(0, 0, 0), (40_000, 0, 2), (59_100, 1, 2)]);
    assert!(Periods::new(CONFIG, 1, wall(59_200)).since_ms() > START_MS + 59_100);
    let mut again = Vec::new();
    periods.finish(at(59_200), wall(59_200), &mut |_, counted| again.extend(points_of(counted)));
    assert_eq!(again, []);
}
