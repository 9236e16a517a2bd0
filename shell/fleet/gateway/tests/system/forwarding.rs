//! What the engine receives, and what agents learn of it.
use crate::receiver::{ACCEPTS, Real, Simulated};
use crate::setup::{Setup, body, now_ms, one, series, until};
use fathom_fleet_agent::KeyKeeper;
use fathom_fleet_gateway::{Engine, EventKind};
use fathom_test_support::unused_port;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

#[test]
fn prometheus_has_what_agents_sent() {
    let port = unused_port();
    let setup = Setup::with_engine(&format!("http://127.0.0.1:{port}/api/v1/write"));
    let (berlin, rome) = (setup.enroll("berlin"), setup.enroll("rome"));
    // The engine is down: agents keep their data.
    let down = setup.write(&berlin, &one("berlin"));
    assert_eq!((down.status, down.header("retry-after")), (503, Some("10")));
    setup.event(|event| matches!(event.kind, EventKind::EngineDown(_)));
    let engine = Real::prometheus(port, &setup.dir.path().join("prometheus"));
    let now = now_ms();
    let at: Vec<u64> = (0..5).map(|step| now - 60_000 * (4 - step)).collect();
    let of = |site: &str, value: f64| body(false, &[series(site, "router", &at, value)]);
    assert!((200..300).contains(&setup.write(&berlin, &of("berlin", 41.0)).status));
    assert!((200..300).contains(&setup.write(&rome, &of("rome", 43.0)).status));
    setup.event(|event| event.kind == EventKind::EngineUp);
    for (site, value) in [("berlin", "41"), ("rome", "43")] {
        let found = engine.query(&format!("fathom_probes_total{{site='{site}'}}"), now);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0]["value"][1], value);
        assert_eq!(found[0]["metric"]["plan"], "50/10");
        let count = engine.query(&format!("histogram_count(fathom_rtt_seconds{{site='{site}'}})"), now);
        assert_eq!(count[0]["value"][1], "2", "{count:?}");
    }
    // Prometheus 2.42 reads 2.0 as an empty request of 1.0; the sender sees that from the headers.
    let second = setup.write(&berlin, &body(true, &[series("berlin", "router", &[now + 1], 5.0)]));
    assert_eq!(second.header("x-prometheus-remote-write-samples-written"), None, "{second:?}");
    // Prometheus refuses points that are too old, which is passed back.
    let old = setup.write(&berlin, &body(false, &[series("berlin", "router", &[1_000], 5.0)]));
    assert_eq!(old.status, 400, "{old:?}");
    drop(engine);
    assert_eq!(setup.write(&berlin, &one("berlin")).status, 503);
    let again = Real::prometheus(port, &setup.dir.path().join("prometheus"));
    until("recovery", || (setup.write(&berlin, &one("berlin")).status < 300).then_some(()));
    drop(again);
}

#[test]
fn victoria_metrics_has_what_agents_sent() {
    let port = unused_port();
    let setup = Setup::with_engine(&format!("http://127.0.0.1:{port}/api/v1/write"));
    let key = setup.enroll("berlin");
    let engine = Real::victoria_metrics(port, &setup.dir.path().join("victoria"));
    let now = now_ms();
    let sent = body(false, &[series("berlin", "router", &[now - 1_000], 41.0)]);
    assert!((200..300).contains(&setup.write(&key, &sent).status));
    engine.flush();
    let found = engine.query("fathom_probes_total{site='berlin'}", now);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["value"][1], &found[0]["metric"]["plan"]), (&"41".into(), &"50/10".into()));
}

/// Sites that send, by two threads each, and replace keys at the same time.
#[test]
fn many_sites_send_while_keys_are_replaced() {
    const SITES: usize = 12;
    let engine = Simulated::start();
    let setup = Setup::new(|config| {
        config.engine = Some(Engine::new(&engine.url));
        config.grace = Duration::from_secs(60);
    });
    let names: Vec<String> = (0..SITES).map(|number| format!("s{number}")).collect();
    names.iter().for_each(|site| drop(setup.enroll(site)));
    let stop = AtomicBool::new(false);
    let accepted: usize = std::thread::scope(|scope| {
        let (setup, stop) = (&setup, &stop);
        let senders: Vec<_> = names
            .iter()
            .flat_map(|site| [(site, false), (site, true)])
            .map(|(site, second)| {
                scope.spawn(move || {
                    let keeper = KeyKeeper::new(&setup.identity(site)).unwrap();
                    let mut accepted = 0;
                    while !stop.load(Relaxed) {
                        let sent = body(second, &[series(site, "router", &[now_ms()], 1.0)]);
                        match setup.write(&keeper.key().unwrap(), &sent).status {
                            204 => accepted += 1,
                            // The key was replaced on the way.
                            503 => {}
                            status => panic!("{site}: {status}"),
                        }
                    }
                    accepted
                })
            })
            .collect();
        for round in 0..10 {
            for site in &names {
                KeyKeeper::new(&setup.identity(site)).unwrap().rotate(now_ms() + round).unwrap();
            }
        }
        stop.store(true, Relaxed);
        senders.into_iter().map(|sender| sender.join().unwrap()).sum()
    });
    assert_eq!(engine.count(), accepted);
    assert!(setup.gateway.events().iter().all(|event| matches!(event.kind, EventKind::Enrolled(_))));
    assert!(setup.admin.sites().unwrap().iter().all(|site| site.duplicate_ms.is_none()));
}

#[test]
fn the_engine_receives_the_same_bytes_with_its_own_credentials() {
    let engine = Simulated::start();
    let setup = Setup::new(|config| {
        let token_file = config.state.with_file_name("engine-token");
        std::fs::write(&token_file, "of-the-engine\n").unwrap();
        config.engine = Some(Engine {
            headers: vec![("X-Scope-OrgID".into(), "fleet".into())],
            token_file: Some(token_file),
            ..Engine::new(&engine.url)
        });
    });
    let key = setup.enroll("berlin");
    for second in [false, true] {
        let sent = body(second, &[series("berlin", "router", &[now_ms()], 7.0)]);
        let answer = setup.write(&key, &sent);
        assert_eq!(answer.status, 204);
        assert_eq!(answer.header("x-prometheus-remote-write-samples-written"), Some("3"));
        let received = engine.received.lock().unwrap();
        let last = received.last().unwrap();
        assert_eq!(last.body, sent.packed);
        let head = last.head.to_ascii_lowercase();
        for expected in [
            "x-scope-orgid: fleet",
            "authorization: bearer of-the-engine",
            "content-encoding: snappy",
            sent.content_type,
            if second { "version: 2.0.0" } else { "version: 0.1.0" },
        ] {
            assert!(head.contains(&expected.to_ascii_lowercase()), "{expected}: {head}");
        }
        assert!(!head.contains(&key), "{head}");
    }
}

#[test]
fn statuses_of_the_engine_are_passed_back_or_mean_an_outage() {
    let engine = Simulated::start();
    let setup = Setup::with_engine(&engine.url);
    let key = setup.enroll("berlin");
    let cases = [
        ("HTTP/1.1 400 x\r\nConnection: close\r\n\r\nout of order\nmore", 400, None),
        ("HTTP/1.1 429 x\r\nRetry-After: 7\r\nConnection: close\r\n\r\n", 429, Some("7")),
        ("HTTP/1.1 503 x\r\nRetry-After: 9\r\nConnection: close\r\n\r\n", 503, Some("9")),
        ("HTTP/1.1 500 x\r\nConnection: close\r\n\r\n", 503, Some("10")),
        ("HTTP/1.1 401 x\r\nConnection: close\r\n\r\n", 503, Some("10")),
        ("HTTP/1.1 302 x\r\nLocation: /elsewhere\r\nConnection: close\r\n\r\n", 503, Some("10")),
        (ACCEPTS, 204, None),
    ];
    for (answer, status, after) in cases {
        engine.answer(&[answer]);
        let got = setup.write(&key, &one("berlin"));
        assert_eq!((got.status, got.header("retry-after")), (status, after), "{answer}: {got:?}");
        assert!(status != 400 || got.body.trim() == "out of order", "{got:?}");
    }
    let accepted = "fathom_gateway_requests_total{endpoint=\"write\",outcome=\"accepted\"}";
    assert_eq!((setup.metric(accepted), setup.metric("fathom_gateway_forwarded_samples_total")), (1, 1));
    assert_eq!(setup.metric("fathom_gateway_sites"), 1);
}
