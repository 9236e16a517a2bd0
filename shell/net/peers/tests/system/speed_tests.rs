//! Each kind of server, found by its URL.
use crate::stand_in::{StandIn, check_load, cloudflare, kinds, protocol, reply, send};
use fathom_client::TestError;
use fathom_run::{Fact, Metric, Note, PhaseKind, Run, SeriesKey};
use fathom_units::Direction;
use std::sync::atomic::Ordering;

/// Of a receiving socket: 32 MiB, the highest default of `net.ipv4.tcp_rmem`.
const LARGEST_BUFFER_BYTES: f64 = 33_554_432.0;

fn check_probes(run: &Run, metrics: &[Metric]) {
    for metric in metrics {
        let series = run.series(&SeriesKey::of(*metric));
        let count = series.map_or(0, |s| s.values.len() - s.censored.len());
        assert!(count >= 40, "{metric:?}: {count} answers; notes {:?}", run.notes);
    }
}

#[test]
fn a_file_loads_downloads_only() {
    let server = StandIn::start(|_, out| send(out, "Content-Length: 5000000\r\n", 5_000_000));
    let run = server.test(&server.url("/large.iso")).unwrap();
    assert_eq!(
        (protocol(&run), kinds(&run)),
        ("HTTP", vec![PhaseKind::Idle, PhaseKind::Down, PhaseKind::Drain])
    );
    check_load(&run);
    check_probes(&run, &[Metric::TcpConnect]);
    assert!(run.notes.contains(&Note::OtherServer { protocol: "HTTP".into(), takes_uploads: false }));
}

#[test]
fn files_of_every_framing_are_downloaded_again_and_again() {
    let chunked = StandIn::start(|_, out| {
        write!(out, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
        for _ in 0..40 {
            write!(out, "20000\r\n")?;
            out.write_all(&[7; 0x20000])?;
            write!(out, "\r\n")?;
        }
        write!(out, "0\r\n\r\n")?;
        Ok(true)
    });
    check_load(&chunked.test(&chunked.url("/x")).unwrap());
    let until_close = StandIn::start(|_, out| send(out, "", 5_000_000).map(|_| false));
    check_load(&until_close.test(&until_close.url("/x")).unwrap());
    let closing = StandIn::start(|_, out| {
        send(out, "Connection: close\r\nContent-Length: 5000000\r\n", 5_000_000).map(|_| false)
    });
    check_load(&closing.test(&closing.url("/x")).unwrap());
}

#[test]
fn cloudflare_is_found_behind_tls() {
    let server = StandIn::start_tls(cloudflare);
    let run = server.test(&format!("https://localhost:{}", server.port)).unwrap();
    assert_eq!(protocol(&run), "Cloudflare");
    assert_eq!(kinds(&run).len(), 5);
    check_load(&run);
    check_probes(&run, &[Metric::TcpConnect, Metric::HttpKept]);
    // Twice per second.
    for metric in [Metric::TlsConnect, Metric::HttpForeign] {
        let series = run.series(&SeriesKey::of(metric)).unwrap();
        assert!(series.values.len() >= 3 && series.censored.is_empty(), "{metric:?}: {series:?}");
    }
    let up = SeriesKey::directed(Metric::DeliveryRate, Direction::Up);
    assert!(run.series(&up).is_some_and(|s| !s.values.is_empty()));
}

#[test]
fn librespeed_is_found_in_its_folder() {
    let server = StandIn::start(|line, out| match line {
        "GET /speed/backend/empty.php" | "POST /speed/backend/empty.php" => reply(out, "200 OK", "", ""),
        "GET /speed/backend/garbage.php?ckSize=100" => send(out, "Content-Length: 104857600\r\n", 100 << 20),
        _ => reply(out, "404 Not Found", "", ""),
    });
    let run = server.test(&server.url("/speed/")).unwrap();
    assert_eq!(protocol(&run), "LibreSpeed");
    check_load(&run);
    check_probes(&run, &[Metric::TcpConnect, Metric::HttpForeign, Metric::HttpKept]);
}

#[test]
fn uploads_on_one_connection_after_the_other_are_counted_once() {
    let server = StandIn::start(|line, out| match line {
        "POST /backend/empty.php" => reply(out, "200 OK", "Connection: close\r\n", "").map(|_| false),
        "GET /backend/empty.php" => reply(out, "200 OK", "", ""),
        "GET /backend/garbage.php?ckSize=100" => send(out, "Content-Length: 104857600\r\n", 100 << 20),
        _ => reply(out, "404 Not Found", "", ""),
    });
    let run = server.test(&server.url("/")).unwrap();
    check_load(&run);
    let loads = run.phases.iter().filter_map(|phase| phase.load.as_ref());
    let delivered = loads.map(|load| load.delivered_up_bytes).sum::<u64>() as f64;
    let received = server.received.load(Ordering::Relaxed) as f64;
    // The system acknowledges what is in its buffers when a phase ends; the server drops it.
    assert!(delivered < received + 4.0 * LARGEST_BUFFER_BYTES, "{delivered} of {received}");
    assert!(delivered > 0.9 * received, "{delivered} of {received}");
    let rates = |metric| &run.series(&SeriesKey::directed(metric, Direction::Up)).unwrap().values;
    let (goodput, acknowledged) = (rates(Metric::Goodput), rates(Metric::DeliveryRate));
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    assert!(acknowledged.iter().all(|rate| *rate > 0.0), "{acknowledged:?}");
    let ratio = mean(goodput) / mean(acknowledged);
    assert!((0.5..2.0).contains(&ratio), "{goodput:?} {acknowledged:?}");
}

#[test]
fn network_quality_is_found_by_its_configuration() {
    let configuration =
        r#"{"version":1,"urls":{"small_download_url":"/s","large_download_url":"/l","upload_url":"/u"}}"#;
    let server = StandIn::start(move |line, out| match line {
        "GET /.well-known/nq" | "GET /api/config" => reply(out, "200 OK", "", configuration),
        "GET /s" => reply(out, "200 OK", "", "x"),
        "GET /l" => send(out, "Content-Length: 8000000000\r\n", 8_000_000_000),
        "POST /u" => reply(out, "200 OK", "", ""),
        _ => reply(out, "404 Not Found", "", ""),
    });
    let run = server.test(&server.url("")).unwrap();
    assert_eq!(protocol(&run), "networkQuality");
    check_load(&run);
    check_probes(&run, &[Metric::TcpConnect, Metric::HttpForeign, Metric::HttpKept]);
    // Some servers have it elsewhere.
    let elsewhere = server.test(&server.url("/api/config")).unwrap();
    assert_eq!((protocol(&elsewhere), &elsewhere.partial), ("networkQuality", &None));
}

#[test]
fn redirects_lead_to_the_server() {
    let target = StandIn::start(cloudflare);
    let port = target.port;
    let moved = StandIn::start(move |line, out| {
        let path = line.split(' ').nth(1).unwrap_or("/");
        reply(out, "302 Found", &format!("Location: http://127.0.0.1:{port}{path}\r\n"), "")
    });
    let run = moved.test(&moved.url("/")).unwrap();
    assert_eq!(protocol(&run), "Cloudflare");
    assert_eq!(run.facts[&Fact::Address], format!("127.0.0.1:{port}"));
}

#[test]
fn an_unknown_certificate_is_refused() {
    let server = StandIn::start_tls(cloudflare);
    let other = StandIn::start_tls(cloudflare);
    let stranger = StandIn { port: server.port, trust: other.trust, received: server.received.clone() };
    let error = stranger.test(&format!("https://localhost:{}", server.port)).unwrap_err();
    assert!(
        matches!(&error, TestError::Server { problem, .. } if problem.contains("certificate")),
        "{error}"
    );
    let by_address = server.test(&format!("https://127.0.0.1:{}", server.port)).unwrap_err().to_string();
    assert!(by_address.contains("certificate not valid for name \"127.0.0.1\""), "{by_address}");
}
