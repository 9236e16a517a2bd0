//! Valid alert rules, and the errors for invalid ones.
use fathom_units::Duration;
use fathom_watch_alert::{Condition, Kind, RelayTls, Route, Semantics};
use fathom_watch_plan::{Plan, parse};

const TARGETS: &str = "
[[target]]
name = 'router'
host = '192.0.2.1'

[[group]]
name = 'home'
[[group.target]]
name = 'printer'
host = '192.0.2.7'
[[group.target]]
name = 'path'
host = '192.0.2.9'
probe = 'hops'
";

const WHOLE: &str = r#"
[[receiver]]
name = "ops"
webhook = "https://example.net/hook"
header = "Authorization: Bearer abc"
timeout = "3s"

[[receiver]]
name = "me"
mail = ["me@example.net", "you@example.net"]
relay = "127.0.0.1:25"

[[receiver]]
name = "away"
mail = "me@example.net"
relay = "smtp.example.net:587"
user = "me"
password_file = "/etc/fathom/mail"

[[receiver]]
name = "page"
command = ["/usr/local/bin/page", "now"]

[[receiver]]
name = "am"
alertmanager = "http://127.0.0.1:9093/"

[[alert]]
name = "loss"
type = "loss"
above = "5%"
window = "2min"
for = "30s"
to = ["ops", "am"]

[[alert]]
name = "slow"
type = "latency"
above = "80ms"
percentile = 90
group = "home"
priority = 2
repeat = "60min"
to = "me"

[[alert]]
name = "unlike itself"
type = "unusual"
target = "home/*"
by = "15ms"
note = "compare with the week before"

[[alert]]
name = "bloat"
type = "bufferbloat"
above = "60ms"

[[alert]]
name = "path"
type = "path"

[[alert]]
name = "gone"
type = "unreachable"
for = "10s"
flapping = 4
flapping_window = "30min"

[[alert]]
name = "someloss"
type = "loss"
pattern = ">0%,*12*,>0%,*12*,>0%"
semantics = "smokeping"
round = "60s"
edgetrigger = false

[[alert]]
name = "rttdetect"
type = "rtt"
pattern = "<10,<10,<10,<10,<10,<100,>100,>100,>100"

[[alert]]
name = "three"
type = "matcher"
pattern = "CheckLoss(l => 10, x => 3)"
"#;

fn plan(text: &str) -> Plan {
    parse(&format!("{TARGETS}{text}"), "watch.toml").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_whole_file() {
    let plan = plan(WHOLE);
    let ways: Vec<&str> = plan.receivers.iter().map(|r| r.route.name()).collect();
    assert_eq!(ways, ["webhook", "mail", "mail", "command", "alertmanager"]);
    assert_eq!(plan.receivers[0].timeout, Duration::from_secs(3));
    assert_eq!(plan.receivers[4].route, Route::Alertmanager("http://127.0.0.1:9093".into()));
    let relays = plan.receivers.iter().filter_map(|one| match &one.route {
        Route::Mail { relay: Some(relay), .. } => Some((relay.tls, relay.login.is_some())),
        _ => None,
    });
    assert!(relays.eq([(RelayTls::None, false), (RelayTls::StartTls, true)]), "as their ports are meant");
    let kinds: Vec<&str> = plan.alerts.iter().map(|r| r.condition.name()).collect();
    let want = [
        "loss",
        "latency",
        "unusual",
        "bufferbloat",
        "path",
        "unreachable",
        "loss pattern",
        "rtt pattern",
        "matcher",
    ];
    assert_eq!(kinds, want);
    let Condition::Loss { above, clear, window, .. } = plan.alerts[0].condition else { panic!() };
    assert_eq!((above, clear, window), (0.05, 0.025, Duration::from_secs(120)));
    assert_eq!(plan.alerts[0].hold, Duration::from_secs(30));
    let Condition::Pattern { kind, pattern, round } = &plan.alerts[6].condition else { panic!() };
    assert_eq!((*kind, pattern.semantics(), pattern.longest()), (Kind::Loss, Semantics::Smokeping, 27));
    assert_eq!((*round, plan.alerts[6].repeat), (Some(Duration::from_secs(60)), Some(Duration::ZERO)));
    assert!(plan.alerts[1].scope.has("home/printer", "home", "icmp", true));
    assert!(!plan.alerts[1].scope.has("router", "", "icmp", true));
    assert!(
        !plan.alerts[0].scope.has("home/path", "home", "hop 3", false),
        "routers are meant by their names alone"
    );
}

#[test]
fn errors_have_their_line_number() {
    let start = TARGETS.lines().count() + 1;
    let cases = [
        ("[[alert]]\nname='a'\ntype='los'\nabove='5%'", 3, "type: unknown type \"los\""),
        ("[[alert]]\nname='a'\ntype='loss'\nabov='5%'", 4, "abov: unknown key (did you mean \"above\"?)"),
        (
            "[[alert]]\nname='a'\ntype='loss'",
            1,
            "above is missing (expected the limit that raises the alert)",
        ),
        ("[[alert]]\nname='a'\ntype='loss'\nabove='5'", 4, "above: "),
        (
            "[[alert]]\nname='a'\ntype='path'\nabove='5%'",
            4,
            "above: not valid for an alert of type path (its keys are window)",
        ),
        (
            "[[alert]]\nname='a'\ntype='loss'\nabove='5%'\nclear='6%'",
            5,
            "clear: must not be higher than above",
        ),
        ("[[alert]]\nname='a'\ntype='loss'\nabove='5%'\nto='ops'", 5, "to: unknown [[receiver]] \"ops\""),
        (
            "[[alert]]\nname='a'\ntype='loss'\nabove='5%'\ntarget='hom/*'",
            5,
            "target: the alert matches no target",
        ),
        (
            "[[alert]]\nname='a'\ntype='loss'\nabove='5%'\nwindow='10s'\nleast=11",
            5,
            "window: 10s has 10.0 probes of",
        ),
        (
            "[[alert]]\nname='a'\ntype='path'\ngroup='x'",
            4,
            "type: a path alert needs a target with probe hops",
        ),
        ("[[alert]]\nname='a'\ntype='loss'\npattern='>0%,*x*'", 4, "pattern: invalid gap \"*x*\""),
        ("[[alert]]\nname='a'\ntype='loss'\npattern='>5'", 4, "pattern: \">5\": loss needs a percent sign"),
        ("[[alert]]\nname='a'\ntype='rtt'\npattern='>5%'", 4, "pattern: \">5%\": rtt is in milliseconds"),
        ("[[alert]]\nname='a'\ntype='rtt'\npattern='>U'", 4, "pattern: \">U\": U is valid only with =="),
        ("[[alert]]\nname='a'\ntype='rtt'\npattern='*3*'", 4, "pattern: the pattern has no comparison"),
        ("[[alert]]\nname='a'\ntype='rtt'\npattern='>1,*999*,>1'", 4, "pattern: the pattern has 1001 rounds"),
        (
            "[[alert]]\nname='a'\ntype='matcher'\npattern='ExpLoss(hist=>3)'",
            4,
            "pattern: the matcher ExpLoss is not supported",
        ),
        ("[[alert]]\nname='a'\ntype='matcher'\npattern='CheckLoss(l=>3)'", 4, "pattern: x is missing"),
        (
            "[[alert]]\nname='a'\ntype='loss'\nabove='1%'\nedgetrigger=false",
            5,
            "edgetrigger: false is valid only for patterns",
        ),
        (
            "[[receiver]]\nname='a'",
            1,
            "receiver a needs exactly one of webhook, mail, command, alertmanager, but has 0",
        ),
        ("[[receiver]]\nname='a'\nwebhook='ftp://x'", 3, "webhook: invalid URL \"ftp://x\""),
        ("[[receiver]]\nname='a'\nmail='me'", 3, "mail: invalid mail address \"me\""),
        ("[[receiver]]\nname='a'\nmail='a@b>\\nX: y'", 3, "mail: "),
        ("[[receiver]]\nname='a'\ncommand='page me'", 3, "command: \"page me\" contains spaces"),
        ("[[receiver]]\nname='a'\ncommand='page'", 3, "command: \"page\" is not an absolute path"),
        (
            "[[receiver]]\nname='a'\ncommand='/bin/true'\nrelay='h:25'",
            4,
            "relay: not valid for a receiver with command",
        ),
        ("[[receiver]]\nname='a'\nmail='a@b'\nrelay='h'", 4, "relay: invalid host and port \"h\""),
        ("[[receiver]]\nname='a'\nmail='a@b'\nrelay='::1'", 4, "relay: invalid host and port \"::1\""),
        ("[[receiver]]\nname='a'\nmail='a@b'\nuser='u'", 4, "user: valid only with a relay"),
        ("[[receiver]]\nname='a'\nmail='a@b'\nrelay='h:25'\ntls='ssl'", 5, "tls: unknown value \"ssl\""),
        ("[[receiver]]\nname='a'\nmail='a@b'\nrelay='h:587'\nuser='u'", 5, "user: requires password_file"),
        (
            "[[receiver]]\nname='a'\nmail='a@b'\nrelay='h:25'\nuser='u'\npassword_file='/p'",
            5,
            "user: requires TLS",
        ),
        (
            "[[receiver]]\nname='a'\nmail='a@b'\nrelay='h:465'\nuser='u'\npassword_file='p'",
            6,
            "password_file: is not an absolute path",
        ),
        ("[[receiver]]\nname='a'\nwebhook='http://h'\nheader='X'", 4, "header: invalid header \"X\""),
    ];
    for (text, line, want) in cases {
        let error = parse(&format!("{TARGETS}{text}"), "watch.toml").expect_err(text);
        assert!(error.what.starts_with(want), "{text}\n{error}\nwanted {want}");
        assert_eq!(error.line, start + line - 1, "{text}\n{error}");
    }
}
