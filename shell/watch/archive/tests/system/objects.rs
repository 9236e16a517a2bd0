//! Reads the objects of a folder.
use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A row of a table of samples. Numbers are compared by their bits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Sample {
    pub(crate) target: String,
    pub(crate) probe: String,
    pub(crate) at_ms: u64,
    pub(crate) outcome: String,
    pub(crate) rtt: Option<u64>,
    pub(crate) rate: Option<u64>,
}

/// Objects by key.
pub(crate) type Objects = BTreeMap<String, Vec<u8>>;

pub(crate) fn sorted(mut all: Vec<Sample>) -> Vec<Sample> {
    all.sort();
    all
}

/// All files below a folder, by their path in it.
pub(crate) fn objects(folder: &Path) -> Objects {
    let mut all = Objects::new();
    add(folder, folder, &mut all);
    all
}

fn add(root: &Path, dir: &Path, all: &mut Objects) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add(root, &path, all);
        } else if let Ok(bytes) = fs::read(&path) {
            // A temporary file may have been renamed.
            let key = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            all.insert(key, bytes);
        }
    }
}

/// The objects of one kind.
pub(crate) fn of_kind<'a>(
    all: &'a Objects,
    kind: &'a str,
) -> impl Iterator<Item = (&'a String, &'a Vec<u8>)> {
    all.iter().filter(move |(key, _)| key.starts_with(kind))
}

fn rows(object: &[u8]) -> Vec<Row> {
    let reader = SerializedFileReader::new(Bytes::from(object.to_vec())).unwrap();
    let groups = reader.metadata().row_groups();
    assert!(groups.iter().all(|group| group.num_rows() <= 100_000), "memory is bounded");
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn cell<'a>(row: &'a Row, name: &str) -> &'a Field {
    row.get_column_iter().find(|(column, _)| *column == name).unwrap_or_else(|| panic!("no {name}")).1
}

fn text(row: &Row, name: &str) -> String {
    match cell(row, name) {
        Field::Str(text) => text.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

fn whole(row: &Row, name: &str) -> u64 {
    match cell(row, name) {
        Field::Long(number) => u64::try_from(*number).unwrap(),
        other => panic!("{name}: {other:?}"),
    }
}

fn number(row: &Row, name: &str) -> Option<u64> {
    match cell(row, name) {
        Field::Double(number) => Some(number.to_bits()),
        Field::Null => None,
        other => panic!("{name}: {other:?}"),
    }
}

/// Every sample in all objects, sorted. A sample that is in two objects is here twice.
pub(crate) fn samples(all: &Objects) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (_, object) in of_kind(all, "samples/") {
        samples.extend(rows(object).iter().map(|row| Sample {
            target: text(row, "target"),
            probe: text(row, "probe"),
            at_ms: whole(row, "at_ms"),
            outcome: text(row, "outcome"),
            rtt: number(row, "rtt_s"),
            rate: number(row, "level_bits_per_second"),
        }));
    }
    sorted(samples)
}

/// A ten-minute window: target, probe, start, and the counts of sent, answered, late, lost and
/// failed probes.
pub(crate) type Window = (String, String, u64, [u64; 5]);

/// Every window in all objects, sorted.
pub(crate) fn windows(all: &Objects) -> Vec<Window> {
    let mut windows: Vec<Window> = Vec::new();
    for (_, object) in of_kind(all, "windows/") {
        windows.extend(rows(object).iter().map(|row| {
            assert_eq!(whole(row, "to_ms") - whole(row, "from_ms"), 600_000);
            let counts = ["sent", "answered", "late", "lost", "failed"];
            let counts = counts.map(|name| whole(row, &format!("{name}_probes")));
            (text(row, "target"), text(row, "probe"), whole(row, "from_ms"), counts)
        }));
    }
    windows.sort();
    windows
}

/// The windows of these samples.
pub(crate) fn windows_of(samples: &[Sample]) -> Vec<Window> {
    let mut windows: BTreeMap<(String, String, u64), [u64; 5]> = BTreeMap::new();
    for sample in samples {
        let start = sample.at_ms / 600_000 * 600_000;
        let counts = windows.entry((sample.target.clone(), sample.probe.clone(), start)).or_default();
        counts[0] += u64::from(sample.outcome != "failed");
        counts[match sample.outcome.as_str() {
            "late" => 2,
            "lost" => 3,
            "failed" => 4,
            _ => 1,
        }] += 1;
    }
    windows.into_iter().map(|((target, probe, start), counts)| (target, probe, start, counts)).collect()
}
