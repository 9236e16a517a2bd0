//! A gateway, a watch that is enrolled there, and Prometheus behind it.
use crate::program::{run, scratch, until};
use crate::watch::{Watch, file};
use fathom_test_support::unused_port;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(crate) struct Prometheus {
    child: Child,
    pub(crate) url: String,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Prometheus {
    pub(crate) fn start(folder: &Path) -> Prometheus {
        let config = folder.join("prometheus.yml");
        std::fs::write(&config, "global: {}\n").unwrap();
        let url = format!("127.0.0.1:{}", unused_port());
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", folder.join("data").display()))
            .arg(format!("--web.listen-address={url}"))
            .args(["--web.enable-remote-write-receiver", "--enable-feature=native-histograms"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("prometheus: {error}; `make setup` installs what tests need"));
        Prometheus { child, url: format!("http://{url}") }
    }
}

/// What `fathom fleet sites` says.
fn sites(engine: &str) -> serde_json::Value {
    let ran = run(&["fleet", "sites", "--engine", engine, "--by", "provider", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.describe());
    ran.document()
}

#[test]
fn a_watch_joins_a_fleet_and_is_revoked() {
    let folder = scratch().join("fleet");
    std::fs::create_dir_all(&folder).unwrap();
    let prometheus = Prometheus::start(&folder);
    let state = folder.join("state");
    let state = state.to_str().unwrap();
    let write = format!("{}/api/v1/write", prometheus.url);
    let listen = format!("127.0.0.1:{}", unused_port());
    let gateway =
        Watch::start(&["fleet", "gateway", "--state", state, "--listen", &listen, "--engine", &write]);
    gateway.wait_for_line(&format!("https://{listen}"));
    let fingerprint = gateway.wait_for_line("fingerprint: ");
    let fingerprint = fingerprint.trim_start_matches("fingerprint: ");
    let store = folder.join("store");
    let config = file(
        "fleet.toml",
        &format!(
            "[watch]\nstore = '{}'\nlisten = '127.0.0.1:0'\n[site]\nname = 'home-17'\nlabels = {{ provider = 'A \"B\"' }}\n\
             [defaults]\ntimeout = '1s'\n[[target]]\nname = 'here'\nhost = '127.0.0.1'\n\
             [[push]]\nkind = 'gateway'\ninterval = '1s'\n",
            store.display()
        ),
    );
    // Before it is enrolled.
    let alone = run(&["watch", &config]);
    assert!(alone.code == Some(3) && alone.err.contains("try: fathom watch enroll"), "{}", alone.describe());
    let token = run(&["fleet", "token", "--state", state, "--site", "home-17"]);
    let token_file = file("fleet.token", &token.out);
    let url = format!("https://{listen}");
    let enroll = |trusted: &str| {
        let flags = [&url, "--token-file", &token_file, "--fingerprint", trusted];
        run(&[&["watch", "enroll", &config], flags.as_slice()].concat())
    };
    // Another certificate than that of the gateway costs no token.
    let other = enroll(&"00".repeat(32));
    assert!(other.code == Some(3) && other.err.contains("fingerprint"), "{}", other.describe());
    let enrolled = enroll(fingerprint);
    assert_eq!(enrolled.code, Some(0), "{}", enrolled.describe());
    gateway.wait_for_line("site home-17 was enrolled");
    let again = enroll(fingerprint);
    assert!(again.code == Some(3) && again.err.contains("identity.json: exists"), "{}", again.describe());
    let watch = Watch::start(&["watch", &config]);
    watch.wait_for_line("page: ");
    let query = format!("{}/api/v1/query?query=fathom_probes_total", prometheus.url);
    let arrived = || {
        let ran = Command::new("curl").args(["-s", &query]).output().unwrap();
        let text = String::from_utf8(ran.stdout).unwrap();
        text.contains("\"site\":\"home-17\"").then_some(text)
    };
    let arrived = until("the series of the site", Duration::from_secs(90), arrived);
    assert!(arrived.contains(r#""provider":"A \"B\"""#), "{arrived}");
    // It has made no test so far.
    let document = sites(&prometheus.url);
    assert_eq!(document["fleet"]["sites"], serde_json::json!([]));
    assert_eq!(document["verdict"]["level"], "no_result");
    for words in [&["buffers"][..], &["trend", "--by", "provider"], &["changes", "--at", "1d"], &["together"]]
    {
        let ran = run(&[&["fleet"], words, &["--engine", &prometheus.url, "--json"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.describe());
        assert!(
            matches!(ran.document()["verdict"]["level"].as_str(), Some("no_result" | "good")),
            "{words:?}"
        );
    }
    a_page_shows(&prometheus.url);
    let revoked = run(&["fleet", "revoke", "--state", state, "home-17"]);
    assert_eq!(revoked.code, Some(0), "{}", revoked.describe());
    watch.wait_for_line("HTTP 403: site home-17 is revoked");
    let list = run(&["fleet", "enrolled", "--state", state]);
    assert!(list.out.starts_with("home-17 provider=A \"B\"  enrolled 20"), "{}", list.describe());
    assert!(list.out.contains("  revoked 20"), "{}", list.describe());
    assert_eq!(watch.end(), Some(0));
    assert_eq!(gateway.end(), Some(0));
}

/// The page asks the same engine.
fn a_page_shows(engine: &str) {
    let page = Watch::start(&["fleet", "page", "--engine", engine, "--listen", "127.0.0.1:0"]);
    let address = page.wait_for_line("fathom fleet page: http://");
    let address = address.trim_start_matches("fathom fleet page: ");
    let answer = |path: &str| {
        let ran = Command::new("curl").args(["-sS", &format!("{address}{path}")]).output().unwrap();
        String::from_utf8(ran.stdout).unwrap()
    };
    assert!(answer("/").contains("<title>Fathom fleet</title>"));
    let sites = answer("/api/v1/sites?from=1795000000&to=1795600000");
    assert!(sites.contains("\"tested\":0"), "{sites}");
    assert_eq!(page.end(), Some(0));
}

#[test]
fn errors_of_a_fleet_name_their_object() {
    let away = format!("http://127.0.0.1:{}", unused_port());
    let sites = run(&["fleet", "sites", "--engine", &away]);
    assert!(sites.code == Some(3) && sites.err.contains(&away), "{}", sites.describe());
    let none = run(&["fleet", "sites", "--archive", scratch().to_str().unwrap()]);
    assert!(none.code == Some(3) && none.err.contains("has no folder \"windows\""), "{}", none.describe());
    let future = run(&["fleet", "changes", "--engine", &away, "--at", "2190-01-01"]);
    assert!(future.err.contains("2190-01-01T00:00:00.000Z is not before now"), "{}", future.describe());
    let empty = run(&["fleet", "changes", "--engine", &away, "--at", "1d", "--period", "0h"]);
    assert!(empty.code == Some(2) && empty.err.contains("period"), "{}", empty.describe());
    let alone =
        file("no-history.toml", "[[target]]\nname = 'a'\nhost = '127.0.0.1'\n[watch]\nstore = '/nowhere'\n");
    let unread = run(&["fleet", "sites", "--config", &alone]);
    assert!(unread.err.contains("/nowhere/history.db does not exist\n  try: "), "{}", unread.describe());
    let open = run(&["fleet", "page", "--engine", &away, "--listen", "0.0.0.0:0"]);
    assert!(open.code == Some(3) && open.err.contains("set password_file"), "{}", open.describe());
    let missing = run(&["fleet", "revoke", "--state", scratch().join("no-fleet").to_str().unwrap(), "x"]);
    assert!(missing.code == Some(2) && missing.err.contains("no such directory"), "{}", missing.describe());
    assert!(!scratch().join("no-fleet").exists(), "a misspelt folder is not created");
    let long =
        run(&["fleet", "token", "--state", scratch().join("long").to_str().unwrap(), "--valid", "25h"]);
    assert!(long.code == Some(3) && long.err.contains("24 h"), "{}", long.describe());
    let name = run(&["fleet", "token", "--state", "/tmp", "--site", "a/b"]);
    assert!(name.code == Some(2) && name.err.contains("invalid name"), "{}", name.describe());
}
