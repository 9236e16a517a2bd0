//! Delays of sites, some of which share a router with a queue.
use crate::send;
use fathom_fleet_query::{Engine, Span, answer};
use fathom_fleet_view::Selector;
use fathom_units::{Rng, WallTime};
use fathom_watch_metrics::{Family, Line, Point, Request, Value, Write1, each_probe_line};
use fathom_watch_samples::Window;
use std::convert::Infallible;

const SITES: u64 = 12;
/// The first of them share the router.
const SHARED: u64 = 5;
const ROUTER: &str = "192.0.2.1";
/// A point per minute for three hours; the queue is full in the last but one half hour.
const MINUTES: u64 = 180;
const QUEUE: std::ops::Range<u64> = 120..150;
const PROBES: u64 = 60;

fn rtt(site: u64, minute: u64, rng: &mut Rng) -> f64 {
    let queue = if site < SHARED && QUEUE.contains(&minute) { 0.08 } else { 0.0 };
    0.01 + queue + rng.next_f64() * 0.004
}

/// Sends the delays of three hours, which ended at `end_ms`.
pub(crate) fn fill(url: &str, end_ms: u64, is_classic: bool) {
    let mut rng = Rng::new(31);
    let start_ms = end_ms - MINUTES * 60_000;
    let mut totals = vec![Window::default(); SITES as usize];
    for minute in 0..=MINUTES {
        let mut request = Write1::new(is_classic);
        let at_ms = start_ms + minute * 60_000;
        for (site, total) in (0..SITES).zip(&mut totals) {
            let name = format!("s{site:02}");
            let provider = if site.is_multiple_of(2) { "even" } else { "odd" };
            let own = [("instance", "i"), ("job", "fathom"), ("provider", provider), ("site", &name)];
            // The first point is the start of all counts.
            if minute > 0 {
                for _ in 0..PROBES {
                    let delay = rtt(site, minute, &mut rng);
                    total.sketch.add_value(delay);
                    total.tally.sent += 1;
                    total.tally.answered += 1;
                }
            }
            // The second router answers slowly at all times.
            let hop = [("host", "192.0.2.9"), ("probe", "hop 2"), ("target", "server")];
            let target = [("host", "192.0.2.9"), ("probe", "icmp"), ("target", "server")];
            for (kind, is_hop) in [(hop, true), (target, false)] {
                let labels: Vec<_> = own.iter().copied().chain(kind).collect();
                let mut counted = total.clone();
                if is_hop && minute > 0 {
                    counted.sketch = (0..minute * PROBES)
                        .fold(Window::default(), |mut all, _| {
                            all.sketch.add_value(if minute.is_multiple_of(2) { 0.5 } else { 0.01 });
                            all
                        })
                        .sketch;
                }
                let points = [(at_ms, Some(counted))];
                let mut add = |line: &Line<'_>| {
                    request.add(line);
                    Ok::<_, Infallible>(())
                };
                each_probe_line(&labels, start_ms, &points, &mut add).unwrap();
            }
            let router = if site < SHARED { ROUTER } else { "192.0.2.2" };
            let info = [("address", router), ("probe", "hop 2"), ("target", "server")];
            // Routers of homes have this address, so it would match as well.
            let home = [("address", "192.168.1.1"), ("probe", "hop 1"), ("target", "server")];
            for hop_info in [Some(info), (site < SHARED).then_some(home)].into_iter().flatten() {
                let labels = own.iter().copied().chain(hop_info).collect();
                let points = vec![Point { at_ms, value: Value::Number(1.0) }];
                request.add(&Line { family: &Family::HOP, labels, since_ms: 0, points });
            }
        }
        send(url, &request.take());
    }
}

/// The router is found, with its sites and its time.
pub(crate) fn check(engine: &Engine, at: WallTime) {
    let minutes = |count: u64| count * 60_000_000_000;
    let span = Span { from: WallTime(at.0 - minutes(MINUTES)), to: at };
    let found = answer::slow_together(engine, &Selector::all(), span).unwrap();
    let [one] = found.times.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.shared.kind.as_str(), one.shared.value.as_str()), ("hop", ROUTER));
    let expected: Vec<String> = (0..SHARED).map(|site| format!("s{site:02}")).collect();
    assert_eq!((&one.sites, one.unaffected), (&expected, 0));
    let before_end_s = |time_s: f64| at.0 as f64 / 1e9 - time_s;
    let (from, to) = (before_end_s(one.span_s.0), before_end_s(one.span_s.1));
    // The queue lasted from 60 to 30 min before the end; a step has 5 min, and its rate as many.
    assert!((50.0 * 60.0..65.0 * 60.0).contains(&from), "{from}");
    assert!((20.0 * 60.0..35.0 * 60.0).contains(&to), "{to}");
    // Without those of the router, nobody is slow.
    let odd = Selector::all().with("site", "s07");
    assert_eq!(answer::slow_together(engine, &odd, span).unwrap().times, []);
}
