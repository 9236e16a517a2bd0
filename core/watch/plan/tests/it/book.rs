//! Answers in time, late, lost, twice, out of order, and from nowhere.
use fathom_units::{Duration, Rng, Time, WallTime};
use fathom_watch_plan::{Answer, Book, Echo, KEPT};
use fathom_watch_samples::{Outcome, Sample};
use std::collections::BTreeMap;

const S: fn(u64) -> Duration = Duration::from_secs;
const TIMEOUT: Duration = Duration::from_secs(5);

const fn second(n: u64) -> Time {
    Time::from_nanos(n * 1_000_000_000)
}
/// Wall time begins elsewhere.
const fn wall(n: u64) -> WallTime {
    WallTime((1_700_000_000 + n) * 1_000_000_000)
}
fn sample(n: u64, outcome: Outcome) -> Sample {
    Sample { at: wall(n), outcome }
}
fn sent(book: &mut Book, n: u64) -> Echo {
    book.send(wall(n), second(n))
}

#[test]
fn an_answer_is_first_late_or_amends_a_loss() {
    let mut book = Book::default();
    let echoes: Vec<Echo> = (0..4).map(|n| sent(&mut book, n)).collect();
    book.left(0, second(0) + Duration::from_millis(1));
    let answer = |of: &mut Book, n: usize, at| of.answered(&echoes[n], at, TIMEOUT).answer;
    let delay = Duration::from_millis(29);
    assert_eq!(
        answer(&mut book, 0, second(0) + Duration::from_millis(30)),
        Answer::First(sample(0, Outcome::Answered(delay)))
    );
    // After its timeout, but before anyone looked.
    assert_eq!(answer(&mut book, 1, second(8)), Answer::First(sample(1, Outcome::Late(S(7)))));
    assert_eq!(book.expire(second(8), TIMEOUT), Some(sample(2, Outcome::Lost)));
    assert_eq!(book.expire(second(8), TIMEOUT), None, "the fourth has waited just as long");
    assert_eq!(book.outstanding(), 1);
    // 716 s was seen.
    assert_eq!(answer(&mut book, 2, second(718)), Answer::Amends(sample(2, Outcome::Late(S(716)))));
    for _ in 0..2 {
        assert_eq!(answer(&mut book, 2, second(719)), Answer::Duplicate);
    }
    assert_eq!(answer(&mut book, 0, second(0) + KEPT + S(1)), Answer::Unknown, "older than what is kept");
    let never = Echo { sequence: 4, at: wall(4), sent: second(4) };
    assert_eq!(book.answered(&never, second(5), TIMEOUT).answer, Answer::Unknown);
}

#[test]
fn what_was_overtaken_is_reordered() {
    let mut book = Book::default();
    let echoes: Vec<Echo> = (0..5).map(|n| sent(&mut book, n)).collect();
    let order = [0, 2, 1, 2, 4, 3];
    let seen = order.map(|n: usize| book.answered(&echoes[n], second(6), S(60)).reordered);
    assert_eq!(seen, [false, false, true, false, false, true]);
}

#[test]
fn a_probe_that_could_not_be_sent_leaves_no_trace() {
    let mut book = Book::default();
    let first = sent(&mut book, 0);
    let second_one = sent(&mut book, 1);
    book.take_back(second_one);
    assert_eq!(sent(&mut book, 2).sequence, 1);
    book.take_back(first);
    assert_eq!(book.outstanding(), 1);
}

/// Against a map of every probe ever sent.
#[test]
fn the_book_agrees_with_one_that_forgets_nothing() {
    for seed in 0..60 {
        let (mut rng, mut book) = (Rng::new(seed), Book::default());
        let mut oracle: BTreeMap<u32, (Echo, Option<Outcome>)> = BTreeMap::new();
        let mut on_the_way: Vec<(u64, u32)> = Vec::new();
        for n in 0..2_000_u64 {
            let echo = sent(&mut book, n);
            oracle.insert(echo.sequence, (echo, None));
            // Lost, or answered after some seconds, some of them twice.
            for _ in 0..rng.below(3) {
                let delay = if rng.chance(0.1) { rng.below(1_000) } else { rng.below(4) };
                on_the_way.push((n + delay, echo.sequence));
            }
            while let Some(lost) = book.expire(second(n), TIMEOUT) {
                let (_, outcome) = oracle.values_mut().find(|(e, _)| e.at == lost.at).unwrap();
                assert_eq!(outcome.replace(lost.outcome), None, "seed {seed}");
            }
            let (now, later): (Vec<_>, Vec<_>) = on_the_way.iter().partition(|(at, _)| *at <= n);
            on_the_way = later;
            for (_, sequence) in now {
                let (probe, outcome) = oracle.get_mut(&sequence).unwrap();
                let delay = second(n).saturating_since(probe.sent);
                let in_time = if delay > TIMEOUT { Outcome::Late(delay) } else { Outcome::Answered(delay) };
                let want = match outcome {
                    None => Answer::First(Sample { at: probe.at, outcome: in_time }),
                    Some(Outcome::Lost) => {
                        Answer::Amends(Sample { at: probe.at, outcome: Outcome::Late(delay) })
                    }
                    Some(_) => Answer::Duplicate,
                };
                assert_eq!(
                    book.answered(probe, second(n), TIMEOUT).answer,
                    want,
                    "seed {seed}, second {n}, probe {sequence}"
                );
                *outcome = Some(in_time);
            }
        }
    }
}
