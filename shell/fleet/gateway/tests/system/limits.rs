//! Labels and limits of a site.
use crate::receiver::Simulated;
use crate::setup::{Body, Setup, body, now_ms, one, series};
use fathom_fleet_gateway::{Engine, EventKind, Limits};

fn limited(engine: &Simulated, limits: Limits) -> Setup {
    Setup::new(|config| {
        config.engine = Some(Engine::new(&engine.url));
        config.limits = limits;
    })
}

#[test]
fn series_of_another_site_are_refused_and_named() {
    let engine = Simulated::start();
    let setup = Setup::with_engine(&engine.url);
    let key = setup.enroll("berlin");
    setup.enroll("rome");
    for second in [false, true] {
        let at = [now_ms()];
        let both = body(second, &[series("berlin", "a", &at, 1.0), series("rome", "a", &at, 1.0)]);
        let refused = setup.write(&key, &both);
        assert_eq!(refused.status, 400, "{refused:?}");
        assert!(refused.body.contains("site=\"rome\"") && refused.body.contains("expected site=\"berlin\""));
        assert_eq!(refused.header("x-prometheus-remote-write-samples-written"), Some("0"));
        let mut other = series("berlin", "a", &at, 1.0);
        other.labels[1].1 = "1000/1000";
        assert!(setup.write(&key, &body(second, &[other])).body.contains("expected plan=\"50/10\""));
        let mut more = series("berlin", "a", &at, 1.0);
        more.labels.push(("tenant", "x"));
        assert!(setup.write(&key, &body(second, &[more])).body.contains("unexpected label tenant"));
        let future = series("berlin", "a", &[now_ms() + 3_600_000], 1.0);
        assert!(setup.write(&key, &body(second, &[future])).body.contains("in the future"));
        assert_eq!(setup.write(&key, &body(second, &[series("berlin", "a", &at, 1.0)])).status, 204);
    }
    assert_eq!(engine.count(), 2);
    setup.event(|event| matches!(&event.kind, EventKind::Rejected(site, why) if site.as_str() == "berlin" && why.contains("rome")));
    let rejected = setup.metric("fathom_gateway_requests_total{endpoint=\"write\",outcome=\"rejected\"}");
    assert_eq!(rejected, 8);
}

#[test]
fn series_beyond_the_limit_are_refused_and_named() {
    let engine = Simulated::start();
    // Each target has two series.
    let setup = limited(&engine, Limits { series: 6, ..Limits::default() });
    let key = setup.enroll("berlin");
    let send = |targets: &[&str]| {
        let at = [now_ms()];
        let all: Vec<_> = targets.iter().map(|target| series("berlin", target, &at, 1.0)).collect();
        setup.write(&key, &body(true, &all))
    };
    assert_eq!(send(&["a", "b"]).status, 204);
    let refused = send(&["a", "c", "d"]);
    assert_eq!(refused.status, 400);
    assert!(
        refused.body.contains("target=\"d\"") && refused.body.contains("limit of 6 series"),
        "{refused:?}"
    );
    assert_eq!((send(&["c"]).status, send(&["d"]).status, send(&["a", "b", "c"]).status), (204, 400, 204));
    // Other sites have their own.
    let other = setup.enroll("rome");
    assert_eq!(setup.write(&other, &one("rome")).status, 204);
}

#[test]
fn samples_beyond_the_rate_are_sent_later() {
    let engine = Simulated::start();
    let setup = limited(&engine, Limits { samples_per_minute: 500, ..Limits::default() });
    let key = setup.enroll("berlin");
    let at: Vec<u64> = (0..60).map(|step| now_ms() - step * 1_000).collect();
    let many: Body = body(false, &[series("berlin", "a", &at, 1.0)]);
    assert_eq!(setup.write(&key, &many).status, 204);
    let refused =
        crate::setup::until("the limit", || Some(setup.write(&key, &many)).filter(|a| a.status == 429));
    let after: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&after), "{after}");
    // What the engine does not take is not counted.
    let spared = setup.enroll("rome");
    engine.answer(&["HTTP/1.1 500 x\r\nConnection: close\r\n\r\n"]);
    for _ in 0..20 {
        assert_eq!(setup.write(&spared, &body(false, &[series("rome", "a", &at, 1.0)])).status, 503);
    }
}

#[test]
fn bytes_of_objects_are_limited() {
    let engine = Simulated::start();
    let setup = limited(&engine, Limits { object_bytes_per_day: 200_000, ..Limits::default() });
    let key = setup.enroll("berlin");
    let put = |name: &str, size: usize| setup.put(&key, &format!("runs/site=berlin/{name}"), &vec![1; size]);
    assert_eq!(put("a", 150_000).status, 200);
    let refused = put("b", 100_000);
    assert_eq!(refused.status, 429, "{refused:?}");
    assert!(refused.header("retry-after").is_some());
    assert!(!setup.dir.path().join("objects/runs/site=berlin/b").exists());
}
