//! Causes of retransmissions compared with the sending kernel's counters: testdata/trace/kernel.
use crate::capture::{read, trace};
use fathom_flow::{Causes, End};
use std::path::Path;

struct Counters {
    name: String,
    /// Retransmissions: all; in recovery; in slow start; by timeout; of retransmissions.
    numbers: [u64; 5],
}

fn counters() -> Vec<Counters> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/trace/kernel");
    let text = std::fs::read_to_string(folder.join("truth.txt")).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let row = |line: &str| {
        let (name, numbers) = line.split_once(' ').unwrap();
        let numbers: Vec<u64> = numbers.split_whitespace().map(|number| number.parse().unwrap()).collect();
        Counters { name: name.to_owned(), numbers: numbers.try_into().unwrap() }
    };
    rows.map(row).collect()
}

fn causes(name: &str) -> Causes {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/trace/kernel");
    let (flows, ()) = trace(&read(&folder.join(format!("{name}.pcap.gz"))), ());
    let each = flows.flows.iter().map(|flow| flow.sent_by(End::A).retransmissions);
    each.fold(Causes::default(), |sum, one| Causes {
        fast: sum.fast + one.fast,
        probe: sum.probe + one.probe,
        timeout: sum.timeout + one.timeout,
        spurious: sum.spurious + one.spurious,
        unknown: sum.unknown + one.unknown,
    })
}

#[test]
fn every_retransmission_has_the_cause_of_the_kernel() {
    for Counters { name, numbers: [again, fast, slow_start, timeouts, lost_again] } in counters() {
        let counted = causes(&name);
        assert_eq!(
            (counted.total(), counted.spurious, counted.unknown),
            (again, 0, 0),
            "{name}: {counted:?}"
        );
        if timeouts == 0 {
            assert_eq!((counted.fast + counted.probe, counted.timeout), (fast, 0), "{name}: {counted:?}");
            assert!((lost_again..=lost_again + 1).contains(&counted.probe), "{name}: {counted:?}");
        } else {
            // After a timeout the kernel may detect that it was spurious and continue in recovery.
            // From outside these retransmissions look the same. This was the case for 7 of 365.
            let by_timer = slow_start + timeouts;
            assert!((by_timer..=by_timer + 7).contains(&counted.timeout), "{name}: {counted:?}");
        }
    }
}
