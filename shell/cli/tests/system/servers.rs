//! The server of `fathom test` without an argument.
use crate::program::{Ran, Serve, fathom, run, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;

/// An empty directory for settings.
fn home(name: &str) -> PathBuf {
    let path = scratch().join(format!("servers-{name}"));
    std::fs::create_dir(&path).unwrap();
    path
}

/// A short test without a server, with settings in `home`.
fn test(home: &Path, extra: &[&str]) -> Ran {
    let args = ["test", "--no-save", "--phases", "idle", "--color", "never"];
    let mut command = fathom(&[&args[..], extra].concat());
    command.env("XDG_CONFIG_HOME", home).output().unwrap().into()
}

#[test]
fn without_a_server_and_a_terminal_the_choices_are_named() {
    let home = home("choices");
    let ran = test(&home, &[]);
    assert_eq!(ran.code, Some(2), "{}", ran.describe());
    assert!(ran.err.starts_with("fathom test: no server given\n"), "{}", ran.err);
    for choice in [
        "fathom test SERVER",
        "--accept-policy cloudflare",
        "https://www.cloudflare.com/privacypolicy/",
        "--accept-policy mlab",
    ] {
        assert!(ran.err.contains(choice), "{}", ran.err);
    }
    assert!(!home.join("fathom").exists(), "nothing is accepted");
}

#[test]
fn the_first_server_of_the_list_that_answers_is_used() {
    let server = Serve::start(&[]);
    let home = home("list");
    std::fs::create_dir(home.join("fathom")).unwrap();
    let list = format!("# My servers\n\n127.0.0.1:1   # down\n{}\n", server.target());
    std::fs::write(home.join("fathom/servers"), list).unwrap();
    let ran = test(&home, &[]);
    // Without load there is no verdict.
    assert_eq!(ran.code, Some(5), "{}", ran.describe());
    assert!(ran.err.contains("testing against 127.0.0.1:1 ("), "{}", ran.err);
    assert!(ran.err.contains("127.0.0.1:1 refused the connection"), "{}", ran.err);
    assert!(ran.out.starts_with("NO RESULT"), "{}", ran.out);
}

#[test]
fn an_accepted_policy_is_remembered() {
    let home = home("accepted");
    // The interval is too short, so nothing is sent.
    let ran = test(&home, &["--accept-policy", "cloudflare", "--sample-every", "1ms"]);
    assert_eq!(ran.code, Some(2), "{}", ran.describe());
    assert!(
        ran.err.contains("testing against https://speed.cloudflare.com/ (Cloudflare's speed test)"),
        "{}",
        ran.err
    );
    let accepted = home.join("fathom/accepted-policies");
    assert_eq!(std::fs::read_to_string(&accepted).unwrap(), "cloudflare\n");
    let again = test(&home, &["--sample-every", "1ms"]);
    assert!(
        again.err.contains("testing against https://speed.cloudflare.com/ (Cloudflare's speed test)"),
        "{}",
        again.err
    );
    assert_eq!(std::fs::read_to_string(&accepted).unwrap(), "cloudflare\n");
}

#[test]
fn measurement_lab_is_not_used_without_consent() {
    let home = home("mlab");
    let ran = test(&home, &["msak://"]);
    assert_eq!(ran.code, Some(2), "{}", ran.describe());
    let expected = "fathom test: Measurement Lab requires your consent\n  try: --accept-policy mlab";
    assert!(ran.err.starts_with(expected), "{}", ran.err);
    // The interval is too short, so nothing is sent.
    let accepted = test(&home, &["ndt7://", "--accept-policy", "mlab", "--sample-every", "1ms"]);
    assert!(accepted.err.contains("sample"), "{}", accepted.err);
    let other = test(&home, &["--accept-policy", "apple", "--sample-every", "1ms"]);
    let preferred = "testing against https://mensura.cdn-apple.com/api/v1/gm/config (Apple's networkQuality";
    assert!(other.err.contains(preferred), "accepted earlier, but less preferred: {}", other.err);
}

/// Runs `act` in its own network with the address 10.9.0.1.
fn on_a_network<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    fathom_test_support::in_new_namespace(|| {
        let script = "ip link add lan type veth peer name other && ip addr add 10.9.0.1/24 dev lan && ip link set lan up && ip link set other up";
        assert!(Command::new("sh").args(["-c", script]).status().unwrap().success());
        act()
    })
}

#[test]
fn a_server_that_announces_itself_is_preferred() {
    let home = home("announced");
    std::fs::create_dir(home.join("fathom")).unwrap();
    std::fs::write(home.join("fathom/servers"), "127.0.0.1:1\n").unwrap();
    on_a_network(|| {
        let server = Serve::start(&["--listen", "10.9.0.1", "--announce"]);
        let ran = test(&home, &[]);
        let expected = format!("testing against 10.9.0.1:{} (", server.port);
        assert!(ran.err.contains(&expected), "{}", ran.describe());
        assert!(ran.out.starts_with("NO RESULT"), "without load there is no verdict: {}", ran.out);
    });
    // One that only its own host can reach is not announced.
    on_a_network(|| {
        let _own = Serve::start(&["--announce"]);
        let ran = test(&home, &[]);
        assert!(ran.err.contains("testing against 127.0.0.1:1 ("), "{}", ran.describe());
    });
    // What is announced requires a token.
    on_a_network(|| {
        let token = home.join("token");
        std::fs::write(&token, "a-long-token\n").unwrap();
        let _locked =
            Serve::start(&["--listen", "10.9.0.1", "--announce", "--token-file", token.to_str().unwrap()]);
        let ran = test(&home, &[]);
        assert!(ran.err.contains("testing against 127.0.0.1:1 ("), "{}", ran.describe());
    });
}

#[test]
fn an_unused_proxy_is_named_only_where_it_may_be_the_cause() {
    let run_with = |server: &str| -> Ran {
        let mut command = fathom(&["test", server, "--no-save"]);
        command.env("https_proxy", "http://192.0.2.1:3128").output().unwrap().into()
    };
    let web = run_with("https://127.0.0.1:1/");
    assert_eq!(web.code, Some(3), "{}", web.describe());
    assert!(web.err.ends_with("refused the connection\n  https_proxy is not used\n"), "{}", web.err);
    let own = run_with("127.0.0.1:1");
    assert!(!own.err.contains("proxy"), "{}", own.err);
}

#[test]
fn iperf3_clients_exclude_a_token_and_need_their_port() {
    let conflict = run(&["serve", "--with", "iperf3", "--token-file", "token"]);
    assert_eq!(conflict.code, Some(2), "{}", conflict.describe());
    assert!(conflict.err.contains("--with"), "{}", conflict.err);
    fathom_test_support::in_new_namespace(|| {
        let _taken = std::net::TcpListener::bind("127.0.0.1:5201").unwrap();
        let ran = run(&["serve", "--listen", "127.0.0.1", "--port", "0", "--with", "iperf3"]);
        assert_eq!(ran.code, Some(3), "{}", ran.describe());
        assert!(ran.err.contains("127.0.0.1:5201"), "{}", ran.err);
    });
}

#[test]
fn a_server_without_its_rights_answers_irtt_and_stamp_and_load_may_come_from_elsewhere() {
    let quick = ["--no-save", "--color", "never", "--phases", "idle,down", "--max-bytes", "1gb"];
    fathom_test_support::in_new_namespace(|| {
        let server = Serve::start(&["--with", "all"]);
        let irtt = Command::new("irtt").args(["client", "-d", "500ms", "-i", "10ms", "127.0.0.1"]).output();
        let irtt = irtt.expect("irtt is not installed: run ./setup test");
        assert!(String::from_utf8_lossy(&irtt.stdout).contains("0.00% loss"), "{irtt:?}");
        let idle = run(&[&["test", "stamp://127.0.0.1"], &quick[..]].concat());
        assert!(idle.out.starts_with("NO RESULT"), "without load there is no verdict: {}", idle.describe());
        assert!(idle.out.contains("STAMP carries no load: add one with --load URL."), "{}", idle.out);
        let witness = format!("127.0.0.1:{}", server.port);
        for probed in ["irtt://127.0.0.1", "stamp://127.0.0.1", &witness] {
            let args = ["test", probed, "--load", "iperf3://127.0.0.1", "--json"];
            let ran = run(&[&args, &quick[..]].concat());
            let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
            let facts = &document["facts"];
            assert_eq!(facts["load_server"], "iperf3://127.0.0.1", "{probed}: {facts}");
            let load = &document["phases"][1]["load"];
            assert!(load["delivered_down_bytes"].as_u64().unwrap() > 1_000_000, "{probed}: {load}");
        }
    });
    let no_server = run(&["test", "--load", "https://example.net/"]);
    assert_eq!(no_server.code, Some(2), "{}", no_server.describe());
}

#[test]
fn settings_that_cannot_be_read_are_named() {
    let home = home("unreadable");
    std::fs::create_dir_all(home.join("fathom/servers")).unwrap();
    let ran = test(&home, &[]);
    assert_eq!(ran.code, Some(3), "{}", ran.describe());
    assert!(ran.err.contains("fathom/servers: Is a directory"), "{}", ran.err);
}
