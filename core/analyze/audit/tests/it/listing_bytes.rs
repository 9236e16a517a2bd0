//! Property of arbitrary bytes as a listing: they are parsed and audited without a panic.
use fathom_audit::{Facts, KnownRates, Observed, audit, listing};
use fathom_units::{Rate, Time};

pub(crate) fn check(bytes: &[u8]) {
    let (tree, _) = listing(bytes);
    let facts = Facts::of(&tree);
    let mut loaded = Observed::default();
    for second in 0..3 {
        loaded.add(&tree, Time::from_nanos(second * 1_000_000_000));
    }
    let slow = KnownRates { line: Some(Rate::from_bits_per_second(1)), ..KnownRates::default() };
    for known in [KnownRates::default(), slow] {
        for observed in [None, Some(&loaded)] {
            let audit = audit(&facts, &known, observed);
            let numbers = audit.queues.iter().map(|queue| queue.point.queue.kind().number());
            assert!(numbers.into_iter().all(|number| (1..=26).contains(&number)));
            assert!(audit.host.interfaces.len() <= facts.interfaces.len());
        }
    }
}
