//! Simulator speed. The scenario also used to measure others: 4 CUBIC flows for 30 s at 100 Mbit/s.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]
#![expect(clippy::print_stdout, reason = "its figures are for a person")]
use fathom_sim::{Options, Outcome, simulate};

/// Scenarios: queue, congestion control, flows, Mbit/s, seconds.
const CASES: &[(&str, &str, u32, u64, u64)] = &[
    ("fq_codel", "cubic", 4, 100, 30),
    ("fifo limit 1000p", "cubic", 4, 100, 30),
    ("codel", "cubic", 4, 100, 30),
    ("cake", "cubic", 4, 100, 30),
    ("fq_codel", "bbr", 4, 100, 30),
    ("fq_codel", "cubic", 16, 1000, 10),
];
/// The best repetition counts, because disturbances only slow down.
const REPETITIONS: u32 = 5;

fn main() {
    for (queue, control, flows, mbit, seconds) in CASES {
        let text = format!(
            "name = \"speed\"\nabout = \"\"\nsource = \"\"\n[[hop]]\nname = \"link\"\n\
             up = {{ rate = \"{mbit}mbit\", delay = \"10ms\" }}\n\
             down = {{ rate = \"{mbit}mbit\", delay = \"10ms\", queue = \"{queue}\" }}\n\
             [load]\ndown_flows = {flows}\ncongestion_control = \"{control}\"\nduration = \"{seconds}s\"\n\
             [run]\nidle = \"0s\"\ndrain = \"0s\"\n"
        );
        let plan = fathom_scenario::parse(&text, "speed.toml").unwrap();
        let (outcome, cpu_s) = (0..REPETITIONS)
            .map(|_| {
                let before = cpu_s();
                let outcome = simulate(&plan, &Options::new(1));
                (outcome, cpu_s() - before)
            })
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap();
        let packets = bottleneck_packets(&outcome);
        println!(
            "{queue:18} {control:6} {flows:3} flows {mbit:5} Mbit/s {seconds:3} s: {packets:8} packets {:9} events \
             {cpu_s:.3} CPU-s {:5.2} M packets/s {:4.0} ns/event digest {:016x}",
            outcome.counted.events,
            packets as f64 / cpu_s / 1e6,
            cpu_s * 1e9 / outcome.counted.events as f64,
            outcome.digest
        );
    }
}

fn bottleneck_packets(outcome: &Outcome) -> u64 {
    outcome.queues.iter().map(|queue| queue.stats.sent.packets).max().unwrap_or(0)
}

/// CPU time of this process so far.
fn cpu_s() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}
