//! Results of other tools in `fathom report` and `fathom compare`.
use crate::program::{Ran, run, scratch};
use std::path::Path;

fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/import").join(name).display().to_string()
}

#[test]
fn each_tool_gets_the_verdict_that_its_data_allow() {
    // Level, health and exit code; the line has 4 and 10 Mbit/s, with 50 and 100 kB of tail drop.
    let samples = [
        ("crusader.crr", "at_least_bad", "bloated", 1),
        ("rrul_be.flent.gz", "bad", "bloated", 1),
        ("ping.flent.gz", "good", "healthy", 0),
        ("iperf3-up.json", "no_result", "inconclusive", 5),
        ("irtt-load.json.gz", "fair", "healthy", 0),
        ("ping-linux-d.txt", "fair", "healthy", 0),
        ("ping-unreachable.txt", "no_result", "inconclusive", 5),
        ("fping-D.txt", "good", "healthy", 0),
        ("mtr-raw.txt", "good", "healthy", 0),
        ("goresponsiveness.csv.gz", "no_result", "inconclusive", 5),
        ("cloudflare-raw.json.gz", "bad", "bloated", 1),
    ];
    for (name, level, health, code) in samples {
        let ran = run(&["report", "--json", &sample(name)]);
        assert_eq!(ran.code, Some(code), "{name}: {}", ran.describe());
        let document = ran.document();
        assert_eq!(document["verdict"]["level"], level, "{name}: {}", ran.describe());
        assert_eq!(document["verdict"]["health"], health, "{name}");
        assert_eq!(document["command"], "import");
        // Crusader records all that a verdict needs.
        let has_note =
            document["notes"].as_array().unwrap().iter().any(|note| note["kind"] == "not_recorded");
        assert_eq!(has_note, name != "crusader.crr", "{name}");
    }
}

#[test]
fn tools_are_compared_and_exported() {
    let page = scratch().join("imports.html").display().to_string();
    let (flent, crusader) = (sample("rrul_be.flent.gz"), sample("crusader.crr"));
    let ran = run(&["compare", &flent, &crusader, &sample("iperf3-bidir.json"), "-o", &page]);
    assert_eq!(ran.code, Some(0), "{}", ran.describe());
    assert!(std::fs::read_to_string(&page).unwrap().contains("<svg"));
    // What was imported can be saved, and read again as a result of Fathom.
    let saved = scratch().join("imported.json.gz").display().to_string();
    assert_eq!(run(&["report", &flent, "-o", &saved]).code, Some(1));
    let again = run(&["report", "--json", &saved]).document();
    assert_eq!(again["verdict"], run(&["report", "--json", &flent]).document()["verdict"]);
    // The advice names a command that works.
    let simulated = run(&["sim", "--from", &crusader, "--with", "cake@95%"]);
    assert_eq!(simulated.code, Some(0), "{}", simulated.describe());
}

#[test]
fn what_fathom_exports_to_flent_comes_back() {
    let exported = scratch().join("exported.flent.gz").display().to_string();
    let original = sample("rrul_be.flent.gz");
    assert_eq!(run(&["report", &original, "-o", &exported]).code, Some(1));
    let summary = |file: &str| run(&["report", "--json", file]).document()["verdict"]["health"].clone();
    assert_eq!(summary(&exported), summary(&original));
}

#[test]
fn files_without_a_result_are_refused() {
    let refused = |content: &[u8]| -> Ran {
        let path = scratch().join("refused");
        std::fs::write(&path, content).unwrap();
        run(&["report", &path.display().to_string()])
    };
    let failed = std::fs::read(sample("iperf3-error.json")).unwrap();
    let contents: [&[u8]; 5] = [b"", b"<html></html>", b"\xd4\xc3\xb2\xa1", b"\x1f\x8b\x08\x00cut", &failed];
    for content in contents {
        let ran = refused(content);
        assert_eq!(ran.code, Some(2), "{}", ran.describe());
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.describe());
    }
    for (name, advice) in [("mtr-report.json", "mtr --raw"), ("cloudflare-summary.json", "results.raw")] {
        let ran = run(&["report", &sample(name)]);
        assert!(ran.code == Some(2) && ran.err.contains(advice), "{}", ran.describe());
    }
}
