//! The `[[test]]` tables: scheduled tests of latency under load.
use crate::error::Fault;
use crate::section::{Section, name};
use crate::target::{Family, ProbeOptions, Protocol, Target};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_probe::Pace;
use fathom_units::{Bytes, Duration};

const KEYS: [&str; 7] = ["name", "server", "interval", "budget", "while_busy", "token", "accept_policy"];
/// Four tests a day show evenings, nights and mornings.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(6 * 3_600);
/// A test takes a minute. More often than this, it would itself be a load.
const MIN_INTERVAL: Duration = Duration::from_secs(600);
const MAX_INTERVAL: Duration = Duration::from_secs(7 * 86_400);
/// Four tests a day of a line with 40 Mbit/s.
const DEFAULT_BUDGET: Bytes = Bytes(20_000_000_000);
/// One test of a line with 1 Mbit/s.
const MIN_BUDGET: Bytes = Bytes(5_000_000);
/// Longest name or URL of a server.
const MAX_SERVER: usize = 500;

/// A test of latency under load that a watch makes again and again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineTest {
    /// Unique name: that of its target on the page and in the history.
    pub name: String,
    /// The server, as for `fathom test`: a host, or a URL.
    pub server: String,
    /// One test is made in each interval, at a random moment.
    pub interval: Duration,
    /// Maximum payload per calendar month (UTC), of both directions.
    pub budget: Bytes,
    /// Tests although others use the line.
    pub while_busy: bool,
    /// Authentication token, if the server requires one.
    pub token: Option<String>,
    /// Name of the public server whose policy the user accepts.
    pub accept_policy: Option<String>,
}

/// Names of the series of delays of a test. The first is its main series: the larger lag.
pub const TEST_DELAYS: [&str; 4] = ["lag", "lag up", "lag down", "idle"];
/// Names of the series of rates of a test, in bit/s.
pub const TEST_RATES: [&str; 2] = ["rate up", "rate down"];
/// Names of the series of buffers of a test, in bytes.
pub const TEST_BUFFERS: [&str; 2] = ["buffer up", "buffer down"];

/// Whether `probe` is a series of a test, not of a probe that was sent alone.
#[must_use]
pub fn is_of_test(probe: &str) -> bool {
    TEST_DELAYS.iter().chain(&TEST_RATES).chain(&TEST_BUFFERS).any(|name| *name == probe)
}

impl LineTest {
    /// The target whose series have the results.
    pub(crate) fn target(&self) -> Target {
        let options = ProbeOptions {
            port: 0,
            size: 0,
            dscp: 0,
            source: None,
            path: String::new(),
            query: String::new(),
            query_type: 0,
            max_hops: 0,
            token: None,
        };
        Target {
            name: self.name.clone(),
            group: String::new(),
            host: self.server.clone(),
            protocol: Protocol::Test,
            family: Family::Any,
            pace: Pace { interval: self.interval, probes: 1, gap: Duration::from_secs(1) },
            // The outcome of a test is known at its end, and its samples have that time.
            timeout: Duration::from_secs(1),
            options,
            probe: TEST_DELAYS[0].to_string(),
        }
    }
}

/// Parses all `[[test]]` tables. `names` are those of the targets.
pub(crate) fn line_tests(root: &Section<'_>, names: &[Target]) -> Result<Vec<LineTest>, Fault> {
    let mut all: Vec<LineTest> = Vec::new();
    for section in root.sections("test")? {
        let test = line_test(&section)?;
        let is_known = all.iter().any(|other| other.name == test.name)
            || names.iter().any(|target| target.name == test.name);
        if is_known {
            let what = format!("name: duplicate target \"{}\"", test.name);
            return Err(Fault::new(section.offset_of("name"), what));
        }
        all.push(test);
    }
    Ok(all)
}

fn line_test(section: &Section<'_>) -> Result<LineTest, Fault> {
    section.only(&KEYS)?;
    Ok(LineTest {
        name: name(section)?,
        server: server(section)?,
        interval: crate::settings::duration(section, "interval", MIN_INTERVAL, MAX_INTERVAL)?
            .unwrap_or(DEFAULT_INTERVAL),
        budget: budget(section)?,
        while_busy: section.flag("while_busy")?.unwrap_or(false),
        token: section.text("token")?.map(ToString::to_string),
        accept_policy: section.text("accept_policy")?.map(ToString::to_string),
    })
}

fn server(section: &Section<'_>) -> Result<String, Fault> {
    let text = section.text("server")?.unwrap_or_default();
    let fits = (1..=MAX_SERVER).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_graphic())
        && !text.starts_with('-');
    let what = || {
        format!(
            "server: invalid server \"{}\" (expected a host or URL, as for fathom test)",
            text.escape_debug()
        )
    };
    if fits { Ok(text.to_string()) } else { Err(Fault::new(section.offset_of("server"), what())) }
}

fn budget(section: &Section<'_>) -> Result<Bytes, Fault> {
    let given = section.quantity::<Bytes>("budget")?.unwrap_or(DEFAULT_BUDGET);
    let what = || format!("budget: invalid value {given} (expected {MIN_BUDGET} or more)");
    if given >= MIN_BUDGET { Ok(given) } else { Err(Fault::new(section.offset_of("budget"), what())) }
}
