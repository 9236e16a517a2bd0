//! Where figures are sent: the `[[push]]` tables.
use crate::error::Fault;
use crate::section::{Section, nearest};
use crate::url::Url;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_units::Duration;

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

/// A point a minute is what fits the plots of a far end, and 30 MB a series and year in Prometheus.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(60);
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// A sketch of more would hide what a receiver's plots are for; one of a chunk of the history would be read in pieces anyway.
const MAX_INTERVAL: Duration = Duration::from_secs(600);
/// As long as answers are waited for at all.
const MAX_SETTLE: Duration = Duration::from_secs(1_200);
/// A sample is on the disk some 10 s after it is known.
const DURABLE: Duration = Duration::from_secs(15);
const MAX_NAME: usize = 64;
/// What a sender may not change, or would break by it.
const RESERVED_HEADERS: [&str; 8] = [
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
    "x-prometheus-remote-write-version",
];
/// Labels that every series has already.
const OWN_LABELS: [&str; 10] =
    ["target", "group", "host", "probe", "outcome", "interface", "thread", "job", "instance", "le"];

/// How figures are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PushKind {
    /// Prometheus remote-write with `io.prometheus.write.v2.Request`, and 1.0 if the far end does not know that.
    RemoteWrite2,
    /// Prometheus remote-write 1.0.
    RemoteWrite1,
    /// OTLP over HTTP.
    Otlp,
}

/// In which form histograms are sent by remote-write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PushHistogram {
    /// As Prometheus' native histograms, with all buckets of the history.
    Native,
    /// As one counter a power of two, for those who do not know native ones.
    Classic,
}

/// A place to which figures are sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Push {
    /// Its name in messages and in that of its cursor's file; unique.
    pub name: String,
    /// How.
    pub kind: PushKind,
    /// Where to.
    pub url: String,
    /// The form of histograms.
    pub histogram: PushHistogram,
    /// From one point of a series to the next.
    pub interval: Duration,
    /// How long after its time a point is sent: what is answered later than that is lost to the far end.
    pub settle: Duration,
    /// The label `instance`; `None` for the host's name.
    pub instance: Option<String>,
    /// Further labels of all series.
    pub labels: Vec<(String, String)>,
    /// Further headers of all requests.
    pub headers: Vec<(String, String)>,
    /// The file with the bearer token.
    pub token_file: Option<String>,
    /// The file with the authorities, in PEM, by which the far end is known; `None` for the host's own.
    pub ca_file: Option<String>,
}

/// All places. `timeout` is the longest of any target: before it has passed, a probe has no outcome.
pub(crate) fn pushes(root: &Section<'_>, timeout: Duration) -> Result<Vec<Push>, Fault> {
    let (mut all, mut names): (Vec<Push>, BTreeSet<String>) = Default::default();
    for section in root.sections("push")? {
        let push = push(&section, timeout)?;
        if !names.insert(push.name.clone()) {
            let what = format!("name: there is another push \"{}\" (names must differ)", push.name);
            return Err(Fault::new(section.offset_of("name"), what));
        }
        all.push(push);
    }
    Ok(all)
}

fn push(section: &Section<'_>, timeout: Duration) -> Result<Push, Fault> {
    section.only(&KEYS)?;
    let kind = kind(section)?;
    let (url, host) = url(section)?;
    let words = |key| Ok(section.text(key)?.map(ToString::to_string));
    let min_settle = timeout + DURABLE;
    Ok(Push {
        name: name(section, host)?,
        kind,
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
    const KINDS: [&str; 2] = ["remote_write", "otlp"];
    let Some(text) = section.text("kind")? else {
        let what = "kind: is missing (\"remote_write\" or \"otlp\")".to_string();
        return Err(Fault::new(section.offset, what));
    };
    let version = section.text("version")?;
    let wrong_version = |known: &str| {
        let what = format!("version: \"{}\" will not do (known: {known})", version.unwrap_or_default());
        Fault::new(section.offset_of("version"), what)
    };
    match (text, version) {
        ("remote_write", None | Some("2.0")) => Ok(PushKind::RemoteWrite2),
        ("remote_write", Some("1.0")) => Ok(PushKind::RemoteWrite1),
        ("remote_write", _) => Err(wrong_version("\"2.0\", which falls back where it must, \"1.0\"")),
        ("otlp", None) => Ok(PushKind::Otlp),
        ("otlp", _) => Err(wrong_version("none for otlp: leave it out")),
        _ => {
            let guess =
                nearest(text, &KINDS).map_or_else(String::new, |g| format!("; did you mean \"{g}\"?"));
            let what = format!("kind: \"{text}\" is unknown (known: {}{guess})", KINDS.join(", "));
            Err(Fault::new(section.offset_of("kind"), what))
        }
    }
}

/// The URL, and its host.
fn url(section: &Section<'_>) -> Result<(String, String), Fault> {
    let Some(text) = section.text("url")? else {
        let what = "url: is missing (as in \"http://127.0.0.1:9090/api/v1/write\")".to_string();
        return Err(Fault::new(section.offset, what));
    };
    let at = section.offset_of("url");
    let parts = Url::parse(text).map_err(|what| Fault::new(at, format!("url: {what}")))?;
    Ok((text.to_string(), parts.host))
}

fn name(section: &Section<'_>, host: String) -> Result<String, Fault> {
    let name = section.text("name")?.map_or(host, ToString::to_string);
    // It is part of a file's name, and of one line.
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    let fits = (1..=MAX_NAME).contains(&name.len()) && name.chars().all(plain) && !name.starts_with('.');
    let what = || {
        format!(
            "name: \"{}\" will not do (letters, digits, - _ . and :, at most {MAX_NAME})",
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
            let what = "histogram: \"classic\" is for remote_write (otlp sends exponential histograms)";
            Err(Fault::new(at, what.to_string()))
        }
        Some("classic") => Ok(PushHistogram::Classic),
        Some(other) => {
            let what = format!("histogram: \"{other}\" is unknown (known: native, classic)");
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
        "settle: {given} is out of range ({min_settle}, which is the longest timeout and {DURABLE} until it is on the disk, to {MAX_SETTLE})"
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
        let what = format!("{key}: {value} is out of range ({low} to {high}, in whole milliseconds)");
        Fault::new(section.offset_of(key), what)
    };
    match given {
        Some(value) if value < low || value > high || value.as_nanos() % 1_000_000 != 0 => {
            Err(refused(value))
        }
        other => Ok(other),
    }
}

/// Pairs of texts in a table of its own.
fn pairs(section: &Section<'_>, key: &str) -> Result<Vec<(String, String, usize)>, Fault> {
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
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let fits = name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit());
        if !fits || name.is_empty() || name.starts_with("__") || OWN_LABELS.contains(&name.as_str()) {
            let what = format!(
                "labels: \"{}\" will not do (letters, digits and _, and none of: {})",
                name.escape_debug(),
                OWN_LABELS.join(", ")
            );
            return Err(Fault::new(at, what));
        }
        all.push((name, value));
    }
    Ok(all)
}

fn headers(section: &Section<'_>) -> Result<Vec<(String, String)>, Fault> {
    let mut all = Vec::new();
    for (name, value, at) in pairs(section, "headers")? {
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let plain = !name.is_empty()
            && name.chars().all(token)
            && value.chars().all(|c| c == ' ' || c.is_ascii_graphic());
        let reserved = RESERVED_HEADERS.contains(&name.to_ascii_lowercase().as_str());
        if !plain || reserved {
            let what = format!(
                "headers: \"{}\" will not do (an HTTP header of visible ASCII, and none that this program sets; a bearer token goes into token_file)",
                name.escape_debug()
            );
            return Err(Fault::new(at, what));
        }
        all.push((name, value));
    }
    Ok(all)
}
