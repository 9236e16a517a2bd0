//! Tests of the workloads of a scenario in the simulator and in the lab.
use crate::program::{Words, alone, fathom, scratch};
use fathom_run::{Measure, Metric, PhaseKind, Run, SeriesKey};
use fathom_units::Direction;
use std::path::PathBuf;

/// A line of 4 Mbit/s with a buffer of 64 ms and a base round-trip time of 20 ms.
const LINE: &str = r#"
name = "workloads"
about = "x"
source = "this test"
[[hop]]
name = "modem"
up = { rate = "4mbit", delay = "10ms", queue = "fifo limit 32kb" }
down = { rate = "20mbit", delay = "10ms", queue = "fifo limit 64kb" }
[run]
idle = "1s"
duration = "5s"
drain = "1s"
"#;

const MIX: &str = r#"
[[workload]]
kind = "bulk"
direction = "up"
congestion_control = "reno"
[[workload]]
kind = "rpc"
interval = "200ms"
congestion_control = "reno"
[[workload]]
kind = "web"
connections = 3
objects = 4
bytes = "20000b"
start = "500ms"
interval = "1s"
congestion_control = "reno"
[[workload]]
kind = "call"
"#;

fn file(name: &str, workloads: &str) -> PathBuf {
    let path = scratch().join(name);
    std::fs::write(&path, format!("{LINE}{workloads}")).unwrap();
    path
}

fn result_of(command: &str, file: &std::path::Path) -> Run {
    let output = fathom(&[command, file.to_str().unwrap(), "--json"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    Run::from_json(&output.stdout).unwrap_or_else(|e| panic!("{command}: {e}\n{stderr}"))
}

#[test]
fn a_mixed_workload_takes_as_long_simulated_as_measured() {
    let _alone = alone();
    let path = file("workloads-mix.toml", MIX);
    let (simulated, measured) = (result_of("sim", &path), result_of("lab", &path));
    for run in [&simulated, &measured] {
        let phases: Vec<PhaseKind> = run.phases.iter().map(|phase| phase.kind).collect();
        assert_eq!(phases, [PhaseKind::Idle, PhaseKind::Both, PhaseKind::Drain]);
    }
    assert_eq!((&measured.partial, &measured.command[..]), (&None, "lab"));
    let load = |run: &Run| run.phases[1].load.clone().unwrap();
    assert_eq!((load(&measured).flows_up, load(&measured).flows_down), (1, 3));
    assert_eq!(load(&measured).congestion_control, "reno");
    for (text, factor) in [
        ("request_s scope rpc p50", 2.0),
        ("page_load_s scope web p50", 2.0),
        ("packet_delay_s up scope call p50", 2.0),
        ("packet_delay_s down scope call p50", 2.0),
        ("call_mos up scope call p50", 1.2),
        ("goodput_bits_per_second up mean while both", 1.5),
        ("udp_rtt_s p50 while both", 2.0),
    ] {
        let measure: Measure = text.parse().unwrap();
        let [a, b] =
            [&simulated, &measured].map(|run| measure.of(run).unwrap_or_else(|| panic!("no {text}")));
        assert!(a < b * factor && b < a * factor, "{text}: simulated {a}, measured {b}");
    }
    // One every 20 ms for 5 s, lost or not.
    let key = |direction| SeriesKey {
        scope: Some("call".to_owned()),
        flow: Some(1),
        ..SeriesKey::directed(Metric::PacketDelay, direction)
    };
    for direction in Direction::BOTH {
        let sent = measured.series(&key(direction)).unwrap().values.len();
        assert!((240..=251).contains(&sent), "{direction:?}: {sent}");
    }
}

#[test]
fn features_of_simulations_are_rejected_by_name() {
    let path = file("workloads-refused.toml", "[[workload]]\nkind = \"rpc\"\nextra_rtt = \"10ms\"\n");
    let name = path.file_name().unwrap().to_str().unwrap();
    let mut words = Words::of("workloads-refused", &scratch());
    words.run(&["lab", name, "--json"], 2);
    words.run(&["sim", name, "--vs-lab"], 2);
}
