//! Grafana dashboards and rules of Prometheus: each query returns data from a real Prometheus.
use crate::past::{Past, plan, push, until};
use crate::receiver::{Kind, Receiver};
use fathom_test_support::unused_port;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first schema version that supports all panel types used (Grafana 10).
const SCHEMA: u64 = 38;

fn dashboards() -> Vec<(PathBuf, Value)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../packaging/grafana");
    let mut all: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    all.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let json = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (path, json)
    };
    all.into_iter().map(read).collect()
}

/// The query as Grafana sends it.
fn filled(query: &str) -> String {
    let values = [
        ("$instance", ".*"),
        ("$target", "router"),
        ("$probe", "icmp"),
        ("$__rate_interval", "5m"),
        ("$__range", "10m"),
        ("$__interval", "1m"),
    ];
    let all = values.into_iter().fold(query.to_owned(), |text, (name, value)| text.replace(name, value));
    assert!(!all.contains('$'), "{all}: a variable that is not known");
    all
}

#[test]
fn each_query_of_each_panel_brings_data() {
    let mut past = Past::new(25);
    past.begin_at("far", past.until);
    past.goes_on(20);
    let (port, dir) = (unused_port(), past.dir.join("prometheus"));
    let receiver = Receiver::start(Kind::Prometheus, port, &dir);
    let text = format!("kind = 'remote_write'\nurl = 'http://127.0.0.1:{port}/api/v1/write'\n");
    let pusher = push(&plan(&text), &past.dir);
    until("all", || (past.sent_ms("far") == past.last_ms()).then_some(()));
    let all = dashboards();
    assert_eq!(all.len(), 2);
    for (path, dashboard) in all {
        let name = path.display();
        assert!(dashboard["schemaVersion"].as_u64().unwrap() >= SCHEMA, "{name}");
        let panels = dashboard["panels"].as_array().unwrap();
        let mut ids: Vec<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
        ids.dedup();
        assert_eq!(ids.len(), panels.len(), "{name}: numbers of panels differ");
        for panel in panels {
            let title = panel["title"].as_str().unwrap();
            assert_eq!(panel["datasource"]["uid"], "${source}", "{name}: {title}");
            assert!(panel["gridPos"]["w"].as_u64().unwrap() <= 24, "{name}: {title}");
            let targets = panel["targets"].as_array().unwrap();
            assert!(!targets.is_empty(), "{name}: {title}");
            for target in targets {
                let query = filled(target["expr"].as_str().unwrap());
                let found = receiver.query(&query, past.last_ms());
                assert!(!found.is_empty(), "{name}: {title}: {query} brings nothing");
            }
        }
        for variable in dashboard["templating"]["list"].as_array().unwrap() {
            let Some(query) = variable["query"]["query"].as_str() else { continue };
            let inner = query.strip_prefix("label_values(").and_then(|q| q.strip_suffix(')')).unwrap();
            let (series, label) = inner.rsplit_once(',').unwrap();
            let found = receiver.query(&format!("count by ({label}) ({})", filled(series)), past.last_ms());
            assert!(found.iter().any(|(labels, _)| labels[label.trim()].is_string()), "{name}: {query}");
        }
    }
    for query in recorded() {
        assert!(!receiver.query(&query, past.last_ms()).is_empty(), "{query} returns no data");
    }
    pusher.stop();
}

fn rules() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../packaging/prometheus")
}

/// The queries of the recording rules that do not refer to other rules.
fn recorded() -> Vec<String> {
    let text = std::fs::read_to_string(rules().join("fathom.rules.yml")).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let pairs = lines.windows(2).filter(|pair| pair[0].starts_with("- record: "));
    let queries = pairs.map(|pair| pair[1].strip_prefix("expr: ").expect("an expression in one line"));
    let own: Vec<String> = queries.filter(|query| !query.contains(":fathom_")).map(str::to_owned).collect();
    assert_eq!(own.len(), 3);
    own
}

#[test]
fn rules_pass_the_tests_of_promtool() {
    let ran =
        Command::new("promtool").args(["test", "rules", "fathom.test.yml"]).current_dir(rules()).output();
    let ran = ran.expect("promtool, of the package prometheus");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}
