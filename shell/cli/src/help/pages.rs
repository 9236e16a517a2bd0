//! The examples of each command, and notes that are no text of a flag.

use fathom_manual::Page;

/// A page of a command without notes.
const fn page(command: &'static str, examples: &'static [(&'static str, &'static str)]) -> Page {
    Page { command, examples, notes: "" }
}

/// One page for each command; a test checks that none is missing and that each example parses.
pub(crate) const PAGES: &[Page] = &[
    page(
        "",
        &[
            #[cfg(feature = "serve")]
            ("fathom demo", "See bufferbloat on this machine in a minute"),
            ("fathom test server.example.net", "Test the line to a machine with `fathom serve`"),
        ],
    ),
    page(
        "test",
        &[
            ("fathom test", "Your server, or a public one"),
            ("fathom test server.example.net", "Test against `fathom serve` there"),
            ("fathom test https://speed.cloudflare.com/", "Test against a public server"),
            ("fathom test 192.0.2.1 --quick", "Take half a minute instead of one or two"),
            ("fathom test 192.0.2.1 --max-bytes 200mb", "Limit the data on a metered line"),
            ("fathom test 192.0.2.1 -o line.html", "Write a page to share"),
            ("fathom test 192.0.2.1 --phases idle,up", "Test only the upload"),
        ],
    ),
    Page {
        command: "ping",
        examples: &[
            ("fathom ping 192.0.2.1", "ICMP, as ping(8)"),
            ("fathom ping -c 100 -i 0.01 192.0.2.1", "100 probes in a second"),
            ("fathom ping router.lan 192.0.2.1 https://example.org/", "Several at once, live"),
            ("fathom ping udp://server.example.net", "One-way delays"),
            ("fathom ping h3://example.org/ -o line.json.gz", "HTTP/3, and a result"),
        ],
        notes: "URLs:
  udp://SERVER[:3279]      `fathom serve`, with one-way delays
  stamp:// irtt://         reflectors of STAMP and irtt, with one-way delays
  tcp://HOST[:80]          new TCP connections
  tls://HOST[:443]         new connections, up to the end of the TLS handshake
  http:// https://         HEAD requests by HTTP/1.1 on one connection
  h2:// h3://              the same by HTTP/2 and HTTP/3
  dns://SERVER[/NAME]      DNS queries

Exit code, as ping(8): 0 if every host answered, 1 if one did not, 2 on errors.",
    },
    #[cfg(feature = "serve")]
    page(
        "serve",
        &[
            ("fathom serve", "Serve on port 3279, TCP and UDP"),
            ("fathom serve --token-file FILE", "Require a token from clients"),
            ("fathom serve --listen 192.0.2.1 --port 4000", "Listen on one address"),
        ],
    ),
    #[cfg(feature = "serve")]
    page(
        "demo",
        &[
            ("fathom demo", "Show a bloated and a managed queue"),
            ("fathom demo --line dsl --queue cake", "Another line and another queue"),
        ],
    ),
    #[cfg(feature = "client")]
    page(
        "report",
        &[
            ("fathom report result.json.gz", "Show a saved result again"),
            ("fathom report result.json.gz -o page.html", "Convert it to a page"),
            ("fathom report --watch router --since 7d", "Show a week of a watch"),
            ("fathom report *.json.gz --scatter buffers.svg", "Draw rate against buffer size"),
            ("fathom report r.json --for-provider page.html", "Write evidence to print"),
        ],
    ),
    page(
        "path",
        &[
            ("fathom path example.org", "Every hop, live, until Ctrl-C"),
            ("fathom path server.example.net --load", "Which hop has the queue"),
            ("fathom path example.org -c 60 -o path.html", "A minute, as a page"),
        ],
    ),
    page(
        "buffer",
        &[
            ("fathom buffer server.example.net", "Measure both buffers of the line"),
            ("fathom buffer 192.0.2.1 --only up", "Only that of the upload"),
            ("fathom buffer 192.0.2.1 --max-bytes 5mb", "Limit the data on a metered line"),
        ],
    ),
    #[cfg(feature = "full")]
    page("ecn", &[("fathom ecn example.org", "Each hop, in both directions")]),
    #[cfg(feature = "full")]
    page(
        "dut",
        &[
            ("fathom dut --in eth1 --out eth2", "Test a port that is slower than eth1"),
            ("fathom dut --in eth1 --in eth2 --out eth3", "Also incast, from two ports"),
            ("fathom dut --in eth1 --out eth2 --out eth3", "Also shared buffers, blocking"),
            ("fathom dut --line auerswald-switch", "Try it with an emulated switch"),
        ],
    ),
    #[cfg(feature = "client")]
    page(
        "compare",
        &[
            ("fathom compare before.json.gz after.json.gz", "Compare two results"),
            ("fathom compare a.json b.json -o compare.html", "Write a page with both"),
        ],
    ),
    #[cfg(feature = "client")]
    page(
        "trace",
        &[
            ("fathom trace upload.pcap", "Explain a capture"),
            ("fathom trace upload.pcap -o upload.html", "Show every packet on a page"),
            ("fathom trace client.pcap router.pcap", "Show the path between two captures"),
            ("fathom trace -i eth0 --duration 1min", "Capture and explain a minute"),
            ("fathom trace a.pcap --anonymize share.pcap", "Make a copy that you can share"),
            ("ssh router tcpdump -i wan -s 128 -w - | fathom trace -", "Capture on a router"),
        ],
    ),
    #[cfg(feature = "router")]
    page(
        "audit",
        &[
            ("fathom audit", "List the queues of this host"),
            ("fathom audit --rate 20mbit", "With the rate of the line"),
            ("fathom audit --observe 10s", "Show which queues fill"),
            ("fathom audit --host root@router", "Audit a router over ssh"),
        ],
    ),
    #[cfg(feature = "router")]
    page(
        "fix",
        &[
            ("fathom fix --server HOST", "Measure, shape, verify"),
            ("fathom fix --server HOST --dry-run", "Measure, and show the plan"),
            ("fathom fix eth0 --up 9.5mbit --down 47mbit", "Shape for a minute"),
            ("fathom fix eth0 --up 9.5mbit --commit", "Shape until it is undone"),
            ("fathom fix eth0 --auto --up 9mbit --down 47mbit --server HOST", "Follow the line"),
            ("fathom fix --status", "Show what is shaped"),
            ("fathom fix --undo eth0", "Restore eth0"),
        ],
    ),
    #[cfg(feature = "client")]
    page(
        "sim",
        &[
            ("fathom sim dsl", "Simulate a DSL line"),
            ("fathom sim dsl --queue 'fq_codel target 10ms'", "Try another queue"),
            ("fathom sim home.toml --set hop.modem.up.rate=5mbit", "Change a value"),
            ("fathom sim --from result.json.gz --with cake@95%", "Try CAKE on your line"),
            ("fathom sim home.toml --vs-lab", "Compare with real kernel TCP"),
        ],
    ),
    #[cfg(feature = "full")]
    page(
        "sim sweep",
        &[
            ("fathom sim sweep home.toml --vary queue=codel,pie --seeds 1..10", ""),
            ("fathom sim sweep home.toml --vary hop.modem.up.rate=1mbit..9mbit/5", ""),
        ],
    ),
    #[cfg(feature = "client")]
    page(
        "sim gallery",
        &[
            ("fathom sim gallery", "Check every published number"),
            ("fathom sim gallery seifried-2011", "Check one scenario"),
        ],
    ),
    #[cfg(feature = "full")]
    page(
        "lab",
        &[
            ("fathom lab --list", "List the built-in lines"),
            ("fathom lab --line dsl -- ping -c 5 198.19.0.2", "Ping through a DSL line"),
            ("fathom lab --line lte --far 'iperf3 -s'", "Open a shell behind an LTE line"),
            ("fathom lab home.toml", "Run a scenario with real TCP"),
        ],
    ),
    #[cfg(feature = "client")]
    page(
        "size",
        &[
            ("fathom size 256p 10mbit", "Delay that 256 packets add"),
            ("fathom size 10mbit 20ms", "Buffer that adds 20 ms"),
            ("fathom size 1gbit 100ms --flows 10000", "Buffer that 10,000 flows need"),
            ("fathom size 1gbit 4mb --overload 1%", "Time until it is full"),
            ("fathom size 48kb 5mbit --overhead 8b --atm", "The same on an ADSL line"),
        ],
    ),
    #[cfg(all(feature = "router", not(feature = "full")))]
    page(
        "watch",
        &[(
            "fathom watch --target example.net --push http://192.0.2.1:9090/api/v1/write",
            "Send to Prometheus",
        )],
    ),
    #[cfg(feature = "full")]
    Page {
        command: "watch",
        examples: &[
            ("fathom watch --target 192.0.2.1 --target example.net", "Ping two hosts"),
            ("fathom watch check watch.toml", "Check a configuration"),
            ("fathom watch watch.toml", "Watch its targets"),
            ("fathom watch status", "Show the last minute"),
        ],
        notes: "A configuration can be as short as this (docs/watch.md explains all keys):\n\n  \
                [[target]]\n  name = \"router\"\n  host = \"192.0.2.1\"\n  \
                probe = [\"icmp\", \"dns\"]\n  interval = \"500ms\"",
    },
    #[cfg(feature = "full")]
    page(
        "fleet",
        &[
            ("fathom fleet sites --engine http://127.0.0.1:9090", "Rank the sites"),
            ("fathom fleet page --engine http://127.0.0.1:9090", "Show them on a page"),
            ("fathom fleet gateway --state DIR --engine URL", "Receive from watches"),
        ],
    ),
    #[cfg(feature = "full")]
    page(
        "fleet sites",
        &[
            ("fathom fleet sites --engine http://127.0.0.1:9090", "Rank the sites of a week"),
            ("fathom fleet sites --engine URL --by provider --since 30d", "Group them"),
        ],
    ),
    #[cfg(feature = "full")]
    page(
        "fleet site",
        &[
            ("fathom fleet site home-17 --engine http://127.0.0.1:9090", "Tests of a week"),
            ("fathom fleet site home-17 --archive DIR", "Tests and results"),
        ],
    ),
    #[cfg(feature = "full")]
    page("fleet buffers", &[("fathom fleet buffers --engine URL --by provider", "Plot all uploads")]),
    #[cfg(feature = "full")]
    page(
        "fleet changes",
        &[
            ("fathom fleet changes --engine URL --at 2026-11-20", "Before and after a fix"),
            ("fathom fleet changes --archive DIR --at 14d --period 14d", "The same, from files"),
        ],
    ),
    #[cfg(feature = "full")]
    page(
        "fleet trend",
        &[("fathom fleet trend --engine URL --by provider --since 90d", "Weeks of a quarter")],
    ),
    #[cfg(feature = "full")]
    page(
        "fleet page",
        &[
            ("fathom fleet page --engine http://127.0.0.1:9090 --archive DIR", "Of a fleet"),
            ("fathom fleet page", "Of the watch of this machine"),
        ],
    ),
    #[cfg(feature = "full")]
    page("fleet together", &[("fathom fleet together --engine URL", "Since yesterday")]),
    #[cfg(feature = "full")]
    page(
        "fleet gateway",
        &[("fathom fleet gateway --state DIR --engine http://127.0.0.1:9090/api/v1/write", "")],
    ),
    #[cfg(feature = "full")]
    page(
        "fleet token",
        &[
            ("fathom fleet token --state DIR", "For any new site"),
            ("fathom fleet token --state DIR --site home-17 --replace", "Enroll it again"),
        ],
    ),
    #[cfg(feature = "full")]
    page("fleet enrolled", &[("fathom fleet enrolled --state DIR", "List all sites")]),
    #[cfg(feature = "full")]
    page("fleet revoke", &[("fathom fleet revoke --state DIR home-17", "Refuse a stolen key")]),
    #[cfg(feature = "full")]
    page("watch enroll", &[("fathom watch enroll watch.toml https://192.0.2.1:8078 --token-file token", "")]),
    #[cfg(feature = "full")]
    page("watch check", &[("fathom watch check watch.toml", "Find a mistake before the start")]),
    #[cfg(feature = "full")]
    page(
        "watch status",
        &[
            ("fathom watch status", "Show the last minute of each target"),
            ("fathom watch status watch.toml --json", "Print it for a program"),
        ],
    ),
    #[cfg(feature = "full")]
    page(
        "watch verify",
        &[
            ("fathom watch verify watch.toml", "Check the history of a watch"),
            ("fathom watch verify --store /mnt/old", "Check one in another directory"),
        ],
    ),
    #[cfg(feature = "full")]
    page("watch repair", &[("fathom watch repair watch.toml", "Save what can be read")]),
    #[cfg(feature = "full")]
    page("watch backup", &[("fathom watch backup watch.toml -o /mnt/b/history.db", "Copy a history")]),
    #[cfg(feature = "full")]
    page(
        "watch alerts",
        &[
            ("fathom watch alerts watch.toml", "Replay the alerts of a week"),
            ("fathom watch alerts watch.toml --since 90d", "Replay three months"),
        ],
    ),
    #[cfg(feature = "full")]
    page(
        "watch test-alert",
        &[
            ("fathom watch test-alert watch.toml", "Notify every receiver"),
            ("fathom watch test-alert watch.toml --alert slow", "Notify those of one alert"),
        ],
    ),
    #[cfg(feature = "full")]
    page(
        "watch export",
        &[
            ("fathom watch export --target router", "Print every probe of a day as CSV"),
            ("fathom watch export --from 2026-01-01 --every 1h -o y.parquet", "Hourly rows"),
        ],
    ),
    #[cfg(feature = "full")]
    page(
        "watch diagnose",
        &[
            ("fathom watch diagnose", "Search the last 90 days"),
            ("fathom watch diagnose watch.toml --since 365d", "Search a year"),
        ],
    ),
    #[cfg(feature = "full")]
    page("watch import", &[("fathom watch import smokeping /etc/smokeping/config -o watch.toml", "")]),
    #[cfg(feature = "full")]
    page(
        "watch import smokeping",
        &[
            ("fathom watch import smokeping config --dry-run", "Show what would happen"),
            ("fathom watch import smokeping config -o watch.toml", "Convert the targets"),
            ("fathom watch import smokeping config --rrd DIR -o watch.toml", "And the history"),
        ],
    ),
    #[cfg(target_os = "linux")]
    page(
        "doctor",
        &[
            ("fathom doctor", "Show what this machine can measure"),
            ("fathom doctor --json", "As one JSON document"),
        ],
    ),
    page(
        "help",
        &[
            ("fathom help test", "Show the help of a command"),
            ("fathom help exit-codes", "Explain the exit codes"),
        ],
    ),
    #[cfg(feature = "client")]
    page(
        "man",
        &[
            ("fathom man test | man -l -", "Read a page"),
            ("fathom man --all /usr/share/man/man1", "Install all pages"),
        ],
    ),
    #[cfg(feature = "client")]
    page(
        "completions",
        &[
            ("fathom completions bash", "Print the script for bash"),
            ("fathom completions zsh", "Print the script for zsh"),
        ],
    ),
];
