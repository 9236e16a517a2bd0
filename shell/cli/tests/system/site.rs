//! The static site and the pages of `fathom serve` that analyze captures and simulate lines, in a
//! real headless Chromium: the results are those of the command line. Fails if Chromium, the
//! packages of ui/, or the standard library for browsers are missing.
use crate::program::{Serve, fathom, run, scratch};
use serde_json::Value;
use std::io::{Read as _, Write as _};
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

/// The answer of a server to a request for `path`: its head and its body.
fn get(server: &Serve, path: &str) -> (String, Vec<u8>) {
    let mut stream = std::net::TcpStream::connect(server.target()).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: fathom.test\r\nConnection: close\r\n\r\n").unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    (String::from_utf8_lossy(&bytes[..end]).into_owned(), bytes[end + 4..].to_vec())
}

/// A result that an earlier server kept: its links still work, and other programs show a picture.
#[test]
fn links_to_kept_results_outlive_the_server() {
    let folder = scratch().join("kept-results");
    std::fs::create_dir_all(&folder).unwrap();
    let id = "0123456789abcdef0123456789abcdef";
    let file = folder.join(format!("page-2026-11-27T12-00-00Z-{id}.json.gz"));
    let ran = run(&["sim", "dsl", "-o", file.to_str().unwrap()]);
    assert!(file.is_file(), "{}", ran.describe());
    let server = Serve::start(&["--results", folder.to_str().unwrap()]);
    let (head, report) = get(&server, &format!("/result/{id}"));
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("script-src 'sha256-"), "{head}");
    let report = String::from_utf8_lossy(&report).into_owned();
    assert!(report.contains("Your upload makes everything wait"), "the report");
    let image = format!("<meta property=\"og:image\" content=\"http://fathom.test/result/{id}.png\">");
    assert!(report.contains(&image), "the picture of the link");
    let (kind, picture) = get(&server, &format!("/result/{id}.png"));
    assert!(kind.contains("image/png"), "{kind}");
    assert!(picture.starts_with(b"\x89PNG\r\n") && picture.len() < 100_000, "{} bytes", picture.len());
    // Width and height in the header (RFC 2083, section 4.1.1).
    assert_eq!(picture[16..24], [0, 0, 4, 0xb0, 0, 0, 2, 0x76]);
    std::fs::write(scratch().join("preview.png"), picture).unwrap();
    for unknown in ["0123456789abcdef0123456789abcde0", "page-2026-11-27T12-00-00Z", "..%2f"] {
        let (status, _) = get(&server, &format!("/result/{unknown}"));
        assert!(status.starts_with("HTTP/1.1 404"), "{unknown}: {status}");
    }
    std::fs::write(&file, "damaged").unwrap();
    assert!(get(&server, &format!("/result/{id}")).0.starts_with("HTTP/1.1 404"));
}

/// The engine is loaded on demand: 1 MB at most, compressed.
#[test]
fn the_engine_is_small() {
    let path = std::env::var("FATHOM_ENGINE").expect("FATHOM_ENGINE, which .cargo/config.toml sets");
    let packed_bytes = std::fs::metadata(path).unwrap().len();
    assert!(packed_bytes < 1_000_000, "{packed_bytes} bytes");
}
