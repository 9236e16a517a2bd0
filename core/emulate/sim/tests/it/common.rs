//! Short scenarios, and numbers from their runs.
use fathom_run::{Measure, Run};
use fathom_scenario::Plan;
use fathom_sim::{Options, Outcome, simulate};

/// A plan of one hop with these two sides, and the rest of a scenario file.
pub(crate) fn plan(up: &str, down: &str, rest: &str) -> Plan {
    let text = format!(
        "name = \"x\"\nabout = \"x\"\nsource = \"x\"\n[[hop]]\nname = \"link\"\nup = {{ {up} }}\ndown = {{ {down} }}\n{rest}"
    );
    fathom_scenario::parse(&text, "x.toml").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

pub(crate) fn run(plan: &Plan) -> Outcome {
    simulate(plan, &Options::new(1))
}

/// The value of a measure in the run, by the text of the measure.
#[track_caller]
pub(crate) fn number(run: &Run, measure: &str) -> f64 {
    let parsed: Measure = measure.parse().unwrap_or_else(|e| panic!("{measure}: {e}"));
    parsed.of(run).unwrap_or_else(|| panic!("{measure}: the run has no such observation"))
}

#[track_caller]
pub(crate) fn within(got: f64, low: f64, high: f64) {
    assert!((low..=high).contains(&got), "{got} is not in {low}..={high}");
}
