//! Queries in PromQL, as Prometheus, VictoriaMetrics, Thanos, Cortex and Mimir answer them.
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use fathom_units::Duration;
use fathom_watch_metrics::{Family, TestGauge};

/// The label with the name of a site.
pub(crate) const SITE: &str = "site";

/// Equality matchers of labels. Names and values may come from agents: they are data, so each value
/// is escaped, and a name that is none of PromQL matches nothing.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Selector(Vec<(String, String)>);

impl Selector {
    /// All sites.
    #[must_use]
    pub fn all() -> Self {
        Selector::default()
    }
    /// The sites whose labels have these values.
    #[must_use]
    pub fn of(labels: &[(String, String)]) -> Self {
        Selector(labels.to_vec())
    }
    /// Those of these sites whose label has this value.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.into(), value.into()));
        self
    }
    /// Whether a site with this name and these labels is one of them.
    #[must_use]
    pub fn matches(&self, site: &str, labels: &BTreeMap<String, String>) -> bool {
        let value = |name: &str| match name {
            SITE => site,
            name => labels.get(name).map_or("", String::as_str),
        };
        self.0.iter().all(|(name, wanted)| is_label(name) && value(name) == wanted)
    }
    /// `{site!="",provider="Example \"Net\""}`.
    fn text(&self) -> String {
        let mut text = format!("{{{SITE}!=\"\"");
        for (name, value) in &self.0 {
            if is_label(name) {
                text += &format!(",{name}=\"{}\"", escaped(value));
            } else {
                text += &format!(",{SITE}=\"\"");
            }
        }
        text + "}"
    }
}

/// Whether `name` is a label of Prometheus' data model.
fn is_label(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    !name.is_empty() && name.bytes().all(is_plain) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// The content of a string in double quotes.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\\' => text += "\\\\",
            '"' => text += "\\\"",
            '\n' => text += "\\n",
            c if c.is_control() => text += &format!("\\u{:04x}", u32::from(c)),
            c => text.push(c),
        }
    }
    text
}

/// A number of each site and direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// Lag when busy, in seconds: the median of the tests.
    Lag,
    /// Goodput in bit/s: the median of the tests.
    Rate,
    /// Size of the buffer in bytes: the median of the tests.
    Buffer,
    /// Idle latency in seconds: the median of the tests.
    Idle,
    /// Number of tests.
    Tests,
}

impl Measure {
    /// All measures.
    pub const ALL: [Measure; 5] =
        [Measure::Lag, Measure::Rate, Measure::Buffer, Measure::Idle, Measure::Tests];

    /// The metric of its values. Each test has one idle latency.
    pub(crate) const fn family(self) -> &'static Family {
        match self {
            Measure::Lag => &Family::TEST_LAG,
            Measure::Rate => &Family::TEST_RATE,
            Measure::Buffer => &Family::TEST_BUFFER,
            Measure::Idle | Measure::Tests => &Family::TEST_IDLE,
        }
    }
    /// The instant query of this measure over the period that ends at the time of the query. Of
    /// several tests of a site, the largest value counts. Thanos adds `tenant_id` to each series.
    #[must_use]
    pub fn query(self, period: Duration, of: &Selector) -> String {
        let function = if self == Measure::Tests { "count_over_time(" } else { "quantile_over_time(0.5, " };
        let family = self.family().name;
        let seconds = seconds(period);
        let reduce = if self == Measure::Tests { "sum" } else { "max" };
        format!(
            "{reduce} without (instance, job, tenant_id, test) ({function}{family}{}[{seconds}s]))",
            of.text()
        )
    }
}

/// How a number of the lags of all sites is formed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aggregate {
    /// The median.
    P50,
    /// The 90th percentile.
    P90,
    /// The number of sites.
    Sites,
}

/// The range query of a number of the lags of all sites, by the value of a label or of all. The lag
/// of a site is the larger median of both directions in the `step` that ends at each time.
///
/// # Errors
/// The label, if it is none of Prometheus' data model.
pub fn trend_query(
    what: Aggregate,
    by: Option<&str>,
    step: Duration,
    of: &Selector,
) -> Result<String, InvalidLabel> {
    let by = by.map(label).transpose()?;
    let keep = by.map_or_else(|| SITE.into(), |by| format!("{SITE}, {by}"));
    let group = by.map_or_else(String::new, |by| format!("by ({by}) "));
    let median =
        format!("quantile_over_time(0.5, {}{}[{}s])", Family::TEST_LAG.name, of.text(), seconds(step));
    let (function, parameter) = match what {
        Aggregate::P50 => ("quantile", "0.5, "),
        Aggregate::P90 => ("quantile", "0.9, "),
        Aggregate::Sites => ("count", ""),
    };
    let lag = format!("max by ({keep}) ({median})");
    Ok(function.to_owned() + " " + &group + "(" + parameter + &lag + ")")
}

/// The instant query of all values of all tests in the period that ends at the time of the query.
#[must_use]
pub fn tests_query(period: Duration, of: &Selector) -> String {
    let names: Vec<&str> = TestGauge::FAMILIES.iter().map(|family| family.name).collect();
    let matchers = of.text().replacen('{', &format!("{{__name__=~\"{}\",", names.join("|")), 1);
    format!("{matchers}[{}s]", seconds(period))
}

/// The range query of the steps in which the latency of a site is at least `limit_s` seconds above
/// its lowest of the day before: the median of the round trips of `step`, of the target that is
/// delayed most. Routers on the path have no part: they answer slowly at times. It needs native
/// histograms, or the buckets of classic ones.
#[must_use]
pub fn slow_query(step: Duration, limit_s: f64, of: &Selector) -> String {
    let seconds = seconds(step);
    let matchers = of.text().replacen('{', "{probe!~\"hop .*\",", 1);
    let median = format!(
        "histogram_quantile(0.5, sum by ({SITE}, target, probe) (rate(fathom_rtt_seconds{matchers}[{seconds}s]))) \
         or histogram_quantile(0.5, sum by ({SITE}, target, probe, le) \
         (rate(fathom_rtt_seconds_bucket{matchers}[{seconds}s])))"
    );
    format!("max by ({SITE}) (({median}) - min_over_time(({median})[1d:{seconds}s])) >= {limit_s}")
}

/// The instant query of the sites that sent anything in the period that ends at the time of the
/// query, with their labels.
#[must_use]
pub fn known_query(period: Duration, of: &Selector) -> String {
    let last = format!("last_over_time(fathom_probes_total{}[{}s])", of.text(), seconds(period));
    format!("group without (instance, job, tenant_id, target, probe, host, group, outcome) ({last})")
}

/// The instant queries of what sites share in the period that ends at the time of the query, by the
/// label with its value: the hosts that they probe, and the routers on their paths.
#[must_use]
pub fn shared_queries(period: Duration, of: &Selector) -> [(&'static str, String); 2] {
    let query = |family: &str, label: &str| {
        let matchers = of.text().replacen('{', &format!("{{{label}!=\"\","), 1);
        format!("group by ({SITE}, {label}) (last_over_time({family}{matchers}[{}s]))", seconds(period))
    };
    [("host", query("fathom_probes_total", "host")), ("address", query(Family::HOP.name, "address"))]
}

const fn seconds(period: Duration) -> u64 {
    period.as_nanos() / 1_000_000_000
}

/// A label that is none of Prometheus' data model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidLabel(pub String);

impl fmt::Display for InvalidLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid label {:?}", self.0)
    }
}

fn label(name: &str) -> Result<&str, InvalidLabel> {
    if is_label(name) { Ok(name) } else { Err(InvalidLabel(name.into())) }
}
