//! `fathom ecn` over four routers in this test's own namespaces, one of which changes or drops ECN.
use crate::program::{Ran, run};
use fathom_test_support::{NamespaceRow, in_new_namespace};
use serde_json::Value as Json;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};

const ROUTERS: usize = 4;
const HOST: &str = "10.8.4.2";
/// Paths that are tested at the same time. They wait for timeouts most of the time.
const AT_ONCE: usize = 20;

/// What a router does, and what the result must say about some packets: packet, flags or codepoint,
/// and fate.
struct Device {
    name: &'static str,
    direction: &'static str,
    rule: &'static str,
    expected: &'static [(&'static str, &'static str, &'static str)],
}

const fn up(
    name: &'static str,
    rule: &'static str,
    expected: &'static [(&'static str, &'static str, &'static str)],
) -> Device {
    Device { name, direction: "up", rule, expected }
}

const DEVICES: [Device; 10] = [
    up(
        "bleaches ECT",
        "ip ecn set not-ect",
        &[
            ("syn", "ect0", "changed not-ect"),
            ("udp", "ect0", "changed not-ect"),
            ("udp", "ect1", "changed not-ect"),
            ("udp", "ce", "changed not-ect"),
            ("data", "ect0", "changed not-ect"),
        ],
    ),
    up(
        "sets CE",
        "ip ecn { ect0, ect1 } ip ecn set ce",
        &[("udp", "ect0", "changed ce"), ("udp", "ect1", "changed ce"), ("data", "ect0", "changed ce")],
    ),
    up(
        "drops SYN with ECE",
        "tcp flags & (syn | ecn) == (syn | ecn) drop",
        &[("syn", "CWR+ECE", "dropped"), ("syn", "AE+CWR+ECE", "dropped")],
    ),
    up(
        "makes ECT(1) ECT(0)",
        "ip ecn ect1 ip ecn set ect0",
        &[("udp", "ect1", "changed ect0"), ("data", "ect1", "changed ect0")],
    ),
    up("drops SYN with AE", "tcp flags & syn == syn @th,103,1 1 drop", &[("syn", "AE+CWR+ECE", "dropped")]),
    up(
        "refuses SYN with AE",
        "tcp flags & syn == syn @th,103,1 1 reject with tcp reset",
        &[("syn", "AE+CWR+ECE", "refused")],
    ),
    up(
        "clears AE",
        "tcp flags & syn == syn tcp reserved set 0",
        &[("syn", "AE+CWR+ECE", "flags_changed CWR+ECE")],
    ),
    up(
        "clears the flags of SYN",
        "tcp flags & syn == syn tcp flags set syn tcp reserved set 0",
        &[("syn", "CWR+ECE", "flags_changed none"), ("syn", "AE+CWR+ECE", "flags_changed none")],
    ),
    up(
        "drops ECT",
        "ip ecn { ect0, ect1, ce } drop",
        &[("udp", "ect0", "dropped"), ("udp", "ce", "dropped"), ("data", "ect1", "dropped")],
    ),
    Device {
        name: "bleaches on the way back",
        direction: "down",
        rule: "ip ecn set not-ect",
        expected: &[("data", "ect0", "changed not-ect"), ("echo", "ect0", "changed not-ect")],
    },
];

/// A server of pages, one after the other. It ends with the test.
fn serve() -> u16 {
    let listener = TcpListener::bind((HOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            std::thread::spawn(move || answer(stream));
        }
    });
    port
}

pub(crate) fn answer(mut stream: TcpStream) {
    let mut request = Vec::new();
    let mut part = [0; 256];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut part) {
            Ok(bytes @ 1..) => request.extend_from_slice(&part[..bytes]),
            _ => return,
        }
    }
    let _ = stream.write_all(&[b'x'; 10_000]);
}

/// Tests a path with a device at a hop.
fn test(device: Option<(&Device, usize)>) -> Ran {
    in_new_namespace(|| {
        let row = NamespaceRow::new(ROUTERS + 2);
        if let Some((device, hop)) = device {
            let hook = match device.direction {
                "up" => "type filter hook prerouting priority -150; iifname left",
                _ => "type filter hook postrouting priority -150; oifname left",
            };
            let (chain, interface) = hook.split_once("; ").unwrap();
            let rule = format!("{interface} {}", device.rule);
            row.sh(
                hop,
                &format!(
                    "nft 'add table ip t; add chain ip t c {{ {chain}; }}'; nft 'add rule ip t c {rule}'"
                ),
            );
        }
        row.enter(ROUTERS + 1);
        let port = serve();
        row.enter(0);
        run(&["ecn", HOST, "--port", &port.to_string(), "--json"])
    })
}

/// A problem: direction, packet, flags or codepoint, fate, and the hops.
type Problem = (String, String, String, String, [Option<u64>; 2]);

/// The certain problems.
fn problems(document: &Json) -> Vec<Problem> {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let findings = document["ecn"]["findings"].as_array().unwrap().iter();
    let certain = findings.filter(|f| f["certain"] == true && f["fate"] != "kept" && f["fate"] != "unknown");
    certain
        .map(|f| {
            let is_flags = f["packet"] == "syn" && f["codepoint"] == "not-ect";
            let what = text(if is_flags { &f["flags"] } else { &f["codepoint"] });
            let to = [text(&f["arrived"]), text(&f["flags_arrived"])].concat();
            let fate = format!("{} {to}", text(&f["fate"])).trim().to_owned();
            (
                text(&f["direction"]),
                text(&f["packet"]),
                what,
                fate,
                [f["after_hop"].as_u64(), f["before_hop"].as_u64()],
            )
        })
        .collect()
}

/// Errors of a result; empty if all is right.
fn complaints(device: &Device, hop: usize, ran: &Ran) -> Vec<String> {
    let document = ran.document();
    let found = problems(&document);
    let place = [Some(hop as u64 - 1), Some(hop as u64)];
    let mut complaints = Vec::new();
    for (packet, what, fate) in device.expected {
        let is_found = found.iter().any(|(direction, p, w, f, at)| {
            direction == device.direction && p == packet && w == what && f == fate && *at == place
        });
        if !is_found {
            complaints.push(format!("{} at hop {hop}: no {packet} {what} {fate}", device.name));
        }
    }
    for wrong in found.iter().filter(|(direction, .., at)| direction != device.direction || *at != place) {
        complaints.push(format!("{} at hop {hop}: {wrong:?}", device.name));
    }
    if ran.code != Some(1) {
        complaints.push(format!("{} at hop {hop}: exit code {:?}", device.name, ran.code));
    }
    if complaints.is_empty() { complaints } else { [complaints, vec![ran.describe()]].concat() }
}

/// Forty paths: each device at each hop.
#[test]
fn each_device_is_found_at_each_hop() {
    let cases: Vec<(&Device, usize)> =
        DEVICES.iter().flat_map(|device| (1..=ROUTERS).map(move |hop| (device, hop))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut complaints = Vec::new();
        while let Some((device, hop)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            complaints.extend(self::complaints(device, *hop, &test(Some((device, *hop)))));
        }
        complaints
    };
    let complaints: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_path_that_keeps_ecn_is_healthy() {
    let ran = test(None);
    let document = ran.document();
    assert_eq!((ran.code, problems(&document)), (Some(0), Vec::new()), "{}", ran.describe());
    let data = &document["ecn"];
    let facts = [&data["summary"], &data["host_hop"], &data["classic_agreed"], &data["accurate_agreed"]];
    assert_eq!(Json::from_iter(facts.map(Json::clone)), serde_json::json!(["survives", 5, true, false]));
    // The host sends data with ECT, which arrives.
    let from_host = data["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|f| f["packet"] == "data" && f["direction"] == "down");
    assert_eq!(from_host.map(|f| f["fate"].clone()), Some("kept".into()), "{}", ran.describe());
}
