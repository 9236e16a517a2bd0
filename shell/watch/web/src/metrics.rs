//! `/metrics`: counts since the program started, in the three formats that Prometheus and
//! compatible scrapers request.
mod protobuf;

use crate::now::{HostNow, TestNow, Total};
use fathom_watch_metrics::{
    Exposed, Family, HostGauge, Metric, MetricValue, OPENMETRICS_TYPE, Take, TestGauge, exposition,
};
use fathom_watch_plan::{OwnState, OwnTrouble, is_of_test};
use hyper::HeaderMap;
use hyper::header;

/// Format of an exposition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Prometheus text format 0.0.4.
    Text,
    /// OpenMetrics 1.0.0.
    OpenMetrics,
    /// `io.prometheus.client.MetricFamily`, length-delimited: the format with native histograms.
    Protobuf,
}

impl Form {
    /// The supported format that the scraper prefers.
    pub(crate) fn wanted(headers: &HeaderMap) -> Form {
        let texts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let mut best = (0.0, Form::Text);
        for one in texts.flat_map(|text| text.split(',')) {
            let mut parts = one.split(';').map(str::trim);
            let (name, rest): (&str, Vec<&str>) = (parts.next().unwrap_or_default(), parts.collect());
            let weight = rest.iter().find_map(|part| part.strip_prefix("q=")?.parse().ok()).unwrap_or(1.0);
            let form = match name {
                "application/openmetrics-text" => Form::OpenMetrics,
                "application/vnd.google.protobuf" if rest.contains(&"encoding=delimited") => Form::Protobuf,
                "text/plain" => Form::Text,
                _ => continue,
            };
            // The first of equal weights wins.
            if weight > best.0 {
                best = (weight, form);
            }
        }
        best.1
    }

    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Form::Text => "text/plain; version=0.0.4; charset=utf-8",
            Form::OpenMetrics => OPENMETRICS_TYPE,
            Form::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            }
        }
    }
}

/// The complete exposition.
pub(crate) fn expose(
    totals: &[Total],
    host: &[HostNow],
    tests: &[TestNow],
    own: &OwnState,
    form: Form,
) -> Vec<u8> {
    let families: Vec<Exposed<'_>> = families(totals)
        .into_iter()
        .chain(gauges(host))
        .chain(of_tests(tests))
        .chain(of_the_watch(own))
        .collect();
    match form {
        Form::Text => exposition(&families, false).into_bytes(),
        Form::OpenMetrics => exposition(&families, true).into_bytes(),
        Form::Protobuf => protobuf::write(&families),
    }
}

fn families(all: &[Total]) -> Vec<Exposed<'_>> {
    // Tests have other metrics.
    let totals: Vec<&Total> = all.iter().filter(|total| !is_of_test(&total.probe)).collect();
    let totals = totals.as_slice();
    let exposed = |family, metrics| Exposed { family, metrics };
    vec![
        exposed(&Family::RTT, each(totals, |total| Some(MetricValue::Histogram(&total.sketch)))),
        exposed(
            &Family::LAST_RTT,
            each(totals, |total| Some(MetricValue::Number(total.last?.as_secs_f64()))),
        ),
        exposed(&Family::PROBES, totals.iter().copied().flat_map(outcomes).collect()),
        exposed(&Family::DUPLICATES, counts(totals, |total| total.tally.duplicates)),
        exposed(&Family::REORDERED, counts(totals, |total| total.tally.reordered)),
        exposed(&Family::ALERT_ACTIVE, all.iter().flat_map(alerts).collect()),
    ]
}

fn gauges(host: &[HostNow]) -> impl Iterator<Item = Exposed<'_>> {
    HostGauge::FAMILIES
        .into_iter()
        .map(|family| Exposed { family, metrics: host.iter().filter_map(|now| gauge(family, now)).collect() })
}

fn of_tests(tests: &[TestNow]) -> impl Iterator<Item = Exposed<'_>> {
    TestGauge::FAMILIES.into_iter().map(move |family| {
        let metrics =
            tests.iter().flat_map(|test| test.values.iter().filter_map(|v| of_test(family, test, v)));
        Exposed { family, metrics: metrics.collect() }
    })
}

fn of_test<'t>(
    family: &Family,
    test: &'t TestNow,
    (probe, value): &(&'static str, f64),
) -> Option<Metric<'t>> {
    let gauge = TestGauge::of(probe).filter(|gauge| gauge.family == family)?;
    let direction = gauge.direction.map(|direction| ("direction", direction));
    let labels = [("test", test.name.as_str())].into_iter().chain(direction).collect();
    Some(Metric { labels, value: MetricValue::Number(*value), created_s: None })
}

fn of_the_watch(own: &OwnState) -> [Exposed<'static>; 4] {
    let number =
        |value: u64| Metric { labels: Vec::new(), value: MetricValue::Number(value as f64), created_s: None };
    let trouble = |kind| {
        let is_current = own.troubles.iter().any(|trouble| trouble.kind == kind);
        Metric { labels: vec![("kind", kind)], ..number(u64::from(is_current)) }
    };
    [
        Exposed { family: &Family::OWN_TROUBLE, metrics: OwnTrouble::KINDS.map(trouble).into() },
        Exposed { family: &Family::UNSAVED, metrics: vec![number(own.unsaved_samples)] },
        Exposed { family: &Family::DROPPED, metrics: vec![number(own.dropped_samples)] },
        Exposed { family: &Family::CLOCK_STEPS, metrics: vec![number(own.clock_steps)] },
    ]
}

fn gauge<'h>(family: &Family, now: &'h HostNow) -> Option<Metric<'h>> {
    let gauge = HostGauge::of(&now.probe).filter(|gauge| gauge.family == family)?;
    let value = match gauge.take {
        Take::Mean => now.mean,
        Take::Max => now.max,
    };
    Some(Metric { labels: vec![gauge.label], value: MetricValue::Number(value), created_s: None })
}

fn created_s(total: &Total) -> Option<f64> {
    Some(total.since.0 as f64 / 1e9)
}

fn labels(total: &Total) -> Vec<(&'static str, &str)> {
    vec![("target", &total.name), ("group", &total.group), ("host", &total.host), ("probe", &total.probe)]
}

fn each<'a>(totals: &[&'a Total], value: impl Fn(&'a Total) -> Option<MetricValue<'a>>) -> Vec<Metric<'a>> {
    let metric = |total: &&'a Total| {
        Some(Metric { labels: labels(total), value: value(total)?, created_s: created_s(total) })
    };
    totals.iter().filter_map(metric).collect()
}

fn counts<'a>(totals: &[&'a Total], count: fn(&Total) -> u64) -> Vec<Metric<'a>> {
    each(totals, |total| Some(MetricValue::Number(count(total) as f64)))
}

fn outcomes(total: &Total) -> impl Iterator<Item = Metric<'_>> {
    let t = &total.tally;
    let counts = [("answered", t.answered), ("late", t.late), ("lost", t.lost), ("failed", t.failed)];
    counts.into_iter().map(move |(outcome, count)| {
        let mut labels = labels(total);
        labels.push(("outcome", outcome));
        Metric { labels, value: MetricValue::Number(count as f64), created_s: created_s(total) }
    })
}

fn alerts(total: &Total) -> impl Iterator<Item = Metric<'_>> {
    total.alerts.iter().map(move |alert| {
        let mut labels = labels(total);
        labels.push(("alert", alert));
        Metric { labels, value: MetricValue::Number(1.0), created_s: created_s(total) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::WallTime;
    use fathom_watch_samples::{Sketch, Tally};
    use hyper::header::HeaderValue;

    #[test]
    fn tests_have_gauges_and_no_probes() {
        let values = vec![("lag", 0.5), ("lag up", 0.5), ("idle", 0.012), ("rate down", 9e6)];
        let tests = [TestNow { name: "line".into(), values }];
        let total = Total {
            name: "line".into(),
            group: String::new(),
            host: "192.0.2.1".into(),
            probe: "lag up".into(),
            tally: Tally { sent: 1, answered: 1, ..Tally::default() },
            sketch: Sketch::default(),
            last: None,
            since: WallTime(0),
            alerts: vec!["bloated".into()],
        };
        let text = expose(&[total], &[], &tests, &OwnState::default(), Form::Text);
        let text = String::from_utf8(text).unwrap();
        let of_line: Vec<&str> = text.lines().filter(|line| line.contains("\"line\"")).collect();
        let expected = [
            "fathom_alert_active{target=\"line\",group=\"\",host=\"192.0.2.1\",probe=\"lag up\",alert=\"bloated\"} 1",
            "fathom_test_lag_seconds{test=\"line\",direction=\"up\"} 0.5",
            "fathom_test_idle_latency_seconds{test=\"line\"} 0.012",
            "fathom_test_rate_bits_per_second{test=\"line\",direction=\"down\"} 9000000",
        ];
        assert_eq!(of_line, expected);
    }

    #[test]
    fn the_scraper_gets_the_format_it_prefers() {
        let protobuf =
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
        let prometheus = format!(
            "{protobuf},application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
        );
        let cases = [
            (String::new(), Form::Text),
            ("*/*".into(), Form::Text),
            (prometheus, Form::Protobuf),
            ("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;q=0.5".into(), Form::OpenMetrics),
            ("text/plain, application/openmetrics-text;q=0.5".into(), Form::Text),
            ("application/vnd.google.protobuf".into(), Form::Text),
            ("application/openmetrics-text;q=x".into(), Form::OpenMetrics),
        ];
        for (accepted, expected) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, HeaderValue::from_str(&accepted).unwrap());
            assert_eq!(Form::wanted(&headers), expected, "{accepted}");
        }
    }
}
