//! Compares the fluid model with the packet simulation of core/emulate/sim: same line, same shaper
//! rate, CUBIC bulk flows.
use super::fluid::{Flow, Pipe};
use crate::line::{At, Kind, Line};
use fathom_run::{Metric, PhaseKind, SeriesKey, Value};
use fathom_sim::{Options, simulate};
use fathom_units::{Direction, ETHERNET_PER_PAYLOAD, Rng};
use std::fmt::Write;

const SECONDS: usize = 120;
/// Round-trip time without queues, in s.
const BASE: f64 = 0.045;
const LATE: f64 = 0.030;
/// Payload share of the link's traffic: 1448 of 1514 bytes.
const PAYLOAD: f64 = 1.0 / ETHERNET_PER_PAYLOAD;

/// A comparison.
struct Case {
    is_up: bool,
    flows: usize,
    /// Rate of our shaper in Mbit/s.
    rate: f64,
}

/// Results of one model.
struct Came {
    late: f64,
    used: f64,
    mean_ms: f64,
}

/// Prints both models next to each other.
pub(crate) fn print() {
    println!(
        "Fluid model and packet simulation (core/emulate/sim): {SECONDS} s of the LTE line, fixed shaper (CAKE), CUBIC"
    );
    println!(
        "direction  flows   shaper   late: fluid  packets   used: fluid  packets   delay: fluid  packets"
    );
    for (is_up, rates) in [(true, [3.0, 6.0, 12.0]), (false, [8.0, 16.0, 32.0])] {
        for (flows, rate) in [1, 4].into_iter().flat_map(|flows| rates.map(|rate| (flows, rate))) {
            let case = Case { is_up, flows, rate };
            row(&case, &fluid(&case), &packets(&case));
        }
    }
}

fn row(case: &Case, fluid: &Came, packets: &Came) {
    println!(
        "{:9} {:6} {:4.0} Mbit/s {:10.1} % {:6.1} % {:11.1} % {:6.1} % {:10.0} ms {:6.0} ms",
        if case.is_up { "up" } else { "down" },
        case.flows,
        case.rate,
        fluid.late * 100.0,
        packets.late * 100.0,
        fluid.used * 100.0,
        packets.used * 100.0,
        fluid.mean_ms,
        packets.mean_ms
    );
}

/// Capacity in each tenth of a second.
fn capacities(is_up: bool) -> Vec<At> {
    let mut line = Line::new(Kind::Lte, 3);
    let at = |step: usize| step as f64 / 10.0 + 0.05;
    (0..SECONDS * 10)
        .map(|step| line.at(at(step)))
        .map(|both| if is_up { both.up } else { both.down })
        .collect()
}

const fn limit(is_up: bool) -> f64 {
    let limits = Kind::Lte.facts().limits;
    if is_up { limits.up } else { limits.down }
}

fn fluid(case: &Case) -> Came {
    let mut pipe = Pipe::new(case.is_up, BASE, limit(case.is_up), Rng::new(5));
    pipe.flows = vec![Flow::new(f64::MAX, f64::MAX); case.flows];
    let (mut late, mut delay, mut carried, mut carriable, mut steps) = (0, 0.0, 0.0, 0.0, 0);
    for capacity in capacities(case.is_up) {
        for _ in 0..10 {
            carried += pipe.step(0.01, capacity, case.rate * 1e6, 0.0).carried;
            carriable += capacity.capacity() / 800.0;
            late += usize::from(pipe.delay(capacity) > LATE);
            delay += pipe.delay(capacity);
            steps += 1;
        }
    }
    Came { late: late as f64 / steps as f64, used: carried / carriable, mean_ms: delay / steps as f64 * 1e3 }
}

fn packets(case: &Case) -> Came {
    let capacities = capacities(case.is_up);
    let steps = (0..).zip(&capacities);
    let trace = steps.fold(String::new(), |mut text, (step, capacity)| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}ms {:.0}bit", step * 100, capacity.capacity());
        text
    });
    let plan = fathom_scenario::parse_with_files(&scenario(case), "check.toml", &|_| Ok(trace.clone()));
    let run = simulate(&plan.unwrap_or_else(|error| panic!("{error}")), &Options::new(1)).run;
    let load = run.phases.iter().find(|phase| phase.kind != PhaseKind::Idle).expect("a phase with load");
    let rtts: Vec<f64> = [Metric::UdpRtt, Metric::IcmpRtt]
        .into_iter()
        .flat_map(|metric| run.series.iter().filter(move |series| series.key.metric == metric))
        .flat_map(|series| series.within(load))
        .map(|observation| (number(observation.value) - BASE).max(0.0))
        .collect();
    let direction = if case.is_up { Direction::Up } else { Direction::Down };
    let goodput = run.series(&SeriesKey::directed(Metric::Goodput, direction)).expect("goodput");
    let rates: Vec<f64> = goodput.within(load).map(|o| number(o.value)).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let capacity = capacities.iter().map(|at| at.capacity()).sum::<f64>() / capacities.len() as f64;
    Came {
        late: rtts.iter().filter(|rtt| **rtt > LATE).count() as f64 / rtts.len() as f64,
        used: mean / PAYLOAD / capacity,
        mean_ms: rtts.iter().sum::<f64>() / rtts.len() as f64 * 1e3,
    }
}

fn number(value: Value) -> f64 {
    match value {
        Value::Observed(number) | Value::Censored { at_least: number } => number,
    }
}

fn scenario(case: &Case) -> String {
    let cake = format!("rate = \"1gbit\", delay = \"0ms\", queue = \"cake bandwidth {}mbit\"", case.rate);
    let access = format!(
        "trace = \"lte.trace\", delay = \"22500us\", queue = \"fifo limit {:.0}b\"",
        limit(case.is_up)
    );
    let other = ["rate = \"1gbit\", delay = \"0ms\"", "rate = \"1gbit\", delay = \"22500us\""];
    let [up, down] = if case.is_up { [[&*cake, &access], other] } else { [other, [&*cake, &access]] };
    let flows = if case.is_up { "up_flows" } else { "down_flows" };
    format!(
        "name = \"check\"\nabout = \"check\"\nsource = \"check\"\n\
         [[hop]]\nname = \"home\"\nup = {{ {} }}\ndown = {{ {} }}\n\
         [[hop]]\nname = \"access\"\nup = {{ {} }}\ndown = {{ {} }}\n\
         [load]\n{flows} = {}\nduration = \"{SECONDS}s\"\n[run]\nidle = \"0s\"\ndrain = \"0s\"\n",
        up[0], down[0], up[1], down[1], case.flows
    )
}
