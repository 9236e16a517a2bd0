//! Recording, reading at every zoom and reopening, in virtual time.
use super::support::{DAY, Dir, HOUR, SECOND, START, all, kept, key, naive, open, sample, seldom};
use fathom_units::{Duration, Rng, WallTime};
use fathom_watch_samples::{Outcome, Sample};
use fathom_watch_store::{HistoryConfig, HistoryReader};

/// Records series every `step` seconds and flushes every second.
fn record(dir: &Dir, series: u32, seconds: u64, step: u64) -> Vec<Vec<Sample>> {
    let mut history = open(&dir.0, &seldom());
    let ids: Vec<_> =
        (0..series).map(|n| history.series(&key(&format!("target-{n}"))).expect("room")).collect();
    let mut recorded = vec![Vec::new(); series as usize];
    for second in (0..seconds).step_by(step as usize) {
        let at = WallTime(START + second * SECOND);
        for id in &ids {
            let sample = sample(id.0, at);
            history.record(*id, &[sample]);
            recorded[id.0 as usize].push(sample);
        }
        assert!(history.flush(at).is_empty());
    }
    history.save(WallTime(START + seconds * SECOND));
    assert_eq!((history.status().unsaved_samples, &history.status().trouble), (0, &None));
    recorded
}

#[test]
fn every_sample_is_read_at_every_zoom() {
    let dir = Dir::new();
    let recorded = record(&dir, 2, 2 * 86_400 + 5_000, 5);
    let mut reader = HistoryReader::open(&dir.0).unwrap();
    let series = reader.series().unwrap();
    assert_eq!(series.len(), 2);
    for (id, name) in series {
        assert_eq!(name, key(&format!("target-{}", id.0)));
        let want = kept(&recorded[id.0 as usize]);
        assert!(all(&dir.0, id) == want, "series {id:?}");
        assert_eq!(reader.newest(id).unwrap(), want.last().copied());
        let spans = [
            (0, 3 * DAY, 3),
            (0, 3 * DAY, 30),
            (0, 3 * DAY, 200),
            (DAY / 2, DAY / 2 + 3 * HOUR, 1200),
            (2 * DAY, 2 * DAY + 2 * HOUR, 100),
            (0, 365 * DAY, 1200),
        ];
        for (from, to, count) in spans {
            let columns = reader.columns(id, WallTime(START + from), WallTime(START + to), count).unwrap();
            assert!(!columns.is_empty() && columns.len() <= count);
            assert!(columns == naive(&columns, &want), "from {from} to {to} in {count}");
            assert!(columns.windows(2).all(|w| w[0].to == w[1].from), "no hole and no overlap");
        }
    }
}

#[test]
fn saved_samples_are_there_after_reopening() {
    let dir = Dir::new();
    let mut recorded = Vec::new();
    for round in 0..5 {
        let mut history = open(&dir.0, &HistoryConfig::default());
        let id = history.series(&key("one")).unwrap();
        for n in 0..700 {
            let at = WallTime(START + (round * 700 + n) * SECOND);
            history.record(id, &[sample(0, at)]);
            recorded.push(sample(0, at));
            history.flush(at);
        }
        history.save(WallTime(START + (round * 700 + 699) * SECOND));
        drop(history);
        assert!(all(&dir.0, id) == kept(&recorded), "round {round}");
    }
}

#[test]
fn a_late_answer_amends_its_sample_wherever_it_is() {
    let dir = Dir::new();
    let mut history = open(&dir.0, &seldom());
    let id = history.series(&key("one")).unwrap();
    let seconds = 3 * 86_400;
    let mut recorded: Vec<Sample> = (0..seconds)
        .step_by(10)
        .map(|s| Sample { at: WallTime(START + s * SECOND), outcome: Outcome::Lost })
        .collect();
    for sample in &recorded {
        history.record(id, &[*sample]);
        history.flush(sample.at);
    }
    let now = WallTime(START + seconds * SECOND);
    history.save(now);
    // A sample of a past day, of an earlier hour today, of a part, of the open slot, and one not
    // yet in the journal.
    let last = recorded.len() - 1;
    for back in [last, last / 2, 2_000, 500, 100, 5, 0] {
        let late = Sample { outcome: Outcome::Late(Duration::from_secs(716)), ..recorded[last - back] };
        history.amend(id, late);
        history.save(now);
        recorded[last - back] = late;
        assert!(all(&dir.0, id) == kept(&recorded), "{back} back");
        let mut reader = HistoryReader::open(&dir.0).unwrap();
        for count in [1, 3, 72, 300, 1000] {
            let columns = reader.columns(id, WallTime(START), now, count).unwrap();
            assert!(columns == naive(&columns, &kept(&recorded)), "{back} back, {count} columns");
        }
    }
    assert_eq!(history.status().unmatched, 0);
    history.amend(id, Sample { at: WallTime(START + 1), outcome: Outcome::Late(Duration::ZERO) });
    history.save(now);
    assert_eq!(history.status().unmatched, 1);
}

/// Reads a history with gaps as the page does: in periods, of which empty ones lead to the next
/// sample.
#[test]
fn periods_without_samples_are_skipped_and_no_sample_is_missed() {
    let dir = Dir::new();
    let mut history = open(&dir.0, &seldom());
    let ids = [history.series(&key("one")).unwrap(), history.series(&key("two")).unwrap()];
    let (mut recorded, mut rng) = (Vec::new(), Rng::new(5));
    let mut at = START;
    for _ in 0..60 {
        at += rng.below(5 * DAY / SECOND) * SECOND;
        for n in 0..rng.below(400) {
            let id = ids[usize::from(n % 3 == 0)];
            let one = sample(id.0, WallTime(at + n * 30 * SECOND));
            history.record(id, &[one]);
            if id == ids[0] {
                recorded.push(one);
            }
        }
        at += 400 * 30 * SECOND;
        assert!(history.flush(WallTime(at)).is_empty());
    }
    history.save(WallTime(at));
    let mut reader = HistoryReader::open(&dir.0).unwrap();
    let want = kept(&recorded);
    for _ in 0..5 {
        let begin = rng.below(START / SECOND) * SECOND;
        let (mut from, mut steps, mut read) = (WallTime(begin), 0, Vec::new());
        while from.0 < u64::MAX / 2 {
            let to = WallTime(from.0 + 6 * HOUR);
            let some = reader.samples(ids[0], from, to).unwrap();
            let next = if some.is_empty() { reader.next(ids[0], to).unwrap() } else { Some(to) };
            read.extend(some);
            steps += 1;
            from = next.map_or(WallTime(u64::MAX), |next| WallTime(next.0.max(to.0)));
        }
        assert!(read == want, "from {begin}");
        assert!(steps < 200, "{steps} reads of 60 bursts");
    }
    reader.stop_when(std::sync::Arc::new(true.into()));
    let stopped = reader.samples(ids[0], WallTime(0), WallTime(at)).unwrap_err().to_string();
    assert!(stopped.contains("interrupted"), "{stopped}");
}
