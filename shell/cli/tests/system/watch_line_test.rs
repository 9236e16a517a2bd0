//! Scheduled tests of `fathom watch`, over an emulated line of 1 Mbit/s up with a bloated buffer.
use crate::program::{Ran, on_slow_line, run, scratch, until};
use crate::watch::{Watch, file};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// An alert that any test of the line would raise, and one on the result.
const ALERTS: &str = r#"
[[alert]]
name = "slow probes"
type = "latency"
target = "server"
above = "100ms"
window = "20s"
least = 5
"#;

fn config(store: &Path, name: &str, rest: &str) -> String {
    file(
        &format!("{name}.toml"),
        &format!(
            "[watch]\nstore = '{}'\nlisten = '127.0.0.1:0'\n[[target]]\nname = 'server'\nhost = '198.19.0.2'\n\
             [[test]]\nname = 'line'\nserver = '198.19.0.2'\ninterval = '10min'\n{rest}",
            store.display()
        ),
    )
}

/// A watch at the near end of the line.
fn watch(config: &str) -> Watch {
    let program = env!("CARGO_BIN_EXE_fathom");
    Watch::start(&["lab", "--line", "dsl", "--", program, "watch", config])
}

fn status(config: &str) -> Ran {
    run(&["watch", "status", config, "--json"])
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn a_scheduled_test_measures_the_line_and_raises_no_alert() {
    // An emulated line and the load on it take the CPU that probes of other tests need.
    let _slow = on_slow_line();
    let store = scratch().join("tested");
    let config = config(&store, "tested", ALERTS);
    let watch = watch(&config);
    watch.wait_for_line("page: ");
    let line = watch.wait_for_line(": ");
    // The alert on the probes would have been the first.
    assert!(line.contains("test line: "), "{line}");
    assert!(line.contains("Your upload makes everything wait"), "{line}");
    let with_result = || Some(status(&config)).filter(|ran| ran.out.contains("goodput_up"));
    let during = until("the result on the disk", Duration::from_secs(40), with_result);
    let shown = &during.document()["status"];
    assert_eq!(shown["tested"], "line", "{}", during.describe());
    let server = &shown["targets"][0];
    assert_eq!(server["target"], "server", "the minute before the test: {}", during.describe());
    assert!(number(&server["max_s"]) < 0.1, "the minute before the test: {server}");
    let test = &shown["tests"][0];
    assert_eq!(test["test"], "line");
    assert!((0.3..0.7).contains(&number(&test["lag_up_s"])), "{test}");
    assert!((0.02..0.1).contains(&number(&test["lag_down_s"])), "{test}");
    assert!((0.7e6..1.0e6).contains(&number(&test["goodput_up_bits_per_second"])), "{test}");
    assert!((12e6..16e6).contains(&number(&test["goodput_down_bits_per_second"])), "{test}");
    assert!((40e3..80e3).contains(&number(&test["buffer_up_bytes"])), "{test}");
    // 64 kB of buffer make half a second, which the alert would have noticed.
    let probes = run(&["watch", "export", &config, "--target", "server"]);
    let slow = probes.out.lines().filter_map(|row| row.split(',').nth(4)?.parse::<f64>().ok());
    assert!(slow.filter(|rtt_s| *rtt_s > 0.3).count() >= 5, "the probes of the watch saw the queue");
    assert_eq!(watch.said(), Vec::<String>::new(), "no alert");
    assert_eq!(watch.end(), Some(0));
    let results: Vec<_> = std::fs::read_dir(store.join("results")).unwrap().flatten().collect();
    let [result] = results.as_slice() else { panic!("{results:?}") };
    let report = run(&["report", "--json", result.path().to_str().unwrap()]);
    assert_eq!(report.code, Some(1), "a bloated line: {}", report.describe());
    report.document();
    the_history_is_a_fleet_of_one_site(&config);
    // The ledger outlives the program: this interval has had its test.
    let ledger = std::fs::read_to_string(store.join("tests.json")).unwrap();
    let ledger: Value = serde_json::from_str(&ledger).unwrap();
    let used = number(&ledger["tests"]["line"]["used_bytes"]);
    assert!((10e6..60e6).contains(&used), "{ledger}");
    assert!(ledger["last"]["ended_ns"].is_u64(), "{ledger}");
}

/// The same values and the result, without an engine and an archive.
fn the_history_is_a_fleet_of_one_site(config: &str) {
    let ask = |words: &[&str]| {
        let ran = run(&[&["fleet"], words, &["--config", config, "--json"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.describe());
        ran.document()
    };
    let sites = ask(&["sites"]);
    let site = &sites["fleet"]["sites"][0];
    assert_eq!(
        (&sites["verdict"]["headline"], &site["tests"]),
        (&"1 of 1 sites is bloated.".into(), &1.into())
    );
    assert!((0.3..0.7).contains(&number(&site["lag_up_s"])), "{site}");
    assert!((40e3..80e3).contains(&number(&site["buffer_up_bytes"])), "{site}");
    let name = site["site"].as_str().unwrap();
    let history = ask(&["site", name]);
    let result = &history["fleet"]["results"][0];
    assert!(result["name"].as_str().unwrap().ends_with(".json.gz"), "{history}");
    assert!(!result["verdict"].as_str().unwrap().is_empty(), "{history}");
    let buffers = ask(&["buffers", "--direction", "down"]);
    assert_eq!(buffers["fleet"]["points"][0]["site"], name, "{buffers}");
    assert_eq!(ask(&["trend"])["fleet"]["all"]["points"][0]["sites"], 1);
    let misspelt = run(&["fleet", "trend", "--by", "plan", "--config", config]);
    assert!(misspelt.err.contains("unknown label plan"), "{}", misspelt.describe());
    assert_eq!(ask(&["together"])["fleet"]["known"], 1);
    assert_eq!(ask(&["changes", "--at", "1h"])["verdict"]["level"], "no_result");
}
