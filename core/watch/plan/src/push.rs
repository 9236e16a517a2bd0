//! The `[[push]]` tables: destinations for metrics.
use crate::error::Fault;
use crate::section::Section;
use crate::url::Url;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_text::nearest;
use fathom_units::Duration;

/// The kind of a push to the gateway at which the site is enrolled.
const GATEWAY: &str = "gateway";
const KEYS: [&str; 12] = [
    "name",
    "kind",
    "url",
    "version",
    "histogram",
    "interval",
    "settle",
    "instance",
    "labels",
    "headers",
    "token_file",
    "ca_file",
];

/// One point per minute suits dashboards, and takes 30 MB per series and year in Prometheus.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(60);
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// A histogram of a longer interval would hide what dashboards should show, and the history is read
/// one chunk at a time anyway.
const MAX_INTERVAL: Duration = Duration::from_secs(600);
/// The longest time that the program waits for any answer.
const MAX_SETTLE: Duration = Duration::from_secs(1_200);
/// A sample is written to disk about 10 s after its outcome is known.
const DURABLE: Duration = Duration::from_secs(15);
const MAX_NAME: usize = 64;
/// Headers that the program sets itself, so that nobody may override them.
const RESERVED_HEADERS: [&str; 7] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
    "x-prometheus-remote-write-version",
];
/// Labels that every series already has.
const OWN_LABELS: [&str; 11] = [
    "target",
    "group",
    "host",
    "probe",
    "outcome",
    "address",
    "interface",
    "thread",
    "job",
    "instance",
    "le",
];

/// The protocol of a push.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PushKind {
    /// Prometheus remote-write with `io.prometheus.write.v2.Request`; falls back to 1.0 if the
    /// receiver does not support it.
    RemoteWrite2,
    /// Prometheus remote-write 1.0.
    RemoteWrite1,
    /// OTLP over HTTP.
    Otlp,
}

/// Encoding of histograms in remote-write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PushHistogram {
    /// Prometheus native histograms, with all buckets of the history.
    Native,
    /// One counter per power of two, for receivers without native histograms.
    Classic,
}

/// A destination for metrics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Push {
    /// Unique name, used in messages and in the name of the cursor file.
    pub name: String,
    /// The protocol.
    pub kind: PushKind,
    /// Whether the receiver is the gateway at which the site is enrolled, whose URL, key and
    /// certificate authorities are in its identity.
    pub to_gateway: bool,
    /// The URL of the receiver; empty for the gateway.
    pub url: String,
    /// The encoding of histograms.
    pub histogram: PushHistogram,
    /// Interval between the points of a series.
    pub interval: Duration,
    /// Delay between the time of a point and its transmission. Replies that arrive later are
    /// missing from the pushed data.
    pub settle: Duration,
    /// The label `instance`; `None` for the hostname.
    pub instance: Option<String>,
    /// Additional labels of all series.
    pub labels: Vec<(String, String)>,
    /// Additional headers of all requests.
    pub headers: Vec<(String, String)>,
    /// File with the bearer token.
    pub token_file: Option<String>,
    /// PEM file with the certificate authorities of the receiver; `None` for the system's.
    pub ca_file: Option<String>,
}

/// Parses all `[[push]]` tables. `timeout` is the longest of all targets: until then, a probe may
/// have no outcome.
pub(crate) fn pushes(root: &Section<'_>, timeout: Duration) -> Result<Vec<Push>, Fault> {
    let (mut all, mut names): (Vec<Push>, BTreeSet<String>) = Default::default();
    for section in root.sections("push")? {
        let push = push(&section, timeout)?;
        if !names.insert(push.name.clone()) {
            let what = format!("name: duplicate push name \"{}\"", push.name);
            return Err(Fault::new(section.offset_of("name"), what));
        }
        all.push(push);
    }
    Ok(all)
}

fn push(section: &Section<'_>, timeout: Duration) -> Result<Push, Fault> {
    section.only(&KEYS)?;
    let kind = kind(section)?;
    let to_gateway = section.text("kind")? == Some(GATEWAY);
    let (url, host) = if to_gateway { gateway(section)? } else { url(section)? };
    let words = |key| Ok(section.text(key)?.map(ToString::to_string));
    let min_settle = timeout + DURABLE;
    Ok(Push {
        name: name(section, host)?,
        kind,
        to_gateway,
        url,
        histogram: histogram(section, kind)?,
        interval: duration(section, "interval", (MIN_INTERVAL, MAX_INTERVAL))?.unwrap_or(DEFAULT_INTERVAL),
        settle: settle(section, min_settle)?,
        instance: words("instance")?,
        labels: labels(section)?,
        headers: headers(section)?,
        token_file: words("token_file")?,
        ca_file: words("ca_file")?,
    })
}

fn kind(section: &Section<'_>) -> Result<PushKind, Fault> {
    const KINDS: [&str; 3] = ["remote_write", "otlp", GATEWAY];
    let Some(text) = section.text("kind")? else {
        let what = format!("kind is missing (known: {})", KINDS.join(", "));
        return Err(Fault::new(section.offset, what));
    };
    let version = section.text("version")?;
    let wrong_version = |known: &str| {
        let what =
            format!("version: unsupported version \"{}\" (expected {known})", version.unwrap_or_default());
        Fault::new(section.offset_of("version"), what)
    };
    match (text, version) {
        ("remote_write" | GATEWAY, None | Some("2.0")) => Ok(PushKind::RemoteWrite2),
        ("remote_write" | GATEWAY, Some("1.0")) => Ok(PushKind::RemoteWrite1),
        ("remote_write" | GATEWAY, _) => {
            Err(wrong_version("\"2.0\", which falls back to 1.0 if necessary, or \"1.0\""))
        }
        ("otlp", None) => Ok(PushKind::Otlp),
        ("otlp", _) => Err(wrong_version("no version for otlp")),
        _ => {
            let guess =
                nearest(text, &KINDS).map_or_else(String::new, |g| format!("; did you mean \"{g}\"?"));
            let what = format!("kind: unknown kind \"{text}\" (known: {}{guess})", KINDS.join(", "));
            Err(Fault::new(section.offset_of("kind"), what))
        }
    }
}

/// The keys that the identity of an enrolled site has, or that would be those of another receiver.
const NOT_OF_GATEWAY: [&str; 5] = ["url", "headers", "token_file", "ca_file", "labels"];

fn gateway(section: &Section<'_>) -> Result<(String, String), Fault> {
    if let Some(key) = NOT_OF_GATEWAY.into_iter().find(|key| section.get(key).is_some()) {
        let what = format!("{key}: {GATEWAY} has no such key");
        return Err(Fault::new(section.offset_of(key), what));
    }
    Ok((String::new(), GATEWAY.to_string()))
}

/// The URL and its host.
fn url(section: &Section<'_>) -> Result<(String, String), Fault> {
    let Some(text) = section.text("url")? else {
        let what = "url is missing (for example \"http://127.0.0.1:9090/api/v1/write\")".to_string();
        return Err(Fault::new(section.offset, what));
    };
    let at = section.offset_of("url");
    let parts = Url::parse(text).map_err(|what| Fault::new(at, format!("url: {what}")))?;
    Ok((text.to_string(), parts.host))
}

pub(crate) fn name(section: &Section<'_>, host: String) -> Result<String, Fault> {
    let name = section.text("name")?.map_or(host, ToString::to_string);
    // The name becomes part of a file name and of log lines.
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    let fits = (1..=MAX_NAME).contains(&name.len()) && name.chars().all(plain) && !name.starts_with('.');
    let what = || {
        format!(
            "name: invalid name \"{}\" (letters, digits, - _ . and : only, at most {MAX_NAME} characters)",
            name.escape_debug()
        )
    };
    if fits { Ok(name) } else { Err(Fault::new(section.offset_of("name"), what())) }
}

fn histogram(section: &Section<'_>, kind: PushKind) -> Result<PushHistogram, Fault> {
    let at = section.offset_of("histogram");
    match section.text("histogram")? {
        None | Some("native") => Ok(PushHistogram::Native),
        Some("classic") if kind == PushKind::Otlp => {
            let what =
                "histogram: \"classic\" is valid only for remote_write (otlp sends exponential histograms)";
            Err(Fault::new(at, what.to_string()))
        }
        Some("classic") => Ok(PushHistogram::Classic),
        Some(other) => {
            let what = format!("histogram: unknown value \"{other}\" (known: native, classic)");
            Err(Fault::new(at, what))
        }
    }
}

fn settle(section: &Section<'_>, min_settle: Duration) -> Result<Duration, Fault> {
    let Some(given) = section.quantity::<Duration>("settle")? else { return Ok(min_settle) };
    if (min_settle..=MAX_SETTLE.max(min_settle)).contains(&given) {
        return Ok(given);
    }
    let what = format!(
        "settle: invalid value {given} (expected {min_settle}, the longest timeout plus {DURABLE} to reach the disk, to {MAX_SETTLE})"
    );
    Err(Fault::new(section.offset_of("settle"), what))
}

fn duration(
    section: &Section<'_>,
    key: &str,
    (low, high): (Duration, Duration),
) -> Result<Option<Duration>, Fault> {
    let given = section.quantity::<Duration>(key)?;
    let refused = |value: Duration| {
        let what = format!("{key}: invalid value {value} (expected {low} to {high}, in whole milliseconds)");
        Fault::new(section.offset_of(key), what)
    };
    match given {
        Some(value) if value < low || value > high || value.as_nanos() % 1_000_000 != 0 => {
            Err(refused(value))
        }
        other => Ok(other),
    }
}

/// The string pairs of a table.
pub(crate) fn pairs(section: &Section<'_>, key: &str) -> Result<Vec<(String, String, usize)>, Fault> {
    let Some(table) = section.section(key)? else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for name in table.keys() {
        let value = table.text(name)?.unwrap_or_default();
        all.push((name.to_string(), value.to_string(), table.offset_of(name)));
    }
    Ok(all)
}

fn labels(section: &Section<'_>) -> Result<Vec<(String, String)>, Fault> {
    let mut all = Vec::new();
    for (name, value, at) in pairs(section, "labels")? {
        check_label(&name).map_err(|what| Fault::new(at, format!("labels: {what}")))?;
        all.push((name, value));
    }
    Ok(all)
}

/// Checks the name of an additional label.
///
/// # Errors
/// What is wrong.
pub fn check_label(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fits = name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit());
    if fits && !name.is_empty() && !name.starts_with("__") && !OWN_LABELS.contains(&name) {
        return Ok(());
    }
    Err(format!(
        "invalid label \"{}\" (letters, digits and _ only; reserved: {})",
        name.escape_debug(),
        OWN_LABELS.join(", ")
    ))
}

fn headers(section: &Section<'_>) -> Result<Vec<(String, String)>, Fault> {
    let mut all = Vec::new();
    for (name, value, at) in pairs(section, "headers")? {
        if name.eq_ignore_ascii_case("authorization") || !is_header(&name, &value) {
            let what = format!(
                "headers: invalid header \"{}\" (visible ASCII only, none that fathom sets itself; token_file is for bearer tokens)",
                name.escape_debug()
            );
            return Err(Fault::new(at, what));
        }
        all.push((name, value));
    }
    Ok(all)
}

/// Whether a header can be sent: visible ASCII only, and not a header that this program sets
/// itself.
#[must_use]
pub fn is_header(name: &str, value: &str) -> bool {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let is_plain = !name.is_empty()
        && name.chars().all(token)
        && value.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    is_plain && !RESERVED_HEADERS.contains(&name.to_ascii_lowercase().as_str())
}
