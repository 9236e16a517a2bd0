//! The two text forms. A histogram's buckets end at powers of two, where those of the history do, too: their counts are exact.
use super::{Family, Kind, Metric, Value};
use fathom_history::{Sketch, scale};
use std::fmt::Write;

/// Powers of two of the buckets' ends: 15 us to 16 s.
const POWERS: std::ops::RangeInclusive<i32> = -16..=4;

/// Writing to a String cannot fail: the results below are dropped for that.
pub(super) fn write(families: &[Family<'_>], open: bool) -> String {
    let mut text = String::new();
    for family in families {
        let counts = family.kind == Kind::Counter;
        // In the older form, the name of a counter has its ending; in OpenMetrics only its samples do.
        let name = if counts && !open { format!("{}_total", family.name) } else { family.name.to_owned() };
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
        for metric in &family.metrics {
            sample(&mut text, family, metric, open);
        }
    }
    if open {
        text.push_str("# EOF\n");
    }
    text
}

fn sample(text: &mut String, family: &Family<'_>, metric: &Metric<'_>, open: bool) {
    let labels = labels_of(metric);
    let name = family.name;
    match (&metric.value, family.kind) {
        (Value::Number(value), Kind::Counter) => {
            let _ = writeln!(text, "{name}_total{{{labels}}} {value}");
        }
        (Value::Number(value), _) => {
            let _ = writeln!(text, "{name}{{{labels}}} {value}");
        }
        (Value::Histogram(sketch), _) => histogram(text, name, &labels, sketch),
    }
    if open && family.kind != Kind::Gauge {
        let _ = writeln!(text, "{name}_created{{{labels}}} {:.3}", metric.created_s);
    }
}

fn histogram(text: &mut String, name: &str, labels: &str, sketch: &Sketch) {
    let count = sketch.count();
    for power in POWERS {
        let last = power * scale::BUCKETS_PER_OCTAVE;
        let within: u64 =
            sketch.buckets().take_while(|(bucket, _)| *bucket <= last).map(|(_, times)| times).sum();
        let end = f64::from(power).exp2();
        let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{end:?}\"}} {}", within + sketch.zero_count());
    }
    let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {count}");
    let _ = writeln!(text, "{name}_sum{{{labels}}} {}", sketch.sum());
    let _ = writeln!(text, "{name}_count{{{labels}}} {count}");
}

fn labels_of(metric: &Metric<'_>) -> String {
    let mut text = String::new();
    for (name, value) in &metric.labels {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = write!(text, "{comma}{name}=\"{}\"", escaped(value));
    }
    text
}

/// Backslash, quote and line end, as both forms have them.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_target_is_called_stays_one_label() {
        assert_eq!(escaped("a\"} 1\nb\\"), "a\\\"} 1\\nb\\\\");
    }
}
