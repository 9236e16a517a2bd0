//! ICMP echo.
use crate::memory::{answered, row, start, tally, wait_for};
use fathom_test_support::in_new_namespace;
use fathom_units::Duration;
use fathom_watch_samples::Outcome;
use std::fmt::Write;

#[test]
fn two_thousand_targets_are_all_answered() {
    in_new_namespace(|| {
        let mut text = String::from("[watch]\nmax_packets_per_second = 10000\n[defaults]\ninterval = '1s'\n");
        for n in 0..2_000 {
            write!(text, "[[target]]\nname = 't{n}'\nhost = '127.1.{}.{}'\n", n / 200, n % 200 + 1).unwrap();
        }
        let (monitor, memory) = start(&text);
        wait_for("three answers each", || {
            let kept = memory.0.lock().unwrap();
            let done = kept.series.iter().filter(|s| s.samples.len() >= 3 && s.probe == "icmp").count();
            (done == 2_000).then_some(())
        });
        assert!(monitor.stop().is_empty());
        let kept = memory.0.lock().unwrap();
        assert!(kept.is_closed);
        let mut all = fathom_watch_samples::Tally::default();
        let mut delays = Vec::new();
        for series in kept.series.iter().filter(|s| s.probe == "icmp") {
            all.merge(&tally(&series.samples));
            delays.extend(series.samples.iter().filter_map(|s| match s.outcome {
                Outcome::Answered(delay) => Some(delay),
                _ => None,
            }));
        }
        assert_eq!((all.lost, all.failed, all.late), (0, 0, 0), "{all:?}");
        delays.sort_unstable();
        let median = delays[delays.len() / 2];
        // A few microseconds by kernel timestamps; the bound leaves room for a host that is busy
        // with other tests.
        assert!(median < Duration::from_millis(1), "median {median}");
    });
}

#[test]
fn both_families_with_dscp_and_source() {
    in_new_namespace(|| {
        let (monitor, memory) = start(
            "[defaults]\ninterval = '100ms'\n\
         [[target]]\nname = 'four'\nhost = 'localhost'\nfamily = 'ipv4'\ndscp = 'ef'\n\
         [[target]]\nname = 'six'\nhost = '::1'\nfamily = 'ipv6'\ndscp = 'ef'\n\
         [[target]]\nname = 'own'\nhost = '127.0.0.1'\nsource = '127.0.0.9'\nsize = 1400\n\
         [[target]]\nname = 'none'\nhost = '127.0.0.1'\nsource = '192.0.2.77'\n",
        );
        for (name, probe) in [("four", "icmp"), ("six", "icmp"), ("own", "icmp")] {
            wait_for(name, || (answered(&memory.samples(name, probe)) >= 5).then_some(()));
        }
        let failing = wait_for("a failure", || row(&monitor, "none", "icmp")?.failing_since);
        assert!(failing.1.contains("source address 192.0.2.77"), "{}", failing.1);
        let state = row(&monitor, "six", "icmp").unwrap();
        assert_eq!(state.address, Some("::1".parse().unwrap()));
        assert!(state.median.is_some() && state.failing_since.is_none());
        assert!(monitor.stop().is_empty());
        assert_eq!(answered(&memory.samples("none", "icmp")), 0);
    });
}

#[test]
fn a_name_that_does_not_resolve_fails_and_reports_since_when() {
    let (monitor, memory) =
        start("[[target]]\nname = 'gone'\nhost = 'no-such-host.invalid'\ninterval = '100ms'\n");
    let (since, reason) = wait_for("the reason", || {
        row(&monitor, "gone", "icmp")?.failing_since.filter(|(_, why)| why.contains("does not resolve"))
    });
    assert!(reason.contains("no-such-host.invalid"), "{reason}");
    wait_for("more failures", || (memory.samples("gone", "icmp").len() >= 5).then_some(()));
    assert_eq!(row(&monitor, "gone", "icmp").unwrap().failing_since.unwrap().0, since);
    assert!(monitor.stop().is_empty());
    let all = tally(&memory.samples("gone", "icmp"));
    assert_eq!((all.sent, all.lost), (0, 0), "{all:?}");
    assert_eq!(memory.events("address").len(), 1);
}
