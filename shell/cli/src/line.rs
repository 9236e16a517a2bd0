//! `--line`: a built-in name or a scenario file.
use crate::failure::Failure;
use fathom_qdisc::Spec;
use fathom_scenario::{BUILTIN_NAMES, LinePlan, Plan, builtin_plan, parse};
use fathom_units::Rate;
use std::io::Read;
use std::path::Path;

/// A scenario is text written by a person.
const MAX_SCENARIO_BYTES: u64 = 1 << 20;

/// Finds and reads the plan.
pub(crate) fn load(name: &str) -> Result<Plan, Failure> {
    if let Some(plan) = builtin_plan(name) {
        return plan.map_err(Failure::input);
    }
    if !name.contains(['/', '.']) && !Path::new(name).exists() {
        return Err(Failure::input(format_args!(
            "no built-in line is called \"{name}\" (known: {})\n  try: --line {}, or the path of a scenario file",
            BUILTIN_NAMES.join(" "),
            closest(name)
        )));
    }
    let text = read(name).map_err(|e| Failure::input(format_args!("{name}: {e}")))?;
    parse(&text, name).map_err(Failure::input)
}

fn read(path: &str) -> std::io::Result<String> {
    let mut text = String::new();
    let size = std::fs::File::open(path)?.take(MAX_SCENARIO_BYTES + 1).read_to_string(&mut text)?;
    if size as u64 > MAX_SCENARIO_BYTES {
        return Err(std::io::Error::other(format!(
            "larger than a scenario can be ({MAX_SCENARIO_BYTES} bytes)"
        )));
    }
    Ok(text)
}

/// The known name that shares the most leading letters.
fn closest(name: &str) -> &'static str {
    let shared = |known: &str| known.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    BUILTIN_NAMES.iter().copied().max_by_key(|known| shared(known)).unwrap_or("dsl")
}

/// The plan with `queue` in place of the queue of each direction's slowest hop: where a bottleneck's queue is.
pub(crate) fn with_queue(line: &LinePlan, queue: &Spec) -> LinePlan {
    let mut line = line.clone();
    let slowest = |rate: &dyn Fn(usize) -> Option<Rate>| {
        (0..line.hops.len()).min_by_key(|i| rate(*i).unwrap_or(MAX_RATE))
    };
    let up = slowest(&|i| line.hops[i].up.rate);
    let down = slowest(&|i| line.hops[i].down.rate);
    if let Some(i) = up {
        line.hops[i].up.queue = queue.clone();
    }
    if let Some(i) = down {
        line.hops[i].down.queue = queue.clone();
    }
    line
}

const MAX_RATE: Rate = Rate::from_bits_per_second(u64::MAX);

/// The rates of the slowest hops, up and down, for a title: `3Mbit up, 50Mbit down`.
pub(crate) fn rates(line: &LinePlan) -> String {
    let slowest = |rates: &mut dyn Iterator<Item = Option<Rate>>| {
        rates.flatten().min().map_or_else(|| "unlimited".to_owned(), |r| r.to_string())
    };
    let up = slowest(&mut line.hops.iter().map(|h| h.up.rate));
    let down = slowest(&mut line.hops.iter().map(|h| h.down.rate));
    format!("{up} up, {down} down")
}
