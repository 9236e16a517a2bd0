//! Queries in PromQL, as Prometheus, VictoriaMetrics, Thanos, Cortex and Mimir answer them.
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::Duration;

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
    /// Those of these sites whose label has this value.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.into(), value.into()));
        self
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

    /// The instant query of this measure over the period that ends at the time of the query. Of
    /// several tests of a site, the largest value counts.
    #[must_use]
    pub fn query(self, period: Duration, of: &Selector) -> String {
        let (function, family) = match self {
            Measure::Lag => ("quantile_over_time(0.5, ", "fathom_test_lag_seconds"),
            Measure::Rate => ("quantile_over_time(0.5, ", "fathom_test_rate_bits_per_second"),
            Measure::Buffer => ("quantile_over_time(0.5, ", "fathom_test_buffer_bytes"),
            Measure::Idle => ("quantile_over_time(0.5, ", "fathom_test_idle_latency_seconds"),
            Measure::Tests => ("count_over_time(", "fathom_test_idle_latency_seconds"),
        };
        let seconds = period.as_nanos() / 1_000_000_000;
        let reduce = if self == Measure::Tests { "sum" } else { "max" };
        format!("{reduce} without (instance, job, test) ({function}{family}{}[{seconds}s]))", of.text())
    }
}

/// The range query of how much each site's latency is above its lowest of a day, in seconds: the
/// median of the round trips of `step`, of the target that is delayed least. It needs native
/// histograms, or the buckets of classic ones.
#[must_use]
pub fn slow_query(step: Duration, of: &Selector) -> String {
    let seconds = step.as_nanos() / 1_000_000_000;
    let family = format!("fathom_rtt_seconds{}", of.text());
    let bucket = format!("fathom_rtt_seconds_bucket{}", of.text());
    let median = format!(
        "histogram_quantile(0.5, sum by ({SITE}, target, probe) (rate({family}[{seconds}s]))) or \
         histogram_quantile(0.5, sum by ({SITE}, target, probe, le) (rate({bucket}[{seconds}s])))"
    );
    format!("min by ({SITE}) (({median}) - min_over_time(({median})[1d:{seconds}s]))")
}
