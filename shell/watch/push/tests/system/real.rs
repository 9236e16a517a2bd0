//! Data in Prometheus and VictoriaMetrics compared with the history, with outages, restarts and a
//! damaged cursor.
use crate::past::{Past, plan, push, until};
use crate::receiver::{Kind, Receiver};
use fathom_test_support::unused_port;
use fathom_units::WallTime;

/// The history is exact to half a bucket in either direction; Prometheus interpolates in its own
/// way.
const BUCKET: f64 = 0.022;

fn is_near(seen: f64, truth: f64, share: f64, what: &str) {
    assert!((seen / truth - 1.0).abs() <= share, "{what}: {seen}, and the history has {truth}");
}

fn url(port: u16) -> String {
    format!("url = 'http://127.0.0.1:{port}/api/v1/write'\n")
}

fn counts_agree(receiver: &Receiver, past: &Past, at_ms: u64) {
    for target in ["router", "offices/berlin"] {
        let truth = past.truth(target, at_ms);
        let t = truth.tally;
        let labels = format!("target='{target}',probe='icmp',instance='here',job='fathom'");
        for (outcome, count) in
            [("answered", t.answered), ("late", t.late), ("lost", t.lost), ("failed", t.failed)]
        {
            let query = format!("fathom_probes_total{{{labels},outcome='{outcome}'}}");
            assert_eq!(receiver.value(&query, at_ms), count as f64, "{query}");
        }
        for (name, count) in [("duplicate", t.duplicates), ("reordered", t.reordered)] {
            let query = format!("fathom_{name}_answers_total{{{labels}}}");
            assert_eq!(receiver.value(&query, at_ms), count as f64, "{query}");
        }
        // The increase since the zero at the start is the total count.
        let rise = format!(
            "max_over_time(fathom_probes_total{{{labels},outcome='lost'}}[1h]) - min_over_time(fathom_probes_total{{{labels},outcome='lost'}}[1h])"
        );
        assert_eq!(receiver.value(&rise, at_ms), t.lost as f64, "{rise}");
    }
}

#[test]
fn prometheus_has_all_that_the_history_has_after_outages_and_restarts() {
    let mut past = Past::new(40);
    past.begin_at("far", past.until);
    past.goes_on(20);
    let (port, dir) = (unused_port(), past.dir.join("prometheus"));
    let plan = plan(&format!("kind = 'remote_write'\n{}", url(port)));
    let pusher = push(&plan, &past.dir);
    pusher.wait_for_note("is not accepting data");
    let receiver = Receiver::start(Kind::Prometheus, port, &dir);
    // Prometheus 2.42 reads a request of 2.0 as an empty one of 1.0, and does not report what it
    // wrote.
    pusher.wait_for_note("does not support remote-write 2.0 (no report of written data): using 1.0");
    until("the first part", || (past.sent_ms("far") == past.last_ms()).then_some(()));
    counts_agree(&receiver, &past, past.last_ms());
    receiver.kill();
    past.goes_on(10);
    pusher.wait_for_note("is not accepting data");
    // Both ends stop and restart.
    pusher.stop();
    past.goes_on(6);
    let again = push(&plan, &past.dir);
    again.wait_for_note("is not accepting data");
    let after = Receiver::start(Kind::Prometheus, port, &dir);
    again.wait_for_note("is reachable again");
    until("the rest", || (past.sent_ms("far") == past.last_ms()).then_some(()));
    let at_ms = past.last_ms();
    counts_agree(&after, &past, at_ms);
    let truth = past.truth("router", at_ms).sketch;
    let of_router = "fathom_rtt_seconds{target='router'}";
    assert_eq!(after.value(&format!("histogram_count({of_router})"), at_ms), truth.count() as f64);
    is_near(after.value(&format!("histogram_sum({of_router})"), at_ms), truth.sum(), 1e-9, "sum");
    for q in [0.1, 0.5, 0.9, 0.95, 0.99] {
        let seen = after.value(&format!("histogram_quantile({q}, {of_router})"), at_ms);
        is_near(seen, truth.quantile(q).unwrap(), BUCKET, &format!("quantile {q}"));
    }
    is_near(after.value("fathom_host_sent_bits_per_second{interface='eth0'}", at_ms), 2e6, BUCKET, "load");
    let gauges = [
        ("lag_seconds{test='line',direction='up'}", 0.5),
        ("lag_seconds{test='line',direction='down'}", 0.06),
        ("idle_latency_seconds{test='line'}", 0.012),
        ("rate_bits_per_second{test='line',direction='up'}", 9e5),
        ("buffer_bytes{test='line',direction='up'}", 64e3),
    ];
    for (gauge, value) in gauges {
        let seen = after.value(&format!("last_over_time(fathom_test_{gauge}[1h])"), at_ms);
        is_near(seen, value, BUCKET, gauge);
    }
    assert_eq!(after.value("count(count_over_time(fathom_test_lag_seconds[1h]))", at_ms), 2.0);
    assert_eq!(after.value("count_over_time(fathom_test_lag_seconds{direction='up'}[2h])", at_ms), 3.0);
    again.stop();
}

/// A line was down for three hours, while others sent. Prometheus 2.42 rejects native histograms an
/// hour late, whatever its out-of-order window is.
#[test]
fn prometheus_has_all_of_an_outage_of_hours_in_its_window() {
    let mut other = Past::new(5);
    other.begin_at("far", other.until);
    other.goes_on(4);
    let (port, dir) = (unused_port(), other.dir.join("prometheus"));
    let receiver = Receiver::start(Kind::LatePrometheus, port, &dir);
    let url = format!("kind = 'remote_write'\nversion = '1.0'\n{}", url(port));
    let first = push(&plan(&format!("{url}labels = {{ site = 'other' }}\n")), &other.dir);
    until("the other line", || (other.sent_ms("far") == other.last_ms()).then_some(()));

    let mut past = Past::new(200);
    past.begin_at("far", past.until);
    past.goes_on(198);
    let pusher = push(&plan(&format!("{url}labels = {{ site = 'late' }}\n")), &past.dir);
    let note = pusher.wait_for_note("classic");
    assert!(note.contains("rejected old native histograms (HTTP 400: out of bounds)"), "{note}");
    until("the late line", || (past.sent_ms("far") == past.last_ms()).then_some(()));
    let of_late = "target='router',site='late'";
    for minutes_ago in [180, 100, 70, 50, 1] {
        let at_ms = past.last_ms() - minutes_ago * 60_000;
        let truth = past.truth("router", at_ms);
        let lost = receiver.value(&format!("fathom_probes_total{{{of_late},outcome='lost'}}"), at_ms);
        assert_eq!(lost, truth.tally.lost as f64, "{minutes_ago} min ago");
        // Native or classic: what the questions of a fleet use, too.
        let count = format!(
            "histogram_count(fathom_rtt_seconds{{{of_late}}}) or fathom_rtt_seconds_count{{{of_late}}}"
        );
        let counts = receiver.query(&count, at_ms);
        assert_eq!(counts[0].1, truth.sketch.count() as f64, "{minutes_ago} min ago");
    }
    let levels = "count_over_time(fathom_host_sent_bits_per_second{interface='eth0',site='late'}[4h])";
    assert_eq!(receiver.value(levels, past.last_ms()), 198.0 * 6.0 - 2.0);
    pusher.stop();
    first.stop();
}

#[test]
fn victoria_metrics_has_all_that_the_history_has_after_an_outage() {
    let mut past = Past::new(40);
    past.begin_at("far", past.until);
    past.goes_on(20);
    let (port, dir) = (unused_port(), past.dir.join("victoria"));
    let receiver = Receiver::start(Kind::VictoriaMetrics, port, &dir);
    let plan = plan(&format!("kind = 'remote_write'\nversion = '1.0'\nhistogram = 'classic'\n{}", url(port)));
    let pusher = push(&plan, &past.dir);
    until("the first part", || (past.sent_ms("far") == past.last_ms()).then_some(()));
    counts_agree(&receiver, &past, past.last_ms());
    // A crash would lose the last seconds, which it had already acknowledged.
    receiver.stop();
    past.goes_on(12);
    pusher.wait_for_note("is not accepting data");
    let after = Receiver::start(Kind::VictoriaMetrics, port, &dir);
    until("the rest", || (past.sent_ms("far") == past.last_ms()).then_some(()));
    let at_ms = past.last_ms();
    counts_agree(&after, &past, at_ms);
    let truth = past.truth("router", at_ms).sketch;
    let edge = fathom_watch_metrics::EDGES.into_iter().find(|edge| edge.power == -5).unwrap();
    let within = "fathom_rtt_seconds_bucket{target='router',le='0.03125'}";
    assert_eq!(after.value(within, at_ms), edge.count(&truth) as f64);
    assert_eq!(after.value("fathom_rtt_seconds_count{target='router'}", at_ms), truth.count() as f64);
    // Between bounds that are a factor of two apart, it can only interpolate.
    let median = after.value("histogram_quantile(0.5, fathom_rtt_seconds_bucket{target='router'})", at_ms);
    is_near(median, truth.quantile(0.5).unwrap(), 0.5, "median");
    pusher.stop();
}

#[test]
fn a_damaged_cursor_is_set_aside_and_sending_starts_now() {
    let mut past = Past::new(3);
    past.goes_on(2);
    std::fs::write(past.cursor("far"), b"\x1f\x8b what a power cut left").unwrap();
    let port = unused_port();
    let pusher = push(&plan(&format!("kind = 'remote_write'\n{}", url(port))), &past.dir);
    let note = pusher.wait_for_note("cannot read the cursor");
    assert!(note.contains("push-far.json.gz.damaged-1") && note.contains("continues from now"), "{note}");
    assert!(past.dir.join("push-far.json.gz.damaged-1").exists());
    let upto = until("a new cursor", || Some(past.sent_ms("far")).filter(|ms| *ms > 0));
    assert!(WallTime(upto * 1_000_000) >= past.until, "it begins now");
    pusher.stop();
}
