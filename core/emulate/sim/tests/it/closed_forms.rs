//! Queues with results that follow from arithmetic.
use crate::common::{number, plan, run, within};
use fathom_scenario::Plan;
use fathom_sim::{Options, Outcome, simulate};
use fathom_units::Direction;

/// Without probes and samples, which would add traffic; load from start to end.
const ALONE: &str = "[run]\nidle = \"0s\"\ndrain = \"1s\"\nsample_every = \"60min\"\n";

fn up_queue(outcome: &Outcome) -> fathom_qdisc::Stats {
    outcome.queues.iter().find(|queue| queue.direction == Direction::Up).unwrap().stats
}

#[test]
fn delay_of_a_full_packet_ring_is_packets_over_rate() {
    // The last packet in waits for the others and for the one being sent. (packets, Mbit/s)
    for (limit, mbit) in [(256.0, 10.0), (256.0, 20.0), (33.0, 20.0), (1000.0, 100.0)] {
        let up = format!("rate = \"{mbit}mbit\", delay = \"10ms\", queue = \"fifo limit {limit}p\"");
        let load = "[load]\nup_flows = 1\nduration = \"30s\"\n";
        let outcome = run(&plan(&up, "delay = \"10ms\"", &format!("{load}{ALONE}")));
        let longest_ms = up_queue(&outcome).max_sojourn.as_millis_f64();
        let packet = 1514.0 * 8.0 / mbit / 1e3;
        within(longest_ms, (limit - 1.0) * packet, limit * packet);
    }
}

#[test]
fn delay_of_a_full_byte_buffer_is_bytes_over_rate() {
    // A probe waits for the round trip, the buffer (within a packet), and one packet on the wire.
    for (bytes, mbit) in [(375_000.0, 2.5), (375_000.0, 20.0), (1_000_000.0, 100.0)] {
        let up = format!("rate = \"{mbit}mbit\", delay = \"10ms\", queue = \"fifo limit {bytes}b\"");
        let outcome = run(&plan(&up, "delay = \"10ms\"", "[load]\nup_flows = 1\nduration = \"30s\""));
        let (full, packet) = (bytes * 8.0 / mbit / 1e3, 1514.0 * 8.0 / mbit / 1e3);
        let max_ms = number(&outcome.run, "udp_rtt_s max while up") * 1e3;
        within(max_ms, 20.0 + 0.98 * full, 20.0 + full + packet);
        // Payload share of each packet; data behind a lost packet is not delivered yet.
        let goodput = number(&outcome.run, "goodput_bits_per_second up mean from 10s to 32s");
        within(goodput / (mbit * 1e6), 0.95 * 1448.0 / 1514.0, 1.001 * 1448.0 / 1514.0);
    }
}

#[test]
fn an_overloaded_queue_of_equal_packets_loses_the_excess() {
    // D/D/1: 12.5 into 10 Mbit/s fills 250 kB in 250,000 x 8 / 2.5 M = 0.8 s, then 20 % are lost.
    let up = "rate = \"10mbit\", delay = \"1ms\", overhead = \"0b\", queue = \"fifo limit 250000b\"";
    let workload = "[[workload]]\nkind = \"cbr\"\nrate = \"12.5mbit\"\n";
    for seconds in [0.79, 0.83, 20.0] {
        let lost = (seconds - 0.8_f64).max(0.0) * 2.5e6 / 12_000.0;
        let outcome =
            run(&plan(up, "delay = \"1ms\"", &format!("{workload}{ALONE}duration = \"{seconds}s\"\n")));
        let flow = &outcome.flows[0];
        assert_eq!(flow.sent_packets as f64, (seconds * 12.5e6 / 12_000.0_f64).ceil());
        within(flow.dropped_packets as f64, (lost - 3.0).max(0.0), lost + 1.0);
    }
}

#[test]
fn equal_packets_below_the_rate_never_wait() {
    let up = "rate = \"10mbit\", delay = \"5ms\", overhead = \"0b\"";
    let workload = "[[workload]]\nkind = \"cbr\"\nrate = \"9mbit\"\n";
    let outcome = run(&plan(up, "delay = \"1ms\"", &format!("{workload}{ALONE}")));
    let flow = &outcome.flows[0];
    assert_eq!(flow.mean_delay.unwrap().as_nanos(), 5_000_000 + 1_200_000);
    assert_eq!((flow.sent_packets, flow.delivered_packets), (15_000, 15_000));
}

/// Mean of `value` over seeds, and the standard error of that mean.
fn over_seeds(plan: &Plan, seeds: u64, value: impl Fn(&Outcome) -> f64) -> (f64, f64) {
    let values: Vec<f64> = (1..=seeds).map(|seed| value(&simulate(plan, &Options::new(seed)))).collect();
    let mean = values.iter().sum::<f64>() / seeds as f64;
    let square: f64 = values.iter().map(|one| (one - mean) * (one - mean)).sum();
    (mean, (square / (seeds - 1) as f64 / seeds as f64).sqrt())
}

#[track_caller]
fn three_sigma((mean, sigma): (f64, f64), theory: f64, max_sigma: f64) {
    // Otherwise the test could not fail.
    assert!(sigma < max_sigma * theory, "sigma {sigma} of {mean}");
    assert!((mean - theory).abs() < 3.0 * sigma, "{mean} +- {sigma}, and not {theory}");
}

#[test]
fn random_arrivals_of_equal_size_wait_as_in_m_d_1() {
    // 1500 bytes at 12 Mbit/s are 1 ms of service; the wait is rho / (2 mu (1 - rho)).
    for (mbit, load) in [(6.0, 0.5), (9.6, 0.8)] {
        let up = "rate = \"12mbit\", delay = \"0ms\", overhead = \"0b\", queue = \"fifo limit 100000p\"";
        let workload = format!("[[workload]]\nkind = \"poisson\"\nrate = \"{mbit}mbit\"\n");
        let plan = plan(up, "delay = \"1ms\"", &format!("{workload}{ALONE}duration = \"60s\"\n"));
        let wait = over_seeds(&plan, 20, |outcome| outcome.flows[0].mean_delay.unwrap().as_secs_f64() - 1e-3);
        three_sigma(wait, load / (2.0 * 1000.0 * (1.0 - load)), 0.02);
    }
}

#[test]
fn random_arrivals_of_random_size_are_lost_as_in_m_m_1_k() {
    // Nine packets wait and one is in service: K = 10. (load, loss)
    let finite = |rho: f64, k: i32| (1.0 - rho) * rho.powi(k) / (1.0 - rho.powi(k + 1));
    for (mbit, theory) in [(9.0, finite(0.9, 10)), (10.0, 1.0 / 11.0), (12.0, finite(1.2, 10))] {
        let up = "rate = \"10mbit\", delay = \"0ms\", overhead = \"0b\", queue = \"fifo limit 9p\"";
        let workload = format!(
            "[[workload]]\nkind = \"poisson\"\nrate = \"{mbit}mbit\"\nsize = 1500\nsizes = \"exponential\"\n"
        );
        let plan = plan(up, "delay = \"1ms\"", &format!("{workload}{ALONE}duration = \"60s\"\n"));
        let lost = over_seeds(&plan, 20, |outcome| {
            let stats = up_queue(outcome);
            stats.dropped().packets as f64 / stats.arrived.packets as f64
        });
        three_sigma(lost, theory, 0.02);
    }
}
