//! Scenarios: a built-in name or a file, with changes.
use crate::AppError;
use fathom_os::files::read_text_at_most;
use fathom_qdisc::Spec;
use fathom_scenario::{
    BUILTIN_NAMES, LinePlan, Plan, PluginValue, ScenarioError, Setting, builtin, parse_with_files,
    with_settings,
};
use fathom_text::nearest;
use fathom_units::Rate;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

/// Maximum size of a scenario, which people write by hand, in bytes.
const MAX_SCENARIO_BYTES: u64 = 1 << 20;
/// Maximum size of a rate trace, in bytes: the limit of `fathom_link::Trace`.
const MAX_TRACE_BYTES: u64 = 16 << 20;

/// Changes of a scenario.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Changes {
    /// Values that replace values of the file.
    pub settings: Vec<Setting>,
    /// Queue of the slowest hop in each direction.
    pub queue: Option<Spec>,
    /// Queues and congestion controls of users, by the path of their key.
    pub plugins: Vec<(String, PluginValue)>,
}

/// The text of a scenario.
#[derive(Clone, Debug)]
pub struct ScenarioText {
    text: String,
    name: String,
    /// The files that it names, if they are not read from its directory.
    files: Option<BTreeMap<String, String>>,
}

impl ScenarioText {
    /// Loads the text of a built-in line or of a file.
    ///
    /// # Errors
    /// If `name` is neither a built-in line nor a file that can be read.
    pub fn load(name: &str) -> Result<Self, AppError> {
        let found = |text: String| ScenarioText { text, name: name.to_owned(), files: None };
        if let Some(text) = builtin(name) {
            return Ok(found(text.to_owned()));
        }
        if !name.contains(['/', '.']) && !Path::new(name).exists() {
            return Err(AppError::UnknownLine {
                name: name.to_owned(),
                closest: nearest(name, BUILTIN_NAMES),
            });
        }
        read_scenario(name).map(found)
    }
    /// A scenario with all its files, for another process.
    #[cfg(feature = "sweep")]
    pub(crate) const fn with_files(text: String, name: String, files: BTreeMap<String, String>) -> Self {
        ScenarioText { text, name, files: Some(files) }
    }
    /// Its text, and the name of its file.
    #[cfg(feature = "sweep")]
    pub(crate) fn parts(&self) -> (&str, &str) {
        (&self.text, &self.name)
    }
    /// The plan with changes.
    ///
    /// # Errors
    /// If the text or a change is not valid.
    pub fn plan(&self, changes: &Changes) -> Result<Plan, ScenarioError> {
        self.plan_reading(changes, &|file: &str| self.read_next_to_it(file))
    }
    /// The plan with changes, with files that `read` reads.
    pub(crate) fn plan_reading(
        &self,
        changes: &Changes,
        read: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Plan, ScenarioError> {
        let text = &self.text;
        let changed = (!changes.settings.is_empty())
            .then(|| with_settings(text, &self.name, &changes.settings))
            .transpose()?;
        let mut plan = parse_with_files(changed.as_ref().unwrap_or(text), &self.name, read)?;
        if let Some(queue) = &changes.queue {
            plan.line = with_queue(&plan.line, queue);
        }
        for (path, value) in &changes.plugins {
            plan.set_plugin(path, value.clone()).map_err(|what| self.error(&what))?;
        }
        Ok(plan)
    }
    /// Reads a file in the directory of the scenario.
    pub(crate) fn read_next_to_it(&self, file: &str) -> Result<String, String> {
        if let Some(files) = &self.files {
            let text = files.get(file).cloned();
            return text.ok_or_else(|| format!("{file}: {}", std::io::Error::from(ErrorKind::NotFound)));
        }
        let path = Path::new(&self.name).with_file_name(file);
        read_text_at_most(&path, MAX_TRACE_BYTES).map_err(|error| format!("{}: {error}", path.display()))
    }
    /// An error about a value that is not in the text.
    #[must_use]
    pub fn error(&self, what: &str) -> ScenarioError {
        ScenarioError { file: self.name.clone(), line: 1, what: what.to_owned() }
    }
}

/// The text of a file that people write by hand.
pub(crate) fn read_scenario(name: &str) -> Result<String, AppError> {
    let read = read_text_at_most(Path::new(name), MAX_SCENARIO_BYTES);
    read.map_err(|source| AppError::Unreadable { name: name.to_owned(), source })
}

/// Loads a plan with changes.
///
/// # Errors
/// As [`ScenarioText::load`] and [`ScenarioText::plan`].
pub fn load(name: &str, changes: &Changes) -> Result<Plan, AppError> {
    Ok(ScenarioText::load(name)?.plan(changes)?)
}

/// The line with `queue` at the slowest hop of each direction, which is the bottleneck.
#[must_use]
pub fn with_queue(line: &LinePlan, queue: &Spec) -> LinePlan {
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
#[must_use]
pub fn rates(line: &LinePlan) -> String {
    let slowest = |rates: &mut dyn Iterator<Item = Option<Rate>>| {
        rates.flatten().min().map_or_else(|| "unlimited".to_owned(), |r| r.to_string())
    };
    let up = slowest(&mut line.hops.iter().map(|h| h.up.nominal_rate()));
    let down = slowest(&mut line.hops.iter().map(|h| h.down.nominal_rate()));
    format!("{up} up, {down} down")
}
