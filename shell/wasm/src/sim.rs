//! Simulates a scenario.
use crate::Output;
use fathom_diagnose::diagnose;
use fathom_report::{document, html};
use fathom_scenario::parse;
use fathom_sim::{Options, packets, simulate};

/// Most packets of a simulation: some seconds of work, and series that fit in the memory of a
/// phone.
const MAX_PACKETS: f64 = 20e6;

/// Simulates a scenario file: the document, as of `fathom sim --json`, and the report.
///
/// # Errors
/// If the file is invalid, or the simulation would have too many packets: text for people.
pub fn sim(text: &str, seed: u64) -> Result<Output, String> {
    let plan = parse(text, "scenario").map_err(|error| error.to_string())?;
    let expected = packets(&plan);
    if expected > MAX_PACKETS {
        return Err(format!("{expected:.0} packets exceed the limit of {MAX_PACKETS:.0} (lower the rate)"));
    }
    let mut run = simulate(&plan, &Options::new(seed)).run;
    env!("CARGO_PKG_VERSION").clone_into(&mut run.tool_version);
    let diagnosis = diagnose(&run);
    Ok(Output { document: crate::json(&document(&run, &diagnosis)), page: html(&[(&run, &diagnosis)]) })
}
