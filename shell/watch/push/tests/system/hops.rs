//! The routers on a path, in all kinds of push.
use crate::past::{INTERVAL_MS, Past, now, plan, push_with, until};
use crate::receiver::{Kind, Receiver};
use crate::simulated::{answer, receiver};
use fathom_test_support::unused_port;
use fathom_units::{Duration, WallTime};
use fathom_watch_plan::{Plan, RouterNow};
use fathom_watch_push::Routers;
use std::io::Read;
use std::sync::Arc;

const TARGET: &str = "[[target]]\nname = 'far'\nhost = '192.0.2.3'\nprobe = 'hops'\n";

fn plan_with_path(push: &str) -> Plan {
    plan(&format!("{push}{TARGET}"))
}

/// The routers of the path, known since these times.
fn routers(since: [WallTime; 2]) -> Routers {
    Arc::new(move || {
        let each = since.into_iter().zip([("hop 1", "192.0.2.1"), ("hop 2", "198.51.100.2")]);
        let one = |(begin, (probe, address)): (WallTime, (&str, &str))| RouterNow {
            target: "far".into(),
            probe: probe.into(),
            address: address.parse().unwrap(),
            known_for: Duration::from_nanos(now().0 - begin.0),
        };
        each.map(one).collect()
    })
}

#[test]
fn prometheus_has_a_router_while_it_answers_and_is_known() {
    let mut past = Past::new(13);
    let start = past.until;
    past.begin_at("far", start);
    past.has_path(12);
    past.goes_on(12);
    let port = unused_port();
    let receiver = Receiver::start(Kind::Prometheus, port, &past.dir.join("prometheus"));
    let url = format!("url = 'http://127.0.0.1:{port}/api/v1/write'\nlabels = {{ site = 'berlin' }}\n");
    let plan = plan_with_path(&format!("kind = 'remote_write'\nversion = '1.0'\n{url}"));
    // The first router is a new one; the second has been there for longer than the history.
    let changed = WallTime(start.0 + 300_000_000_000);
    let pusher = push_with(&plan, routers([changed, WallTime(start.0 - 1)]), &past.dir);
    until("the end", || (past.sent_ms("far") == past.last_ms()).then_some(()));
    pusher.stop();
    let at_ms = past.last_ms();
    let all = receiver.query("count_over_time(fathom_hop_info[1h])", at_ms);
    let one = |probe: &str| {
        let of = all.iter().filter(|(labels, _)| labels["probe"] == probe).collect::<Vec<_>>();
        assert_eq!(of.len(), 1, "{all:?}");
        of[0].clone()
    };
    let steps = |from: WallTime| ((at_ms - from.0 / 1_000_000) / INTERVAL_MS) as f64;
    let ((first, points), (second, others)) = (one("hop 1"), one("hop 2"));
    assert_eq!(points, steps(changed), "none has the address of another router");
    assert_eq!(others, steps(start) - 6.0, "none while it did not answer");
    assert_eq!(
        first,
        serde_json::json!({
            "target": "far", "probe": "hop 1", "address": "192.0.2.1",
            "site": "berlin", "instance": "here", "job": "fathom",
        })
    );
    assert_eq!(second["address"], "198.51.100.2");
    assert_eq!(receiver.value("sum(max_over_time(fathom_hop_info[1h]))", at_ms), 2.0);
}

#[test]
fn every_kind_of_push_has_the_routers() {
    let unpacked = |kind: &str, body: &[u8]| {
        if !kind.contains("otlp") {
            return snap::raw::Decoder::new().decompress_vec(body).unwrap();
        }
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(body).read_to_end(&mut plain).unwrap();
        plain
    };
    let written = "X-Prometheus-Remote-Write-Samples-Written: 1\r\n";
    let kinds = ["kind = 'remote_write'\n", "kind = 'remote_write'\nversion = '1.0'\n", "kind = 'otlp'\n"];
    for kind in kinds {
        let mut past = Past::new(3);
        let start = past.until;
        past.begin_at("far", start);
        past.has_path(2);
        past.goes_on(2);
        let (url, requests) = receiver(vec![answer("200 OK", written, "")]);
        let routers = routers([WallTime(start.0 - 1); 2]);
        let pusher = push_with(&plan_with_path(&format!("{kind}{url}")), routers, &past.dir);
        until("the end", || (past.sent_ms("far") == past.last_ms()).then_some(()));
        pusher.stop();
        let bodies: Vec<u8> = requests.try_iter().flat_map(|request| unpacked(kind, &request.body)).collect();
        for text in ["fathom_hop_info", "address", "192.0.2.1", "198.51.100.2"] {
            assert!(bodies.windows(text.len()).any(|bytes| bytes == text.as_bytes()), "{kind}: {text}");
        }
    }
}
