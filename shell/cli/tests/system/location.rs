//! `fathom path --load` over a path of Linux routers in this test's own namespaces, with the
//! default limit of ICMP errors: which link holds the queue of each direction.
use crate::program::{Serve, on_slow_line, run, scratch};
use fathom_test_support::{NamespaceRow, in_new_namespace};

#[test]
fn each_queue_is_found_on_its_link() {
    let _slow = on_slow_line();
    in_new_namespace(|| {
        // This host, three routers, and the server. The upload waits at the first router, the
        // download at the third.
        let row = NamespaceRow::new(5);
        row.sh(1, "tc qdisc add dev right root tbf rate 5mbit burst 3200 limit 200k");
        row.sh(3, "tc qdisc add dev left root tbf rate 20mbit burst 3200 limit 500k");
        row.enter(4);
        let server = Serve::start(&["--listen", "10.8.3.2"]);
        row.enter(0);
        let file = scratch().join("location.json");
        let file = file.to_str().unwrap();
        let target = format!("10.8.3.2:{}", server.port);
        let ran = run(&["path", &target, "--load", "-o", file]);
        assert_eq!(ran.code, Some(1), "{}", ran.describe());
        assert!(ran.out.contains("Where the queue is"), "{}", ran.describe());
        let result = run(&["report", file, "--json"]).document();
        let findings = result["findings"].as_array().unwrap();
        let is_place = |finding: &&serde_json::Value| finding["kind"] == "queue_location";
        let text = |finding: &serde_json::Value| {
            let of = |name: &str| finding["parameters"][name].as_str().unwrap_or("").to_owned();
            format!("{} {} {}", finding["direction"], of("near_address"), of("far_address"))
        };
        let mut found: Vec<String> = findings.iter().filter(is_place).map(text).collect();
        found.sort();
        let expected = ["\"down\" 10.8.1.2 10.8.2.2", "\"up\" 10.8.0.2 10.8.1.2"];
        assert_eq!(found, expected, "{findings:#?}");
    });
}

/// IP version of a path, with the filter words and the length of its header, and the addresses of
/// host 4 and of the routers from the far end.
struct Version {
    filter: &'static str,
    header: u8,
    server: &'static str,
    way_back: [&'static str; 3],
    router: &'static str,
}

const V4: Version = Version {
    filter: "protocol ip u32 match ip protocol 6 0xff",
    header: 20,
    server: "10.8.3.2",
    way_back: ["10.8.3.1", "10.8.2.1", "10.8.1.1"],
    router: "10.8.1.2",
};
const V6: Version = Version {
    filter: "protocol ipv6 u32 match ip6 protocol 6 0xff",
    header: 40,
    server: "fd08:3::2",
    way_back: ["fd08:3::1", "fd08:2::1", "fd08:1::1"],
    router: "fd08:1::2",
};

/// A queue for each flow at a router, by the low bits of the port of host 0, which is at this byte
/// of the IP packet.
fn queue_for_each_flow(row: &NamespaceRow, router: usize, device: &str, filter: &str, port_at: u8) {
    let sh = |line: &str| row.sh(router, &line.replace("DEV", device));
    sh(
        "tc qdisc add dev DEV root handle 1: htb default 100; tc class add dev DEV parent 1: classid 1:1 htb rate 5mbit burst 3200 cburst 3200",
    );
    sh(
        "for n in 0 1 2 3 f0; do tc class add dev DEV parent 1:1 classid 1:1$n htb rate 1mbit ceil 5mbit burst 1600 cburst 1600 quantum 1514; tc qdisc add dev DEV parent 1:1$n bfifo limit 100k; done; tc class add dev DEV parent 1:1 classid 1:100 htb rate 1mbit ceil 5mbit",
    );
    sh(&format!(
        "for n in 0 1 2 3; do tc filter add dev DEV parent 1: {filter} match u16 $n 3 at {port_at} flowid 1:1$n; done"
    ));
}

/// Other probes do not wait. Those in the flow of the load show where it waits: this host's in an
/// upload, the server's in a download.
fn check_queues_for_each_flow(version: &Version) {
    let _slow = on_slow_line();
    in_new_namespace(|| {
        let row = NamespaceRow::new(5);
        queue_for_each_flow(&row, 2, "right", version.filter, version.header);
        queue_for_each_flow(&row, 3, "left", version.filter, version.header + 2);
        row.enter(4);
        let server = Serve::start(&["--listen", version.server]);
        row.enter(0);
        let target = std::net::SocketAddr::new(version.server.parse().unwrap(), server.port).to_string();
        let ran = run(&["test", &target, "--phases", "idle,down,up", "--no-save", "--json"]);
        let result = ran.document();
        let findings = result["findings"].as_array().unwrap();
        let mut places: Vec<String> = findings
            .iter()
            .filter(|finding| finding["kind"] == "queue_location")
            .map(|finding| {
                let of = |name| &finding["parameters"][name];
                format!("{} {} {}", finding["direction"], of("near_hop"), of("near_address"))
            })
            .collect();
        places.sort();
        let expected = ["down", "up"].map(|way| format!("\"{way}\" 2 \"{}\"", version.router));
        assert_eq!(places, expected, "{findings:#?}");
        let back = result["path"]["return_path"].as_array().unwrap();
        let addresses: Vec<_> = back.iter().map(|hop| hop["address"].as_str().unwrap()).collect();
        assert_eq!(addresses, version.way_back);
    });
}

#[test]
fn a_queue_of_its_flow_alone_is_found() {
    check_queues_for_each_flow(&V4);
}

#[test]
fn with_ipv6_too() {
    check_queues_for_each_flow(&V6);
}
