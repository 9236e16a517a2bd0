//! Equal inputs give equal results, and every packet is accounted for.
use crate::common::plan;
use fathom_scenario::Plan;
use fathom_sim::{Options, simulate};

/// Every workload at once over a line that loses, duplicates and reorders.
pub(crate) fn everything() -> Plan {
    let impaired = "loss = \"0.1%\", duplicate = \"0.1%\", reorder = \"0.1%\", reorder_delay = \"3ms\"";
    let up = format!("rate = \"10mbit\", delay = \"5ms\", queue = \"fq_codel\", {impaired}");
    let down = format!("rate = \"40mbit\", delay = \"5ms\", queue = \"fifo limit 200p\", {impaired}");
    let workloads = "
[[workload]]
kind = \"bulk\"
flows = 2
congestion_control = \"reno\"
bytes = \"1mb\"
extra_rtt = [\"20ms\", \"80ms\"]
[[workload]]
kind = \"swarm\"
flows = 4
churn = \"2s\"
[[workload]]
kind = \"web\"
connections = 3
shards = 2
interval = \"2s\"
[[workload]]
kind = \"rpc\"
interval = \"200ms\"
[[workload]]
kind = \"incast\"
flows = 8
bytes = \"64kb\"
access_rate = \"100mbit\"
[[workload]]
kind = \"video\"
rate = \"5mbit\"
every = \"1s\"
[[workload]]
kind = \"video\"
name = \"camera\"
direction = \"up\"
rate = \"1mbit\"
key_frame = \"100kb\"
every = \"2s\"
[[workload]]
kind = \"call\"
dscp = \"ef\"
[[workload]]
kind = \"game\"
[[workload]]
kind = \"backup\"
[[workload]]
kind = \"cbr\"
rate = \"1mbit\"
[[workload]]
kind = \"poisson\"
rate = \"1mbit\"
sizes = \"exponential\"
[run]
idle = \"1s\"
duration = \"6s\"
";
    plan(&up, &down, workloads)
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    let plan = everything();
    let outcome = |seed| simulate(&plan, &Options::new(seed));
    let first = outcome(3);
    assert_eq!(first, outcome(3));
    assert_ne!(first.digest, outcome(4).digest);
}

#[test]
fn the_seed_of_the_plan_is_added() {
    let mut plan = everything();
    let digest = |of: &Plan, seed| simulate(of, &Options::new(seed)).digest;
    let here = digest(&plan, 5);
    plan.run.seed = 2;
    assert_eq!(digest(&plan, 3), here);
}

#[test]
fn every_packet_is_accounted_for() {
    let plan = everything();
    for seed in 1..=8 {
        let outcome = simulate(&plan, &Options::new(seed));
        let c = outcome.counted;
        assert_eq!(
            c.entered + c.duplicated,
            c.delivered + c.dropped + c.lost + c.on_the_line,
            "seed {seed}: {c:?}"
        );
        assert!(c.lost > 0 && c.duplicated > 0 && c.dropped > 0, "seed {seed}: {c:?}");
        for queue in &outcome.queues {
            let (stats, dropped) = (queue.stats, queue.stats.dropped().packets);
            assert!(stats.arrived.packets >= stats.sent.packets + dropped, "seed {seed}: {queue:?}");
        }
        for flow in &outcome.flows {
            // At most duplicated.
            assert!(flow.delivered_packets <= 2 * flow.sent_packets, "seed {seed}: {flow:?}");
        }
    }
}

/// Engine, line and datagrams on any machine. Without TCP, so that TCP changes do not affect it.
#[test]
fn the_digest_is_equal_on_every_machine() {
    let workloads = "
[[workload]]
kind = \"cbr\"
rate = \"8mbit\"
[[workload]]
kind = \"poisson\"
rate = \"3mbit\"
sizes = \"exponential\"
extra_rtt = \"30ms\"
[[workload]]
kind = \"call\"
flows = 3
hosts = 2
[[workload]]
kind = \"game\"
[[workload]]
kind = \"video\"
direction = \"down\"
rate = \"2mbit\"
key_frame = \"100kb\"
access_rate = \"50mbit\"
[run]
duration = \"5s\"
";
    let impaired = "loss = \"0.5%\", duplicate = \"0.5%\", reorder = \"0.5%\", reorder_delay = \"3ms\"";
    let up = format!("rate = \"10mbit\", delay = \"5ms\", queue = \"fifo limit 100p\", {impaired}");
    let outcome = simulate(&plan(&up, "rate = \"10mbit\", delay = \"5ms\"", workloads), &Options::new(1));
    assert_eq!(format!("{:016x}", outcome.digest), "d2101aa6a3094287");
}
