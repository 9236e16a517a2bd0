//! A fixed sample of small paths, judged in the ordinary tests. The full score takes minutes.
use crate::claims::ClaimKind;
use crate::draw::{self, Path};
use crate::measure::parse;
use crate::score::{score, simulated};
use crate::tally::{FalseAlarms, Row, tables, wrong};

const SEED: u64 = 25;
const PATHS: usize = 40;
/// Faster lines take long to simulate, bit/s.
const MAX_RATE: u64 = 12_000_000;

/// Least shares of right claims among those made. They are the level of today: raise them with the
/// diagnosis, and never lower them.
const RIGHT: [(ClaimKind, f64); 8] = [
    (ClaimKind::Bloat, 1.0),
    (ClaimKind::Direction, 1.0),
    (ClaimKind::DelayP50, 0.95),
    (ClaimKind::DelayMax, 0.98),
    (ClaimKind::Capacity, 0.75),
    (ClaimKind::Management, 0.95),
    (ClaimKind::Outage, 1.0),
    (ClaimKind::Loss, 0.9),
];

/// The first paths of the seed on which no link is fast.
fn paths() -> Vec<Path> {
    let is_small = |path: &Path| {
        let plan = parse(path).expect("a drawn path is valid");
        let sides = plan.line.hops.iter().flat_map(|hop| [&hop.up, &hop.down]);
        let slowest = [0, 1].map(|side| {
            let rates = sides.clone().skip(side).step_by(2).filter_map(|s| s.nominal_rate());
            rates.map(|rate| rate.as_bits_per_second()).min().unwrap_or(u64::MAX)
        });
        slowest.into_iter().all(|rate| rate <= MAX_RATE)
    };
    (0..).map(|index| draw::path(SEED, index)).filter(is_small).take(PATHS).collect()
}

#[test]
fn claims_about_a_fixed_sample_are_right() {
    let scored = score(&paths(), &simulated, &|| false).expect("drawn paths are valid");
    let report = || format!("{}\n{}", tables(&scored), wrong(&scored));
    assert_eq!(scored.len(), PATHS);
    // `cargo test -- --nocapture` shows the level of today.
    println!("{}", report());
    assert_eq!(FalseAlarms::of(&scored, false).wrong, 0, "healthy lines called bloated\n{}", report());
    assert_eq!(FalseAlarms::of(&scored, true).wrong, 0, "bloated lines called healthy\n{}", report());
    for (kind, least) in RIGHT {
        let share = Row::of(&scored, kind).right_share().unwrap_or(1.0);
        assert!(share >= least, "{}: {share:.3} right, expected {least}\n{}", kind.name(), report());
    }
}

#[test]
fn each_index_of_a_seed_is_another_valid_path() {
    let texts: std::collections::BTreeSet<String> = (0..500)
        .map(|index| {
            let path = draw::path(SEED, index);
            parse(&path).unwrap_or_else(|why| panic!("{why}\n{}", path.text));
            path.text
        })
        .collect();
    assert_eq!(texts.len(), 500);
}
