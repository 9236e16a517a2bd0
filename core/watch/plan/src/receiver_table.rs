//! Parsing of the `[[receiver]]` tables.
use crate::error::Fault;
use crate::relay_table::relay;
use crate::section::{Section, is_plain};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_units::Duration;
use fathom_watch_alert::{Receiver, Route};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
const MIN_TIMEOUT: Duration = Duration::from_millis(100);
const MAX_TIMEOUT: Duration = Duration::from_secs(120);
const KEYS: [&str; 12] = [
    "name",
    "webhook",
    "header",
    "mail",
    "from",
    "relay",
    "tls",
    "user",
    "password_file",
    "command",
    "alertmanager",
    "timeout",
];
/// Keys that only one transport accepts.
const OF_ONE_WAY: [(&str, &str); 6] = [
    ("header", "webhook"),
    ("from", "mail"),
    ("relay", "mail"),
    ("tls", "mail"),
    ("user", "mail"),
    ("password_file", "mail"),
];
const ROUTES: [&str; 4] = ["webhook", "mail", "command", "alertmanager"];

/// Parses all `[[receiver]]` tables.
pub(crate) fn receivers(root: &Section<'_>) -> Result<Vec<Receiver>, Fault> {
    let mut all: Vec<Receiver> = Vec::new();
    for section in root.sections("receiver")? {
        let one = receiver(&section)?;
        if all.iter().any(|other| other.name == one.name) {
            let what = format!("name: duplicate receiver name \"{}\"", one.name);
            return Err(Fault::new(section.offset_of("name"), what));
        }
        all.push(one);
    }
    Ok(all)
}

fn receiver(section: &Section<'_>) -> Result<Receiver, Fault> {
    section.only(&KEYS)?;
    let name = crate::section::name(section)?;
    let given: Vec<&str> = ROUTES.into_iter().filter(|key| section.get(key).is_some()).collect();
    let [way] = given.as_slice() else {
        let what =
            format!("receiver {} needs exactly one of {}, but has {}", name, ROUTES.join(", "), given.len());
        return Err(Fault::new(section.offset, what));
    };
    let strange = OF_ONE_WAY.into_iter().find(|(key, its)| section.get(key).is_some() && its != way);
    if let Some((key, _)) = strange {
        let what = format!("{key}: not valid for a receiver with {way} (omit it)");
        return Err(Fault::new(section.offset_of(key), what));
    }
    let route = match *way {
        "webhook" => Route::Webhook { url: url(section, way)?, headers: headers(section)? },
        "mail" => mail(section)?,
        "command" => command(section)?,
        _ => Route::Alertmanager(url(section, way)?.trim_end_matches('/').to_string()),
    };
    let timeout =
        crate::settings::duration(section, "timeout", MIN_TIMEOUT, MAX_TIMEOUT)?.unwrap_or(DEFAULT_TIMEOUT);
    Ok(Receiver { name, route, timeout })
}

fn url(section: &Section<'_>, key: &str) -> Result<String, Fault> {
    let text = section.text(key)?.unwrap_or_default();
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let fits = rest.is_some_and(|r| !r.is_empty() && !r.starts_with('/')) && is_plain(text);
    let what = || {
        format!("{key}: invalid URL \"{}\" (for example \"https://example.net/hook\")", text.escape_debug())
    };
    if fits { Ok(text.to_string()) } else { Err(Fault::new(section.offset_of(key), what())) }
}

fn headers(section: &Section<'_>) -> Result<Vec<(String, String)>, Fault> {
    let one = |(text, offset): (&str, usize)| {
        let parts = text.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
        let is_visible = |c: u8| c.is_ascii_graphic() || c == b' ';
        let is_name = |c: u8| c.is_ascii_alphanumeric() || b"-_".contains(&c);
        let fits = |(name, value): &(&str, &str)| {
            !name.is_empty() && name.bytes().all(is_name) && value.bytes().all(is_visible)
        };
        let what = || {
            format!(
                "header: invalid header \"{}\" (for example \"Authorization: Bearer ...\")",
                text.escape_debug()
            )
        };
        let found = parts.filter(fits).ok_or_else(|| Fault::new(offset, what()))?;
        Ok((found.0.to_string(), found.1.to_string()))
    };
    section.texts("header")?.unwrap_or_default().into_iter().map(one).collect()
}

fn mail(section: &Section<'_>) -> Result<Route, Fault> {
    let to = section.texts("mail")?.unwrap_or_default();
    let to = to.into_iter().map(|(text, offset)| address("mail", text, offset)).collect::<Result<_, _>>()?;
    let from = section.text("from")?;
    let from = from.map(|text| address("from", text, section.offset_of("from"))).transpose()?;
    Ok(Route::Mail { to, from, relay: relay(section)? })
}

/// A mailbox of RFC 5321 section 4.1.2 without quoted forms, so that it cannot terminate an SMTP
/// command.
fn address(key: &str, text: &str, offset: usize) -> Result<String, Fault> {
    let plain = |c: char| c.is_ascii_graphic() && !"<>,;:\"()[]\\".contains(c);
    let parts = text.rsplit_once('@').filter(|(local, domain)| !local.is_empty() && !domain.is_empty());
    let fits = parts.is_some() && text.chars().all(plain) && !text.starts_with('-') && text.len() <= 254;
    let what = || {
        format!("{key}: invalid mail address \"{}\" (for example \"me@example.net\")", text.escape_debug())
    };
    if fits { Ok(text.to_string()) } else { Err(Fault::new(offset, what())) }
}

fn command(section: &Section<'_>) -> Result<Route, Fault> {
    let words: Vec<(&str, usize)> = section.texts("command")?.unwrap_or_default();
    let fault = |offset, what: String| Err(Fault::new(offset, what));
    match words.first() {
        Some((program, offset)) if program.contains(' ') && words.len() == 1 => fault(
            *offset,
            format!(
                "command: \"{program}\" contains spaces, but no shell is used (write [\"program\", \"argument\"])"
            ),
        ),
        Some((program, offset)) if !program.starts_with('/') => fault(
            *offset,
            format!(
                "command: \"{program}\" is not an absolute path (for example [\"/usr/local/bin/page\", \"loss\"])"
            ),
        ),
        _ => Ok(Route::Command(words.into_iter().map(|(word, _)| word.to_string()).collect())),
    }
}
