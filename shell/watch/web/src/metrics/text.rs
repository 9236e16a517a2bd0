//! The two text forms. A histogram's buckets end at powers of two, where those of the history do, too: their counts are exact.
use super::{Exposed, Metric, Value};
use fathom_watch_metrics::{Family, Kind, Part};
use fathom_watch_samples::Sketch;
use std::fmt::Write;

/// Writing to a String cannot fail: the results below are dropped for that.
pub(super) fn write(families: &[Exposed<'_>], open: bool) -> String {
    let mut text = String::new();
    for Exposed { family, metrics } in families {
        // In the older form, the name of a counter has its ending; in OpenMetrics only its samples do.
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
        Value::Number(value) => {
            let _ = writeln!(text, "{name}{}{{{labels}}} {value}", family.suffix());
        }
        Value::Histogram(sketch) => histogram(text, name, &labels, sketch),
    }
    if open && family.kind != Kind::Gauge {
        let _ = writeln!(text, "{name}_created{{{labels}}} {:.3}", metric.created_s);
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
