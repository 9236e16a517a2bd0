//! Cross traffic: workloads that cross part of the line.
use crate::common::{number, run, within};
use fathom_scenario::Plan;
use fathom_sim::Outcome;

/// Two hops: `a`, next to the user, with 5 ms each way, and `b` with 20 ms; the same up and down.
fn plan(a: &str, b: &str, rest: &str) -> Plan {
    let hop = |name: &str, side: &str| {
        format!("[[hop]]\nname = \"{name}\"\nup = {{ {side} }}\ndown = {{ {side} }}\n")
    };
    let (a, b) = (hop("a", &format!("{a}, delay = \"5ms\"")), hop("b", &format!("{b}, delay = \"20ms\"")));
    let text = format!("name = \"x\"\nabout = \"x\"\nsource = \"x\"\n{a}{b}{rest}");
    fathom_scenario::parse(&text, "x.toml").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn workload(name: &str, keys: &str) -> String {
    format!("[[workload]]\nname = \"{name}\"\n{keys}\n")
}

fn delivered(outcome: &Outcome, workload: &str) -> f64 {
    outcome
        .flows
        .iter()
        .filter(|flow| flow.workload == workload)
        .map(|flow| flow.delivered_packets as f64)
        .sum()
}

#[test]
fn a_flow_takes_its_share_only_at_the_bottleneck_it_crosses() {
    // In one FIFO all lose alike: 6 + 8 Mbit/s get 6/14 and 8/14 of 10 Mbit/s. `a` has room for
    // all.
    let workloads = [
        ("both", "rate = \"6mbit\""),
        ("first", "rate = \"5mbit\"\nto_hop = \"a\""),
        ("second", "rate = \"8mbit\"\nfrom_hop = \"b\""),
    ];
    let workloads =
        workloads.map(|(name, keys)| workload(name, &format!("kind = \"poisson\"\n{keys}"))).concat();
    let side = |rate| format!("rate = \"{rate}mbit\", overhead = \"0b\", queue = \"fifo limit 50p\"");
    let rest = format!("{workloads}[run]\nduration = \"60s\"\nsample_every = \"1s\"\n");
    let outcome = run(&plan(&side(20), &side(10), &rest));
    let share = |name: &str| delivered(&outcome, name) * 12_000.0 / 60.0 / 1e6;
    within(share("both"), 0.97 * 60.0 / 14.0, 1.03 * 60.0 / 14.0);
    within(share("second"), 0.97 * 80.0 / 14.0, 1.03 * 80.0 / 14.0);
    // 25000 packets have a standard deviation of 160.
    within(share("first"), 0.98 * 5.0, 1.02 * 5.0);
    let c = outcome.counted;
    assert_eq!(c.entered, c.delivered + c.dropped + c.on_the_line, "{c:?}");
}

#[test]
fn fair_queues_in_a_row_share_by_max_min() {
    // Half of 4 Mbit/s passes `b`; the rest of the 10 Mbit/s at `a` is for the other.
    for direction in ["up", "down"] {
        let bulk =
            |name, part| workload(name, &format!("kind = \"bulk\"\ndirection = \"{direction}\"\n{part}"));
        let workloads =
            [bulk("both", ""), bulk("first", "to_hop = \"a\""), bulk("second", "from_hop = \"b\"")].concat();
        let side = |rate| format!("rate = \"{rate}mbit\", queue = \"fq_codel\"");
        let outcome = run(&plan(&side(10), &side(4), &workloads));
        let measured = |what: &str, name: &str| {
            let flow = outcome.flows.iter().position(|one| one.workload == name).unwrap() + 1;
            number(&outcome.run, &what.replace("FLOW", &flow.to_string()))
        };
        let payload = 1448.0 / 1514.0 * 1e6;
        for (name, mbit, rtt) in [("both", 2.0, 0.050), ("first", 8.0, 0.010), ("second", 2.0, 0.040)] {
            let goodput = measured("goodput_bits_per_second flow FLOW mean from 8s to 23s", name);
            // The other flow uses what a flow leaves unused after a drop.
            within(goodput / payload, 0.93 * mbit, 1.05 * mbit);
            // The minimum is the propagation of its hops, one packet per link, and little else.
            within(measured("flow_rtt_s flow FLOW min", name), rtt, rtt + 0.012);
        }
    }
}

#[test]
fn extra_rtt_is_added_outside_the_line() {
    for direction in ["up", "down"] {
        let keys = format!(
            "kind = \"bulk\"\ndirection = \"{direction}\"\nfrom_hop = \"a\"\nto_hop = \"a\"\nextra_rtt = \"60ms\"\nbytes = \"100kb\""
        );
        let outcome = run(&plan("rate = \"50mbit\"", "rate = \"50mbit\"", &workload("cross", &keys)));
        within(number(&outcome.run, "flow_rtt_s flow 1 min"), 0.0700, 0.0715);
        assert_eq!(outcome.flows[0].delivered_bytes, 100 * 1024);
    }
}
