//! A watch without a history: its series are those of one with a history, real receivers get all of
//! them after outages, and simulated ones fail.
use crate::past::{Past, now, plan, push, until};
use crate::receiver::{Kind, Receiver};
use crate::simulated::{answer, receiver};
use fathom_probe::{Reply, ReplyKind};
use fathom_test_support::unused_port;
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_metrics::EDGES;
use fathom_watch_minimal::{News, PeriodConfig, Periods};
use fathom_watch_plan::Url;
use fathom_watch_post::{Destination, PostFormat, Poster};
use fathom_watch_samples::{Code, Outcome, Window};
use std::cell::RefCell;
use std::collections::BTreeSet;

const INTERVAL_MS: u64 = 10_000;
const CONFIG: PeriodConfig = PeriodConfig {
    interval: Duration::from_secs(INTERVAL_MS / 1_000),
    timeout: Duration::from_secs(5),
    settle: Duration::from_secs(20),
};
const QUEUE_BYTES: usize = 1_000_000;

fn destination(url: &str) -> Destination {
    Destination {
        url: Url::parse(url).unwrap(),
        format: PostFormat::RemoteWrite,
        has_classic_histograms: false,
        headers: vec![("X-Scope-OrgID".to_owned(), "home".to_owned())],
        instance: "here".to_owned(),
        labels: vec![("site".to_owned(), "berlin".to_owned())],
    }
}

fn written_to(port: u16) -> Destination {
    destination(&format!("http://127.0.0.1:{port}/api/v1/write"))
}

/// Half an hour of made-up probes, one a second, and their sender.
struct Watch {
    periods: Periods,
    start: WallTime,
    second: u64,
    destination: Destination,
    poster: Poster,
    news: RefCell<Vec<News>>,
    truth: Window,
    /// Time of the last point.
    last_ms: u64,
    points: u64,
}

const HOSTS: [&str; 1] = ["router"];

impl Watch {
    fn start(destination: Destination) -> Watch {
        let start = WallTime((now().0 / 60_000_000_000 - 30) * 60_000_000_000);
        Watch {
            periods: Periods::new(CONFIG, HOSTS.len(), start),
            start,
            second: 0,
            poster: Poster::start(destination.clone(), QUEUE_BYTES),
            destination,
            news: RefCell::default(),
            truth: Window::default(),
            last_ms: 0,
            points: 0,
        }
    }
    /// Probes for so many more periods: delays of 10 to 109 ms, some lost, late or failed.
    fn goes_on(&mut self, periods: u64) {
        for _ in 0..periods * INTERVAL_MS / 1_000 {
            let (second, at) = (self.second, Time::from_nanos(self.second * 1_000_000_000));
            let wall = WallTime(self.start.0 + at.as_nanos());
            let delay = Duration::from_millis(if second % 11 == 4 { 6_000 } else { 10 + second * 7 % 100 });
            let outcome = match second % 11 {
                2 => Outcome::Lost,
                3 => Outcome::Failed,
                4 => Outcome::Late(delay),
                _ => Outcome::Answered(delay),
            };
            self.truth.add(Code::of(outcome));
            match outcome {
                Outcome::Failed => self.periods.failed(0, wall),
                _ => self.periods.sent(0, at, wall),
            }
            if matches!(outcome, Outcome::Answered(_) | Outcome::Late(_)) {
                let reply = Reply { kind: ReplyKind::InTime, at: (), delay, is_reordered: false };
                self.periods.reply(0, at, &reply);
            }
            self.second += 1;
        }
        // All of them are settled.
        let ended = Duration::from_secs(self.second + 20);
        let (destination, poster) = (&self.destination, &self.poster);
        let (since_ms, hosts) = (self.periods.since_ms(), HOSTS.map(str::to_owned));
        let (last_ms, points) = (&mut self.last_ms, &mut self.points);
        let send = &mut |at_ms, counted: &[_]| {
            (*last_ms, *points) = (at_ms, *points + 1);
            poster.send(destination.pack(&hosts, since_ms, counted));
        };
        let wall = WallTime(self.start.0 + ended.as_nanos());
        self.periods.complete(Time::ZERO + ended, wall, send);
    }
    /// Waits for news of which `is_it` returns true, and returns the first.
    fn wait_for(&self, what: &str, is_it: impl Fn(&News) -> bool) -> News {
        until(what, || {
            let mut news = self.news.borrow_mut();
            news.extend(self.poster.news());
            let place = news.iter().position(&is_it)?;
            news.drain(..=place).next_back()
        })
    }
    fn wait_for_outage(&self) -> String {
        match self.wait_for("an outage", |news| matches!(news, News::Unreachable { .. })) {
            News::Unreachable { why, .. } => why,
            other => panic!("{other}"),
        }
    }
    fn wait_for_end_of_outage(&self) -> News {
        self.wait_for("the end of an outage", |news| matches!(news, News::Reachable { .. }))
    }
}

fn agrees(receiver: &Receiver, watch: &Watch) {
    let (at_ms, t) = (watch.last_ms, watch.truth.tally);
    let labels = "target='router',host='router',probe='icmp',instance='here',job='fathom',site='berlin'";
    let value = |name: &str| receiver.value(&format!("{name}{{{labels}}}"), at_ms);
    for (outcome, count) in
        [("answered", t.answered), ("late", t.late), ("lost", t.lost), ("failed", t.failed)]
    {
        let query = format!("fathom_probes_total{{{labels},outcome='{outcome}'}}");
        assert_eq!(receiver.value(&query, at_ms), count as f64, "{query}");
    }
    assert_eq!(value("fathom_duplicate_answers_total"), 0.0);
    assert_eq!(value("fathom_reordered_answers_total"), 0.0);
    // One point for each period, and the zero at the start: none is missing, none is there twice.
    let points = format!("count_over_time(fathom_probes_total{{{labels},outcome='lost'}}[2h])");
    assert_eq!(receiver.value(&points, at_ms), (watch.points + 1) as f64);
}

/// Names and labels of all series of a target. Its name and host are examples.
fn series(receiver: &Receiver, target: &str, at_ms: u64) -> BTreeSet<String> {
    let all = receiver.query(&format!("{{job='fathom',target='{target}'}}"), at_ms);
    let one = |(mut labels, _): (serde_json::Value, f64)| {
        let object = labels.as_object_mut().unwrap();
        object.remove("site");
        for example in ["target", "host"] {
            assert!(object.insert(example.to_owned(), "example".into()).is_some(), "{example}");
        }
        labels.to_string()
    };
    all.into_iter().map(one).collect()
}

#[test]
fn series_are_those_of_a_watch_with_a_history_and_prometheus_gets_all_after_outages() {
    let mut past = Past::new(40);
    past.begin_at("far", past.until);
    past.goes_on(20);
    let (port, dir) = (unused_port(), past.dir.join("prometheus"));
    let mut watch = Watch::start(written_to(port));
    watch.goes_on(30);
    assert_eq!(watch.wait_for_outage(), "Connection refused");
    let prometheus = Receiver::start(Kind::Prometheus, port, &dir);
    assert_eq!(watch.wait_for_end_of_outage(), News::Reachable { dropped: 0 });
    until("all points", || {
        let newest = prometheus.query("fathom_probes_total{outcome='lost'}", watch.last_ms);
        (newest.first()?.1 == watch.truth.tally.lost as f64).then_some(())
    });
    agrees(&prometheus, &watch);
    prometheus.kill();
    watch.goes_on(20);
    watch.wait_for_outage();
    watch.goes_on(10);
    let again = Receiver::start(Kind::Prometheus, port, &dir);
    assert_eq!(watch.wait_for_end_of_outage(), News::Reachable { dropped: 0 });
    until("the rest", || {
        let newest = again.query("fathom_probes_total{outcome='lost'}", watch.last_ms);
        (newest.first()?.1 == watch.truth.tally.lost as f64).then_some(())
    });
    agrees(&again, &watch);
    let (at_ms, sketch) = (watch.last_ms, &watch.truth.sketch);
    let of_router = "fathom_rtt_seconds{target='router'}";
    assert_eq!(again.value(&format!("histogram_count({of_router})"), at_ms), sketch.count() as f64);
    let sum = again.value(&format!("histogram_sum({of_router})"), at_ms);
    assert!((sum / sketch.sum() - 1.0).abs() < 1e-9, "{sum}");

    let url = format!("url = 'http://127.0.0.1:{port}/api/v1/write'\n");
    let pusher = push(&plan(&format!("kind = 'remote_write'\nversion = '1.0'\n{url}")), &past.dir);
    until("the history", || (past.sent_ms("far") == past.last_ms()).then_some(()));
    pusher.stop();
    let mut expected = series(&again, "offices/berlin", past.last_ms());
    expected = expected.into_iter().map(|labels| labels.replace("\"group\":\"offices\",", "")).collect();
    assert_eq!(expected.len(), 7, "{expected:?}");
    assert_eq!(series(&again, "router", at_ms), expected);
    assert_eq!(watch.poster.stop(), []);
}

#[test]
fn victoria_metrics_gets_classic_histograms_after_an_outage() {
    let folder = tempfile::tempdir().unwrap();
    let port = unused_port();
    let mut watch = Watch::start(Destination { has_classic_histograms: true, ..written_to(port) });
    watch.goes_on(12);
    watch.wait_for_outage();
    let victoria = Receiver::start(Kind::VictoriaMetrics, port, folder.path());
    assert_eq!(watch.wait_for_end_of_outage(), News::Reachable { dropped: 0 });
    // What waits at the end is sent at once.
    watch.goes_on(12);
    let Watch { poster, .. } = &watch;
    until("all points", || {
        let newest = victoria.query("fathom_probes_total{outcome='lost'}", watch.last_ms);
        (newest.first()?.1 == watch.truth.tally.lost as f64).then_some(())
    });
    assert_eq!(poster.news(), []);
    agrees(&victoria, &watch);
    let edge = EDGES.into_iter().find(|edge| edge.power == -5).unwrap();
    let within = "fathom_rtt_seconds_bucket{target='router',le='0.03125'}";
    assert_eq!(victoria.value(within, watch.last_ms), edge.count(&watch.truth.sketch) as f64);
}

#[test]
fn requests_are_repeated_until_they_have_a_reply_that_settles_them() {
    let busy = answer("429 Too Many Requests", "Retry-After: 0\r\n", "slow down");
    let broken = answer("500 Internal Server Error", "Retry-After: 0\r\n", "");
    let cut = "HTTP/1.1 200 OK\r\nContent-Le".to_owned();
    let garbage = "SSH-2.0-dropbear\r\n\r\n".to_owned();
    for (first, why) in [
        (busy, "HTTP 429: slow down"),
        (broken, "HTTP 500"),
        (cut, "it closed the connection without a response"),
        (garbage, "malformed HTTP header"),
    ] {
        let (url, requests) = receiver(vec![first, answer("204 No Content", "", "")]);
        let mut watch = Watch::start(destination(url.split('\'').nth(1).unwrap()));
        watch.goes_on(2);
        assert_eq!(watch.wait_for_outage(), why);
        assert_eq!(watch.wait_for_end_of_outage(), News::Reachable { dropped: 0 });
        let all: Vec<_> = (0..3).map(|_| requests.recv().unwrap()).collect();
        assert!(all[0].body == all[1].body && all[1].body != all[2].body, "{why}");
        let headers = &all[0].headers;
        assert_eq!(headers["content-type"], "application/x-protobuf");
        assert_eq!(headers["content-encoding"], "snappy");
        assert_eq!(headers["x-prometheus-remote-write-version"], "0.1.0");
        assert_eq!(headers["x-scope-orgid"], "home");
        assert!(headers["user-agent"].starts_with("fathom/"));
        assert_eq!(watch.poster.stop(), [], "{why}");
        assert!(requests.try_recv().is_err(), "{why}: nothing is sent twice");
    }
}

#[test]
fn rejected_points_are_skipped_with_one_line() {
    let long = format!("out of order sample\nmore\n{}", "x".repeat(1 << 20));
    let chunks = "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwrong\r\n0\r\n\r\n";
    for (first, reason) in [
        (answer("400 Bad Request", "", &long), "HTTP 400: out of order sample"),
        (chunks.to_owned(), "HTTP 404: wrong"),
        (answer("301 Moved Permanently", "Location: https://a/\r\n", ""), "HTTP 301"),
    ] {
        let (url, requests) = receiver(vec![first.clone(), first, answer("204 No Content", "", "")]);
        let mut watch = Watch::start(destination(url.split('\'').nth(1).unwrap()));
        watch.goes_on(3);
        let rejected = watch.wait_for("a rejection", |news| matches!(news, News::Rejected { .. }));
        // Seven series with two points, the first of which is the zero.
        assert_eq!(rejected, News::Rejected { points: 14, why: reason.to_owned() });
        let accepted = watch.wait_for("an acceptance", |news| matches!(news, News::Accepted { .. }));
        assert_eq!(accepted, News::Accepted { rejected: 21 });
        assert_eq!(requests.iter().take(3).count(), 3);
        assert_eq!(watch.poster.stop(), []);
    }
}

#[test]
fn otlp_says_which_points_were_rejected() {
    // partial_success { rejected_data_points: 3, error_message: "too old" }
    let partial = "\u{a}\u{b}\u{8}\u{3}\u{12}\u{7}too old";
    let (url, requests) = receiver(vec![answer("200 OK", "", partial), answer("200 OK", "", "")]);
    let destination = destination(url.split('\'').nth(1).unwrap());
    let mut watch = Watch::start(Destination { format: PostFormat::Otlp, ..destination });
    watch.goes_on(2);
    let rejected = watch.wait_for("a rejection", |news| matches!(news, News::Rejected { .. }));
    assert_eq!(rejected, News::Rejected { points: 3, why: "too old".to_owned() });
    let request = requests.recv().unwrap();
    assert_eq!(request.headers["content-encoding"], "identity");
    for text in ["service.instance.id", "fathom_probes_total", "router", "berlin"] {
        assert!(request.body.windows(text.len()).any(|bytes| bytes == text.as_bytes()), "{text}");
    }
    watch.wait_for("an acceptance", |news| matches!(news, News::Accepted { rejected: 3 }));
    assert_eq!(watch.poster.stop(), []);
}

#[test]
fn a_stop_sends_what_waits_and_a_receiver_that_hangs_does_not_prevent_it() {
    let (url, requests) = receiver(vec![answer("204 No Content", "", "")]);
    let mut watch = Watch::start(destination(url.split('\'').nth(1).unwrap()));
    watch.goes_on(5);
    assert_eq!(watch.poster.stop(), []);
    assert_eq!(requests.try_iter().count(), 5);

    let (silent, hanging) = receiver(vec![String::new()]);
    let mut waiting = Watch::start(destination(silent.split('\'').nth(1).unwrap()));
    waiting.goes_on(5);
    hanging.recv().unwrap();
    drop(waiting.poster.stop());
}
