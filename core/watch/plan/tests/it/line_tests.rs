//! `[site]` and `[[test]]` tables.
use fathom_units::{Bytes, Duration};
use fathom_watch_plan::{ArchivePlace, LineTest, Plan, Protocol, Site, is_of_test, parse};

const TARGET: &str = "[[target]]\nname = 'a'\nhost = '192.0.2.1'\n";

fn plan(text: &str) -> Plan {
    parse(&format!("{TARGET}{text}"), "watch.toml").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_short_test_has_defaults() {
    let plan = plan("[[test]]\nname = 'line'\nserver = 'speed.example.net'\n");
    let expected = LineTest {
        name: "line".into(),
        server: "speed.example.net".into(),
        interval: Duration::from_secs(6 * 3_600),
        budget: Bytes(20_000_000_000),
        while_busy: false,
        token: None,
        accept_policy: None,
    };
    assert_eq!(plan.tests, [expected]);
    // It has a target, with series for alerts and pages, that sends no probes.
    let [_, target] = plan.targets.as_slice() else { panic!("{:?}", plan.targets) };
    assert_eq!((target.name.as_str(), target.protocol), ("line", Protocol::Test));
    assert_eq!(target.series(), ["lag", "lag up", "lag down", "idle"]);
    let levels: Vec<&str> = target.levels().iter().map(|(name, _)| *name).collect();
    assert_eq!(levels, ["rate up", "rate down", "buffer up", "buffer down"]);
    assert!(target.series().iter().map(String::as_str).chain(levels).all(is_of_test));
    assert!(!is_of_test("icmp") && !is_of_test("udp up"));
    assert_eq!(plan.packets_per_second(), 1.0);
}

#[test]
fn all_keys() {
    let plan = plan(
        "[[test]]\nname = 'line'\nserver = 'https://speed.example.net/'\ninterval = '60min'\nbudget = '500MB'\n\
         while_busy = true\ntoken = 'secret'\n[[test]]\nname = 'other'\nserver = 'iperf3://[2001:db8::1]'\n",
    );
    let [line, other] = plan.tests.as_slice() else { panic!("{:?}", plan.tests) };
    assert_eq!((line.interval, line.budget), (Duration::from_secs(3_600), Bytes(500_000_000)));
    assert_eq!((line.while_busy, line.token.as_deref()), (true, Some("secret")));
    assert_eq!(other.server, "iperf3://[2001:db8::1]");
}

#[test]
fn a_test_alone_is_a_plan_and_has_alerts() {
    let text = "[[test]]\nname = 'line'\nserver = 'a'\n[[alert]]\nname = 'bloated'\ntype = 'latency'\n\
                above = '200ms'\nwindow = '1440min'\nleast = 3\ntarget = 'line'\n";
    let plan = parse(text, "watch.toml").unwrap();
    assert_eq!((plan.targets.len(), plan.alerts.len()), (1, 1));
}

#[test]
fn a_site_labels_each_push() {
    let push = "[[push]]\nkind = 'otlp'\nurl = 'http://127.0.0.1:4318/v1/metrics'\n";
    let plan = plan(&format!(
        "[site]\nname = 'home-17'\nlabels = {{ provider = 'Example Net', plan = '100/20' }}\n\
         {push}[[push]]\nname = 'b'\nkind = 'otlp'\nurl = 'http://b/'\nlabels = {{ plan = 'other' }}\n"
    ));
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let labels = vec![pair("plan", "100/20"), pair("provider", "Example Net")];
    assert_eq!(plan.site, Some(Site { name: "home-17".into(), labels, local_addresses: false }));
    assert!(plan.hides_local_addresses());
    let pushed = |index: usize| plan.pushes[index].labels.clone();
    assert_eq!(pushed(0), [pair("site", "home-17"), pair("plan", "100/20"), pair("provider", "Example Net")]);
    assert_eq!(pushed(1), [pair("plan", "other"), pair("site", "home-17"), pair("provider", "Example Net")]);
}

#[test]
fn a_site_may_allow_local_addresses() {
    let plan = plan("[site]\nname = 'a'\nlocal_addresses = true\n");
    assert!(!plan.hides_local_addresses());
    assert!(!parse(TARGET, "watch.toml").unwrap().hides_local_addresses());
}

#[test]
fn errors_have_their_line() {
    let long = format!("[site]\nname = '{}'\n", "a".repeat(65));
    let many: String = (0..9).map(|n| format!("l{n} = 'x'\n")).collect();
    let many = format!("[site]\nname = 'a'\n[site.labels]\n{many}");
    let server = "[[test]]\nname = 'line'\nserver = 'a'\n";
    let cases: [(String, usize, &str); 15] = [
        ("[site]\n".into(), 4, "name: invalid name \"\""),
        ("[site]\nname = 'a/b'\n".into(), 5, "name: invalid name \"a/b\""),
        ("[site]\nname = '..'\n".into(), 5, "name: invalid name \"..\""),
        (long, 5, "at most 64 characters"),
        (many, 6, "9 labels (expected at most 8)"),
        ("[site]\nname = 'a'\nlabels = { site = 'b' }\n".into(), 6, "invalid label site"),
        ("[site]\nname = 'a'\nlabels = { plan = '' }\n".into(), 6, "invalid label plan = \"\""),
        ("[site]\nname = 'a'\nlabels = { le = 'b' }\n".into(), 6, "invalid label \"le\""),
        ("[[test]]\nname = 'line'\n".into(), 4, "server: invalid server \"\""),
        ("[[test]]\nname = 'line'\nserver = '-a'\n".into(), 6, "server: invalid server \"-a\""),
        (format!("{server}interval = '5min'\n"), 7, "interval: invalid value 300s"),
        (format!("{server}budget = '1MB'\n"), 7, "budget: invalid value 1MB"),
        (format!("{server}while_busy = 'yes'\n"), 7, "while_busy: invalid value \"yes\""),
        ("[[test]]\nname = 'a'\nserver = 'a'\n".into(), 5, "name: duplicate target \"a\""),
        (format!("{server}probe = 'icmp'\n"), 7, "probe: unknown key"),
    ];
    for (text, line, words) in cases {
        let error = parse(&format!("{TARGET}{text}"), "watch.toml").expect_err(&text);
        assert_eq!(error.line, line, "{error}\n{text}");
        assert!(error.what.contains(words), "{error}\nwanted: {words}");
    }
}

#[test]
fn a_push_to_the_gateway_needs_a_site_and_no_address() {
    let plan = plan("[site]\nname = 'a1'\n[[push]]\nkind = 'gateway'\nhistogram = 'classic'\n");
    let [push] = plan.pushes.as_slice() else { panic!("{:?}", plan.pushes) };
    assert!(push.to_gateway && push.url.is_empty());
    assert_eq!((push.name.as_str(), push.labels.len()), ("gateway", 1));
    let cases = [
        ("[[push]]\nkind = 'gateway'\n", 5, "kind: needs a [site]"),
        (
            "[site]\nname = 'a'\n[[push]]\nkind = 'gateway'\nurl = 'http://a/'\n",
            8,
            "url: gateway has no such key",
        ),
        ("[site]\nname = 'a'\n[[push]]\nkind = 'gateway'\nlabels = { a = 'b' }\n", 8, "labels: gateway has"),
    ];
    for (text, line, words) in cases {
        let error = parse(&format!("{TARGET}{text}"), "watch.toml").expect_err(text);
        assert_eq!(error.line, line, "{error}\n{text}");
        assert!(error.what.contains(words), "{error}\nwanted: {words}");
    }
}

#[test]
fn archives_of_each_kind() {
    let site = "[site]\nname = 'a1'\n";
    let plan = plan(&format!(
        "{site}[[archive]]\nkind = 'folder'\npath = '/mnt/a'\n[[archive]]\nkind = 'gateway'\n\
         [[archive]]\nname = 'far'\nkind = 's3'\nendpoint = 'https://s3.example.net'\nbucket = 'b'\n\
         credentials_file = '/etc/key'\n"
    ));
    let names: Vec<&str> = plan.archives.iter().map(|archive| archive.name.as_str()).collect();
    assert_eq!(names, ["folder", "gateway", "far"]);
    assert_eq!(plan.archives[0].place, ArchivePlace::Folder("/mnt/a".into()));
    assert_eq!(plan.archives[1].place, ArchivePlace::Gateway);
    let s3 = ArchivePlace::S3 {
        endpoint: "https://s3.example.net".into(),
        bucket: "b".into(),
        prefix: String::new(),
        region: "us-east-1".into(),
        credentials_file: "/etc/key".into(),
        ca_file: None,
    };
    assert_eq!(plan.archives[2].place, s3);
    let cases = [
        ("[[archive]]\nkind = 'folder'\npath = 'a'\n".to_owned(), 4, "archive: needs a [site]"),
        (format!("{site}[[archive]]\n"), 6, "kind: unknown kind \"\" (known: folder, s3, gateway"),
        (format!("{site}[[archive]]\nkind = 'floder'\n"), 7, "did you mean \"folder\"?"),
        (format!("{site}[[archive]]\nkind = 'folder'\n"), 6, "path is missing"),
        (format!("{site}[[archive]]\nkind = 'gateway'\npath = 'a'\n"), 8, "path: unknown key"),
        (
            format!("{site}[[archive]]\nkind = 's3'\nendpoint = 'e'\nbucket = 'b'\n"),
            6,
            "credentials_file is missing",
        ),
        (
            format!("{site}[[archive]]\nkind = 'gateway'\n[[archive]]\nkind = 'gateway'\n"),
            8,
            "name: duplicate archive name \"gateway\"",
        ),
    ];
    for (text, line, words) in cases {
        let error = parse(&format!("{TARGET}{text}"), "watch.toml").expect_err(&text);
        assert_eq!(error.line, line, "{error}\n{text}");
        assert!(error.what.contains(words), "{error}\nwanted: {words}");
    }
}
