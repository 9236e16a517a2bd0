//! Overrides of single scenario values: `hop.modem.up.rate=3mbit`.
use crate::ScenarioError;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::FromStr;
use toml::{Table, Value};

/// A value to override, or to add if the scenario lacks it.
///
/// ```text
/// hop.modem.up.rate=3mbit      a hop by its name, or by its number from 0
/// load.up_flows=4
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// Path of the key, from the outermost table, separated by dots.
    pub path: String,
    /// Value as it would be written in the file, without quotes.
    pub value: String,
}

impl FromStr for Setting {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (path, value) = text.split_once('=').unwrap_or((text, ""));
        if path.is_empty() || value.is_empty() || path.split('.').any(str::is_empty) {
            return Err(format!(
                "invalid setting \"{text}\" (expected KEY=VALUE, such as hop.modem.up.rate=3mbit)"
            ));
        }
        Ok(Setting { path: path.to_string(), value: value.to_string() })
    }
}

/// Applies `settings` in order to the scenario `text`. Comments and the order of keys are lost.
///
/// # Errors
/// If the text is not TOML or a path does not exist. Keys and values are only checked by `parse`.
pub fn with_settings(text: &str, file: &str, settings: &[Setting]) -> Result<String, ScenarioError> {
    let mut table: Table = text.parse().map_err(|error: toml::de::Error| {
        let start = error.span().map_or(0, |span| span.start);
        ScenarioError::at(file, text, start, error.message().to_string())
    })?;
    // Older files and commands use `work`.
    if let Some(workloads) = table.remove("work") {
        table.insert("workload".to_string(), workloads);
    }
    let mut root = Value::Table(table);
    for setting in settings {
        let path = setting.path.strip_prefix("work.").map(|rest| format!("workload.{rest}"));
        let path = path.as_ref().unwrap_or(&setting.path);
        let slot = path.split('.').try_fold(&mut root, enter);
        let refuse = |what| ScenarioError::at(file, text, 0, format!("{}: {what}", setting.path));
        *slot.map_err(refuse)? = value(&setting.value);
    }
    toml::to_string(&root).map_err(|error| ScenarioError::at(file, text, 0, error.to_string()))
}

/// Value of `key`, created if it does not exist. `parse` rejects unknown keys.
fn enter<'v>(at: &'v mut Value, key: &str) -> Result<&'v mut Value, String> {
    let kind = at.type_str();
    match at {
        Value::Table(table) => Ok(table.entry(key).or_insert_with(|| Value::Table(Table::new()))),
        Value::Array(items) => {
            let named = |item: &Value| item.get("name").and_then(Value::as_str) == Some(key);
            let index = items.iter().position(named).or_else(|| key.parse().ok());
            let names: Vec<&str> =
                items.iter().filter_map(|item| item.get("name").and_then(Value::as_str)).collect();
            let guess = fathom_text::nearest(key, &names)
                .map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
            let known = format!("{guess}expected {} or a number from 0", names.join(", "));
            let item = index.and_then(|index| items.get_mut(index));
            item.ok_or_else(|| format!("unknown item \"{key}\" ({known})"))
        }
        _ => Err(format!("\"{key}\": a {kind} has no keys")),
    }
}

/// Converts a value to TOML: numbers and booleans bare, everything else as a string.
fn value(text: &str) -> Value {
    let number = text.parse().map(Value::Integer).ok();
    let number = number.or_else(|| text.parse().map(Value::Float).ok());
    let bare = number.or_else(|| text.parse().map(Value::Boolean).ok());
    bare.unwrap_or_else(|| Value::String(text.to_string()))
}
