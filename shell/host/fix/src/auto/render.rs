//! Renders the status for HTTP clients.
use super::status::{DirectionStatus, Status};
use fathom_prose::autorate_reason;
use fathom_text::{milliseconds, rate};
use fathom_watch_metrics::{Exposed, Family, Kind, Metric, MetricValue, exposition};

const fn gauge(name: &'static str, unit: &'static str, help: &'static str) -> Family {
    Family { name, help, kind: Kind::Gauge, unit }
}

const fn counter(name: &'static str, help: &'static str) -> Family {
    Family { name, help, kind: Kind::Counter, unit: "" }
}

const RATE: Family = gauge("fathom_auto_rate_bits_per_second", "bits_per_second", "Rate of the shaper.");
const DELIVERED: Family = gauge(
    "fathom_auto_delivered_bits_per_second",
    "bits_per_second",
    "Rate leaving the shaper in the last second.",
);
const BACKLOG: Family = gauge("fathom_auto_backlog_bytes", "bytes", "Backlog of the shaper.");
const DELAY: Family =
    gauge("fathom_auto_delay_seconds", "seconds", "Delay beyond the shaper, above the baseline.");
const DECISIONS: Family = counter("fathom_auto_decisions", "Ticks by reason of the rate.");
const ANSWERS: Family = counter("fathom_auto_answers", "Replies from reflectors.");

type Value = fn(&DirectionStatus) -> Option<f64>;

/// The metrics in OpenMetrics format.
pub(super) fn metrics(status: &Status) -> String {
    let interface = ("interface", status.device.as_str());
    let metric = |labels, value| Metric { labels, value: MetricValue::Number(value), created_s: None };
    let gauges: [(&'static Family, Value); 4] = [
        (&RATE, |state| Some(state.rate.as_bits_per_second() as f64)),
        (&DELIVERED, |state| Some(state.delivered_bits_per_second)),
        (&BACKLOG, |state| Some(state.backlog_bytes as f64)),
        (&DELAY, |state| state.delay_s),
    ];
    let of_gauge = |(family, value): (&'static Family, Value)| {
        let now = status.directions.iter().filter_map(|(direction, state)| {
            Some(metric(vec![interface, ("direction", direction.name())], value(state)?))
        });
        Exposed { family, metrics: now.collect() }
    };
    let mut families: Vec<Exposed<'_>> = gauges.into_iter().map(of_gauge).collect();
    let decisions = status.directions.iter().flat_map(|(direction, state)| {
        state.decisions.iter().map(move |(why, count)| {
            let labels = vec![interface, ("direction", direction.name()), ("reason", why.name())];
            metric(labels, *count as f64)
        })
    });
    families.push(Exposed { family: &DECISIONS, metrics: decisions.collect() });
    families
        .push(Exposed { family: &ANSWERS, metrics: vec![metric(vec![interface], status.answers as f64)] });
    exposition(&families, true)
}

/// An HTML page that reloads itself.
pub(super) fn page(status: &Status) -> String {
    let device = escaped(&status.device);
    let problem = status.problem.as_deref().map_or_else(String::new, |words| {
        format!("<p><b>The server is not being probed:</b> {}</p>", escaped(words))
    });
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"2\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{device}: fathom fix --auto</title>\
         <style>:root{{color-scheme:light dark}}body{{font:1rem system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}}\
         table{{border-collapse:collapse;width:100%}}td,th{{text-align:left;vertical-align:top;padding:.3rem .6rem;\
         border-bottom:1px solid #8885}}</style></head><body><h1>{device}</h1><p>Running since {} with {}; {} replies. \
         <a href=\"/metrics\">metrics</a></p>{problem}<table><tr><th></th><th>up</th><th>down</th></tr>{}</table></body></html>\n",
        status.since,
        status.shaper,
        status.answers,
        rows(&status.directions.up, &status.directions.down),
    )
}

fn rows(up: &DirectionStatus, down: &DirectionStatus) -> String {
    let row = |name: &str, cell: &dyn Fn(&DirectionStatus) -> String| {
        format!("<tr><th scope=\"row\">{name}</th><td>{}</td><td>{}</td></tr>", cell(up), cell(down))
    };
    row("rate", &|state| rate(state.rate.as_bits_per_second() as f64))
        + &row("reason", &|state| autorate_reason(state.reason).to_owned())
        + &row("throughput", &|state| rate(state.delivered_bits_per_second))
        + &row("delay beyond our queue, above the baseline", &|state| {
            state.delay_s.map_or_else(|| "no replies".to_owned(), |s| milliseconds(s.max(0.0)))
        })
        + &row("last change", &last_change)
        + &row("decisions", &|state| {
            let counts = state.decisions.iter().map(|(why, count)| format!("{} {count}", why.name()));
            counts.collect::<Vec<_>>().join("<br>")
        })
}

fn last_change(state: &DirectionStatus) -> String {
    let Some(last) = state.last else { return "none".to_owned() };
    let [from, to] = [last.from, last.to].map(|one| rate(one.as_bits_per_second() as f64));
    format!("{}: {from} to {to}, {}", last.at, autorate_reason(last.reason))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_shape::autorate::Reason;
    use fathom_units::{PerDirection, Rate};

    fn status() -> Status {
        let mbit = |n: u64| Rate::from_bits_per_second(n * 1_000_000);
        let mut status = Status::new("wan\"<", "flow-hash", PerDirection { up: mbit(9), down: mbit(40) });
        status.directions.up.delay_s = Some(0.012);
        status.directions.up.decisions.insert(Reason::Exploring, 3);
        status.answers = 7;
        status
    }

    #[test]
    fn metrics_are_openmetrics() {
        let text = metrics(&status());
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            samples,
            [
                "fathom_auto_rate_bits_per_second{interface=\"wan\\\"<\",direction=\"up\"} 9000000",
                "fathom_auto_rate_bits_per_second{interface=\"wan\\\"<\",direction=\"down\"} 40000000",
                "fathom_auto_delivered_bits_per_second{interface=\"wan\\\"<\",direction=\"up\"} 0",
                "fathom_auto_delivered_bits_per_second{interface=\"wan\\\"<\",direction=\"down\"} 0",
                "fathom_auto_backlog_bytes{interface=\"wan\\\"<\",direction=\"up\"} 0",
                "fathom_auto_backlog_bytes{interface=\"wan\\\"<\",direction=\"down\"} 0",
                "fathom_auto_delay_seconds{interface=\"wan\\\"<\",direction=\"up\"} 0.012",
                "fathom_auto_decisions_total{interface=\"wan\\\"<\",direction=\"up\",reason=\"exploring\"} 3",
                "fathom_auto_answers_total{interface=\"wan\\\"<\"} 7",
            ]
        );
        assert!(text.ends_with("\n# EOF\n"));
    }

    #[test]
    fn the_page_holds_no_foreign_markup() {
        let text = page(&status());
        assert!(text.contains("<h1>wan&quot;&lt;</h1>") && !text.contains("wan\"<"), "{text}");
        assert!(text.contains("<td>9.00 Mbit/s</td><td>40.0 Mbit/s</td>"), "{text}");
        assert!(text.contains("<td>12 ms</td><td>no replies</td>"), "{text}");
    }
}
