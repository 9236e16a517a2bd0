//! Files compared with RRDtool's own reading of them.
use super::encode::{Made, MadeArchive, encode};
use fathom_units::Rng;
use fathom_watch_import::rrd::{Layout, read};
use std::path::PathBuf;
use std::process::Command;

fn run(args: &[&str]) -> String {
    let output = Command::new("rrdtool").args(args).output().expect("rrdtool is to be installed: ./setup");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("as rrdtool writes it")
}

fn place(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Time and values of each row of each archive, as `rrdtool dump` writes them.
fn dumped(file: &str) -> Vec<Vec<(u64, Vec<f64>)>> {
    let text = run(&["dump", file]);
    let archive = |part: &str| {
        let row = |line: &str| {
            let end_s =
                line.split_once(" / ")?.1.split_once(" -->")?.0.parse().expect("as rrdtool writes it");
            let cells = line.split("<v>").skip(1).map(|c| {
                c.split_once('<')
                    .expect("as rrdtool writes it")
                    .0
                    .trim()
                    .parse()
                    .expect("as rrdtool writes it")
            });
            Some((end_s, cells.collect()))
        };
        part.lines().filter_map(row).collect()
    };
    text.split("<database>").skip(1).map(archive).collect()
}

fn agrees(path: &str) -> usize {
    let bytes = std::fs::read(path).expect("a database");
    let rrd = read(&bytes).expect("a database");
    let dumped = dumped(path);
    assert_eq!(rrd.archives.len(), dumped.len());
    let mut values = 0;
    for (archive, wanted) in rrd.archives.iter().zip(&dumped) {
        let rows: Vec<_> = rrd.rows(archive).collect();
        assert_eq!(rows.len(), wanted.len());
        for (row, (end_s, cells)) in rows.iter().zip(wanted) {
            assert_eq!(row.end_s, *end_s, "{path} {}", archive.function);
            for (ours, theirs) in row.values.iter().zip(cells) {
                // `rrdtool dump` prints eleven digits.
                let close = (ours - theirs).abs() <= theirs.abs() * 1e-10;
                assert!(close || (ours.is_nan() && theirs.is_nan()), "{path}: {ours} {theirs}");
                values += 1;
            }
        }
    }
    values
}

fn cell(rng: &mut Rng) -> String {
    if rng.below(8) == 0 { "U".to_owned() } else { format!("0.{:06}", rng.below(1_000_000)) }
}

/// Archives as SmokePing creates them, with updates between steps and with missing rounds.
#[test]
fn archives_made_by_rrdtool() {
    for seed in 0..6 {
        let mut rng = Rng::new(seed);
        let path = place(&format!("made{seed}.rrd"));
        let path = path.to_str().unwrap();
        let start_s = 1_700_000_000 + rng.below(10_000);
        let mut args = vec!["create".into(), path.to_owned(), "--step".into(), "300".into()];
        args.extend(["--start".into(), start_s.to_string()]);
        args.extend(["uptime", "loss", "median"].map(|n| format!("DS:{n}:GAUGE:600:0:U")));
        args.extend((1..=5).map(|n| format!("DS:ping{n}:GAUGE:600:0:180")));
        for rra in [
            "AVERAGE:0.5:1:50",
            "AVERAGE:0.5:12:20",
            "MIN:0.5:12:20",
            "MAX:0.5:12:20",
            "HWPREDICT:20:0.1:0.0035:10",
        ] {
            args.push(format!("RRA:{rra}"));
        }
        run(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let mut at_s = start_s;
        for _ in 0..rng.below(150) {
            at_s += 290 + rng.below(20) + if rng.below(20) == 0 { 3_000 } else { 0 };
            let cells: Vec<String> = (0..8).map(|_| cell(&mut rng)).collect();
            run(&["update", path, &format!("{at_s}:{}", cells.join(":"))]);
        }
        assert!(agrees(path) > 100, "seed {seed}");
    }
}

/// The test encoder writes what RRDtool reads, in this machine's layout.
#[test]
fn archives_made_by_the_encoder() {
    let native = Layout::ALL.into_iter().find(|l| {
        let little = cfg!(target_endian = "little") == (l.order == fathom_watch_import::rrd::Order::Little);
        little && l.long == size_of::<usize>() && l.time == 8
    });
    for (version, seed) in [(1, 1), (3, 2), (4, 3)] {
        let mut rng = Rng::new(seed);
        let made = Made {
            version,
            layout: native.unwrap(),
            step_s: 300,
            updated_s: 1_700_000_123,
            sources: vec!["loss".into(), "median".into()],
            archives: vec![archive(&mut rng, "AVERAGE", 1, 9), archive(&mut rng, "MAX", 12, 4)],
        };
        let path = place(&format!("encoded{version}.rrd"));
        std::fs::write(&path, encode(&made)).unwrap();
        assert_eq!(agrees(path.to_str().unwrap()), 26);
    }
}

fn archive(rng: &mut Rng, function: &'static str, steps: u64, count: usize) -> MadeArchive {
    let rows = (0..count).map(|_| vec![rng.below(1_000) as f64 / 1e3; 2]).collect();
    MadeArchive { function, steps, rows, newest: rng.below(count as u64) as usize }
}
