//! The routers of a path through this test's own namespaces.
use crate::memory::{answered, row, start, wait_for};
use fathom_test_support::{NamespaceRow, in_new_namespace};
use fathom_watch_samples::Outcome;

#[test]
fn each_router_is_a_series_and_a_new_one_is_reported() {
    in_new_namespace(|| {
        let row_of_four = NamespaceRow::new(4);
        for n in 0..4 {
            row_of_four.sh(n, "sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0");
        }
        row_of_four.enter(0);
        let (monitor, memory) = start(
            "[watch]\ninterface = 'none'\n[defaults]\ninterval = '500ms'\nprobe = ['icmp', 'hops']\nmax_hops = 6\n\
         [[target]]\nname = 'four'\nhost = '10.8.2.2'\n\
         [[target]]\nname = 'six'\nhost = 'fd08:2::2'\n",
        );
        for (name, addresses) in
            [("four", ["10.8.0.2", "10.8.1.2", "10.8.2.2"]), ("six", ["fd08:0::2", "fd08:1::2", "fd08:2::2"])]
        {
            for (n, address) in addresses.into_iter().enumerate() {
                let probe = format!("hop {}", n + 1);
                wait_for(&format!("{name} {probe}"), || {
                    (answered(&memory.samples(name, &probe)) >= 3).then_some(())
                });
                assert_eq!(row(&monitor, name, &probe).unwrap().address, Some(address.parse().unwrap()));
            }
            assert!(memory.of(name, "hop 4").is_none(), "nothing lies beyond the end");
        }
        let known = |name: &str| -> Vec<String> {
            let all = monitor.live().routers();
            let own = all.iter().filter(|router| router.target == name);
            own.map(|router| format!("{}: {}", router.probe, router.address)).collect()
        };
        assert_eq!(known("four"), ["hop 1: 10.8.0.2", "hop 2: 10.8.1.2", "hop 3: 10.8.2.2"]);
        assert_eq!(known("six"), ["hop 1: fd08::2", "hop 2: fd08:1::2", "hop 3: fd08:2::2"]);
        // The first router answers from another address from now on.
        row_of_four.sh(1, "ip addr del 10.8.0.2/24 dev left; ip addr add 10.8.0.9/24 dev left; ip route replace 10.8.0.0/24 dev left");
        row_of_four
            .sh(0, "ip route replace 10.8.2.0/24 via 10.8.0.9; ip route replace 10.8.1.0/24 via 10.8.0.9");
        let text = wait_for("the change of path", || memory.events("path").pop());
        assert!(text.contains("hop 1 changed from 10.8.0.2 to 10.8.0.9"), "{text}");
        wait_for("the other router", || (known("four")[0] == "hop 1: 10.8.0.9").then_some(()));
        let routers = monitor.live().routers();
        let known_for =
            |probe: &str| routers.iter().find(|r| r.target == "four" && r.probe == probe).unwrap().known_for;
        assert!(known_for("hop 1") < known_for("hop 2"), "it is new");
        assert!(monitor.stop().is_empty());
        let first = memory.samples("four", "hop 3");
        assert!(first.iter().any(|s| matches!(s.outcome, Outcome::Answered(d) if d.as_secs_f64() < 1.0)));
    });
}
