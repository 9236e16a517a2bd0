//! `--line`: a built-in name or a scenario file.
use crate::args::ChangeArgs;
use crate::failure::Failure;
use fathom_qdisc::Spec;
use fathom_scenario::{
    BUILTIN_NAMES, LinePlan, Plan, ScenarioError, builtin, parse_with_files, with_settings,
};
use fathom_units::Rate;
use std::io::Read;
use std::path::Path;

/// A scenario is text written by a person.
const MAX_SCENARIO_BYTES: u64 = 1 << 20;
/// As `fathom_link::Trace` reads.
const MAX_TRACE_BYTES: u64 = 16 << 20;

/// A scenario's text, and the name by which errors call it.
pub(crate) struct Text {
    text: String,
    name: String,
}

impl Text {
    /// The plan, with what the command line changes.
    pub(crate) fn plan(&self, change: &ChangeArgs) -> Result<Plan, ScenarioError> {
        let text = &self.text;
        let changed =
            (!change.set.is_empty()).then(|| with_settings(text, &self.name, &change.set)).transpose()?;
        let beside = |file: &str| self.beside(file);
        let mut plan = parse_with_files(changed.as_ref().unwrap_or(text), &self.name, &beside)?;
        if let Some(queue) = &change.queue {
            plan.line = with_queue(&plan.line, queue);
        }
        Ok(plan)
    }
    /// A file beside the scenario.
    fn beside(&self, file: &str) -> Result<String, String> {
        let path = Path::new(&self.name).with_file_name(file);
        read(&path, MAX_TRACE_BYTES).map_err(|error| format!("{}: {error}", path.display()))
    }
    /// What is wrong with a value from the command line.
    pub(crate) fn error(&self, what: &str) -> ScenarioError {
        ScenarioError { file: self.name.clone(), line: 1, what: what.to_owned() }
    }
}

/// Finds and reads the text: a built-in name or a file.
pub(crate) fn text(name: &str) -> Result<Text, Failure> {
    let found = |text: String| Text { text, name: name.to_owned() };
    if let Some(text) = builtin(name) {
        return Ok(found(text.to_owned()));
    }
    if !name.contains(['/', '.']) && !Path::new(name).exists() {
        return Err(Failure::input(format_args!(
            "no built-in line is called \"{name}\" (known: {})\n  try: {}, or the path of a scenario file",
            BUILTIN_NAMES.join(" "),
            closest(name)
        )));
    }
    read(Path::new(name), MAX_SCENARIO_BYTES)
        .map(found)
        .map_err(|e| Failure::input(format_args!("{name}: {e}")))
}

/// Finds and reads the plan.
pub(crate) fn load(name: &str) -> Result<Plan, Failure> {
    load_with(name, &ChangeArgs::default())
}

/// Finds and reads the plan, with what the command line changes.
pub(crate) fn load_with(name: &str, change: &ChangeArgs) -> Result<Plan, Failure> {
    text(name)?.plan(change).map_err(Failure::input)
}

fn read(path: &Path, most: u64) -> std::io::Result<String> {
    let mut text = String::new();
    let size = std::fs::File::open(path)?.take(most + 1).read_to_string(&mut text)?;
    if size as u64 > most {
        return Err(std::io::Error::other(format!("larger than such a file can be ({most} bytes)")));
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
    let up = slowest(&|i| line.hops[i].up.nominal_rate());
    let down = slowest(&|i| line.hops[i].down.nominal_rate());
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
    let up = slowest(&mut line.hops.iter().map(|h| h.up.nominal_rate()));
    let down = slowest(&mut line.hops.iter().map(|h| h.down.nominal_rate()));
    format!("{up} up, {down} down")
}
