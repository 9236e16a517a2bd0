//! Any bytes as the listing of another host: read and judged, never a panic.
use fathom_audit::{Asked, Facts, Seen, audit, links, listing};
use fathom_units::{Rate, Time};

pub(crate) fn check(bytes: &[u8]) {
    let (tree, _) = listing(bytes);
    let facts = Facts::of(&tree);
    let mut seen = Seen::default();
    for second in 0..3 {
        seen.add(&tree, Time::from_nanos(second * 1_000_000_000));
    }
    let given = Asked { line: Some(Rate::from_bits_per_second(1)), ..Asked::default() };
    for asked in [Asked::default(), given] {
        for watched in [None, Some(&seen)] {
            let places = audit(&facts, &asked, watched);
            assert!(places.iter().all(|place| (1..=26).contains(&place.spot.number())));
            assert!(links(&facts, &asked, watched).len() <= facts.interfaces.len());
        }
    }
}
