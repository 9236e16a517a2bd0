//! Parses the configuration file: TOML to a [`Plan`].
use crate::error::{Fault, PlanError};
use crate::line_test::LineTest;
use crate::plan::Plan;
use crate::section::{Section, name};
use crate::settings::{SHARED_KEYS, Settings, Way};
use crate::target::{Family, Protocol, Target};
use crate::url::Url;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::SocketAddr;
use fathom_units::Bytes;
use toml::de::DeTable;

/// Maximum size of a configuration, in bytes. 100,000 targets of five lines each take 10 MB.
pub const MAX_FILE_BYTES: usize = 64 << 20;
/// Longest hostname (RFC 1035 section 2.3.4).
const MAX_HOST: usize = 253;
const DEFAULT_SEED: u64 = 1;
/// The newest day is always kept: that of 10 series at one per second, and the log.
const MIN_DISK_BUDGET: Bytes = Bytes(20_000_000);
const WATCH_KEYS: [&str; 12] = [
    "store",
    "disk_budget",
    "listen",
    "password_file",
    "tls",
    "certificate_file",
    "key_file",
    "hosts",
    "results",
    "max_packets_per_second",
    "seed",
    "interface",
];

/// `text` as a quoted TOML string.
#[must_use]
pub fn toml_string(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}

/// Parses and checks the configuration `text`. `file` is the name used in errors.
///
/// # Errors
/// The first error, with its line.
pub fn parse(text: &str, file: &str) -> Result<Plan, PlanError> {
    if text.len() > MAX_FILE_BYTES {
        let what =
            format!("the configuration has {} bytes, more than the limit of {MAX_FILE_BYTES}", text.len());
        return Err(PlanError::at(file, text, Fault::new(0, what)));
    }
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        PlanError::at(file, text, Fault::new(at, error.message().lines().collect::<Vec<_>>().join(", ")))
    })?;
    plan(&Section::new(table.get_ref(), 0)).map_err(|fault| PlanError::at(file, text, fault))
}

fn plan(root: &Section<'_>) -> Result<Plan, Fault> {
    root.only(&[
        "watch", "site", "defaults", "group", "target", "test", "push", "archive", "receiver", "alert",
    ])?;
    let mut plan = head(root.section("watch")?)?;
    let defaults = match root.section("defaults")? {
        Some(section) => shared(&section, &["host", "url"])?,
        None => Settings::default(),
    };
    let mut names = BTreeMap::new();
    for section in root.sections("target")? {
        add(&mut plan, &mut names, &section, "", &defaults)?;
    }
    for group in root.sections("group")? {
        let known: Vec<&str> = SHARED_KEYS
            .into_iter()
            .filter(|k| !["host", "url"].contains(k))
            .chain(["name", "target"])
            .collect();
        group.only(&known)?;
        let name = name(&group)?;
        let settings = Settings::read(&group)?.within(&defaults);
        for section in group.sections("target")? {
            add(&mut plan, &mut names, &section, &name, &settings)?;
        }
    }
    plan.site = crate::site::site(root)?;
    plan.tests = crate::line_test::line_tests(root, &plan.targets)?;
    plan.targets.extend(plan.tests.iter().map(LineTest::target));
    let longest = plan.targets.iter().map(|target| target.timeout).max();
    plan.pushes = crate::push::pushes(root, longest.unwrap_or_default())?;
    if let Some(index) = plan.pushes.iter().position(|push| push.to_gateway && plan.site.is_none()) {
        let offset = root.sections("push")?.get(index).map_or(0, |section| section.offset_of("kind"));
        return Err(Fault::new(offset, "kind: needs a [site]".to_string()));
    }
    if let Some(site) = &plan.site {
        plan.pushes.iter_mut().for_each(|push| site.add_to(&mut push.labels));
    }
    plan.archives = crate::archive::archives(root, plan.site.is_some())?;
    plan.receivers = crate::receiver_table::receivers(root)?;
    if plan.targets.is_empty() {
        return Err(Fault::new(0, "no targets (add a [[target]] with name and host)".to_string()));
    }
    plan.alerts = crate::alert_table::rules(root, &plan.targets, &plan.receivers)?;
    Ok(plan)
}

fn head(section: Option<Section<'_>>) -> Result<Plan, Fault> {
    let mut plan = Plan {
        store: None,
        disk_budget: None,
        listen: None,
        password_file: None,
        tls: None,
        certificate: None,
        hosts: Vec::new(),
        results: None,
        max_packets_per_second: None,
        seed: DEFAULT_SEED,
        interfaces: Vec::new(),
        site: None,
        targets: Vec::new(),
        tests: Vec::new(),
        pushes: Vec::new(),
        archives: Vec::new(),
        receivers: Vec::new(),
        alerts: Vec::new(),
    };
    let Some(section) = section else { return Ok(plan) };
    section.only(&WATCH_KEYS)?;
    plan.store = section.text("store")?.map(ToString::to_string);
    plan.disk_budget = disk_budget(&section)?;
    plan.listen =
        section.text("listen")?.map(|text| listen(text, section.offset_of("listen"))).transpose()?;
    plan.password_file = section.text("password_file")?.map(ToString::to_string);
    plan.certificate = certificate(&section)?;
    plan.tls = tls(&section, plan.certificate.is_some())?;
    plan.hosts = hosts(&section)?;
    plan.results = section.text("results")?.map(ToString::to_string);
    plan.max_packets_per_second = section.integer("max_packets_per_second", 1, 100_000_000)?;
    plan.seed = section.integer("seed", 0, i64::MAX.unsigned_abs())?.unwrap_or(DEFAULT_SEED);
    let interfaces = section.texts("interface")?.unwrap_or_default();
    plan.interfaces = interfaces.into_iter().map(|(text, _)| text.to_string()).collect();
    Ok(plan)
}

fn disk_budget(section: &Section<'_>) -> Result<Option<Bytes>, Fault> {
    let given = section.quantity::<Bytes>("disk_budget")?;
    match given {
        Some(budget) if budget < MIN_DISK_BUDGET => {
            let what = format!("disk_budget: invalid value {budget} (expected {MIN_DISK_BUDGET} or more)");
            Err(Fault::new(section.offset_of("disk_budget"), what))
        }
        other => Ok(other),
    }
}

fn certificate(section: &Section<'_>) -> Result<Option<(String, String)>, Fault> {
    match (section.text("certificate_file")?, section.text("key_file")?) {
        (None, None) => Ok(None),
        (Some(chain), Some(key)) => Ok(Some((chain.to_string(), key.to_string()))),
        (Some(_), None) => {
            let what = "certificate_file without key_file (add the file of its private key)";
            Err(Fault::new(section.offset_of("certificate_file"), what.to_string()))
        }
        (None, Some(_)) => {
            let what = "key_file without certificate_file (add the file of the certificate)";
            Err(Fault::new(section.offset_of("key_file"), what.to_string()))
        }
    }
}

fn tls(section: &Section<'_>, has_certificate: bool) -> Result<Option<bool>, Fault> {
    let refused = |what: String| Fault::new(section.offset_of("tls"), what);
    match section.text("tls")? {
        None => Ok(has_certificate.then_some(true)),
        Some("on") => Ok(Some(true)),
        Some("off") if has_certificate => {
            Err(refused("tls: \"off\" with a certificate_file (remove one of them)".to_string()))
        }
        Some("off") => Ok(Some(false)),
        Some(other) => {
            Err(refused(format!("tls: invalid value \"{}\" (expected on or off)", other.escape_debug())))
        }
    }
}

/// Hostnames as browsers send them in `Host`: without scheme, port or path.
fn hosts(section: &Section<'_>) -> Result<Vec<String>, Fault> {
    let host = |(text, offset): (&str, usize)| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
        let has_port = !text.starts_with('[') && text.contains(':');
        if !text.is_empty() && text.chars().all(is_name) && !has_port {
            return Ok(text.to_string());
        }
        let what = format!(
            "hosts: invalid hostname \"{}\" (for example \"watch.example.net\", without scheme, port or path)",
            text.escape_debug()
        );
        Err(Fault::new(offset, what))
    };
    section.texts("hosts")?.unwrap_or_default().into_iter().map(host).collect()
}

fn listen(text: &str, offset: usize) -> Result<SocketAddr, Fault> {
    let what =
        || format!("listen: invalid address \"{text}\" (for example \"127.0.0.1:8380\" or \"[::1]:8380\")");
    text.parse().map_err(|_| Fault::new(offset, what()))
}

/// The keys of a table that defines no target itself.
fn shared(section: &Section<'_>, not: &[&str]) -> Result<Settings, Fault> {
    let known: Vec<&str> = SHARED_KEYS.into_iter().filter(|key| !not.contains(key)).collect();
    section.only(&known)?;
    Settings::read(section)
}

/// Adds the targets of one table: one per probe and address family.
fn add(
    plan: &mut Plan,
    names: &mut BTreeMap<(String, String), usize>,
    section: &Section<'_>,
    group: &str,
    outer: &Settings,
) -> Result<(), Fault> {
    section.only(&[&["name"], SHARED_KEYS.as_slice()].concat())?;
    let short = name(section)?;
    let name = if group.is_empty() { short } else { format!("{group}/{short}") };
    let mut own = Settings::read(section)?;
    let (host, ways) = host_and_ways(section, &mut own, outer)?;
    let settings = own.within(outer);
    let pace = settings.pace().map_err(|what| Fault::new(section.offset, what))?;
    for way in &ways {
        for family in settings.families() {
            let options = settings.options(way);
            fits_source(section, *family, options.source)?;
            let both = settings.families().len() > 1;
            let probe = Target::probe_name(way.protocol, options.port, *family, both);
            if let Some(other) = names.insert((name.clone(), probe.clone()), plan.targets.len()) {
                let before =
                    plan.targets.get(other).map_or_else(String::new, |t| format!(" (host {})", t.host));
                let what = format!("name: duplicate target \"{name}\" with probe {probe}{before}");
                return Err(Fault::new(section.offset_of("name"), what));
            }
            let (name, group, host, family) = (name.clone(), group.to_string(), host.clone(), *family);
            let (protocol, timeout) = (way.protocol, settings.timeout());
            plan.targets.push(Target { name, group, host, protocol, family, pace, timeout, options, probe });
        }
    }
    Ok(())
}

/// The host and the probes: from `host` and `probe`, or from a URL that contains both.
fn host_and_ways(
    section: &Section<'_>,
    settings: &mut Settings,
    outer: &Settings,
) -> Result<(String, Vec<Way>), Fault> {
    let probe = |own: &Settings| {
        let given = own.probe.clone().or_else(|| outer.probe.clone());
        given.unwrap_or_else(|| {
            Vec::from([Way { protocol: Protocol::Icmp, port: None, offset: section.offset }])
        })
    };
    match (section.text("host")?, section.text("url")?) {
        (Some(host), None) => Ok((host_of(host, section.offset_of("host"))?, probe(settings))),
        (None, Some(text)) => {
            let offset = section.offset_of("url");
            let url = Url::parse(text).map_err(|what| Fault::new(offset, format!("url: {what}")))?;
            if let Some(way) = settings.probe.iter().flatten().next() {
                let what = "probe: cannot be combined with url (omit one of them)";
                return Err(Fault::new(way.offset, what.to_string()));
            }
            settings.use_path(url.path);
            let host = host_of(&url.host, offset)?;
            Ok((host, Vec::from([Way { protocol: url.protocol, port: Some(url.port), offset }])))
        }
        (Some(_), Some(_)) => Err(Fault::new(
            section.offset_of("url"),
            "url: cannot be combined with host (omit one of them)".to_string(),
        )),
        (None, None) => Err(Fault::new(
            section.offset,
            "host is missing (expected a hostname, an IP address, or a url)".to_string(),
        )),
    }
}

fn host_of(text: &str, offset: usize) -> Result<String, Fault> {
    let plain = |c: char| c.is_alphanumeric() || "-_.:".contains(c);
    let fits = (1..=MAX_HOST).contains(&text.len()) && text.chars().all(plain) && !text.starts_with('-');
    let what = || {
        format!(
            "host: invalid hostname or address \"{}\" (set a port with port = N, or in probe, for example \"tcp:443\")",
            text.escape_debug()
        )
    };
    let is_v6 = text.parse::<core::net::Ipv6Addr>().is_ok();
    if fits && (is_v6 || !text.contains(':')) {
        Ok(text.to_string())
    } else {
        Err(Fault::new(offset, what()))
    }
}

fn fits_source(
    section: &Section<'_>,
    family: Family,
    source: Option<core::net::IpAddr>,
) -> Result<(), Fault> {
    let wrong = match (family, source) {
        (Family::V4, Some(source)) => source.is_ipv6(),
        (Family::V6, Some(source)) => source.is_ipv4(),
        _ => false,
    };
    let what = || {
        format!(
            "source: {} has another address family than the target (set family, or omit source)",
            section.text("source").ok().flatten().unwrap_or("the group's")
        )
    };
    if wrong { Err(Fault::new(section.offset_of("source"), what())) } else { Ok(()) }
}
