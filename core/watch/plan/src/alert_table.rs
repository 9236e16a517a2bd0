//! Parsing of the `[[alert]]` tables of the configuration.
use crate::error::Fault;
use crate::section::Section;
use crate::settings::duration;
use crate::target::Target;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_text::nearest;
use fathom_units::{Duration, Ratio};
use fathom_watch_alert::{
    Condition, Flapping, Kind, MAX_WEEKS, Matcher, Pattern, Receiver, Rule, Scope, Semantics,
};

const SHARED: [&str; 14] = [
    "name",
    "type",
    "target",
    "group",
    "probe",
    "for",
    "clear_after",
    "to",
    "priority",
    "repeat",
    "flapping",
    "flapping_window",
    "note",
    "edgetrigger",
];
/// The alert types, each with the keys that only it accepts.
const TYPES: [(&str, &[&str]); 8] = [
    ("loss", &["above", "clear", "window", "least", "pattern", "semantics", "round"]),
    ("latency", &["above", "clear", "window", "least", "percentile"]),
    ("unusual", &["by", "spreads", "window", "least", "percentile", "weeks"]),
    ("bufferbloat", &["above", "clear", "window", "least"]),
    ("path", &["window"]),
    ("unreachable", &["least"]),
    ("rtt", &["pattern", "semantics", "round"]),
    ("matcher", &["pattern", "round"]),
];

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);
/// Longest window of a rule. All samples of the window are in memory; for longer periods use the
/// history.
const MAX_WINDOW: Duration = DAY;
/// Most samples of one series in memory, at 8 bytes each.
const MAX_SAMPLES: f64 = 100_000.0;

/// Parses all `[[alert]]` tables and checks them against the targets and receivers.
pub(crate) fn rules(
    root: &Section<'_>,
    targets: &[Target],
    receivers: &[Receiver],
) -> Result<Vec<Rule>, Fault> {
    let mut all: Vec<Rule> = Vec::new();
    for section in root.sections("alert")? {
        let rule = rule(&section, receivers)?;
        if all.iter().any(|other| other.name == rule.name) {
            let what = format!("name: duplicate alert name \"{}\"", rule.name);
            return Err(Fault::new(section.offset_of("name"), what));
        }
        fits(&section, &rule, targets)?;
        all.push(rule);
    }
    Ok(all)
}

fn rule(section: &Section<'_>, receivers: &[Receiver]) -> Result<Rule, Fault> {
    let kind = kind(section)?;
    let name = crate::section::name(section)?;
    let condition = condition(section, kind)?;
    let (hold, clear_after) = holds(kind);
    let is_rounds = matches!(condition, Condition::Pattern { .. } | Condition::Matcher { .. });
    let repeat = duration(section, "repeat", MINUTE, DAY * 7)?;
    Ok(Rule {
        name,
        scope: Scope {
            target: texts(section, "target")?,
            group: texts(section, "group")?,
            probe: texts(section, "probe")?,
        },
        hold: duration(section, "for", Duration::ZERO, DAY)?.unwrap_or(if is_rounds {
            Duration::ZERO
        } else {
            hold
        }),
        clear_after: duration(section, "clear_after", Duration::ZERO, DAY)?.unwrap_or(if is_rounds {
            Duration::ZERO
        } else {
            clear_after
        }),
        condition,
        to: to(section, receivers)?,
        priority: section.integer("priority", 0, 1_000_000)?,
        repeat: if edge(section, is_rounds)? { repeat } else { Some(Duration::ZERO) },
        flapping: Flapping {
            changes: section.integer("flapping", 0, 1_000)?.unwrap_or(6),
            window: duration(section, "flapping_window", SECOND, DAY)?.unwrap_or(HOUR),
        },
        note: section.text("note")?.unwrap_or_default().to_string(),
    })
}

/// Default hold time and clear time of an alert type.
fn holds(kind: &str) -> (Duration, Duration) {
    match kind {
        "unreachable" => (MINUTE, SECOND * 30),
        "path" => (Duration::ZERO, Duration::ZERO),
        // A window fills and empties slowly, so the alert needs no additional hold time.
        _ => (Duration::ZERO, MINUTE * 2),
    }
}

/// The type of the alert. Refuses keys that this type does not accept.
fn kind(section: &Section<'_>) -> Result<&'static str, Fault> {
    let names = TYPES.map(|(name, _)| name);
    let known: Vec<&str> =
        SHARED.into_iter().chain(TYPES.iter().flat_map(|(_, keys)| keys.iter().copied())).collect();
    section.only(&known)?;
    let Some(text) = section.text("type")? else {
        return Err(Fault::new(
            section.offset,
            format!("type is missing (expected one of {})", names.join(", ")),
        ));
    };
    let Some((kind, keys)) = TYPES.into_iter().find(|(name, _)| *name == text) else {
        let guess = nearest(text, &names).map_or_else(String::new, |g| format!("; did you mean \"{g}\"?"));
        let what = format!("type: unknown type \"{text}\" (known: {}{guess})", names.join(", "));
        return Err(Fault::new(section.offset_of("type"), what));
    };
    let strange =
        known.iter().find(|key| section.get(key).is_some() && !SHARED.contains(key) && !keys.contains(key));
    strange.map_or(Ok(kind), |key| {
        let what = format!("{key}: not valid for an alert of type {kind} (its keys are {})", keys.join(", "));
        Err(Fault::new(section.offset_of(key), what))
    })
}

fn condition(section: &Section<'_>, kind: &str) -> Result<Condition, Fault> {
    let window = |usual| duration(section, "window", SECOND * 10, MAX_WINDOW).map(|w| w.unwrap_or(usual));
    let min_probes = |usual| section.integer("least", 1, 100_000).map(|n| n.unwrap_or(usual));
    let percentile = |usual| section.integer("percentile", 1, 99).map(|n| n.unwrap_or(usual));
    Ok(match kind {
        "rtt" | "loss" if section.get("pattern").is_some() || kind == "rtt" => pattern(section, kind)?,
        "matcher" => matcher(section)?,
        "loss" => {
            let (above, clear) =
                limits(section, |text: Option<Ratio>| text.map(|r| r.0), |above| above / 2.0)?;
            Condition::Loss { above, clear, window: window(MINUTE * 5)?, min_probes: min_probes(10)? }
        }
        "latency" => {
            let (above, clear) = limits(section, |d: Option<Duration>| d, |above| above * 8 / 10)?;
            let (window, min_probes, percentile) = (window(MINUTE * 5)?, min_probes(10)?, percentile(95)?);
            Condition::Latency { above, clear, percentile, window, min_probes }
        }
        "unusual" => Condition::Unusual {
            by: duration(section, "by", Duration::from_micros(1), HOUR)?.unwrap_or(Duration::from_millis(20)),
            spreads: section.integer("spreads", 1, 100)?.unwrap_or(4),
            percentile: percentile(50)?,
            window: window(MINUTE * 15)?,
            min_probes: min_probes(30)?,
            weeks: section.integer("weeks", 2, MAX_WEEKS as u64)?.unwrap_or(3),
        },
        "bufferbloat" => {
            let usual = Duration::from_millis(100);
            let given = duration(section, "above", Duration::from_micros(1), HOUR)?.unwrap_or(usual);
            let clear = duration(section, "clear", Duration::ZERO, given)?.unwrap_or(given / 2);
            Condition::Bufferbloat {
                above: given,
                clear,
                window: window(MINUTE * 5)?,
                min_probes: min_probes(5)?,
            }
        }
        "path" => Condition::Path { window: window(MINUTE * 10)? },
        _ => Condition::Unreachable { min_probes: min_probes(3)? },
    })
}

/// The limits `above` (required) and `clear` (must not exceed `above`).
fn limits<T: core::str::FromStr<Err: core::fmt::Display>, V: PartialOrd + Copy>(
    section: &Section<'_>,
    take: impl Fn(Option<T>) -> Option<V>,
    usual: impl Fn(V) -> V,
) -> Result<(V, V), Fault> {
    let Some(above) = take(section.quantity::<T>("above")?) else {
        return Err(Fault::new(
            section.offset,
            "above is missing (expected the limit that raises the alert)".to_string(),
        ));
    };
    let clear = take(section.quantity::<T>("clear")?).unwrap_or_else(|| usual(above));
    if clear > above {
        let what = "clear: must not be higher than above".to_string();
        return Err(Fault::new(section.offset_of("clear"), what));
    }
    Ok((above, clear))
}

fn pattern(section: &Section<'_>, kind: &str) -> Result<Condition, Fault> {
    if let Some(key) = ["above", "clear", "window", "least"].into_iter().find(|k| section.get(k).is_some()) {
        let what = format!("{key}: cannot be combined with pattern (omit one of them)");
        return Err(Fault::new(section.offset_of(key), what));
    }
    let Some(text) = section.text("pattern")? else {
        return Err(Fault::new(section.offset, "pattern is missing (for example \">100,>100\")".to_string()));
    };
    let semantics = match section.text("semantics")? {
        None | Some("documented") => Semantics::Documented,
        Some("smokeping") => Semantics::Smokeping,
        Some(other) => {
            let what = format!("semantics: unknown value \"{other}\" (known: documented, smokeping)");
            return Err(Fault::new(section.offset_of("semantics"), what));
        }
    };
    let kind = if kind == "rtt" { Kind::Rtt } else { Kind::Loss };
    let pattern = Pattern::parse(text, kind, semantics)
        .map_err(|why| Fault::new(section.offset_of("pattern"), format!("pattern: {why}")))?;
    Ok(Condition::Pattern { kind, pattern, round: round(section)? })
}

fn matcher(section: &Section<'_>) -> Result<Condition, Fault> {
    let Some(text) = section.text("pattern")? else {
        let what = "pattern is missing (for example \"CheckLoss(l=>10,x=>3)\")".to_string();
        return Err(Fault::new(section.offset, what));
    };
    let matcher = Matcher::parse(text)
        .map_err(|why| Fault::new(section.offset_of("pattern"), format!("pattern: {why}")))?;
    Ok(Condition::Matcher { matcher, round: round(section)? })
}

fn round(section: &Section<'_>) -> Result<Option<Duration>, Fault> {
    duration(section, "round", SECOND, DAY)
}

fn texts(section: &Section<'_>, key: &str) -> Result<Vec<String>, Fault> {
    Ok(section.texts(key)?.unwrap_or_default().into_iter().map(|(text, _)| text.to_string()).collect())
}

fn to(section: &Section<'_>, receivers: &[Receiver]) -> Result<Vec<String>, Fault> {
    let names: Vec<&str> = receivers.iter().map(|r| r.name.as_str()).collect();
    let one = |(text, offset): (&str, usize)| {
        let known = if names.is_empty() {
            "there are no receivers".to_string()
        } else {
            format!("known: {}", names.join(", "))
        };
        let what = || format!("to: unknown [[receiver]] \"{text}\" ({known})");
        if names.contains(&text) { Ok(text.to_string()) } else { Err(Fault::new(offset, what())) }
    };
    section.texts("to")?.unwrap_or_default().into_iter().map(one).collect()
}

/// Whether the alert notifies only when it is raised and cleared (`edgetrigger`).
fn edge(section: &Section<'_>, is_rounds: bool) -> Result<bool, Fault> {
    let Some(value) = section.get("edgetrigger") else { return Ok(true) };
    let fault = |what: &str| Err(Fault::new(value.span().start, format!("edgetrigger: {what}")));
    match value.get_ref().as_bool() {
        None => fault("expected true or false"),
        Some(false) if !is_rounds => fault("false is valid only for patterns and matchers (see repeat)"),
        Some(edge) => Ok(edge),
    }
}

/// Checks that the rule matches at least one target, and that its condition can be evaluated there.
fn fits(section: &Section<'_>, rule: &Rule, targets: &[Target]) -> Result<(), Fault> {
    let is_path = matches!(rule.condition, Condition::Path { .. });
    let held: Vec<&Target> = targets.iter().filter(|target| has(rule, target, is_path)).collect();
    if held.is_empty() {
        let key = ["target", "group", "probe"].into_iter().find(|k| section.get(k).is_some());
        let what = match key {
            _ if is_path => "type: a path alert needs a target with probe hops".to_string(),
            Some(key) => format!("{key}: the alert matches no target"),
            None => "type: the alert matches no target (select routers of hops with probe = \"hop *\")"
                .to_string(),
        };
        return Err(Fault::new(section.offset_of(key.unwrap_or("type")), what));
    }
    held.into_iter().try_for_each(|target| bears(section, rule, target))
}

fn has(rule: &Rule, target: &Target, is_path: bool) -> bool {
    let is_hops = target.protocol == crate::Protocol::Hops;
    if is_path {
        return is_hops && rule.scope.has(&target.name, &target.group, &target.probe, true);
    }
    let fits = |probe: &String| rule.scope.has(&target.name, &target.group, probe, *probe == target.probe);
    target.series().iter().any(fits)
}

/// Checks that the window holds enough samples to judge by, but not more than fit in memory.
fn bears(section: &Section<'_>, rule: &Rule, target: &Target) -> Result<(), Fault> {
    let samples = rule.condition.window().as_secs_f64() * target.pace.per_second();
    let min_probes = match rule.condition {
        Condition::Loss { min_probes, .. } | Condition::Latency { min_probes, .. } => min_probes,
        Condition::Unusual { min_probes, .. } | Condition::Bufferbloat { min_probes, .. } => min_probes,
        _ => 0,
    };
    let window = rule.condition.window();
    let fault = |what| Err(Fault::new(section.offset_of("window"), what));
    if samples > MAX_SAMPLES {
        return fault(format!(
            "window: {window} of {} are {samples:.0} samples, more than the limit of {MAX_SAMPLES:.0} (use a shorter window)",
            target.name
        ));
    }
    if samples < min_probes as f64 {
        return fault(format!(
            "window: {window} has {samples:.1} probes of {} every {}, but {min_probes} are required (use a longer \
             window, or lower least)",
            target.name, target.pace.interval
        ));
    }
    Ok(())
}
