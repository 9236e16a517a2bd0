//! Names of sites, and the labels with which they are enrolled.
use crate::admit::OWN_LABELS;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// Maximum length of a site's name.
const MAX_NAME_BYTES: usize = 64;
/// Maximum number of labels of a site.
const MAX_LABELS: usize = 8;
/// Maximum length of a label's name and value.
const MAX_LABEL_BYTES: usize = 128;

/// Why a name or a label is invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NameError {
    /// The name of a site.
    Site,
    /// Too many labels.
    TooMany,
    /// The name of a label.
    Label(String),
    /// The value of the label with this name.
    Value(String),
    /// The label is one that every series has, or is given twice.
    Taken(String),
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameError::Site => {
                write!(
                    f,
                    "invalid name (letters, digits, - _ and . only, at most {MAX_NAME_BYTES} characters)"
                )
            }
            NameError::TooMany => write!(f, "labels: expected at most {MAX_LABELS}"),
            NameError::Label(name) => {
                write!(f, "invalid label {name:?} (letters, digits and _ only)")
            }
            NameError::Value(name) => {
                write!(f, "invalid label {name} (expected 1 to {MAX_LABEL_BYTES} characters)")
            }
            NameError::Taken(name) => write!(f, "invalid label {name} (reserved, or given twice)"),
        }
    }
}

impl core::error::Error for NameError {}

/// The name of a site: 1 to 64 letters, digits, `-`, `_` and `.`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SiteName(String);

impl SiteName {
    /// Checks a name.
    ///
    /// # Errors
    /// An invalid length or character.
    pub fn parse(text: &str) -> Result<SiteName, NameError> {
        let is_known = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        let is_valid = (1..=MAX_NAME_BYTES).contains(&text.len()) && text.bytes().all(is_known);
        is_valid.then(|| SiteName(text.to_string())).ok_or(NameError::Site)
    }
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SiteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Labels of a site in the order of their names, such as provider, plan and region. All its series
/// have them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Labels(Vec<(String, String)>);

impl Labels {
    /// Checks labels.
    ///
    /// # Errors
    /// The first one that is invalid.
    pub fn parse<'t>(pairs: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Labels, NameError> {
        let mut all: Vec<(String, String)> = Vec::new();
        for (name, value) in pairs {
            if all.len() == MAX_LABELS {
                return Err(NameError::TooMany);
            }
            check_label(name, value)?;
            if all.iter().any(|(other, _)| other == name) {
                return Err(NameError::Taken(name.to_string()));
            }
            all.push((name.to_string(), value.to_string()));
        }
        all.sort_unstable();
        Ok(Labels(all))
    }
    /// Name and value of each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
    /// The value of one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(other, _)| *other == name).map(|(_, value)| value)
    }
    /// Their number.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn check_label(name: &str, value: &str) -> Result<(), NameError> {
    if name.len() > MAX_LABEL_BYTES || !is_label_name(name) {
        let shown = name.chars().take(MAX_LABEL_BYTES).collect();
        return Err(NameError::Label(shown));
    }
    if name == "site" || name.starts_with("__") || OWN_LABELS.contains(&name) {
        return Err(NameError::Taken(name.to_string()));
    }
    if value.is_empty() || value.len() > MAX_LABEL_BYTES || value.chars().any(char::is_control) {
        return Err(NameError::Value(name.to_string()));
    }
    Ok(())
}

/// The data model of Prometheus: `[a-zA-Z_][a-zA-Z0-9_]*`.
pub(crate) fn is_label_name(name: &str) -> bool {
    let is_first = |b: &u8| b.is_ascii_alphabetic() || *b == b'_';
    name.as_bytes().first().is_some_and(is_first)
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_characters_and_lengths_that_are_allowed() {
        for good in ["a", "Berlin-7", "a_b.c", ".", &"x".repeat(64)] {
            assert!(SiteName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "a b", "a/b", "ü", "a\n", "a=b", "a\"b", &"x".repeat(65)] {
            assert_eq!(SiteName::parse(bad), Err(NameError::Site), "{bad:?}");
        }
    }

    #[test]
    fn labels_are_sorted_and_checked() {
        let labels = Labels::parse([("region", "süd"), ("plan", "50/10 \"fast\"")]).unwrap();
        assert_eq!(labels.iter().next(), Some(("plan", "50/10 \"fast\"")));
        assert_eq!(labels.get("region"), Some("süd"));
        let long = "x".repeat(129);
        let one = |name: &str, value: &str| Labels::parse([(name, value)]).unwrap_err();
        assert!(matches!(one("", "x"), NameError::Label(_)));
        assert!(matches!(one("1a", "x"), NameError::Label(_)));
        assert!(matches!(one("a-b", "x"), NameError::Label(_)));
        assert!(matches!(one(&long, "x"), NameError::Label(_)));
        assert!(matches!(one("a", ""), NameError::Value(_)));
        assert!(matches!(one("a", &long), NameError::Value(_)));
        assert!(matches!(one("a", "x\ty"), NameError::Value(_)));
        assert!(matches!(one("a", "x\u{85}y"), NameError::Value(_)));
        for taken in ["site", "__name__", "target", "address", "job", "le"] {
            assert_eq!(one(taken, "x"), NameError::Taken(taken.to_string()));
        }
        assert_eq!(Labels::parse([("a", "1"), ("a", "1")]), Err(NameError::Taken("a".to_string())));
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        assert_eq!(Labels::parse(names.map(|name| (name, "x"))), Err(NameError::TooMany));
    }
}
