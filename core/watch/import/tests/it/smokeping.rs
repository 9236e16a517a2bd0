//! Conversion of SmokePing's configuration: each setting, and the notes.
use super::smokeping_bytes::check;
use fathom_units::{Duration, Rng};
use fathom_watch_import::smokeping::{Imported, import};
use fathom_watch_plan::{Family, Plan, Protocol, Target, parse};
use std::path::Path;

const PROBES: &str = "*** Probes ***\n+ FPing\nbinary = /usr/bin/fping\n";

fn imported(text: &str) -> (Imported, Plan) {
    let made = check(text.as_bytes()).unwrap_or_else(|| panic!("{:?}", mistake(text)));
    let plan = parse(&made.toml, "made").unwrap_or_else(|error| panic!("{error}\n{:?}", made.notes));
    (made, plan)
}

fn mistake(text: &str) -> String {
    let made = import("0", &mut |name| {
        if name == "0" { Ok(text.to_owned()) } else { Err("no such file".to_owned()) }
    });
    made.map(|made| made.toml).expect_err("a mistake").to_string()
}

fn target(lines: &str) -> Target {
    let (_, plan) = imported(&format!("{lines}\n"));
    plan.targets.first().cloned().expect("one target")
}

/// Variables of the probe section and of the target, with the expected result.
#[test]
fn every_probe_that_has_a_counterpart() {
    let cases = [
        ("FPing", "", "host = a.example", Protocol::Icmp, 0, "a.example"),
        ("FPing6", "", "host = a.example", Protocol::Icmp, 0, "a.example"),
        ("FPingContinuous", "", "host = a.example", Protocol::Icmp, 0, "a.example"),
        ("TCPPing", "port = 443", "host = a.example", Protocol::Tcp, 443, "a.example"),
        ("TCPPing", "", "host = a.example", Protocol::Tcp, 80, "a.example"),
        ("Curl", "urlformat = https://%host%:8443/x", "host = a.example", Protocol::Https, 8443, "a.example"),
        ("EchoPingHttp", "", "host = a.example\nport = 8080\nurl = /t", Protocol::Http, 8080, "a.example"),
        ("EchoPingHttps", "", "host = a.example", Protocol::Https, 443, "a.example"),
        ("DNS", "lookup = b.example", "host = 192.0.2.53", Protocol::Dns, 53, "192.0.2.53"),
        ("DNS", "lookup = b.example\nserver = 192.0.2.1", "host = a.example", Protocol::Dns, 53, "192.0.2.1"),
        (
            "AnotherDNS",
            "recordtype = AAAA",
            "host = 192.0.2.53\nport = 5353",
            Protocol::Dns,
            5353,
            "192.0.2.53",
        ),
        (
            "EchoPingDNS",
            "dns_request = b.example\ndns_type = MX",
            "host = 2001:db8::1",
            Protocol::Dns,
            53,
            "2001:db8::1",
        ),
        ("SSH", "", "host = a.example", Protocol::Tcp, 22, "a.example"),
        ("EchoPingSmtp", "", "host = a.example", Protocol::Tcp, 25, "a.example"),
        ("LDAP", "port = 636", "host = a.example", Protocol::Tcp, 636, "a.example"),
        (
            "TraceroutePing",
            "maxttl = 12",
            "host = a.example\ndesthost = b.example",
            Protocol::Hops,
            0,
            "b.example",
        ),
    ];
    for (module, probe, own, protocol, port, host) in cases {
        let text =
            format!("*** Probes ***\n+ {module}\n{probe}\n*** Targets ***\nprobe = {module}\n+ a\n{own}");
        let made = target(&text);
        assert_eq!((made.protocol, made.options.port, made.host.as_str()), (protocol, port, host), "{text}");
        assert_eq!((made.name.as_str(), made.group.as_str()), ("a", ""), "{text}");
    }
}

#[test]
fn pace_and_form() {
    let made = target(
        "*** Database ***\nstep = 60\npings = 10\n*** Probes ***\n+ FPing\nhostinterval = 0.5\npacketsize = 200\ntos = 0xb8\n\
         sourceaddress = 192.0.2.9\ntimeout = 2.5\n*** Targets ***\nprobe = FPing\n+ g\n++ a\nhost = 192.0.2.1",
    );
    let (pace, options) = (made.pace, &made.options);
    assert_eq!(
        (pace.interval, pace.probes, pace.gap),
        (Duration::from_secs(60), 10, Duration::from_millis(500))
    );
    assert_eq!((options.size, options.dscp, made.timeout), (200, 46, Duration::from_millis(2_500)));
    assert_eq!(options.source.map(|s| s.to_string()).as_deref(), Some("192.0.2.9"));
    assert_eq!((made.name.as_str(), made.group.as_str()), ("g/a", "g"));
    // A round that takes longer than a step is sent with a smaller gap.
    let tight = target(
        "*** Database ***\nstep = 10\npings = 20\n*** Targets ***\nprobe = FPing\n+ a\nhost = 192.0.2.1",
    );
    assert_eq!((tight.pace.interval, tight.pace.gap), (Duration::from_secs(10), Duration::from_millis(500)));
    // SmokePing's defaults.
    let usual = target("*** Targets ***\nprobe = FPing\n+ a\nhost = a.example");
    assert_eq!(
        (usual.pace.interval, usual.pace.probes, usual.family),
        (Duration::from_secs(300), 20, Family::V4)
    );
    // A steady stream.
    let steady = target("*** Targets ***\nprobe = FPingContinuous\n+ a\nhost = 192.0.2.1");
    assert_eq!((steady.pace.interval, steady.pace.probes), (Duration::from_secs(15), 1));
    assert_eq!(target("*** Targets ***\nprobe = FPing6\n+ a\nhost = a.example").family, Family::V6);
}

/// A probe instance inherits from its module. A variable of the target overrides both, and its
/// group's comes between.
#[test]
fn inheritance() {
    let (made, plan) = imported(
        "*** Probes ***\n+ TCPPing\nport = 1\n++ Web\n++ Mail\nport = 25\n*** Targets ***\nprobe = Web\n+ g\nport = 2\n\
         ++ a\nhost = a.example\n++ b\nhost = b.example\nport = 3\n+ h\n++ c\nprobe = Mail\nhost = c.example\n+ i\nhost = d.example",
    );
    let ports: Vec<_> = plan.targets.iter().map(|t| (t.name.as_str(), t.options.port)).collect();
    // Targets without a group come first in the file.
    assert_eq!(ports, [("i", 1), ("g/a", 2), ("g/b", 3), ("h/c", 25)], "{}", made.toml);
}

#[test]
fn lines_continue_are_included_and_replaced() {
    let text = "# all\n@define NET 192.0.2\n*** Targets ***   # here\nprobe = FPing\n@include 1\n+ a\nhost = NET.\\\n7  \\\n\0\
                + b\ntitle = of the \\\n  included file\nhost = NET.8";
    let (made, plan) = imported(text);
    assert_eq!(made.targets.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["b"], "{:?}", made.notes);
    assert!(
        made.toml.contains("# of the   included file\n") || made.toml.contains("# of the  included file\n"),
        "{}",
        made.toml
    );
    assert_eq!(plan.targets[0].host, "192.0.2.8");
    // Config::Grammar joins a continuation with a space.
    assert!(
        made.notes.iter().any(|n| n.to_string().starts_with("0:6: target a (host 192.0.2. 7")),
        "{:?}",
        made.notes
    );
}

#[test]
fn alerts_and_their_receivers() {
    let (made, plan) = imported(&format!(
        "*** General ***\nmailhost = mail.example\n*** Alerts ***\nto = me@example.net,|/usr/bin/page -v,snpp:7\n\
         from = smoke@example.net\n+ some\ntype = loss\npattern = >0%,*12*,>0%\ncomment = lossy\npriority = 2\n\
         + slow\ntype = rtt\npattern = >100,>100\nto = you@example.net\nedgetrigger = yes\n\
         + often\ntype = matcher\npattern = CheckLoss(l=>10,x=>3)\n+ odd\ntype = matcher\npattern = Unheard(x=>3)\n\
         + bad\ntype = rtt\npattern = hello\n+ spare\ntype = rtt\npattern = >1\n{PROBES}*** Targets ***\nprobe = FPing\n\
         alerts = some,often,odd,bad\n+ a\nhost = a.example\n+ b\nhost = b.example\nalerts = slow\n+ c\nalerts =\nhost = c.example"
    ));
    let names: Vec<_> =
        plan.alerts.iter().map(|a| (a.name.as_str(), a.scope.target.join(" "), a.to.join(" "))).collect();
    let of = |name: &'static str, target: &str, to: &str| (name, target.to_owned(), to.to_owned());
    assert_eq!(
        names,
        [of("some", "a", "command mail"), of("slow", "b", "mail-2"), of("often", "a", "command mail")],
        "{}",
        made.toml
    );
    assert_eq!(plan.alerts[0].priority, Some(2));
    assert_eq!(plan.alerts[0].note, "lossy");
    assert!(
        made.toml.contains("semantics = \"smokeping\"") && made.toml.contains("relay = \"mail.example:25\""),
        "{}",
        made.toml
    );
    for wanted in [
        "0:6: alert some misses some gaps",
        "0:6: alert some: the receiver snpp:7 is not supported",
        "0:6: alert some: the program gets different arguments",
        "alert odd was left out: pattern: unknown matcher \"Unheard\"",
        "alert bad was left out: pattern:",
        "alert spare was left out: no target uses it",
    ] {
        assert!(
            made.notes.iter().any(|note| note.to_string().contains(wanted)),
            "{wanted}: {:#?}",
            made.notes
        );
    }
}

#[test]
fn skipped_entries_are_noted_with_their_line() {
    let (made, plan) = imported(
        "*** General ***\nowner = me\nimgcache = /x\n*** Presentation ***\ntemplate = x\n+ charts\nmenu = c\n\
         *** Slaves ***\nsecrets = x\n+ far\n*** Database ***\nstep = 300\npings = 20\nAVERAGE 0.5 1 28800\n\
         *** Probes ***\n+ FPing\nbinary = x\npacketsize = 64000\n+ Radius\nforks = 3\n*** Targets ***\nprobe = FPing\n\
         + a\nhost = 192.0.2.1\n+ b\nhost = /a /c~far\n+ c\nhost = DYNAMIC\n+ d\nprobe = Radius\nhost = d.example\n\
         + e\nnomasterpoll = yes\nhost = e.example\n+ f\nhost = f example\nrawlog = x\n+ g\nslaves = far\nhost = g.example\n\
         stray words",
    );
    assert_eq!(plan.targets.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["a", "g"]);
    let notes: Vec<String> = made.notes.iter().map(ToString::to_string).collect();
    let wanted = [
        "0:2: owner = me: not supported",
        "0:3: imgcache = /x: not needed",
        "0:4: section Presentation was left out",
        "0:8: section Slaves was left out",
        "0:14: the table of archives was left out",
        "0:17: binary = x: not needed",
        "0:18: packetsize = 64000: out of range (32 to 1452)",
        "0:20: forks = 3: not needed",
        "0:25: target b (host /a /c~far) was left out: select multi-target plots",
        "0:27: target c (host DYNAMIC) was left out",
        "0:29: target d (host d.example) was left out: probe Radius is not supported",
        "0:32: target e (host e.example) was left out: nomasterpoll",
        "0:35: target f (host f example) was left out: host:",
        "0:37: rawlog = x: not supported",
        "0:39: slaves: not supported; the targets are probed only from this machine",
        "0:41: stray words: not a variable",
    ];
    assert_eq!(notes.len(), wanted.len(), "{notes:#?}");
    for (line, start) in notes.iter().zip(wanted) {
        assert!(line.starts_with(start), "{line}, not {start}");
    }
}

#[test]
fn errors_that_smokeping_rejects_too() {
    for (text, wanted) in [
        ("@include 7", "0:1: 7: no such file"),
        ("*** Targets ***\n++ a", "0:2: ++ a: the section skips a nesting level"),
        ("+ a", "0:1: + a: the section skips a nesting level"),
        ("*** Targets ***\n+ a\n+ b\n+ a", "0:4: + a: duplicate section, first defined at 0:2"),
        ("@include 0", "the depth of includes exceeds the limit of 16"),
    ] {
        assert!(mistake(text).contains(wanted), "{}", mistake(text));
    }
}

#[test]
fn the_corpus_and_damaged_ones() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/smokeping");
    let files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|e| std::fs::read(e.unwrap().path()).unwrap()).collect();
    assert!(files.len() >= 4);
    files.iter().for_each(|bytes| drop(check(bytes)));
    for seed in 0..5_000 {
        let mut rng = Rng::new(seed);
        let mut bytes = files[rng.below(files.len() as u64) as usize].clone();
        bytes.extend(b"\n+ z\n");
        for _ in 0..=rng.below(5) {
            let (place, other) =
                (rng.below(bytes.len() as u64) as usize, rng.below(bytes.len() as u64) as usize);
            match rng.below(4) {
                0 => bytes[place] = rng.next_u64() as u8,
                1 => bytes[place] = b"+*=\\\"\n#%,/ "[rng.below(11) as usize],
                2 => drop(bytes.remove(place.min(bytes.len() - 1))),
                _ => bytes[place] = bytes[other],
            }
        }
        let result = std::panic::catch_unwind(|| check(&bytes));
        assert!(result.is_ok(), "seed {seed}: {}", String::from_utf8_lossy(&bytes));
    }
}
