//! The static site and the pages of `fathom serve` that analyze captures and simulate lines, in a
//! real headless Chromium: the results are those of the command line. Fails if Chromium, the
//! packages of ui/, or the standard library for browsers are missing.
use crate::program::{Serve, fathom, run, scratch};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// Captures of the repository, in the order in which they are dropped on the page: in pcap and in
/// pcapng.
const CAPTURES: [&str; 2] = ["trace/kernel/one.pcap.gz", "trace/udp/call-sender.pcap.gz"];
/// The one behind the button.
const EXAMPLE: &str = "trace/lab/up-sender.pcap.gz";

/// Uses the pages at `site`.
fn used(site: &str, files: &[&str]) -> Value {
    let script = format!("{ROOT}/ui/check/site.mjs");
    let output = Command::new("node").arg(script).arg(site).args(files).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let found = out.lines().find_map(|text| serde_json::from_str::<Value>(text).ok());
    let used = found.unwrap_or_else(|| panic!("no result of the pages (try ui/verify): {out}\n{err}"));
    assert_eq!(used["errors"].as_array().map(Vec::len), Some(0), "{used}");
    used
}

fn testdata(path: &str) -> String {
    format!("{ROOT}/testdata/{path}")
}

/// The document of the page is that of the command line, except for what only a host has.
fn check_trace(shown: &Value, path: &str) {
    let text = fathom(&["trace", &testdata(path), "--json"]).output().unwrap();
    let mut expected: Value = serde_json::from_slice(&text.stdout).unwrap();
    let mut document: Value = serde_json::from_str(shown["document"].as_str().unwrap()).unwrap();
    for one in [&mut expected, &mut document] {
        one["host"] = Value::Null;
        one["title"] = Value::Null;
        one["capture"]["sources"][0]["name"] = Value::Null;
    }
    let differs = |name: &&String| document[name.as_str()] != expected[name.as_str()];
    let members: Vec<&String> = expected.as_object().unwrap().keys().filter(differs).collect();
    assert!(members.is_empty(), "{path}: {members:?} differ");
}

/// The figures of the page are those of the command line.
fn check_sim(sim: &Value) {
    let file = scratch().join("site.toml");
    std::fs::write(&file, sim["scenario"].as_str().unwrap()).unwrap();
    let document = run(&["sim", file.to_str().unwrap(), "--json"]).document();
    assert_eq!(sim["headline"], document["verdict"]["headline"]);
    let p50_ms = document["summary"]["phases"][1]["latency"]["p50_s"].as_f64().unwrap() * 1e3;
    assert!((400.0..550.0).contains(&p50_ms), "half a second of buffer: {p50_ms} ms");
    let figures = sim["figures"].as_str().unwrap();
    assert!(figures.contains(&format!("median{p50_ms:.0} ms")), "{p50_ms} ms: {figures}");
    // FQ-CoDel, as the other column.
    assert!(figures.contains("FQ-CoDel"), "{figures}");
    // The slider was moved to the largest buffer.
    assert_ne!(sim["widest"], sim["figures"]);
}

#[test]
fn the_site_works_from_a_disk() {
    let site = scratch().join("site");
    let built = Command::new(format!("{ROOT}/packaging/site"))
        .arg(&site)
        .env("FATHOM", env!("CARGO_BIN_EXE_fathom"))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    for page in ["index.html", "gallery/index.html", "docs/queues.html", "docs/images/test.svg"] {
        assert!(site.join(page).is_file(), "{page}");
    }
    let text = format!("{ROOT}/README.md");
    let captures: Vec<String> = CAPTURES.iter().map(|path| testdata(path)).collect();
    let files: Vec<&str> = captures.iter().chain([&text]).map(String::as_str).collect();
    let used = used(site.to_str().unwrap(), &files);
    assert_eq!(used["hosts"], serde_json::json!([""]), "only files: {used}");
    check_sim(&used["sim"]);
    for (n, path) in [EXAMPLE].iter().chain(&CAPTURES).enumerate() {
        check_trace(&used["traces"][n], path);
    }
    let error = used["traces"][3]["error"].as_str().unwrap();
    assert!(error.contains("README.md could not be analyzed: not a capture file"), "{error}");
}

/// Under the policy of the server, which forbids what the pages do not need.
#[test]
fn fathom_serve_has_the_pages_of_the_site() {
    let server = Serve::start(&[]);
    let used = used(&format!("http://{}/site", server.target()), &[]);
    assert_eq!(used["hosts"], serde_json::json!([server.target()]));
    check_sim(&used["sim"]);
    check_trace(&used["traces"][0], EXAMPLE);
}

/// The engine is loaded on demand: 1 MB at most, compressed.
#[test]
fn the_engine_is_small() {
    let path = std::env::var("FATHOM_ENGINE").expect("FATHOM_ENGINE, which .cargo/config.toml sets");
    let bytes = std::fs::read(Path::new(&path)).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, &bytes).unwrap();
    let packed_bytes = packed.finish().unwrap().len();
    assert!(packed_bytes < 1_000_000, "{packed_bytes} bytes");
}
