//! Rate, delay and buffer of the line, as seen by programs at its ends.
use crate::ends::{Echo, PING_BYTES, connect, count_until, pings};
use crate::{one_link, soon, start};
use fathom_run::{Metric, SeriesKey};
use fathom_units::Direction;
use std::fs;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Sends from a thread until the connection is shut down.
fn flood(mut from: TcpStream) -> thread::JoinHandle<()> {
    thread::spawn(move || while from.write_all(&[0; 16_384]).is_ok() {})
}

#[test]
fn an_idle_round_trip_is_both_delays_and_both_serialisations() {
    let lab = one_link("rate = \"10mbit\", delay = \"5ms\", queue = \"fifo limit 64kb\", overhead = \"0b\"");
    let times = pings(&lab, 200, Duration::from_millis(5));
    assert!(times.len() > 190, "{} of 200 round trips", times.len());
    // 10 ms, and 84 bytes at 10 Mbit/s twice: 134 us.
    let expected = Duration::from_millis(10) + Duration::from_nanos(PING_BYTES as u64 * 8 * 100 * 2);
    // The fastest of 200: the others include the wake-up of four threads, which may take a
    // millisecond.
    let fastest = times[0];
    assert!(fastest >= expected, "{fastest:?} is faster than the line, {expected:?}");
    assert!(fastest < expected + Duration::from_micros(500), "{fastest:?}, expected {expected:?}");
    let report = lab.lab.finish().unwrap();
    assert_eq!(report.queues.iter().map(|q| q.arrived_packets).collect::<Vec<_>>(), [200, 200]);
    assert!(report.line_lateness.count() >= 400);
}

#[test]
fn a_full_buffer_adds_its_bytes_over_the_rate() {
    let link = "rate = \"10mbit\", delay = \"5ms\", queue = \"fifo limit 65536b\", overhead = \"0b\"";
    let lab = one_link(link);
    let idle = pings(&lab, 50, Duration::from_millis(10))[25];
    let (client, mut server) = connect(&lab, false);
    let closer = client.try_clone().unwrap();
    let sender = flood(client);
    let begin = Instant::now();
    let reader = thread::spawn(move || count_until(&mut server, begin + Duration::from_secs(30)));
    let loaded = pings(&lab, 800, Duration::from_millis(10));
    closer.shutdown(Shutdown::Both).unwrap();
    sender.join().unwrap();
    reader.join().unwrap();
    let added = 65_536.0 * 8.0 / 10e6;
    // The longest occurs at a full buffer, but the line's thread may also have been late; so the
    // upper bound is on the 95th percentile.
    let over_idle = |index: usize| loaded[index].as_secs_f64() - idle.as_secs_f64();
    let (longest, high) = (over_idle(loaded.len() - 1), over_idle(loaded.len() * 19 / 20));
    assert!(longest > 0.97 * added, "longest {longest} s over idle, the buffer holds {added} s");
    assert!(high < 1.03 * added, "95 % are at least {high} s over idle, the buffer holds {added} s");
    check_truth(lab.lab.finish().unwrap(), added);
}

fn check_truth(report: fathom_lab::LabReport, full_s: f64) {
    let queue = &report.queues[0];
    assert!(queue.dropped_packets > 0 && queue.marked_packets == 0, "{queue:?}");
    assert!(queue.max_backlog.get() <= 65_536 && queue.max_backlog.get() > 65_536 - 1500, "{queue:?}");
    let key = |metric| SeriesKey {
        metric,
        direction: Some(Direction::Up),
        flow: None,
        scope: Some("link".to_owned()),
    };
    let find = |metric| report.series.iter().find(|s| s.key == key(metric)).unwrap();
    let sojourn = find(Metric::Sojourn).values.iter().copied().fold(0.0, f64::max);
    assert!((sojourn / full_s - 1.0).abs() < 0.03, "longest sojourn {sojourn} s, full {full_s} s");
    assert_eq!(find(Metric::QueueDrops).values.last(), Some(&(queue.dropped_packets as f64)));
    assert!(find(Metric::Backlog).values.len() > 300);
}

#[test]
fn goodput_is_the_rate_less_the_headers() {
    let lab = one_link("rate = \"20mbit\", delay = \"1ms\", queue = \"fifo limit 64kb\", overhead = \"0b\"");
    let (client, mut server) = connect(&lab, false);
    let closer = client.try_clone().unwrap();
    let sender = flood(client);
    count_until(&mut server, Instant::now() + Duration::from_secs(1));
    let mut goodputs: Vec<f64> =
        (0..9).map(|_| goodput_of(&mut server, Duration::from_millis(500))).collect();
    goodputs.sort_by(f64::total_cmp);
    closer.shutdown(Shutdown::Both).unwrap();
    sender.join().unwrap();
    // 1448 bytes of payload per 1500 on the wire: 40 bytes of headers and 12 of timestamps.
    let expected = 20e6 * 1448.0 / 1500.0;
    assert!((goodputs[4] / expected - 1.0).abs() < 0.01, "{goodputs:?} bit/s, expected {expected}");
}

fn goodput_of(server: &mut TcpStream, interval: Duration) -> f64 {
    let begin = Instant::now();
    let bytes = count_until(server, begin + interval);
    bytes as f64 * 8.0 / begin.elapsed().as_secs_f64()
}

#[test]
fn marks_reach_tcp_and_replace_drops() {
    let lab = one_link("rate = \"20mbit\", delay = \"5ms\", queue = \"codel ecn\"");
    let want_ecn = || fs::write("/proc/sys/net/ipv4/tcp_ecn", "1").unwrap();
    lab.in_client(want_ecn).unwrap();
    lab.in_server(want_ecn).unwrap();
    for v6 in [false, true] {
        let (client, mut server) = connect(&lab, v6);
        let closer = client.try_clone().unwrap();
        let sender = flood(client);
        count_until(&mut server, Instant::now() + Duration::from_secs(3));
        closer.shutdown(Shutdown::Both).unwrap();
        sender.join().unwrap();
    }
    let report = lab.lab.finish().unwrap();
    let up = &report.queues[0];
    assert!(up.marked_packets > 5 && up.dropped_packets < up.marked_packets, "{up:?}");
    // A sender that ignores the marks would fill the queue of 1000 packets.
    assert!(up.max_backlog.get() < 300 * 1500, "{up:?}");
}

#[test]
fn nothing_passes_while_the_line_is_down() {
    let lab = one_link("rate = \"10mbit\", delay = \"1ms\", queue = \"fifo limit 64kb\"");
    let echo = Echo::start(&lab);
    assert!(echo.round_trip().is_some());
    lab.set_link(false);
    assert!(echo.round_trip().is_none());
    lab.set_link(true);
    assert!(soon(|| echo.round_trip().is_some()));
    assert!(lab.lab.finish().unwrap().strays.while_down_packets > 0);
}

#[test]
fn a_link_without_a_rate_delays_and_does_nothing_else() {
    let hops = "[[hop]]\nname = \"far\"\nup = { delay = \"20ms\" }\ndown = { delay = \"0ms\" }\n";
    let lab = start(hops, &crate::options());
    let times = pings(&lab, 50, Duration::from_millis(1));
    let median = times[times.len() / 2].as_secs_f64();
    assert!((0.020..0.022).contains(&median), "{median}");
}
