//! Tests of tables: the order of rows, and resuming an interrupted table.
use fathom_run::{Measure, Metric, Observation, Run, Series, SeriesKey, Value};
use fathom_scenario::{Grid, Plan, ScenarioError, Setting, builtin, parse, with_settings};
use fathom_sweep::{Progress, Shard, Sweep, SweepError, TableError, write_parquet};
use fathom_units::Time;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) fn plan(settings: &[Setting]) -> Result<Plan, ScenarioError> {
    parse(&with_settings(builtin("dsl").unwrap(), "dsl", settings)?, "dsl")
}

/// A run with one observation: the rate in Mbit/s plus the seed.
pub(crate) fn simulate(plan: &Plan, seed: u64) -> (Run, u64) {
    let mut run = Run {
        schema_version: fathom_run::SCHEMA_VERSION,
        tool_version: String::new(),
        command: "sim".into(),
        started: String::new(),
        title: String::new(),
        host: fathom_run::Host::default(),
        facts: [].into(),
        phases: Vec::new(),
        series: Vec::new(),
        instrument: fathom_run::Instrument::default(),
        partial: None,
        capture: None,
        path: None,
        history: None,
        bursts: Vec::new(),
        switch: None,
        host_traffic: Vec::new(),
        notes: Vec::new(),
    };
    let mut series = Series::new(SeriesKey::of(Metric::UdpRtt));
    let rate = plan.line.hops.iter().filter_map(|hop| hop.up.nominal_rate()).min().unwrap();
    let value = rate.as_bits_per_second() as f64 / 1e6 + seed as f64;
    series.push(Observation { at: Time::ZERO, value: Value::Observed(value) });
    run.series.push(series);
    (run, value as u64)
}

fn grid(axis: &str) -> Grid {
    Grid { axes: vec![axis.parse().unwrap()], seeds: vec![1, 2] }
}

pub(crate) fn path(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sweep-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

fn run(grid: &Grid, path: &Path, threads: usize, stop_after: Option<u64>) -> Result<u64, SweepError> {
    let measures: Vec<Measure> =
        ["udp_rtt_s max", "udp_rtt_s max while up"].map(|m| m.parse().unwrap()).into();
    let sweep = Sweep { grid, measures: &measures, plan: &plan, simulate: &simulate };
    let cancel = AtomicBool::new(false);
    sweep.run(path, Shard::WHOLE, threads, &cancel, &mut |progress: Progress| {
        if stop_after.is_some_and(|rows| progress.done >= rows) {
            cancel.store(true, Ordering::Relaxed);
        }
    })
}

#[test]
fn the_table_is_the_same_with_any_thread_count_and_after_any_interruption() {
    let grid = grid("hop.0.up.rate=1mbit..1.5mbit/60");
    let whole = path("whole.csv");
    assert_eq!(run(&grid, &whole, 1, None).unwrap(), 120);
    let expected = std::fs::read_to_string(&whole).unwrap();
    assert!(
        expected.starts_with("hop.0.up.rate,seed,udp_rtt_s max,udp_rtt_s max while up,digest\n1mbit,1,2,,")
    );
    for (threads, stop_after) in [(2, None), (7, Some(3)), (3, Some(100))] {
        let part = path("part.csv");
        run(&grid, &part, threads, stop_after).unwrap();
        // An incomplete last row, as after a power cut.
        let kept = std::fs::read_to_string(&part).unwrap();
        std::fs::write(&part, &kept[..kept.len() - 3]).unwrap();
        assert_eq!(run(&grid, &part, threads, None).unwrap(), 120);
        assert_eq!(
            std::fs::read_to_string(&part).unwrap(),
            expected,
            "{threads} threads, stopped at {stop_after:?}"
        );
    }
}

#[test]
fn a_table_of_another_sweep_is_left_alone() {
    let table = path("other.csv");
    run(&grid("hop.0.up.rate=1mbit,2mbit"), &table, 1, None).unwrap();
    let before = std::fs::read(&table).unwrap();
    for (axis, at) in [("hop.0.up.rate=1mbit,3mbit", 4), ("hop.0.down.rate=1mbit,2mbit", 1)] {
        let error = run(&grid(axis), &table, 1, None).unwrap_err();
        assert!(
            matches!(error, SweepError::Table(TableError::Other { line, .. }) if line == at),
            "{error:?}"
        );
    }
    assert_eq!(std::fs::read(&table).unwrap(), before);
}

#[test]
fn a_cell_that_is_no_scenario_names_itself() {
    let table = path("bad.csv");
    let error = run(&grid("hop.0.up.rate=1mbit,fast"), &table, 2, None).unwrap_err();
    assert!(matches!(&error, SweepError::Scenario { cell, .. } if cell == "hop.0.up.rate=fast"), "{error:?}");
    // The rows before it are kept.
    assert_eq!(std::fs::read_to_string(&table).unwrap().lines().count(), 3);
}

#[test]
fn shards_hold_every_row_once() {
    let grid = grid("hop.0.up.rate=1mbit,2mbit,3mbit,4mbit,5mbit");
    let mut rows: Vec<String> = Vec::new();
    for shard in 0..3_u64 {
        let part = path(&format!("shard{shard}.csv"));
        let sweep = Sweep { grid: &grid, measures: &[], plan: &plan, simulate: &simulate };
        sweep.run(&part, Shard { index: shard, count: 3 }, 2, &AtomicBool::new(false), &mut |_| {}).unwrap();
        rows.extend(std::fs::read_to_string(&part).unwrap().lines().skip(1).map(str::to_owned));
    }
    rows.sort();
    rows.dedup();
    assert_eq!(rows.len(), 10);
}

#[test]
fn parquet_holds_the_same_numbers() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let (table, columnar) = (path("p.csv"), path("p.parquet"));
    run(&grid("hop.0.up.rate=1mbit,2mbit"), &table, 1, None).unwrap();
    write_parquet(&table, &columnar, 2).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(&columnar).unwrap()).unwrap();
    let rows: Vec<String> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
    assert_eq!(rows.len(), 4);
    let third = "{hop.0.up.rate: \"2mbit\", seed: \"1\", udp_rtt_s max: 2.0, udp_rtt_s max while up: null, ";
    assert!(rows[2].starts_with(third), "{}", rows[2]);
}
