//! Three lab captures with known ground truth: 1 Mbit/s behind 64000 bytes, 16 packets dropped.
use crate::capture::{each_packet, lab, lab_folder};
use fathom_flow::Times;
use fathom_path::{Captures, Evidence, PathReport, Settings};

/// The capture at the sender, the one behind the queue, and the one at the receiver.
const NAMES: [&str; 3] = ["up-sender", "up-behind", "up-receiver"];
const DROPS: u64 = 16;

/// Adds all packets of a file, with times changed by `clock`.
fn add(captures: &mut Captures, number: usize, file: &[u8], clock: impl Fn(i64) -> i64) {
    each_packet(file, |times, packet| {
        captures.packet(number, packet, Times { at: clock(times.at), ..times });
    });
}

/// Report for this order of captures, with clocks off by `shift_ns` and `skew_ppm`.
fn report(order: [usize; 3], clocks: [(i64, i64); 3]) -> PathReport {
    let mut captures = Captures::new(3, Settings::default());
    for (number, file) in order.into_iter().enumerate() {
        let (shift_ns, skew_ppm) = clocks[number];
        let since = 1_795_283_690_000_000_000;
        let clock = |at: i64| at + shift_ns + (at - since) / 1_000_000 * skew_ppm;
        add(&mut captures, number, &lab(NAMES[file]), clock);
    }
    captures.finish().unwrap()
}

#[test]
fn results_equal_the_ground_truth_with_any_clocks() {
    let truth: String = std::fs::read_to_string(lab_folder().join("truth.txt")).unwrap();
    let row = truth.lines().find(|line| line.starts_with("up-sender")).unwrap();
    assert_eq!(row.split_whitespace().nth(8), Some("16"), "drops of the truth");
    let second = 1_000_000_000;
    let cases = [
        ([0, 1, 2], [(0, 0); 3]),
        ([2, 0, 1], [(7 * second, 40), (-3 * second, -60), (0, 0)]),
        ([1, 2, 0], [(-second / 3, 5), (90 * second, 90), (second, -90)]),
    ];
    for (order, clocks) in cases {
        let report = report(order, clocks);
        let [up, down] = &report.directions;
        let files = |captures: &[usize]| captures.iter().map(|capture| order[*capture]).collect::<Vec<_>>();
        assert_eq!((files(&up.captures), files(&down.captures)), (vec![0, 1, 2], vec![2, 1, 0]));
        let [queue, rest] = up.hops.as_slice() else { panic!("{} hops", up.hops.len()) };
        assert_eq!((queue.lost, rest.lost, queue.evidence), (DROPS, 0, Evidence::HopLimit));
        // 63950 bytes at 1 Mbit/s.
        let most = queue.delays.unwrap().max_ns / 1e6;
        assert!((most - 511.6).abs() < 5.0, "{most} ms with {clocks:?}");
        // Each dropped packet arrived at a full queue.
        assert!(
            queue.losses.iter().all(|loss| loss.before_ns.is_some_and(|met| met > 485e6)),
            "{:?}",
            queue.losses
        );
        assert!(down.hops.iter().all(|hop| hop.lost == 0 && hop.delays.unwrap().p95_ns < 1e6));
        assert!(up.hops.iter().chain(&down.hops).all(|hop| hop.clock.is_steady && hop.reordered == 0));
    }
}
