//! A made-up fleet in a real Prometheus and a real VictoriaMetrics.
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod delays;
mod large;

use fathom_fleet_query::{Engine, EngineConfig, Source, Span, answer};
use fathom_fleet_view::{Selector, groups};
use fathom_test_support::{until, unused_port};
use fathom_units::{Rng, WallTime};
use fathom_watch_metrics::{Family, Line, Point, Request, Value, Write1};
use std::process::{Child, Command, Stdio};
use std::time::SystemTime;

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(program: &str, args: &[String]) -> Running {
    let child = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    Running(child.unwrap_or_else(|error| panic!("{program}: {error}; `make setup` installs what tests need")))
}

fn until_it_answers(url: &str) {
    until(url, std::time::Duration::from_secs(30), || ureq::get(url).call().ok());
}

const SITES: u64 = 40;
const DAY_NS: u64 = 86_400_000_000_000;
const TESTS: u64 = 7;

/// The lag of a test in seconds, by site: half of the sites are bloated.
fn lag(site: u64, test: u64) -> f64 {
    let noise = Rng::new(site * 100 + test).next_f64() * 0.004;
    let base = if site.is_multiple_of(2) { 0.4 } else { 0.03 + noise };
    base + site as f64 * 1e-4
}

/// Sends the tests of a week, which ended at `end_ms`.
fn fill(url: &str, end_ms: u64) {
    for test in 0..TESTS {
        let at_ms = end_ms - (TESTS - 1 - test) * 3_600_000;
        let mut request = Write1::new(true);
        for site in 0..SITES {
            let name = format!("s{site:02}");
            let provider = if site.is_multiple_of(2) { "a \"quoted\" one" } else { "other" };
            for (family, direction, value) in [
                (&Family::TEST_LAG, "up", lag(site, test)),
                (&Family::TEST_RATE, "up", 1e6 + site as f64),
                (&Family::TEST_BUFFER, "up", 64e3),
                (&Family::TEST_IDLE, "", 0.02),
            ] {
                let labels = [
                    ("direction", direction),
                    ("instance", "i"),
                    ("job", "fathom"),
                    ("provider", provider),
                    ("site", name.as_str()),
                    ("test", "line"),
                ];
                let points = vec![Point { at_ms, value: Value::Number(value) }];
                let labels = labels.into_iter().filter(|(_, text)| !text.is_empty()).collect();
                request.add(&Line { family, labels, since_ms: 0, points });
            }
        }
        send(url, &request.take());
    }
}

fn send(url: &str, body: &[u8]) {
    let packed = snap::raw::Encoder::new().compress_vec(body).unwrap();
    let sent = ureq::post(url)
        .header("Content-Type", "application/x-protobuf")
        .header("Content-Encoding", "snappy")
        .header("X-Prometheus-Remote-Write-Version", "0.1.0")
        .send(packed.as_slice());
    assert!(sent.unwrap().status().is_success());
}

/// The values of the fleet are those that were sent.
fn check(url: &str, end_ms: u64) {
    let config = EngineConfig { url: url.to_owned(), ..EngineConfig::default() };
    let engine = Engine::new(config).unwrap();
    let at = WallTime((end_ms + 1_000) * 1_000_000);
    let span = Span { from: WallTime(at.0 - DAY_NS), to: at };
    let fleet = engine.fleet(&Selector::all(), span).unwrap();
    assert_eq!(fleet.sites().count() as u64, SITES);
    for site in 0..SITES {
        let seen = fleet.site(&format!("s{site:02}")).unwrap();
        let mut lags: Vec<f64> = (0..TESTS).map(|test| lag(site, test)).collect();
        lags.sort_by(f64::total_cmp);
        let median = lags[TESTS as usize / 2];
        assert!((seen.lines.up.lag_s.unwrap() - median).abs() < 1e-9, "{seen:?} instead of {median}");
        assert_eq!(seen.lines.up.rate_bits_per_second, Some(1e6 + site as f64));
        assert_eq!((seen.lines.up.buffer_bytes, seen.idle_s, seen.tests), (Some(64e3), Some(0.02), TESTS));
        assert_eq!(seen.lines.down.lag_s, None);
    }
    assert_eq!(&*fleet.by_lag()[0].name, "s38");
    let groups = groups(&fleet, "provider", 0.2);
    let seen: Vec<_> = groups.iter().map(|g| (g.value.as_str(), g.sites, g.bloated_ratio)).collect();
    assert_eq!(seen, [("a \"quoted\" one", 20, 1.0), ("other", 20, 0.0)]);
    let some = engine.fleet(&Selector::all().with("provider", "a \"quoted\" one"), span).unwrap();
    assert_eq!(some.sites().count(), 20);
    let none = engine.fleet(&Selector::all().with("provider", "x\"} or vector(1) #"), span).unwrap();
    assert_eq!(none.sites().count(), 0);
    let refused = engine.instant("max(", at).unwrap_err().to_string();
    assert!(refused.contains("the engine reports: "), "{refused}");
    check_tests(&engine, span);
    check_trends(&engine, span);
    delays::check(&engine, at);
}

fn check_tests(engine: &Engine, span: Span) {
    let history = answer::site(engine, engine, "s02", span).unwrap();
    let lags: Vec<f64> = history.tests.iter().filter_map(|(_, test)| test.lag_s()).collect();
    let expected: Vec<f64> = (0..TESTS).map(|test| lag(2, test)).collect();
    assert_eq!((lags, &*history.site.name), (expected, "s02"));
    assert_eq!(history.site.labels["provider"], "a \"quoted\" one");
    assert!(history.results.is_empty());
    let missing = answer::site(engine, engine, "nobody", span).unwrap_err().to_string();
    assert_eq!(missing, "site nobody: has no test in this period");
}

/// One test of each site in each of the last hours.
fn check_trends(engine: &Engine, span: Span) {
    let found = answer::trends(engine, &Selector::all(), span, Some("provider")).unwrap();
    let (_, by) = found.by.as_ref().unwrap();
    let bloated = by.iter().find(|trend| trend.value.starts_with('a')).unwrap();
    assert_eq!((by.len(), bloated.points.len(), found.all[0].points.len()), (2, 7, 7));
    for point in &bloated.points {
        assert_eq!(point.sites, 20);
        // Engines interpolate between the two middle values.
        assert!((point.lag_p50_s - 0.4019).abs() < 1e-9, "{point:?}");
        assert!((point.lag_p90_s - 0.4034).abs() < 3e-4, "{point:?}");
    }
    let refused = answer::trends(engine, &Selector::all(), span, Some("a) or (b")).unwrap_err().to_string();
    assert!(refused.ends_with("invalid label \"a) or (b\""), "{refused}");
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as u64
}

#[test]
fn prometheus_and_victoria_metrics_have_the_same_fleet() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("prometheus.yml");
    // Tests of hours ago arrive after an outage.
    std::fs::write(&config, "global: {}\nstorage: { tsdb: { out_of_order_time_window: 1d } }\n").unwrap();
    let (port, other) = (unused_port(), unused_port());
    let _prometheus = start(
        "prometheus",
        &[
            format!("--config.file={}", config.display()),
            format!("--storage.tsdb.path={}", dir.path().join("p").display()),
            format!("--web.listen-address=127.0.0.1:{port}"),
            "--web.enable-remote-write-receiver".to_owned(),
            "--enable-feature=native-histograms".to_owned(),
        ],
    );
    let _victoria = start(
        "victoria-metrics",
        &[
            format!("-storageDataPath={}", dir.path().join("v").display()),
            format!("-httpListenAddr=127.0.0.1:{other}"),
            "-search.latencyOffset=0s".to_owned(),
        ],
    );
    let (prometheus, victoria) = (format!("http://127.0.0.1:{port}"), format!("http://127.0.0.1:{other}"));
    until_it_answers(&format!("{prometheus}/-/ready"));
    until_it_answers(&format!("{victoria}/health"));
    let end_ms = now_ms() - 5_000;
    for (url, is_classic) in [(&prometheus, false), (&victoria, true)] {
        // In order of time: Prometheus 2 takes no native histograms from before its newest point.
        delays::fill(&format!("{url}/api/v1/write"), end_ms, is_classic);
        fill(&format!("{url}/api/v1/write"), end_ms);
    }
    // It shows written data after some seconds otherwise.
    ureq::get(format!("{victoria}/internal/force_flush")).call().unwrap();
    check(&prometheus, end_ms);
    check(&victoria, end_ms);
}

#[test]
fn an_engine_that_is_away_or_something_else_is_named() {
    let ask = |url: &str| {
        let config = EngineConfig { url: url.to_owned(), ..EngineConfig::default() };
        Engine::new(config).unwrap().instant("1", WallTime(0)).unwrap_err().to_string()
    };
    let away = format!("http://127.0.0.1:{}", unused_port());
    let refused = ask(&away);
    assert!(refused.starts_with(&away) && refused.contains("refused"), "{refused}");
    // A server that is no engine.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        for answer in ["200 OK\r\nContent-Type: text/html", "502 Bad Gateway"] {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = std::io::Read::read(&mut stream, &mut [0; 4_096]);
            let body = "<html>hello</html>";
            let text = format!(
                "HTTP/1.1 {answer}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            std::io::Write::write_all(&mut stream, text.as_bytes()).unwrap();
        }
    });
    let page = ask(&url);
    assert!(page.contains("no answer of a Prometheus API"), "{page}");
    let gateway = ask(&url);
    assert!(gateway.contains("502 Bad Gateway <html>hello</html>"), "{gateway}");
    server.join().unwrap();
    let config = EngineConfig { url, ca_file: Some("/no/such/file".into()), ..EngineConfig::default() };
    assert!(Engine::new(config).unwrap_err().to_string().starts_with("/no/such/file: "));
}
