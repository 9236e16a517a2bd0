//! A receiver that fails, and the requests that it gets.
use fathom_units::{Bytes, Duration, Rng, Time};
use fathom_watch_metrics::Reply;
use fathom_watch_minimal::{News, Outbox, Packed};

/// The request of a minute, of 100 bytes.
fn packed(minute: u64) -> Packed {
    let mut body = vec![0; 100];
    body[..8].copy_from_slice(&minute.to_le_bytes());
    Packed { body, points: 8 }
}

fn minute_of(packed: &Packed) -> u64 {
    u64::from_le_bytes(packed.body[..8].try_into().unwrap())
}

fn retry() -> Reply {
    Reply::Retry { why: "HTTP 503".into(), after: None }
}

/// Runs for so many minutes. `reply` says what the receiver replies at a second. Returns the
/// minutes that it accepted, the news, and the number of attempts.
fn run(limit: usize, minutes: u64, reply: impl Fn(u64) -> Reply) -> (Vec<u64>, Vec<News>, u64) {
    let mut outbox = Outbox::new(limit, 1);
    let (mut accepted, mut news, mut attempts) = (Vec::new(), Vec::new(), 0);
    for second in 0..minutes * 60 {
        let now = Time::from_nanos(second * 1_000_000_000);
        if second % 60 == 0 {
            news.extend(outbox.push(packed(second / 60)));
        }
        while outbox.wait(now) == Some(Duration::ZERO) {
            let reply = reply(second);
            attempts += 1;
            if reply == Reply::Accepted {
                accepted.extend(outbox.next().map(minute_of));
            }
            news.extend(outbox.replied(reply, now));
        }
    }
    (accepted, news, attempts)
}

#[test]
fn an_outage_within_the_limit_loses_nothing_and_repeats_nothing() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let (from, to) = (rng.below(3_000), 3_000 + rng.below(3_000));
        let is_away = move |second| (from..to).contains(&second);
        let (accepted, news, attempts) =
            run(100 * 120, 120, |second| if is_away(second) { retry() } else { Reply::Accepted });
        assert_eq!(accepted, (0..120).collect::<Vec<_>>(), "seed {seed}");
        let limit = Bytes(12_000);
        let outage = News::Unreachable { why: "HTTP 503".into(), limit };
        assert_eq!(news, [outage, News::Reachable { dropped: 0 }], "seed {seed}");
        // At most an attempt a second at first, then about one a minute.
        let most = 120 + 10 + (to - from) / 45;
        assert!((120..=most).contains(&attempts), "seed {seed}: {attempts} attempts, more than {most}");
    }
}

#[test]
fn beyond_the_limit_the_oldest_are_dropped_and_counted() {
    let (accepted, news, _) =
        run(100 * 10, 60, |second| if second < 30 * 60 { retry() } else { Reply::Accepted });
    // At minute 30 the last ten wait, unless the pause is not over: then one more is dropped.
    let dropped = accepted[0];
    assert!((20..=22).contains(&dropped), "{dropped}");
    assert_eq!(accepted, (dropped..60).collect::<Vec<_>>());
    let limit = Bytes(1_000);
    let outage = News::Unreachable { why: "HTTP 503".into(), limit };
    assert_eq!(news, [outage, News::Full { limit }, News::Reachable { dropped: dropped * 8 }]);
}

#[test]
fn rejected_points_are_skipped_and_reported_once() {
    let (accepted, news, attempts) = run(10_000, 10, |second| match second / 60 {
        3..6 => Reply::Rejected("HTTP 400: no".into()),
        6 => Reply::PartlyAccepted(2, "too old".into()),
        _ => Reply::Accepted,
    });
    assert_eq!((accepted, attempts), (vec![0, 1, 2, 7, 8, 9], 10));
    let rejected = News::Rejected { points: 8, why: "HTTP 400: no".into() };
    assert_eq!(news, [rejected, News::Accepted { rejected: 26 }]);
}

#[test]
fn a_receiver_that_asks_for_a_pause_gets_it() {
    let mut outbox = Outbox::new(1_000, 1);
    outbox.push(packed(1));
    let asked = Duration::from_secs(33);
    outbox.replied(Reply::Retry { why: "HTTP 429".into(), after: Some(asked) }, Time::ZERO);
    assert_eq!(outbox.wait(Time::ZERO), Some(asked));
    // A newer request does not shorten the pause.
    outbox.push(packed(2));
    assert_eq!(outbox.wait(Time::ZERO), Some(asked));
    assert_eq!(outbox.wait(Time::ZERO + asked), Some(Duration::ZERO));
    assert_eq!(outbox.next().map(minute_of), Some(1));
}
