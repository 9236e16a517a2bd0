//! Falling pings: probes in a row whose replies arrive together, because they waited in a queue
//! that emptied. Where nothing joins a queue any more, whatever waits in it leaves at about the
//! same time, so each probe waits less than the one before it by the time between them.
use crate::view::View;
use alloc::vec::Vec;
use fathom_run::{Alternative, Certainty, Conclusion, Finding, Metric, QueueEmptied, Series, Span};
use fathom_units::Time;

/// Round trips to a host.
const ROUND_TRIPS: [Metric; 6] = [
    Metric::UdpRtt,
    Metric::IcmpRtt,
    Metric::TcpConnect,
    Metric::TlsConnect,
    Metric::HttpKept,
    Metric::DnsRtt,
];
/// Fewer may arrive together by chance. Four falling pings were the first sign of bufferbloat on
/// many lines.
const LEAST_PROBES: usize = 4;
/// Smallest fall of the delay. Stations of Wi-Fi that sleep wait for beacons, every 102.4 ms.
const LEAST_FALL_S: f64 = 0.110;
/// How far apart replies may arrive, as a share of the first delay, and in any case.
const APART_RATIO: f64 = 0.05;
const APART_S: f64 = 0.005;

/// The largest fall of all series.
pub(crate) fn findings(view: &View<'_>) -> Vec<Finding> {
    if !view.has_times() {
        return Vec::new();
    }
    let series = view.run.series.iter().filter(|one| ROUND_TRIPS.contains(&one.key.metric));
    let largest = series.filter_map(emptied).max_by(|(a, _), (b, _)| fall(a).total_cmp(&fall(b)));
    largest.into_iter().map(|(emptied, spans)| finding(emptied, spans)).collect()
}

const fn fall(emptied: &QueueEmptied) -> f64 {
    emptied.first_s - emptied.last_s
}

fn finding(emptied: QueueEmptied, spans: Vec<Span>) -> Finding {
    let conclusion = Conclusion::QueueEmptied(emptied);
    let mut finding = Finding::new(conclusion, None, Certainty::Likely).or(Alternative::Outage);
    finding.spans = spans;
    finding
}

/// The largest fall of a series, and the time of each.
fn emptied(series: &Series) -> Option<(QueueEmptied, Vec<Span>)> {
    let answered = |one: fathom_run::Observation| Some((one.at, one.value.observed()?));
    let probes: Vec<(Time, f64)> = series.iter().filter_map(answered).collect();
    let base_s = probes.iter().map(|(_, delay_s)| *delay_s).reduce(f64::min)?;
    let (mut largest, mut spans): (Option<QueueEmptied>, Vec<Span>) = (None, Vec::new());
    let mut rest = &probes[..];
    while let [(at, first_s), ..] = *rest {
        let length = if first_s - base_s < LEAST_FALL_S { 1 } else { arrived_together(rest) };
        let last_s = rest[length - 1].1;
        if length >= LEAST_PROBES && first_s - last_s >= LEAST_FALL_S {
            spans.push(Span::after(at, first_s));
            let answered_packets = length as u64;
            let (at_s, count) = (at.as_secs_f64(), 0);
            let found = QueueEmptied { count, answered_packets, at_s, first_s, last_s };
            largest = largest.filter(|before| fall(before) >= fall(&found)).or(Some(found));
        }
        rest = &rest[length..];
    }
    largest.map(|found| (QueueEmptied { count: spans.len() as u64, ..found }, spans))
}

/// How many of the first probes arrived together, with falling delays.
fn arrived_together(probes: &[(Time, f64)]) -> usize {
    let arrival_s = |(at, delay_s): &(Time, f64)| at.as_secs_f64() + delay_s;
    let Some(first) = probes.first() else { return 0 };
    let apart_s = (APART_RATIO * first.1).max(APART_S);
    let is_together = |one: &&(Time, f64)| (arrival_s(one) - arrival_s(first)).abs() <= apart_s;
    probes.iter().take_while(is_together).count()
}
