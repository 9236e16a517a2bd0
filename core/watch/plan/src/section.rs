//! Reads a table key by key, so that every error has its line and unknown keys are refused.
use crate::error::Fault;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;
use core::str::FromStr;
use fathom_text::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table and its offset in the file.
#[derive(Clone, Copy)]
pub(crate) struct Section<'t> {
    table: &'t DeTable<'t>,
    pub(crate) offset: usize,
}

impl<'t> Section<'t> {
    pub(crate) const fn new(table: &'t DeTable<'t>, offset: usize) -> Self {
        Section { table, offset }
    }
    /// Refuses keys that are not in `known`.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), Fault> {
        let strange = self.table.keys().find(|key| !known.contains(&key.get_ref().as_ref()));
        strange.map_or(Ok(()), |key| {
            let word = key.get_ref();
            let advice = nearest(word, known).map_or_else(
                || format!("known keys: {}", known.join(", ")),
                |guess| format!("did you mean \"{guess}\"?"),
            );
            Err(Fault::new(key.span().start, format!("{word}: unknown key ({advice})")))
        })
    }
    /// The names of all keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'t str> {
        self.table.keys().map(|key| key.get_ref().as_ref())
    }
    pub(crate) fn get(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.get(key)
    }
    /// The byte offset of a key's value, or of the table if the key is missing.
    pub(crate) fn offset_of(&self, key: &str) -> usize {
        self.get(key).map_or(self.offset, |value| value.span().start)
    }
    pub(crate) fn text(&self, key: &str) -> Result<Option<&'t str>, Fault> {
        self.read(key, "a quoted string", DeValue::as_str)
    }
    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, Fault> {
        self.read(key, "true or false", DeValue::as_bool)
    }
    /// An integer from `low` to `high`.
    pub(crate) fn integer(&self, key: &str, low: u64, high: u64) -> Result<Option<u64>, Fault> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let digits = value.get_ref().as_integer().filter(|i| i.radix() == 10).map(|i| i.as_str());
        let number = digits.and_then(|d| d.parse::<u64>().ok()).filter(|n| (low..=high).contains(n));
        let seen = || shown(value.get_ref());
        let refused = || {
            Fault::new(
                value.span().start,
                format!("{key}: invalid number {} (expected a whole number from {low} to {high})", seen()),
            )
        };
        number.map(Some).ok_or_else(refused)
    }
    /// A quoted quantity with its unit.
    pub(crate) fn quantity<T: FromStr<Err: Display>>(&self, key: &str) -> Result<Option<T>, Fault> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let at = value.span().start;
        let parsed = |text: &str| text.parse::<T>().map_err(|e| Fault::new(at, format!("{key}: {e}")));
        match value.get_ref() {
            DeValue::String(text) => parsed(text).map(Some),
            // A bare number has no unit; the parser of the quantity reports that.
            DeValue::Integer(number) => parsed(number.as_str())
                .and(Err(Fault::new(at, format!("{key}: {} must be in quotes", number.as_str())))),
            other => Err(Fault::new(
                at,
                format!("{key}: invalid quantity {} (expected a number with unit, in quotes)", shown(other)),
            )),
        }
    }
    /// One string or an array of strings.
    pub(crate) fn texts(&self, key: &str) -> Result<Option<Vec<(&'t str, usize)>>, Fault> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let wrong = |at| Fault::new(at, format!("{key}: expected a quoted string, or several in brackets"));
        let one = |item: &'t Spanned<DeValue<'t>>| {
            let at = item.span().start;
            item.get_ref().as_str().map(|text| (text, at)).ok_or_else(|| wrong(at))
        };
        match value.get_ref() {
            DeValue::Array(items) if items.is_empty() => Err(Fault::new(
                value.span().start,
                format!("{key}: the list is empty (omit the key for the default)"),
            )),
            DeValue::Array(items) => items.iter().map(one).collect::<Result<_, _>>().map(Some),
            _ => Ok(Some(Vec::from([one(value)?]))),
        }
    }
    /// The table named `key`.
    pub(crate) fn section(&self, key: &str) -> Result<Option<Section<'t>>, Fault> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let at = value.span().start;
        let table = value.get_ref().as_table();
        let refused = || Fault::new(at, format!("{key}: expected a table, written [{key}]"));
        table.map(|table| Some(Section::new(table, at))).ok_or_else(refused)
    }
    /// The tables named `key`, written `[[key]]`.
    pub(crate) fn sections(&self, key: &str) -> Result<Vec<Section<'t>>, Fault> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let refused = |at| Fault::new(at, format!("{key}: expected tables, each written [[{key}]]"));
        let items = value.get_ref().as_array().ok_or_else(|| refused(value.span().start))?;
        let one = |item: &'t Spanned<DeValue<'t>>| {
            let at = item.span().start;
            item.get_ref().as_table().map(|table| Section::new(table, at)).ok_or_else(|| refused(at))
        };
        items.iter().map(one).collect()
    }
    fn read<T>(
        &self,
        key: &str,
        expected: &str,
        take: impl FnOnce(&'t DeValue<'t>) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let seen = || shown(value.get_ref());
        let refused = || {
            Fault::new(value.span().start, format!("{key}: invalid value {} (expected {expected})", seen()))
        };
        take(value.get_ref()).map(Some).ok_or_else(refused)
    }
}

/// The value as written in the file, or its type.
fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("\"{text}\""),
        DeValue::Integer(number) => number.as_str().to_string(),
        DeValue::Float(number) => number.as_str().to_string(),
        DeValue::Boolean(value) => value.to_string(),
        other => format!("this {}", other.type_str()),
    }
}

const MAX_NAME: usize = 128;

/// The name of the item that a table describes.
pub(crate) fn name(section: &Section<'_>) -> Result<String, Fault> {
    let Some(text) = section.text("name")? else {
        return Err(Fault::new(section.offset, "name is missing".to_string()));
    };
    let fits = (1..=MAX_NAME).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    let what =
        || format!("name: invalid name \"{}\" (expected 1 to {MAX_NAME} characters)", text.escape_debug());
    if fits { Ok(text.to_string()) } else { Err(Fault::new(section.offset_of("name"), what())) }
}

/// Whether `text` is visible ASCII only.
pub(crate) fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_graphic())
}
