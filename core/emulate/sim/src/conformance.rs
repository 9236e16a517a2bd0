//! What each congestion control does right, on simulated lines.
use crate::{Options, simulate_until};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use fathom_run::Measure;
use fathom_scenario::{Plan, PluginValue, parse_with_files};
use fathom_tcp::ControlPluginParams;

/// A line with one upload of 20 s after an idle second.
struct Line {
    name: &'static str,
    /// Direction up of the only hop. The round-trip propagation delay is 40 ms.
    up: &'static str,
    /// Least goodput after 12 s of load, as a share of 10 Mbit/s.
    least: f64,
}

/// Goodput after the start of the flow and after the outage.
const COUNTED: &str = "goodput_bits_per_second up mean from 13s to 21s";
/// The rate of the lines, in bits per second.
const RATE: f64 = 1e7;
/// An outage of 3 s.
const OUTAGE: &str = "0s 10mbit\n5s 0bit\n8s 10mbit\n";

const LINES: [Line; 4] = [
    // One bandwidth-delay product, and ten.
    Line { name: "a full buffer", up: r#"rate = "10mbit", queue = "fifo limit 50000b""#, least: 0.5 },
    Line { name: "a deep buffer", up: r#"rate = "10mbit", queue = "fifo limit 500000b""#, least: 0.5 },
    // Reno has 35 % (RFC 5348 section 3.1).
    Line { name: "1 % of loss", up: r#"rate = "10mbit", loss = "1%""#, least: 0.05 },
    // A timer that has backed off to 4 s has expired by then.
    Line { name: "an outage", up: r#"trace = "outage.trace""#, least: 0.5 },
];

impl Line {
    fn plan(&self) -> Result<Plan, String> {
        let text = format!(
            "name = \"conformance\"\nabout = \"{}\"\nsource = \"a check\"\n\
             [[hop]]\nname = \"link\"\nup = {{ {}, delay = \"20ms\" }}\n\
             down = {{ rate = \"10mbit\", delay = \"20ms\" }}\n\
             [load]\nup_flows = 1\nduration = \"20s\"\n[run]\nidle = \"1s\"\n",
            self.name, self.up
        );
        parse_with_files(&text, self.name, &|_| Ok(OUTAGE.to_string())).map_err(|error| error.to_string())
    }
}

/// Simulates the control on lines of 10 Mbit/s and 40 ms.
///
/// - With one flow, a line with a buffer of one or of ten bandwidth-delay products carries at least
///   half its rate.
/// - With 1 % of random loss, at least a twentieth.
/// - After an outage of 3 s the flow recovers.
/// - The same seed gives the same simulation.
///
/// # Errors
/// The first rule that is broken, with its line. If `stop` returns true, the rest is not checked.
pub fn check_control(control: &ControlPluginParams, stop: &mut dyn FnMut() -> bool) -> Result<(), String> {
    let measure: Measure = COUNTED.parse().map_err(|error| format!("{COUNTED}: {error}"))?;
    for line in &LINES {
        let mut plan = line.plan()?;
        plan.set_plugin("load.congestion_control", PluginValue::Control(control.clone()))?;
        let mut digests = Vec::new();
        for _ in 0..2 {
            let outcome = simulate_until(&plan, &Options::new(1), stop);
            if stop() {
                return Ok(());
            }
            digests.push(outcome.digest);
            let share = measure.of(&outcome.run).unwrap_or(0.0) / RATE;
            if share < line.least {
                let [share, least] = [share, line.least].map(|share| 100.0 * share);
                let name = line.name;
                return Err(format!(
                    "{name}: goodput {share:.1} % is out of range (expected at least {least} %)"
                ));
            }
        }
        if digests[0] != digests[1] {
            return Err(format!("{}: the same seed gave another simulation", line.name));
        }
    }
    Ok(())
}
