//! The `[site]` table: which line of a fleet this is.
use crate::error::Fault;
use crate::push::{check_label, pairs};
use crate::section::Section;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Longest name of a site.
const MAX_NAME: usize = 64;
/// More would make every series of the engine larger.
const MAX_LABELS: usize = 8;
/// Longest value of a label, in bytes.
const MAX_VALUE: usize = 128;
/// The label with the name of the site.
pub const SITE_LABEL: &str = "site";

/// The line that a watch measures, among those of an operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// Unique name: the label `site` of all series, and the folder of its files.
    pub name: String,
    /// Additional labels of all series, such as `provider`, `plan` and `region`.
    pub labels: Vec<(String, String)>,
    /// Whether addresses of devices in the local network may leave the site.
    pub local_addresses: bool,
}

impl Site {
    /// Adds the site's labels to those of a destination, which win.
    pub(crate) fn add_to(&self, labels: &mut Vec<(String, String)>) {
        let own = (SITE_LABEL.to_string(), self.name.clone());
        for (name, value) in core::iter::once(own).chain(self.labels.iter().cloned()) {
            if !labels.iter().any(|(known, _)| *known == name) {
                labels.push((name, value));
            }
        }
    }
}

/// Parses the table.
pub(crate) fn site(root: &Section<'_>) -> Result<Option<Site>, Fault> {
    let Some(section) = root.section("site")? else { return Ok(None) };
    section.only(&["name", "labels", "local_addresses"])?;
    let name = section.text("name")?.unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !(1..=MAX_NAME).contains(&name.len()) || !name.chars().all(plain) || name.starts_with('.') {
        let what = format!(
            "name: invalid name \"{}\" (letters, digits, - _ and . only, at most {MAX_NAME} characters)",
            name.escape_debug()
        );
        return Err(Fault::new(section.offset_of("name"), what));
    }
    Ok(Some(Site {
        name: name.to_string(),
        labels: labels(&section)?,
        local_addresses: section.flag("local_addresses")?.unwrap_or(false),
    }))
}

fn labels(section: &Section<'_>) -> Result<Vec<(String, String)>, Fault> {
    let given = pairs(section, "labels")?;
    if given.len() > MAX_LABELS {
        let what = format!("labels: {} labels (expected at most {MAX_LABELS})", given.len());
        return Err(Fault::new(section.offset_of("labels"), what));
    }
    let one = |(name, value, at): (String, String, usize)| {
        let wrong = |what| Fault::new(at, format!("labels: {what}"));
        check_label(&name).map_err(wrong)?;
        if name == SITE_LABEL
            || value.is_empty()
            || value.len() > MAX_VALUE
            || value.chars().any(char::is_control)
        {
            return Err(wrong(format!(
                "invalid label {name} = \"{}\" (expected 1 to {MAX_VALUE} characters)",
                value.escape_debug()
            )));
        }
        Ok((name, value))
    };
    given.into_iter().map(one).collect()
}
