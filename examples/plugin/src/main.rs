//! Simulates a built-in line or a scenario file with its own queue, with CHOKe at the slowest hop of
//! the uplink, and with CHOKe and AIMD. Usage: fathom-plugin-example [LINE | FILE]
use fathom_plugin_example::{control, queue};
use fathom_run::Measure;
use fathom_scenario::{PluginValue, Plan, builtin, parse};
use fathom_sim::{Options, simulate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "dsl".to_owned());
    let text = builtin(&name).map_or_else(|| std::fs::read_to_string(&name), |text| Ok(text.to_owned()))?;
    let plan = parse(&text, &name)?;
    let rates = plan.line.hops.iter().map(|hop| hop.up.nominal_rate());
    let slowest = rates.enumerate().filter_map(|(at, rate)| Some((rate?, at))).min();
    let (_, slowest) = slowest.ok_or("no hop has a rate")?;
    let mut choked = plan.clone();
    choked.set_plugin(&format!("hop.{slowest}.up.queue"), PluginValue::Queue(queue()))?;
    let mut gentle = choked.clone();
    gentle.set_plugin("congestion_control", PluginValue::Control(control()))?;
    for (label, plan) in [("its own queue", &plan), ("CHOKe", &choked), ("CHOKe and AIMD", &gentle)] {
        println!("{label:16}{}", figures(plan)?);
    }
    Ok(())
}

fn figures(plan: &Plan) -> Result<String, String> {
    let run = simulate(plan, &Options::new(1)).run;
    let value = |measure: &str| -> Result<f64, String> {
        let measure: Measure = measure.parse().map_err(|error| format!("{measure}: {error}"))?;
        Ok(measure.of(&run).unwrap_or(f64::NAN))
    };
    let (delay, goodput) = (value("udp_rtt_s p95")?, value("goodput_bits_per_second up mean")?);
    Ok(format!("p95 {:6.0} ms   goodput up {:5.2} Mbit/s", 1e3 * delay, goodput / 1e6))
}
