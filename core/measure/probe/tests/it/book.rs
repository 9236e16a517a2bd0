//! Replies in time, late, after a loss, duplicate, reordered, and unknown.
use fathom_probe::{Book, LossPolicy, Probe, RETENTION, Reply, ReplyKind};
use fathom_units::{Duration, Rng, Time, WallTime};
use std::collections::BTreeMap;

const S: fn(u64) -> Duration = Duration::from_secs;
const TIMEOUT: Duration = Duration::from_secs(5);

const fn second(n: u64) -> Time {
    Time::from_nanos(n * 1_000_000_000)
}
/// Wall-clock time has a different origin.
const fn wall(n: u64) -> WallTime {
    WallTime((1_700_000_000 + n) * 1_000_000_000)
}
const fn book(timeout: Duration) -> Book<WallTime> {
    Book::new(LossPolicy::after(timeout))
}
fn sent(book: &mut Book<WallTime>, n: u64) -> Probe<WallTime> {
    book.send(wall(n), second(n))
}
const fn reply(kind: ReplyKind, n: u64, delay: Duration) -> Reply<WallTime> {
    Reply { kind, at: wall(n), delay, is_reordered: false }
}

#[test]
fn a_reply_is_in_time_late_or_after_a_loss() {
    let mut book = book(TIMEOUT);
    let probes: Vec<_> = (0..4).map(|n| sent(&mut book, n)).collect();
    book.departed(0, second(0) + Duration::from_millis(1));
    let delay = Duration::from_millis(29);
    let received = second(0) + Duration::from_millis(30);
    assert_eq!(book.reply(&probes[0], received), reply(ReplyKind::InTime, 0, delay));
    // After the timeout, but before the next expiry check.
    assert_eq!(book.reply(&probes[1], second(8)), reply(ReplyKind::Late, 1, S(7)));
    assert_eq!(book.expire(second(8)).map(|lost| lost.at), Some(wall(2)));
    assert_eq!(book.expire(second(8)), None, "the fourth has waited just as long");
    assert_eq!((book.outstanding(), book.oldest_outstanding()), (1, Some(second(3))));
    // 716 s were seen in practice.
    assert_eq!(book.reply(&probes[2], second(718)), reply(ReplyKind::AfterLoss, 2, S(716)));
    for _ in 0..2 {
        assert_eq!(book.reply(&probes[2], second(719)).kind, ReplyKind::Duplicate);
    }
    let too_old = second(0) + RETENTION + S(1);
    assert_eq!(book.reply(&probes[0], too_old).kind, ReplyKind::Unknown);
    let never = Probe { sequence: 4, at: wall(4), sent: second(4) };
    assert_eq!(book.reply(&never, second(5)).kind, ReplyKind::Unknown);
}

#[test]
fn a_reply_after_one_to_a_later_probe_is_reordered() {
    let mut book = book(S(60));
    let probes: Vec<_> = (0..5).map(|n| sent(&mut book, n)).collect();
    let order = [0, 2, 1, 2, 4, 3];
    let seen = order.map(|n: usize| book.reply(&probes[n], second(6)).is_reordered);
    assert_eq!(seen, [false, false, true, false, false, true]);
}

#[test]
fn a_probe_that_could_not_be_sent_leaves_no_trace() {
    let mut book = book(TIMEOUT);
    let first = sent(&mut book, 0);
    let last = sent(&mut book, 1);
    book.cancel(last.sequence);
    assert_eq!(sent(&mut book, 2).sequence, 1);
    book.cancel(first.sequence);
    assert_eq!(book.outstanding(), 1);
}

#[test]
fn a_book_without_timeout_accepts_late_replies() {
    let mut book: Book<WallTime> = Book::new(LossPolicy::NEVER);
    let probe = sent(&mut book, 0);
    assert_eq!(book.expire(Time::MAX), None);
    assert_eq!(book.reply(&probe, second(1_000_000)).kind, ReplyKind::InTime);
}

#[test]
fn a_long_outage_takes_one_entry() {
    let mut book = book(TIMEOUT);
    let mut lost = 0;
    for n in 0..10_000 {
        sent(&mut book, n);
        lost += u64::from(book.expire(second(n)).is_some());
    }
    assert_eq!((lost, book.outstanding()), (10_000 - 6, 6));
    let late = Probe { sequence: 9_000, at: wall(9_000), sent: second(9_000) };
    assert_eq!(book.reply(&late, second(10_000)).kind, ReplyKind::AfterLoss);
    assert_eq!(book.reply(&late, second(10_000)).kind, ReplyKind::Duplicate);
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Outstanding,
    Lost,
    Answered,
}

/// Compares the book with a map of every probe ever sent.
#[test]
fn the_book_equals_one_with_unlimited_memory() {
    for seed in 0..60 {
        let (mut rng, mut book) = (Rng::new(seed), book(TIMEOUT));
        let mut oracle: BTreeMap<u32, (Probe<WallTime>, Fate)> = BTreeMap::new();
        let mut in_flight: Vec<(u64, u32)> = Vec::new();
        for n in 0..2_000_u64 {
            let new = sent(&mut book, n);
            oracle.insert(new.sequence, (new, Fate::Outstanding));
            // Lost, or answered after some seconds, some of them twice.
            for _ in 0..rng.below(3) {
                let delay = if rng.chance(0.1) { rng.below(1_000) } else { rng.below(4) };
                in_flight.push((n + delay, new.sequence));
            }
            while let Some(lost) = book.expire(second(n)) {
                let (probe, fate) = oracle.get_mut(&lost.sequence).unwrap();
                assert_eq!((*probe, *fate), (lost, Fate::Outstanding), "seed {seed}");
                *fate = Fate::Lost;
            }
            let (now, later): (Vec<_>, Vec<_>) = in_flight.iter().partition(|(at, _)| *at <= n);
            in_flight = later;
            for (_, sequence) in now {
                let (probe, fate) = oracle.get_mut(&sequence).unwrap();
                let delay = second(n).saturating_since(probe.sent);
                let kind = match fate {
                    Fate::Outstanding if delay > TIMEOUT => ReplyKind::Late,
                    Fate::Outstanding => ReplyKind::InTime,
                    Fate::Lost => ReplyKind::AfterLoss,
                    Fate::Answered => ReplyKind::Duplicate,
                };
                let got = book.reply(probe, second(n));
                let want = Reply { kind, at: probe.at, delay, is_reordered: got.is_reordered };
                assert_eq!(got, want, "seed {seed}, second {n}, probe {sequence}");
                *fate = Fate::Answered;
            }
        }
    }
}
