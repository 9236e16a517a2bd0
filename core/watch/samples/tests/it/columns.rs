//! Columns of a plot: edges without gap or overlap, each sample in exactly one column.
use super::support::{START_MS, any_chunk};
use fathom_units::{Rng, WallTime};
use fathom_watch_samples::{Chunk, Code, Column, Columns, Mark, Stored, Windows};

const NANOS_PER_MILLI: u64 = 1_000_000;

fn wall(ms: u64) -> WallTime {
    WallTime(ms * NANOS_PER_MILLI)
}

#[test]
fn edges_have_no_hole_and_no_overlap() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let from = wall(START_MS).0 + rng.below(1 << 50);
        let to = from + rng.below(1 << 55);
        let step = [1, 600_000, 3_600_000, 86_400_000][rng.below(4) as usize];
        let count = 1 + rng.below(2_000) as usize;
        let columns = Columns::new(WallTime(from), WallTime(to), count, step).finish();
        assert!(columns.len() <= count, "seed {seed}");
        assert!(columns.windows(2).all(|w| w[0].to == w[1].from), "seed {seed}");
        assert!(
            columns.iter().all(|c| c.from < c.to && c.from.0 % (step * NANOS_PER_MILLI) == 0),
            "seed {seed}"
        );
        if let (Some(first), Some(last)) = (columns.first(), columns.last()) {
            assert!(first.from.0 <= from && last.to.0 >= to, "seed {seed}");
        }
    }
    assert!(Columns::new(wall(5), wall(5), 10, 1).finish().is_empty(), "no time");
    assert!(Columns::new(wall(9), wall(5), 10, 1).finish().is_empty(), "backwards");
    assert!(Columns::new(wall(5), wall(9), 0, 1).finish().is_empty(), "no columns");
}

#[test]
fn each_sample_is_in_the_column_of_its_time() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let chunk = any_chunk(&mut rng);
        let (from, to) = (START_MS + rng.below(2_000_000), START_MS + 2_000_000 + rng.below(4_000_000));
        let within = START_MS + 1_000_000..START_MS + 3_000_000;
        let mut columns = Columns::new(wall(from), wall(to), 1 + rng.below(300) as usize, 1);
        columns.add_chunk(&chunk, &within);
        for column in columns.finish() {
            let mut naive = Column { from: column.from, to: column.to, ..Column::default() };
            let inside = |ms: u64| within.contains(&ms) && (column.from..column.to).contains(&wall(ms));
            for sample in chunk.samples.iter().filter(|s| inside(s.at_ms)) {
                naive.tally.add(sample.code);
                naive.sketch.add(sample.code);
            }
            for mark in chunk.marks.iter().filter(|m| inside(m.at_ms)) {
                naive.tally.duplicates += mark.duplicates;
                naive.tally.reordered = naive.tally.reordered.saturating_add(mark.reordered);
            }
            assert_eq!(column, naive, "seed {seed}");
        }
    }
}

#[test]
fn columns_of_windows_are_those_of_their_samples() {
    let mut rng = Rng::new(11);
    let samples = (0..10_000).map(|n| {
        let code = Code::level(0.02 + rng.next_f64());
        Stored { at_ms: START_MS + n * 5_000, code }
    });
    let chunk = Chunk {
        samples: samples.collect(),
        marks: vec![Mark { at_ms: START_MS, duplicates: 2, reordered: 1 }],
    };
    let mut windows = Windows::new(600_000);
    windows.add_chunk(&chunk);
    let new = || Columns::new(wall(START_MS), wall(START_MS + 86_400_000), 13, 600_000);
    let (mut of_samples, mut of_windows) = (new(), new());
    of_samples.add_chunk(&chunk, &(0..u64::MAX));
    of_windows.add_windows(&windows, &(0..u64::MAX));
    assert_eq!(of_samples.finish(), of_windows.finish());
}
