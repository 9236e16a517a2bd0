//! The traffic of a host in files.
use fathom_run::{HostTraffic, PhaseKind, Process, ProgramTraffic, Run};
use fathom_units::PerDirection;

fn file(host_traffic: &str) -> Vec<u8> {
    let mut run = serde_json::to_value(crate::measure::run()).expect("a run is JSON");
    run["host_traffic"] = serde_json::from_str(host_traffic).expect("JSON");
    serde_json::to_vec(&run).expect("a value is JSON")
}

#[test]
fn programs_are_kept_in_files_and_hidden_from_operators() {
    let text = r#"[{"phase": "idle", "bits_per_second": {"up": 9e5, "down": 2e4}, "programs": [
        {"process": {"id": 7, "name": "rsync"}, "remote": "192.0.2.7", "bits_per_second": {"up": 8e5, "down": 0}},
        {"remote": "192.0.2.8", "bits_per_second": {"up": 0, "down": 1e4}}]}]"#;
    let mut run = Run::from_json(&file(text)).unwrap();
    let program = |process, remote: &str, up, down| ProgramTraffic {
        process,
        remote: remote.into(),
        bits_per_second: PerDirection { up, down },
    };
    let rsync = Process { id: 7, name: "rsync".into() };
    let want = HostTraffic {
        phase: PhaseKind::Idle,
        bits_per_second: PerDirection { up: 9e5, down: 2e4 },
        programs: vec![program(Some(rsync), "192.0.2.7", 8e5, 0.0), program(None, "192.0.2.8", 0.0, 1e4)],
    };
    assert_eq!(run.host_traffic, std::slice::from_ref(&want));
    let again = Run::from_json(&serde_json::to_vec(&run).unwrap()).unwrap();
    assert_eq!(again.host_traffic, run.host_traffic);
    run.hide_local_addresses();
    assert_eq!(run.host_traffic, [HostTraffic { programs: Vec::new(), ..want }]);
}

#[test]
fn more_than_a_host_can_have_is_refused() {
    let one = r#"{"phase": "idle", "bits_per_second": {"up": 0, "down": 0}},"#;
    let text = format!("[{}]", one.repeat(2_000).trim_end_matches(','));
    let error = Run::from_json(&file(&text)).unwrap_err();
    assert!(error.to_string().contains("exceeds the limit"), "{error}");
}
