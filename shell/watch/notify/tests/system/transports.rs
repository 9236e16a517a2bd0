//! One attempt with each transport: what arrives, and the errors.
use crate::far::{closed, dribbling, relay, silent, web};
use fathom_units::{Duration, WallTime};
use fathom_watch_alert::{Change, Evidence, Login, Receiver, Relay, RelayTls, Route, Transition};
use fathom_watch_notify::{Notice, Transport, deliver};
use serde_json::Value;

const AT: WallTime = WallTime(1_700_474_520_000_000_000);

pub(crate) fn transition(change: Change, to: &[&str]) -> Transition {
    Transition {
        at: AT,
        change,
        alert: "loss".into(),
        condition: "loss",
        target: "home/köln".into(),
        group: "home".into(),
        probe: "icmp".into(),
        series: Some(3),
        raised_at: AT,
        evidence: Evidence {
            text: "loss is 10.8% of 120 probes".into(),
            value: Some(0.108),
            limit: Some(0.05),
        },
        to: to.iter().map(|name| (*name).to_owned()).collect(),
        note: "call the provider".into(),
    }
}

fn attempt(route: Route) -> Result<String, String> {
    let receiver = Receiver { name: "ops".into(), route, timeout: Duration::from_millis(400) };
    let notice = Notice::from(&transition(Change::Raised, &["ops"]));
    deliver(&Transport::new(&receiver), &notice, AT)
}

fn webhook(url: &str) -> Route {
    Route::Webhook { url: url.to_owned(), headers: vec![("X-Key".into(), "abc".into())] }
}

fn mail(relay: &str) -> Route {
    by(relay, RelayTls::None, None)
}

fn by(relay: &str, tls: RelayTls, login: Option<Login>) -> Route {
    let relay = Relay { address: relay.to_owned(), tls, login };
    Route::Mail { to: vec!["me@example.net".into()], from: None, relay: Some(relay) }
}

fn command(script: &str) -> Route {
    Route::Command(["/bin/sh", "-c", script, "sh", "an argument; not a command"].map(str::to_owned).to_vec())
}

#[test]
fn a_webhook_gets_the_documented_body() {
    let (url, requests) = web(&["200 OK"]);
    assert_eq!(attempt(webhook(&format!("{url}/hook"))), Ok("HTTP 200: yes".into()));
    let request = requests.recv().unwrap();
    let (head, body) = request.split_at(request.find('{').unwrap());
    assert!(head.starts_with("POST /hook HTTP/1.1"), "{head}");
    assert!(head.to_lowercase().contains("x-key: abc"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    let want = serde_json::json!({
        "version": 1, "test": false, "status": "raised", "alert": "loss", "type": "loss", "target": "home/köln",
        "group": "home", "probe": "icmp", "at": "2023-11-20T10:02:00.000Z", "raised_at": "2023-11-20T10:02:00.000Z",
        "title": "loss raised: home/köln icmp", "evidence": "loss is 10.8% of 120 probes",
        "note": "call the provider", "value_ratio": 0.108, "limit_ratio": 0.05,
    });
    assert_eq!(body, want);
}

#[test]
fn an_alertmanager_gets_labels_and_an_end_time() {
    let (url, requests) = web(&["200 OK"]);
    attempt(Route::Alertmanager(url)).unwrap();
    let request = requests.recv().unwrap();
    assert!(request.starts_with("POST /api/v2/alerts"), "{request}");
    let body: Value = serde_json::from_str(&request[request.find('[').unwrap()..]).unwrap();
    assert_eq!(body[0]["labels"]["alertname"], "loss");
    assert_eq!(body[0]["labels"]["target"], "home/köln");
    assert_eq!(body[0]["startsAt"], "2023-11-20T10:02:00.000Z");
    assert_eq!(body[0]["endsAt"], "2023-11-20T10:06:00.000Z", "it outlives some reminders");
}

#[test]
fn faults_of_a_web_server_are_reported() {
    let (url, _requests) = web(&["500 Oh dear"]);
    assert_eq!(attempt(webhook(&url)), Err("HTTP 500: yes".into()));
    let (address, _listener) = silent();
    assert_eq!(attempt(webhook(&format!("http://{address}"))), Err("timeout".into()));
    let refused = attempt(webhook(&format!("http://{}", closed()))).unwrap_err();
    assert!(refused.contains("refused"), "{refused}");
    let unknown = attempt(webhook("http://no-such-host.invalid/")).unwrap_err();
    assert!(!unknown.is_empty() && !unknown.contains('\n'), "{unknown}");
    let (redirecting, _others) = web(&["302 Found"]);
    assert_eq!(attempt(webhook(&redirecting)), Err("HTTP 302: yes".into()));
}

#[test]
fn a_command_gets_arguments_environment_and_json_without_a_shell() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("out");
    let script =
        format!("(echo \"$1|$FATHOM_ALERT|$FATHOM_STATUS|$FATHOM_TARGET\"; cat) > {}", file.display());
    assert_eq!(attempt(command(&script)), Ok("exit code 0".into()));
    let text = std::fs::read_to_string(file).unwrap();
    let (first, body) = text.split_once('\n').unwrap();
    assert_eq!(first, "an argument; not a command|loss|raised|home/köln");
    assert_eq!(serde_json::from_str::<Value>(body).unwrap()["alert"], "loss");
}

#[test]
fn faults_of_a_command_are_reported() {
    assert_eq!(attempt(command("echo no paper >&2; exit 1")), Err("exit code 1: no paper".into()));
    let missing = attempt(Route::Command(vec!["/no/such/program".into()])).unwrap_err();
    assert!(missing.starts_with("/no/such/program: "), "{missing}");
    assert_eq!(attempt(command("exec sleep 60")), Err("/bin/sh was killed after 0.4 s (timeout)".into()));
    assert_eq!(attempt(command("kill -9 $$")), Err("killed by a signal".into()));
    assert_eq!(attempt(command("yes | head -c 1000000; exit 0")), Ok("exit code 0: y".into()), "a full pipe");
}

#[test]
fn a_relay_gets_a_message() {
    let (address, received) = relay(None);
    assert_eq!(attempt(mail(&address)), Ok("250 2.0.0 queued as 7".into()));
    let all = received.recv().unwrap();
    let lines: Vec<&str> = all.split("\r\n").collect();
    assert!(lines[0].starts_with("EHLO ") && lines[1].starts_with("MAIL FROM:<fathom@"), "{all}");
    assert_eq!(lines[2], "RCPT TO:<me@example.net>");
    assert!(
        lines.contains(&"Subject: =?utf-8?Q?=5Bfathom=5D=20loss=20raised=3A=20home=2Fk=C3=B6ln?=")
            || all.contains("=C3=B6ln"),
        "{all}"
    );
    assert!(lines.contains(&"loss is 10.8% of 120 probes"), "{all}");
    assert!(all.is_ascii());
}

#[test]
fn faults_of_a_relay_are_reported() {
    let (address, _received) = relay(Some(("RCPT", "550 5.1.1 no such user")));
    assert_eq!(attempt(mail(&address)), Err("550 5.1.1 no such user (at RCPT TO:<me@example.net>)".into()));
    let (silent, _listener) = silent();
    assert_eq!(attempt(mail(&silent)), Err("timeout at the greeting".into()));
    assert_eq!(attempt(mail(&dribbling())), Err("timeout at the greeting".into()));
    let refused = attempt(mail(&closed())).unwrap_err();
    assert!(refused.contains("refused"), "{refused}");
}
