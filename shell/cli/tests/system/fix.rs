//! Tests of `fathom fix`, each in its own namespace. More tests are in
//! `shell/host/shaper/tests/system`.
use crate::program::{Ran, fathom, run, scratch, until};
use fathom_os::netns::NetNs;
use fathom_test_support::new_namespace;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

struct Router {
    namespace: NetNs,
    state: PathBuf,
}

impl Router {
    fn new(name: &str) -> Router {
        let namespace = new_namespace();
        let state = scratch().join(format!("fix-{name}"));
        let router = Router { namespace, state };
        router
            .shell("ip link add wan type veth peer name modem && ip link set wan up && ip link set modem up");
        router
    }
    fn inside<T: Send>(&self, act: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let inside = scope.spawn(|| {
                self.namespace.enter().unwrap();
                act()
            });
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
    fn shell(&self, command: &str) -> String {
        let output = self.inside(|| Command::new("sh").args(["-c", command]).output().unwrap());
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
    fn queues(&self) -> String {
        self.shell("tc qdisc show; ip -o link | cut -d: -f2; tc filter show dev wan ingress")
    }
    fn command(&self, args: &[&str]) -> Command {
        let mut command = fathom(&[&["fix"], args].concat());
        command.arg("--state").arg(&self.state);
        command
    }
    fn fix(&self, args: &[&str]) -> Ran {
        self.inside(|| self.command(args).output().unwrap().into())
    }
    /// The member `fix` of the document of a command.
    #[track_caller]
    fn done(&self, args: &[&str]) -> Value {
        let ran = self.fix(&[args, &["--json"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.describe());
        let mut document = ran.document();
        assert_eq!(document["command"], "fix");
        assert_eq!(document["verdict"]["reason"]["kind"], "not_measured");
        document["fix"].take()
    }
    /// The only interface with a fix, or null.
    #[track_caller]
    fn status(&self) -> Value {
        self.done(&["--status"])["interfaces"].get(0).cloned().unwrap_or_default()
    }
}

/// Maximum time until a fix has started.
const START: Duration = Duration::from_secs(20);
/// Maximum time until everything is restored, whatever ended the fix.
const BACK: Duration = Duration::from_secs(5);

const RATES: [&str; 5] = ["wan", "--up", "9.5mbit", "--down", "47mbit"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&RATES[..], more].concat()
}

#[test]
fn a_dry_run_shows_the_plan_and_changes_nothing() {
    let router = Router::new("dry");
    let before = router.queues();
    let ran = router.fix(&with(&["--dry-run", "--shaper", "tbf", "--overhead", "38"]));
    assert_eq!(ran.code, Some(0), "{}", ran.describe());
    let lines = [
        "   ip link add ifb-wan type ifb",
        "   tc qdisc replace dev ifb-wan root handle 1: tbf rate 47Mbit burst 5875b limit 58750b peakrate 1000000Gbit mtu 3028 overhead 24",
        "   tc qdisc replace dev wan root handle fa0: tbf rate 9.5Mbit burst 3028b limit 17812b peakrate 1000000Gbit mtu 3028 overhead 24",
        "   tc qdisc del dev wan root",
    ];
    let mut rest = ran.out.as_str();
    for line in lines {
        let at =
            rest.find(line).unwrap_or_else(|| panic!("{line:?} is missing, or too early, in\n{}", ran.out));
        rest = &rest[at..];
    }
    assert_eq!(router.queues(), before);
    let done = router.done(&with(&["--dry-run"]));
    assert_eq!((&done["outcome"], &done["interface"]), (&json!("planned"), &json!("wan")));
    assert_eq!(done["plan"]["up"]["rate_bits_per_second"], 9_500_000);
    assert_eq!(router.queues(), before);
}

#[test]
fn committed_it_is_on_until_it_is_undone() {
    let router = Router::new("commit");
    let before = router.queues();
    let root = scratch().join("fix-root");
    std::fs::create_dir_all(root.join("etc/systemd/system")).unwrap();
    let root_flag = root.to_str().unwrap().to_owned();
    let done = router.done(&with(&["--commit", "--boot", "--root", &root_flag]));
    assert_eq!(done["outcome"], "committed");
    let unit = root.join("etc/systemd/system/fathom-fix-wan.service");
    let text = std::fs::read_to_string(&unit).unwrap();
    assert!(text.contains(" fix wan --commit --up 9.5Mbit --down 47Mbit --shaper "), "{text}");
    let status = router.status();
    assert_eq!((&status["interface"], &status["state"]), (&json!("wan"), &json!("on")));
    assert_eq!(status["down"]["rate_bits_per_second"], 47_000_000);
    assert!(status["up"]["counters"]["sent_bytes"].is_u64(), "{status}");
    let again = router.fix(&RATES);
    assert!(again.code == Some(3) && again.err.contains("already shaped"), "{}", again.describe());
    router.shell("tc qdisc del dev wan root");
    let gone = router.status();
    assert!(gone["state"] == "on" && gone["up"]["counters"].is_null(), "{gone}");
    let undone = router.done(&["--undo", "wan", "--root", &root_flag]);
    let restored = json!({ "interface": "wan", "undone": "restored", "boot_removed": true });
    assert_eq!(undone["interfaces"], json!([restored]));
    assert!(!unit.exists());
    assert_eq!(router.queues(), before);
    for args in [&["--undo"][..], &["--status"], &["--status", "wan"]] {
        assert_eq!(router.done(args)["interfaces"], json!([]), "{args:?}");
    }
}

#[test]
fn a_held_shaper_is_rolled_back_at_the_end_and_when_killed() {
    let router = Router::new("hold");
    let before = router.queues();
    let done = router.done(&with(&["--keep-for", "300ms"]));
    assert!(done["outcome"] == "rolled_back" && done["counters"]["up"]["sent_bytes"].is_u64(), "{done}");
    assert_eq!(router.queues(), before);
    for signal in ["INT", "TERM", "HUP", "KILL"] {
        let mut child = router
            .inside(|| router.command(&RATES).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        until("the shaper", START, || {
            router.shell("tc qdisc show dev wan ingress").contains("ingress").then_some(())
        });
        Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), (signal != "KILL").then_some(0), "{signal}");
        until(&format!("what was before {signal}"), BACK, || (router.queues() == before).then_some(()));
    }
}

/// As LuCI writes it. This kernel may have no CAKE, so the queue leaves the shaper open.
const SQM: &str = "config queue 'eth1'
\toption enabled '1'
\toption interface 'wan'
\toption download '47000'
\toption upload '9500'
\toption qdisc 'sfq'
\toption linklayer 'ethernet'
\toption overhead '30'
";

#[test]
fn sqm_scripts_are_replaced_and_get_their_queues_back() {
    let router = Router::new("sqm");
    let root = scratch().join("sqm-root");
    let (config, calls) = (root.join("etc/config/sqm"), root.join("calls"));
    let scripts = root.join("usr/lib/sqm/run.sh");
    let _ = std::fs::remove_dir_all(&root);
    for file in [&config, &scripts, &root.join("etc/init.d/x"), &root.join("etc/rc.d/x")] {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    }
    std::fs::write(&config, SQM).unwrap();
    std::fs::write(root.join("etc/openwrt_release"), "").unwrap();
    std::fs::write(&scripts, format!("#!/bin/sh\necho \"$@\" >>{}\n", calls.display())).unwrap();
    std::fs::set_permissions(&scripts, std::fs::Permissions::from_mode(0o755)).unwrap();
    let root_flag = root.to_str().unwrap();
    let before = router.queues();

    let planned = router.fix(&["--replace-sqm", "--dry-run", "--root", root_flag]);
    // 30 bytes, of which the kernel counts those of Ethernet itself.
    assert!(
        planned.out.contains("rate 9.5Mbit") && planned.out.contains("overhead 16"),
        "{}",
        planned.describe()
    );
    assert_eq!((router.queues(), calls.exists()), (before.clone(), false));

    let replaced = router.fix(&["--replace-sqm", "--root", root_flag]);
    assert!(replaced.code == Some(0) && replaced.err.is_empty(), "{}", replaced.describe());
    assert_eq!(router.status()["state"], "on", "{}", replaced.describe());
    assert!(std::fs::read_to_string(&config).unwrap().contains("option enabled '0'"));
    let boot = std::fs::read_to_string(root.join("etc/init.d/fathom-fix-wan")).unwrap();
    assert!(boot.contains("--up 9.5Mbit") && boot.contains("--overhead 30"), "{boot}");
    let again = router.fix(&["--replace-sqm", "--root", root_flag]);
    assert_eq!(
        (again.code, &*again.out),
        (Some(0), "sqm-scripts: no enabled queue\n"),
        "{}",
        again.describe()
    );

    let restored = router.fix(&["--restore-sqm", "--root", root_flag]);
    assert_eq!(
        restored.out,
        "wan: restored; it no longer starts with the system\n",
        "{}",
        restored.describe()
    );
    assert_eq!((router.queues(), std::fs::read_to_string(&config).unwrap()), (before, SQM.to_owned()));
    assert_eq!(std::fs::read_to_string(&calls).unwrap(), "stop wan\nstart wan\n");

    // What cannot be shaped stays with sqm-scripts.
    std::fs::write(&config, SQM.replace("'wan'", "'gone'")).unwrap();
    let failed = router.fix(&["--replace-sqm", "--root", root_flag]);
    assert!(failed.code != Some(0) && failed.err.contains("gone"), "{}", failed.describe());
    assert!(std::fs::read_to_string(&config).unwrap().contains("option enabled '1'"));
    assert!(std::fs::read_to_string(&calls).unwrap().ends_with("stop gone\nstart gone\n"));
}

#[test]
fn errors_are_reported_in_words() {
    let router = Router::new("wrong");
    let cases: &[(&[&str], i32, &str)] = &[
        (&[], 2, "no interface and no rates given\n  try: fathom fix --server HOST"),
        (&["--up", "9mbit"], 2, "no interface and no rates given"),
        (&["wan"], 2, "no rate given: --up, --down or both are needed"),
        (&["wan", "--up", "5"], 2, "rate \"5\" has no unit"),
        (&["wan", "--up", "5kbit"], 2, "cannot shape to 5Kbit (expected 64Kbit to 400Gbit)"),
        (&["a/b", "--up", "5mbit"], 2, "invalid interface name"),
        (&["nosuch", "--up", "5mbit"], 3, "nosuch: unknown interface (available: lo, modem, wan)"),
        (
            &["wan", "--up", "5mbit", "--shaper", "best"],
            2,
            "unknown shaper \"best\" (known: cake_mq, cake, htb+fq_codel, flow-hash, tbf)",
        ),
        (&["wan", "--up", "5mbit", "--commit", "--keep-for", "5s"], 2, "cannot be used with"),
        (&["wan", "--up", "5mbit", "--boot"], 2, "--commit"),
        (&["--undo", "--status"], 2, "cannot be used with"),
        (&["--undo", "--up", "5mbit"], 2, "cannot be used with"),
    ];
    for (args, code, words) in cases {
        let ran = router.fix(args);
        assert!(ran.code == Some(*code) && ran.err.contains(words), "{args:?}: {}", ran.describe());
    }
    // Through an open file: `nobody` may not enter the folder of the program, such as one in /root.
    let program = File::open(env!("CARGO_BIN_EXE_fathom")).unwrap();
    let nobody = router.inside(|| {
        let mut command = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
        command.args(router.command(&RATES).get_args()).uid(65_534).output().unwrap()
    });
    let nobody = Ran::from(nobody);
    assert!(
        nobody.code == Some(3) && nobody.err.contains("needs root (CAP_NET_ADMIN)"),
        "{}",
        nobody.describe()
    );
    assert!(run(&["fix", "--status", "--state", "/nonexistent"]).out == "nothing is shaped\n");
}

/// The complete answer of an HTTP server.
fn asked(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn auto_adjusts_until_it_ends_in_any_way() {
    let router = Router::new("auto");
    router.shell("ip link set lo up");
    let before = router.queues();
    let done = router.done(&with(&["--auto", "--reflector", "127.0.0.1", "--duration", "1s", "--commit"]));
    assert!(done["outcome"] == "committed" && done["auto"]["answers"].as_u64() > Some(0), "{done}");
    assert_eq!(router.status()["state"], "on");
    router.done(&["--undo", "wan"]);
    assert_eq!(router.queues(), before);
    let args = with(&["--auto", "--reflector", "127.0.0.1", "--metrics", "9841"]);
    for (signal, code) in [("INT", Some(0)), ("KILL", None)] {
        let mut child = router
            .inside(|| router.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let status = until("a status with delays", START, || {
            let status = router.status();
            let up = &status["auto"]["up"];
            (up["reason"] == "unused" && up["delay_above_usual_s"].is_f64()).then_some(status)
        });
        assert_eq!((&status["interface"], &status["state"]), (&json!("wan"), &json!("on_trial")));
        let up = &status["auto"]["up"];
        assert_eq!(up["rate_bits_per_second"], 9_500_000);
        assert!(up["decisions"]["unused"].as_u64() > Some(0), "{status}");
        let said = router.inside(|| asked("127.0.0.1:9841", "/metrics"));
        let line = "fathom_auto_rate_bits_per_second{interface=\"wan\",direction=\"up\"} 9500000\n";
        assert!(said.starts_with("HTTP/1.1 200 OK\r\n") && said.contains(line), "{said}");
        assert!(router.inside(|| asked("127.0.0.1:9841", "/")).contains("<td>9.50 Mbit/s</td>"));
        assert!(router.inside(|| asked("127.0.0.1:9841", "/other")).starts_with("HTTP/1.1 404 "));
        Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
        assert_eq!(child.wait().unwrap().code(), code, "{signal}");
        // The rollback removes its state last.
        let is_back = || router.queues() == before && router.status().is_null();
        until(&format!("what was before {signal}"), BACK, || is_back().then_some(()));
    }
}

#[test]
fn auto_reports_what_is_missing() {
    let router = Router::new("auto-bad");
    let before = router.queues();
    let reflector = ["--auto", "--reflector", "127.0.0.1"];
    let cases: [(&[&str], &str); 5] = [
        (&["--auto"], "--auto needs a delay source"),
        (&["--auto", "--metrics", "0"], "expected PORT or ADDR:PORT"),
        (&["--auto", "--reflector", "here"], "invalid value 'here' for '--reflector"),
        (
            &[&reflector[..], &["--least-up", "20mbit"]].concat(),
            "up: invalid rates min 20Mbit, start 9.5Mbit, max 19Mbit",
        ),
        (&[&reflector[..], &["--dry-run"]].concat(), "cannot be used with"),
    ];
    for (args, words) in cases {
        let ran = router.fix(&with(args));
        assert!(ran.code == Some(2) && ran.err.contains(words), "{args:?}: {}", ran.describe());
    }
    let no_server = router.fix(&with(&["--auto", "--server", "127.0.0.1:9"]));
    assert!(no_server.code == Some(3) || no_server.code == Some(4), "{}", no_server.describe());
    assert_eq!(router.queues(), before);
}
