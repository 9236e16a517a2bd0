//! Exports match the history, in both formats.
use super::support::Dir;
use fathom_units::{Duration, Rng, WallTime};
use fathom_watch_samples::{Level, Outcome, Sample, Unit};
use fathom_watch_store::export::{Csv, Export, Field, Kind, Parquet, ROLLUPS, SAMPLES, Table, WINDOWS};
use fathom_watch_store::{History, HistoryConfig, HistoryReader, SeriesId, SeriesKey};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field as Read;
use std::fs::File;
use std::path::Path;

const SECOND: u64 = 1_000_000_000;
/// 2026-01-05T00:00:00Z.
const START: u64 = 1_767_571_200 * SECOND;

/// Seven hours: a chunk, parts, and data only in the journal.
const SECONDS: u64 = 7 * 3_600;

fn made(dir: &Path) {
    let config = HistoryConfig { durable_every: Duration::from_secs(400), ..HistoryConfig::default() };
    let (mut history, _) = History::open(dir, &config).expect("the directory can be used");
    let mut rng = Rng::new(3);
    let mut id = |target: &str, probe: &str, unit| {
        history.series(&SeriesKey { target: target.into(), probe: probe.into(), unit }).expect("a number")
    };
    let delays = [id("a,b \"c\"", "icmp", Unit::Seconds), id("d", "hop 3", Unit::Seconds)];
    let level = id("this host", "eth0 sent", Unit::BitsPerSecond);
    for second in 0..SECONDS {
        let at = WallTime(START + second * SECOND);
        for series in delays {
            let outcome = match rng.below(20) {
                0 => Outcome::Lost,
                1 => Outcome::Failed,
                2 => Outcome::Late(Duration::from_millis(6_000)),
                _ => Outcome::Answered(Duration::from_micros(1 + rng.below(100_000))),
            };
            history.record(series, &[Sample { at, outcome }]);
        }
        history.record_levels(level, &[Level { at, value: (second % 7 > 0).then_some(second as f64) }]);
        if second % 60 == 0 {
            history.flush(at);
        }
    }
    history.save(WallTime(START + SECONDS * SECOND));
}

fn all(reader: &mut HistoryReader) -> Vec<(SeriesId, SeriesKey)> {
    reader.series().expect("it can be read")
}

fn export(every: Option<Duration>) -> Export {
    Export { from: WallTime(START), to: WallTime(START + SECONDS * SECOND), every }
}

fn written(wanted: &Export, dir: &Path, name: &str, table: fn(File, &[Field]) -> Box<dyn Table>) -> u64 {
    let mut reader = HistoryReader::open(dir).expect("it is there");
    let mut table = table(File::create(dir.join(name)).expect("it can be made"), wanted.fields());
    let series = all(&mut reader);
    let rows = wanted.write(&mut reader, &series, table.as_mut()).expect("it can be written");
    table.finish().expect("it can be finished");
    assert_eq!(reader.faults(), Vec::<String>::new());
    rows
}

fn csv(wanted: &Export, dir: &Path) -> (u64, Vec<String>) {
    let rows = written(wanted, dir, "t.csv", |file, fields| Box::new(Csv::new(file, fields).expect("begun")));
    let text = std::fs::read_to_string(dir.join("t.csv")).expect("it is there");
    (rows, text.split_terminator("\r\n").map(str::to_owned).collect())
}

/// The rows of a Parquet file in CSV form, and the number of rows per group.
fn parquet(wanted: &Export, dir: &Path) -> (u64, Vec<String>, Vec<i64>) {
    let rows = written(wanted, dir, "t.parquet", |file, fields| {
        Box::new(Parquet::new(file, fields).expect("begun"))
    });
    let reader =
        SerializedFileReader::new(File::open(dir.join("t.parquet")).expect("it is there")).expect("Parquet");
    let groups = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    let cell = |field: &Read| match field {
        Read::Str(text) if text.contains(',') => format!("\"{}\"", text.replace('"', "\"\"")),
        Read::Str(text) => text.clone(),
        Read::Long(number) => number.to_string(),
        Read::Double(number) => number.to_string(),
        Read::Null => String::new(),
        other => panic!("{other:?}"),
    };
    let line = |row: parquet::record::Row| {
        row.get_column_iter().map(|(_, field)| cell(field)).collect::<Vec<_>>().join(",")
    };
    let lines = reader.get_row_iter(None).expect("rows").map(|row| line(row.expect("a row"))).collect();
    (rows, lines, groups)
}

#[test]
fn every_sample_is_exported_in_both_forms() {
    let dir = Dir::new();
    made(&dir.0);
    let wanted = export(None);
    let (rows, lines) = csv(&wanted, &dir.0);
    assert_eq!(rows, 3 * SECONDS);
    let (head, body) = lines.split_first().expect("a head");
    assert_eq!(head, "target,probe,at_ms,outcome,rtt_s,level_bits_per_second,level_bytes");
    let mut truth = Vec::new();
    let mut reader = HistoryReader::open(&dir.0).expect("it is there");
    for (id, key) in all(&mut reader) {
        for stored in reader.stored(id, wanted.from, wanted.to).expect("it can be read") {
            let value = stored.code.value().map(|value| value.to_string()).unwrap_or_default();
            let name = if key.target == "d" { "d,hop 3" } else { "\"a,b \"\"c\"\"\",icmp" };
            let outcome = match stored.sample().outcome {
                Outcome::Answered(_) => "answered",
                Outcome::Late(_) => "late",
                Outcome::Lost => "lost",
                Outcome::Failed => "failed",
            };
            truth.push(match key.unit {
                Unit::Seconds => format!("{name},{},{outcome},{value},,", stored.at_ms),
                _ => format!(
                    "this host,eth0 sent,{},{},,{value},",
                    stored.at_ms,
                    outcome.replace("answered", "read")
                ),
            });
        }
    }
    assert!(body == truth, "{:?}", body.iter().zip(&truth).find(|(a, b)| a != b));
    let (also, same, groups) = parquet(&wanted, &dir.0);
    assert_eq!(also, rows);
    assert!(same == truth, "{:?}", same.iter().zip(&truth).find(|(a, b)| a != b));
    assert!(groups.iter().all(|many| *many <= 100_000), "what is in memory is bounded: {groups:?}");
}

#[test]
fn windows_of_each_length_count_every_sample_once() {
    let dir = Dir::new();
    made(&dir.0);
    for (name, every) in WINDOWS {
        let wanted = export(Some(every));
        let (rows, lines) = csv(&wanted, &dir.0);
        let (head, body) = lines.split_first().expect("a head");
        assert_eq!(head.split(',').count(), ROLLUPS.len());
        assert_eq!(parquet(&wanted, &dir.0).1, body, "{name}");
        assert_eq!(rows, 3 * SECONDS.div_ceil(every.as_nanos() / SECOND), "{name}");
        let of_d: Vec<Vec<&str>> =
            body.iter().filter(|line| line.starts_with("d,")).map(|line| line.split(',').collect()).collect();
        let sum =
            |column: usize| of_d.iter().map(|row| row[column].parse::<u64>().expect("a count")).sum::<u64>();
        // All are sent or failed; sent ones are answered, late or lost.
        assert_eq!((sum(4) + sum(8), sum(5) + sum(6) + sum(7)), (SECONDS, sum(4)), "{name}");
        for row in &of_d {
            let (from, to): (u64, u64) = (row[2].parse().expect("a time"), row[3].parse().expect("a time"));
            assert_eq!(
                (from % (every.as_nanos() / 1_000_000), (to - from) * 1_000_000),
                (0, every.as_nanos()),
                "{name}"
            );
        }
    }
}

#[test]
fn names_of_columns_end_in_their_unit() {
    let units = ["_ms", "_s", "_bits_per_second", "_bytes", "_probes", "_answers"];
    for field in SAMPLES.iter().chain(&ROLLUPS) {
        let is_text = field.kind == Kind::Text;
        assert!(is_text || units.iter().any(|unit| field.name.ends_with(unit)), "{}", field.name);
    }
}
