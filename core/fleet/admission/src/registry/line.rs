//! Changes as lines of a journal: fields separated by tabs, then a checksum. Names and labels have
//! no control characters, so nothing is escaped.
use super::{Change, DEAD_KEYS, Site, Token};
use crate::digest::checksum;
use crate::{Digest, Labels, SiteName};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};

/// A line that is not a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineError;

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("damaged")
    }
}

impl core::error::Error for LineError {}

/// The line of a change, with its end of line.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        write(&mut line, self)?;
        let sum = checksum(&line);
        writeln!(f, "{line}\t{sum}")
    }
}

fn write(line: &mut String, change: &Change) -> fmt::Result {
    match change {
        Change::Issued(Token { digest, expires_ms, site, labels, replaces }) => {
            let site = site.as_ref().map_or("", SiteName::as_str);
            let bound = if labels.is_some() { "bound" } else { "free" };
            let replaces = if *replaces { "replaces" } else { "new" };
            write!(line, "token\t{digest}\t{expires_ms}\t{site}\t{replaces}\t{bound}")?;
            labels.iter().try_for_each(|labels| write_labels(line, labels))
        }
        Change::Enrolled { token, name, labels, key, at_ms } => {
            write!(line, "enroll\t{at_ms}\t{name}\t{token}\t{key}")?;
            write_labels(line, labels)
        }
        Change::Offered { site, key, at_ms } => write!(line, "offer\t{at_ms}\t{site}\t{key}"),
        Change::Used { site, key, at_ms } => write!(line, "use\t{at_ms}\t{site}\t{key}"),
        Change::Revoked { site, at_ms } => write!(line, "revoke\t{at_ms}\t{site}"),
        Change::Duplicate { site, at_ms } => write!(line, "duplicate\t{at_ms}\t{site}"),
        Change::Restored(site) => write_site(line, site),
    }
}

fn write_site(line: &mut String, site: &Site) -> fmt::Result {
    let Site { name, labels, enrolled_ms, revoked_ms, current, next, replaced_ms, duplicate_ms, dead } = site;
    let (revoked_ms, duplicate_ms) = (revoked_ms.unwrap_or(0), duplicate_ms.unwrap_or(0));
    write!(line, "site\t{enrolled_ms}\t{name}\t{revoked_ms}\t{replaced_ms}\t{duplicate_ms}\t{current}\t")?;
    next.iter().try_for_each(|next| write!(line, "{next}"))?;
    line.push('\t');
    for (at, (key, at_ms)) in dead.iter().enumerate() {
        write!(line, "{}{key}:{at_ms}", if at == 0 { "" } else { "," })?;
    }
    write_labels(line, labels)
}

fn write_labels(line: &mut String, labels: &Labels) -> fmt::Result {
    labels.iter().try_for_each(|(name, value)| write!(line, "\t{name}={value}"))
}

/// Reads a line without its end.
///
/// # Errors
/// A line that was damaged, or written by a later version.
pub fn read_line(line: &str) -> Result<Change, LineError> {
    let (content, sum) = line.rsplit_once('\t').ok_or(LineError)?;
    if checksum(content) != sum {
        return Err(LineError);
    }
    parse(content).ok_or(LineError)
}

fn parse(content: &str) -> Option<Change> {
    let fields: Vec<&str> = content.split('\t').collect();
    let at_ms = |text: &str| text.parse::<u64>().ok();
    let name = |text: &str| SiteName::parse(text).ok();
    match fields.as_slice() {
        ["token", digest, expires, site, replaces, bound, labels @ ..] => Some(Change::Issued(Token {
            digest: Digest::parse(digest)?,
            expires_ms: at_ms(expires)?,
            site: if site.is_empty() { None } else { Some(name(site)?) },
            labels: if *bound == "bound" { Some(read_labels(labels)?) } else { None },
            replaces: *replaces == "replaces",
        })),
        ["enroll", at, site, token, key, labels @ ..] => Some(Change::Enrolled {
            token: Digest::parse(token)?,
            name: name(site)?,
            labels: read_labels(labels)?,
            key: Digest::parse(key)?,
            at_ms: at_ms(at)?,
        }),
        ["offer", at, site, key] => {
            Some(Change::Offered { site: name(site)?, key: Digest::parse(key)?, at_ms: at_ms(at)? })
        }
        ["use", at, site, key] => {
            Some(Change::Used { site: name(site)?, key: Digest::parse(key)?, at_ms: at_ms(at)? })
        }
        ["revoke", at, site] => Some(Change::Revoked { site: name(site)?, at_ms: at_ms(at)? }),
        ["duplicate", at, site] => Some(Change::Duplicate { site: name(site)?, at_ms: at_ms(at)? }),
        ["site", rest @ ..] => read_site(rest).map(Change::Restored),
        _ => None,
    }
}

fn read_site(fields: &[&str]) -> Option<Site> {
    let [enrolled, name, revoked, replaced, duplicate, current, next, dead, labels @ ..] = fields else {
        return None;
    };
    let at_ms = |text: &str| text.parse::<u64>().ok();
    // Nothing happened in 1970.
    let maybe_ms = |text: &str| at_ms(text).map(|at| (at > 0).then_some(at));
    let one = |text: &str| {
        let (key, at) = text.split_once(':')?;
        Some((Digest::parse(key)?, at_ms(at)?))
    };
    let dead: Option<Vec<(Digest, u64)>> = dead.split(',').filter(|text| !text.is_empty()).map(one).collect();
    Some(Site {
        name: SiteName::parse(name).ok()?,
        labels: read_labels(labels)?,
        enrolled_ms: at_ms(enrolled)?,
        revoked_ms: maybe_ms(revoked)?,
        current: Digest::parse(current)?,
        next: if next.is_empty() { None } else { Some(Digest::parse(next)?) },
        replaced_ms: at_ms(replaced)?,
        duplicate_ms: maybe_ms(duplicate)?,
        dead: dead.filter(|dead| dead.len() <= DEAD_KEYS)?,
    })
}

fn read_labels(fields: &[&str]) -> Option<Labels> {
    let pairs: Option<Vec<(&str, &str)>> = fields.iter().map(|field| field.split_once('=')).collect();
    Labels::parse(pairs?).ok()
}

impl Change {
    /// The line as text.
    #[must_use]
    pub fn to_line(&self) -> String {
        self.to_string()
    }
}
