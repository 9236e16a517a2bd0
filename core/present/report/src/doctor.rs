//! What a machine can measure, for a terminal: the screen of `fathom doctor`.
use crate::Style;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_layout::{Ink, cells, left, wrap};
use serde::Serialize;

/// Whether a machine can do something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ability {
    /// It can.
    Yes,
    /// It can, with less accuracy or in some cases only.
    Partly,
    /// It cannot.
    No,
}

/// Something that commands need, and whether this machine has it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Check {
    /// A name of a few words.
    pub name: &'static str,
    /// The commands that need it, or that it makes more accurate.
    pub commands: &'static str,
    /// Whether the machine has it.
    pub ability: Ability,
    /// What was found: values, or the reason.
    pub found: String,
    /// How to enable it, if that is known.
    pub enable: Option<String>,
}

impl Ability {
    const fn word(self) -> &'static str {
        match self {
            Ability::Yes => "yes",
            Ability::Partly => "partly",
            Ability::No => "no",
        }
    }
    const fn ink(self) -> Ink {
        match self {
            Ability::Yes => Ink::Good,
            Ability::Partly => Ink::Fair,
            Ability::No => Ink::Bad,
        }
    }
}

/// One line about all checks.
pub fn doctor_headline(checks: &[Check]) -> String {
    let names = |ability| {
        let with: Vec<&str> = checks.iter().filter(|c| c.ability == ability).map(|c| c.name).collect();
        with.join(", ")
    };
    match (names(Ability::No), names(Ability::Partly)) {
        (missing, limited) if missing.is_empty() && limited.is_empty() => {
            "Everything that Fathom needs is there.".into()
        }
        (missing, limited) if missing.is_empty() => format!("Limited: {limited}."),
        (missing, limited) if limited.is_empty() => format!("Missing: {missing}."),
        (missing, limited) => format!("Missing: {missing}. Limited: {limited}."),
    }
}

/// Least width of the column of what was found.
const MIN_FOUND: usize = 30;

/// A table with a line per check, and what enables what is missing.
pub fn doctor(machine: &str, checks: &[Check], columns: u16, style: Style) -> String {
    let columns = usize::from(columns);
    let widest = |text: fn(&Check) -> &str| checks.iter().map(|check| cells(text(check))).max().unwrap_or(0);
    let (ability, name) = (widest(|check| check.ability.word()), widest(|check| check.name));
    let beside = ability + name + 4;
    // On a narrow terminal, what was found is below the name.
    let is_narrow = columns < beside + MIN_FOUND;
    let indent = if is_narrow { 2 } else { beside };
    let mut lines: Vec<String> = Vec::new();
    lines.extend(wrap(machine, columns, 0));
    lines.push(String::new());
    for check in checks {
        let found = format!("{} ({})", check.found, check.commands);
        let mut rows = wrap(&found, columns.saturating_sub(indent), 0).into_iter();
        let first = if is_narrow { None } else { rows.next() };
        let word = style.ink(check.ability.ink(), &left(check.ability.word(), ability));
        let line = format!("{word}  {}  {}", left(check.name, name), first.unwrap_or_default());
        lines.push(line.trim_end().into());
        lines.extend(rows.map(|row| format!("{:indent$}{row}", "")));
        if let Some(enable) = &check.enable {
            // Commands are to be copied: only the terminal breaks them.
            lines.push(format!("{:indent$}{}", "", style.ink(Ink::Bold, &format!("try: {enable}"))));
        }
    }
    lines.push(String::new());
    lines.extend(wrap(&doctor_headline(checks), columns, 0));
    lines.join("\n") + "\n"
}
