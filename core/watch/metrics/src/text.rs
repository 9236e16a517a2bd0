//! The two text formats. Histogram buckets end at powers of two, which are bounds of the history's
//! buckets, so the counts are exact.
use crate::{Family, Kind, Part};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use fathom_watch_samples::Sketch;

/// Content type of OpenMetrics 1.0: <https://prometheus.io/docs/specs/om/open_metrics_spec/>.
pub const OPENMETRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All metrics of one family.
#[derive(Clone, PartialEq, Debug)]
pub struct Exposed<'a> {
    /// The family.
    pub family: &'static Family,
    /// Its metrics.
    pub metrics: Vec<Metric<'a>>,
}

/// One metric of a family.
#[derive(Clone, PartialEq, Debug)]
pub struct Metric<'a> {
    /// Label names and values.
    pub labels: Vec<(&'static str, &'a str)>,
    /// Its value.
    pub value: MetricValue<'a>,
    /// Start of counting, in seconds since 1970, if known.
    pub created_s: Option<f64>,
}

/// The value of a metric.
#[derive(Clone, PartialEq, Debug)]
pub enum MetricValue<'a> {
    /// A number.
    Number(f64),
    /// A histogram.
    Histogram(&'a Sketch),
}

/// The text of Prometheus 0.0.4, or of OpenMetrics 1.0.
// Writing to a String cannot fail, so the results below are ignored.
pub fn exposition(families: &[Exposed<'_>], open: bool) -> String {
    let mut text = String::new();
    for Exposed { family, metrics } in families {
        // The older format puts the suffix into the name of a counter; OpenMetrics only into the
        // names of its samples.
        let name = format!("{}{}", family.name, if open { "" } else { family.suffix() });
        let kind = match family.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let _ = writeln!(text, "# HELP {name} {}", family.help);
        let _ = writeln!(text, "# TYPE {name} {kind}");
        if open && !family.unit.is_empty() {
            let _ = writeln!(text, "# UNIT {name} {}", family.unit);
        }
        for metric in metrics {
            sample(&mut text, family, metric, open);
        }
    }
    if open {
        text.push_str("# EOF\n");
    }
    text
}

fn sample(text: &mut String, family: &Family, metric: &Metric<'_>, open: bool) {
    let labels = labels_of(metric);
    let name = family.name;
    match &metric.value {
        MetricValue::Number(value) => {
            let braced = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
            let _ = writeln!(text, "{name}{}{braced} {value}", family.suffix());
        }
        MetricValue::Histogram(sketch) => histogram(text, name, &labels, sketch),
    }
    if let Some(created_s) = metric.created_s.filter(|_| open && family.kind != Kind::Gauge) {
        let _ = writeln!(text, "{name}_created{{{labels}}} {created_s:.3}");
    }
}

fn histogram(text: &mut String, name: &str, labels: &str, sketch: &Sketch) {
    for part in Part::all() {
        let (suffix, value) = (part.suffix(), part.value(sketch));
        let le = part.le().map(|le| format!(",le=\"{le}\"")).unwrap_or_default();
        let _ = writeln!(text, "{name}{suffix}{{{labels}{le}}} {value}");
    }
}

fn labels_of(metric: &Metric<'_>) -> String {
    let mut text = String::new();
    for (name, value) in &metric.labels {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = write!(text, "{comma}{name}=\"{}\"", escaped(value));
    }
    text
}

/// Escapes backslash, quote and newline, as both formats require.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_name_is_one_label() {
        assert_eq!(escaped("a\"} 1\nb\\"), "a\\\"} 1\\nb\\\\");
    }
}
