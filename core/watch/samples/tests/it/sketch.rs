//! Sketches, compared with the sorted list of all values.
use fathom_units::Rng;
use fathom_watch_samples::{Code, Sketch, Tally, Window, Windows};

/// Largest error of the representative value of a bucket.
const LARGEST_ERROR: f64 = 0.010_83;

/// Delays of a link with a queue: mostly near 20 ms, some far higher.
fn values(rng: &mut Rng, count: u64) -> Vec<f64> {
    let value = |_| (20_000 + rng.exponential(3_000) + u64::from(rng.chance(0.02)) * 400_000) as f64 / 1e6;
    (0..count).map(value).collect()
}

fn sketch(values: &[f64]) -> Sketch {
    let mut sketch = Sketch::default();
    values.iter().for_each(|v| sketch.add_value(*v));
    sketch
}

#[test]
fn quantiles_are_within_the_error_of_a_bucket() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let count = 1 + rng.below(3_000);
        let mut all = values(&mut rng, count);
        let sketch = sketch(&all);
        all.sort_by(f64::total_cmp);
        assert_eq!(sketch.count(), all.len() as u64);
        let near = |got: Option<f64>, want: f64| got.is_some_and(|g| (g / want - 1.0).abs() < LARGEST_ERROR);
        for q in [0.0, 0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1.0] {
            let rank = (q * all.len() as f64).ceil().max(1.0) as usize;
            assert!(near(sketch.quantile(q), all[rank - 1]), "seed {seed}, q {q}");
        }
        assert!(near(sketch.min(), all[0]) && near(sketch.max(), all[all.len() - 1]), "seed {seed}");
        assert!(near(Some(sketch.sum()), all.iter().sum()), "seed {seed}");
    }
}

#[test]
fn any_order_of_merging_gives_the_same() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let all = values(&mut rng, 1_000);
        let whole = sketch(&all);
        let mut parts: Vec<Sketch> = Vec::new();
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            let (part, more) = rest.split_at((1 + rng.below(200) as usize).min(rest.len()));
            parts.push(sketch(part));
            rest = more;
        }
        while parts.len() > 1 {
            let taken = parts.swap_remove(rng.below(parts.len() as u64) as usize);
            let into = rng.below(parts.len() as u64) as usize;
            parts[into].merge(&taken);
        }
        assert!(parts[0] == whole, "seed {seed}");
    }
}

#[test]
fn empty_ones_and_zeros() {
    let mut sketch = Sketch::default();
    assert_eq!((sketch.min(), sketch.max(), sketch.quantile(0.5), sketch.count()), (None, None, None, 0));
    for code in [Code::LOST, Code::FAILED] {
        sketch.add(code);
    }
    assert_eq!(sketch, Sketch::default(), "what has no value is not counted");
    sketch.add_value(0.0);
    assert_eq!((sketch.min(), sketch.max(), sketch.quantile(1.0)), (Some(0.0), Some(0.0), Some(0.0)));
    sketch.add_value(1.0);
    assert_eq!((sketch.quantile(0.5), sketch.zero_count(), sketch.count()), (Some(0.0), 1, 2));
    assert!(sketch.max().is_some_and(|m| (m - 1.0).abs() < 0.011));
    assert_eq!(sketch.buckets().collect::<Vec<_>>(), [(0, 1)]);
}

#[test]
fn an_amended_window_is_one_of_the_amended_samples() {
    let late = Code::from_number(4 + 3072 + 900).expect("a late code");
    let (mut amended, mut straight) = (Window::default(), Window::default());
    for code in [Code::LOST, Code::LOST, Code::FAILED, Code::level(0.02)] {
        amended.add(code);
    }
    amended.amend(late);
    for code in [Code::LOST, late, Code::FAILED, Code::level(0.02)] {
        straight.add(code);
    }
    assert_eq!(amended, straight);
    let want = Tally { sent: 3, answered: 1, late: 1, lost: 1, failed: 1, ..Tally::default() };
    assert_eq!((amended.tally, amended.tally.loss_ratio()), (want, Some(1.0 / 3.0)));
    assert_eq!(Tally::default().loss_ratio(), None);
}

#[test]
fn windows_of_other_lengths_are_merged_by_adding() {
    let mut rng = Rng::new(3);
    let chunk = super::support::any_chunk(&mut rng);
    let (mut fine, mut coarse, mut merged) =
        (Windows::new(600_000), Windows::new(3_600_000), Windows::new(3_600_000));
    fine.add_chunk(&chunk);
    coarse.add_chunk(&chunk);
    merged.merge(&fine);
    assert_eq!(coarse, merged);
    assert_eq!(Windows::decode(&fine.encode()), Ok(fine));
}
