//! Valid and invalid `[[push]]` tables.
use fathom_units::Duration;
use fathom_watch_plan::{Push, PushHistogram, PushKind, parse};

const TARGET: &str = "[[target]]\nname = 'a'\nhost = '192.0.2.1'\ntimeout = '7s'\n";

fn pushes(text: &str) -> Vec<Push> {
    parse(&format!("{TARGET}{text}"), "watch.toml").unwrap_or_else(|error| panic!("{error}")).pushes
}

#[test]
fn a_short_push_has_defaults() {
    let all = pushes("[[push]]\nkind = 'remote_write'\nurl = 'http://127.0.0.1:9090/api/v1/write'\n");
    let [push] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(
        *push,
        Push {
            name: "127.0.0.1".into(),
            kind: PushKind::RemoteWrite2,
            to_gateway: false,
            url: "http://127.0.0.1:9090/api/v1/write".into(),
            histogram: PushHistogram::Native,
            interval: Duration::from_secs(60),
            // The longest timeout plus the time until samples are on disk.
            settle: Duration::from_secs(22),
            instance: None,
            labels: vec![],
            headers: vec![],
            token_file: None,
            ca_file: None,
        }
    );
}

#[test]
fn all_keys() {
    let all = pushes(
        "[[push]]\nname = 'far'\nkind = 'remote_write'\nversion = '1.0'\nhistogram = 'classic'\nurl = 'https://example.net/w'\n\
         interval = '15s'\nsettle = '20s'\ninstance = 'attic'\nlabels = { site = 'berlin' }\nheaders = { X-Scope-OrgID = 'a 1' }\n\
         token_file = '/run/token'\nca_file = '/etc/ca.pem'\n\
         [[push]]\nkind = 'otlp'\nurl = 'http://[::1]:4318/v1/metrics'\n"
            .replace("20s", "1200s")
            .as_str(),
    );
    let [far, otlp] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((far.kind, far.histogram), (PushKind::RemoteWrite1, PushHistogram::Classic));
    assert_eq!((far.interval, far.settle), (Duration::from_secs(15), Duration::from_secs(1_200)));
    assert_eq!(far.labels, [("site".to_owned(), "berlin".to_owned())]);
    assert_eq!(far.headers, [("X-Scope-OrgID".to_owned(), "a 1".to_owned())]);
    assert_eq!(far.instance.as_deref(), Some("attic"));
    assert_eq!(far.token_file.as_deref(), Some("/run/token"));
    assert_eq!(far.ca_file.as_deref(), Some("/etc/ca.pem"));
    assert_eq!((otlp.kind, otlp.name.as_str()), (PushKind::Otlp, "::1"));
}

#[test]
fn errors_have_their_line() {
    let rw = "kind = 'remote_write'\nurl = 'http://a/w'\n";
    let cases = [
        ("url = 'http://a/'\n".to_owned(), 5, "kind is missing (known: remote_write, otlp, gateway)"),
        ("kind = 'remote_write'\n".to_owned(), 5, "url is missing"),
        (
            "kind = 'remotewrite'\nurl = 'http://a/'\n".to_owned(),
            6,
            "kind: unknown kind \"remotewrite\" (known: remote_write, otlp, gateway; did you mean \"remote_write\"?)",
        ),
        ("kind = 'otlp'\nurl = 'a:4318'\n".to_owned(), 7, "must start with http:// or https://"),
        (
            "kind = 'otlp'\nurl = 'http://u:p@a/'\n".to_owned(),
            7,
            "user names and passwords are not supported",
        ),
        (format!("{rw}version = '3'\n"), 8, "version: unsupported version \"3\""),
        (format!("{rw}histogram = 'summary'\n"), 8, "histogram: unknown value \"summary\""),
        (
            "kind = 'otlp'\nurl = 'http://a/'\nhistogram = 'classic'\n".to_owned(),
            8,
            "histogram: \"classic\" is valid only for remote_write",
        ),
        (format!("{rw}interval = '10ms'\n"), 8, "interval: invalid value 10ms (expected 1s to 600s"),
        (
            format!("{rw}settle = '1s'\n"),
            8,
            "settle: invalid value 1s (expected 22s, the longest timeout plus",
        ),
        (format!("{rw}tokenfile = 'x'\n"), 8, "tokenfile: unknown key (did you mean \"token_file\"?)"),
        (format!("{rw}labels = {{ target = 'x' }}\n"), 8, "labels: invalid label \"target\""),
        (format!("{rw}labels = {{ 'a-b' = 'x' }}\n"), 8, "labels: invalid label \"a-b\""),
        (
            format!("{rw}headers = {{ Authorization = 'x' }}\n"),
            8,
            "headers: invalid header \"Authorization\"",
        ),
        (format!("{rw}headers = {{ X = \"a\\r\\nb\" }}\n"), 8, "headers: invalid header \"X\""),
        (format!("{rw}name = '../x'\n"), 8, "name: invalid name \"../x\""),
        (format!("{rw}[[push]]\n{rw}"), 8, "name: duplicate push name \"a\""),
    ];
    for (text, line, words) in cases {
        let error = parse(&format!("{TARGET}[[push]]\n{text}"), "watch.toml").unwrap_err();
        assert!(error.what.contains(words), "{text}: {error}");
        assert_eq!(error.line, line, "{text}: {error}");
    }
}
