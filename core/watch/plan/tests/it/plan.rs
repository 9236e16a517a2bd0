//! Valid configurations, and the errors for invalid ones.
use fathom_units::Duration;
use fathom_watch_plan::{Family, Plan, Protocol, parse};

fn plan(text: &str) -> Plan {
    parse(text, "watch.toml").unwrap_or_else(|error| panic!("{error}"))
}

const WHOLE: &str = r#"
[watch]
store = "/var/lib/fathom"
disk_budget = "2GB"
listen = "127.0.0.1:8380"
password_file = "/etc/fathom/password"
certificate_file = "/etc/fathom/page.pem"
key_file = "/etc/fathom/page.key"
hosts = ["watch.example.net", "[2001:db8::1]"]
results = "/home/a/results"
max_packets_per_second = 500
seed = 7
interface = ["eth0", "wlan0"]

[defaults]
interval = "2s"
timeout = "3s"
dscp = "ef"

[[target]]
name = "router"
host = "192.0.2.1"

[[target]]
name = "site"
url = "https://example.net:8443/a?b"
interval = "60min"

[[group]]
name = "home"
probe = ["icmp", "tcp:443"]
family = "both"
interval = "500ms"

[[group.target]]
name = "printer"
host = "printer.example"
dscp = 0

[[group.target]]
name = "resolver"
host = "2001:db8::53"
probe = "dns"
family = "ipv6"
query = "example.net"
query_type = "aaaa"
round = 20
gap = "20ms"
interval = "10s"
"#;

#[test]
fn a_whole_file() {
    let plan = plan(WHOLE);
    assert_eq!(plan.store.as_deref(), Some("/var/lib/fathom"));
    assert_eq!(plan.disk_budget, Some(fathom_units::Bytes(2_000_000_000)));
    assert_eq!((plan.max_packets_per_second, plan.seed), (Some(500), 7));
    assert_eq!(plan.password_file.as_deref(), Some("/etc/fathom/password"));
    let files = ("/etc/fathom/page.pem".to_owned(), "/etc/fathom/page.key".to_owned());
    assert_eq!((plan.tls, plan.certificate), (Some(true), Some(files)));
    assert_eq!(plan.hosts, ["watch.example.net", "[2001:db8::1]"]);
    assert_eq!(plan.results.as_deref(), Some("/home/a/results"));
    assert_eq!(plan.interfaces, ["eth0", "wlan0"]);
    let seen: Vec<_> = plan
        .targets
        .iter()
        .map(|t| {
            (
                t.name.as_str(),
                t.probe.as_str(),
                t.family,
                t.pace.interval.as_nanos() / 1_000_000,
                t.options.dscp,
            )
        })
        .collect();
    let want = [
        ("router", "icmp", Family::Any, 2_000, 46),
        ("site", "https:8443", Family::Any, 3_600_000, 46),
        ("home/printer", "icmp ipv4", Family::V4, 500, 0),
        ("home/printer", "icmp ipv6", Family::V6, 500, 0),
        ("home/printer", "tcp:443 ipv4", Family::V4, 500, 0),
        ("home/printer", "tcp:443 ipv6", Family::V6, 500, 0),
        ("home/resolver", "dns", Family::V6, 10_000, 46),
    ];
    assert_eq!(seen, want);
    let dns = plan.targets.last().unwrap();
    assert_eq!((dns.pace.probes, dns.pace.gap, dns.options.query_type), (20, Duration::from_millis(20), 28));
    assert_eq!((dns.group.as_str(), dns.timeout), ("home", Duration::from_secs(3)));
    let site = &plan.targets[1];
    assert_eq!(
        (site.protocol, site.options.path.as_str(), site.options.port),
        (Protocol::Https, "/a?b", 8443)
    );
}

/// A file, the line of its error, and words of the message.
const REFUSED: &[(&str, usize, &str)] = &[
    ("", 1, "no targets"),
    (
        "[[target]]\nname = 'a'\nhost = 'b'\nintervall = '1s'",
        4,
        "intervall: unknown key (did you mean \"interval\"?)",
    ),
    (
        "[[target]]\nname = 'a'\nhost = 'b'\nfoo = '1s'",
        4,
        "foo: unknown key (known keys: name, probe, interval",
    ),
    ("[wacth]\n[[target]]\nname = 'a'\nhost = 'b'", 1, "wacth: unknown key (did you mean \"watch\"?)"),
    ("[watch]\nlisten = '8080'\n", 2, "listen: invalid address \"8080\""),
    (
        "[watch]\nhosts = ['a.example', 'http://b.example/']\n",
        2,
        "hosts: invalid hostname \"http://b.example/\"",
    ),
    ("[watch]\nhosts = 'b.example:8077'\n", 2, "hosts: invalid hostname \"b.example:8077\""),
    (
        "[watch]\nmax_packets_per_second = 0\n",
        2,
        "max_packets_per_second: invalid number 0 (expected a whole number from 1",
    ),
    ("[[target]]\nname = 'a'\nhost = 'b'\ninterval = 5", 4, "interval: duration \"5\" has no unit"),
    (
        "[[target]]\nname = 'a'\nhost = 'b'\ninterval = '10ms'",
        4,
        "interval: invalid value 10ms (expected 100ms to 1440min)",
    ),
    ("[[target]]\nname = 'a'\nhost = 'b'\ninterval = '2 h'", 4, "unknown unit"),
    ("[[target]]\nname = 'a'\nhost = 'b'\nprobe = 'imcp'", 4, "unknown probe \"imcp\" (known: icmp, udp"),
    (
        "[[target]]\nname = 'a'\nhost = 'b'\nprobe = ['icmp', 'tcp:0']",
        4,
        "invalid port \"0\" (expected a number from 1 to 65535)",
    ),
    ("[[target]]\nname = 'a'\nhost = 'b'\nprobe = 'icmp:7'", 4, "icmp has no port"),
    ("[[target]]\nname = 'a'\nhost = 'b'\nprobe = []", 4, "probe: the list is empty"),
    (
        "[[target]]\nname = 'a'\nhost = 'b'\nround = 20",
        1,
        "20 probes 1s apart take 20s, longer than the interval of 1s",
    ),
    ("[[target]]\nhost = 'b'", 1, "name is missing"),
    ("[watch]\ndisk_budget = '1MB'", 2, "disk_budget: invalid value 1MB (expected 20MB or more)"),
    ("[[target]]\nname = 'a'", 1, "host is missing"),
    ("[[target]]\nname = \"a\\n\"\nhost = 'b'", 2, "name: invalid name \"a\\n\""),
    ("[[target]]\nname = 'a'\nhost = 'b:80'", 3, "set a port with port = N"),
    ("[[target]]\nname = 'a'\nhost = 'b c'", 3, "host: invalid hostname or address \"b c\""),
    ("[[target]]\nname = 'a'\nhost = 'b'\nurl = 'http://c'", 4, "url: cannot be combined with host"),
    ("[[target]]\nname = 'a'\nurl = 'gopher://c'", 3, "must start with http:// or https://"),
    ("[[target]]\nname = 'a'\nurl = 'http://c'\nprobe = 'tcp'", 4, "probe: cannot be combined with url"),
    (
        "[[target]]\nname = 'a'\nhost = 'b'\n[[target]]\nname = 'a'\nhost = 'c'",
        5,
        "duplicate target \"a\" with probe icmp (host b)",
    ),
    ("[[target]]\nname = 'a'\nhost = 'b'\nfamily = 'ipv5'", 4, "family: unknown value \"ipv5\""),
    (
        "[[target]]\nname = 'a'\nhost = 'b'\nfamily = 'ipv6'\nsource = '192.0.2.1'",
        5,
        "source: 192.0.2.1 has another address family",
    ),
    (
        "[[target]]\nname = 'a'\nhost = 'b'\ndscp = 64",
        4,
        "dscp: invalid number 64 (expected a whole number from 0 to 63",
    ),
    ("[[target]]\nname = 'a'\nhost = 'b'\ndscp = 'best'", 4, "dscp: unknown value \"best\""),
    (
        "[[target]]\nname = 'a'\nhost = 'b'\nsize = 8",
        4,
        "size: invalid number 8 (expected a whole number from 32 to 1452",
    ),
    ("[[target]]\nname = 'a'\nhost = 'b'\nquery = 'a..b'", 4, "query: invalid DNS name \"a..b\""),
    ("[[target]]\nname = 'a'\nhost = 'b'\nquery_type = 'B'", 4, "query_type: unknown type \"B\""),
    ("[[target]]\nname = 'a'\nhost = 7", 3, "host: invalid value 7 (expected a quoted string)"),
    ("[target]\nname = 'a'", 1, "target: expected tables, each written [[target]]"),
    ("[[group]]\nname = 'g'\nhost = 'a'", 3, "host: unknown key"),
    ("[[target]\nname = 'a'", 1, ""),
    ("a = \"\n", 1, ""),
];

#[test]
fn every_mistake_is_found_with_its_line() {
    for (text, line, words) in REFUSED {
        let error = parse(text, "watch.toml").expect_err(text);
        assert_eq!(error.line, *line, "{error}\n{text}");
        assert!(error.what.contains(words), "{error}\nwanted: {words}");
        assert!(error.to_string().starts_with(&format!("watch.toml:{line}: ")));
    }
}

#[test]
fn too_much_is_refused_with_the_arithmetic() {
    let targets: String = (0..10_000)
        .map(|n| format!("[[target]]\nname = 't{n}'\nhost = '127.0.{}.{}'\n", n / 250, n % 250 + 1))
        .collect();
    let plan = plan(&format!("[defaults]\ninterval = '100ms'\n{targets}"));
    assert_eq!(plan.packets_per_second(), 100_000.0);
    assert_eq!(plan.within(100_000, "measured"), Ok(()));
    let refused = plan.within(20_000, "half a CPU of this machine").unwrap_err();
    for words in [
        "100000 packets/s exceed the limit of 20000 (half a CPU of this machine)",
        "from 10000 icmp targets every 100ms",
        "5.0 times",
        "max_packets_per_second",
    ] {
        assert!(refused.contains(words), "{words}: {refused}");
    }
}

#[test]
fn no_text_makes_the_parser_panic() {
    let mut rng = fathom_units::Rng::new(5);
    for case in 0..2_000 {
        let mut bytes = WHOLE.as_bytes().to_vec();
        for _ in 0..=rng.below(6) {
            let at = rng.below(bytes.len() as u64) as usize;
            match rng.below(3) {
                0 => bytes[at] = rng.below(128) as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.truncate(at.max(20)),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Err(error) = parse(&text, "f") {
            assert!(error.line <= text.lines().count() + 1, "case {case}: {error}");
        }
    }
}
