//! Tests of the whole pipeline on real traffic: a test over an emulated line with known properties,
//! and all outputs of it.
use crate::program::{Ran, Serve, alone, run, scratch};
use serde_json::Value;
use std::path::Path;

/// A line of 3 Mbit/s with 64 kB of tail drop: 171 ms when full, which takes two seconds.
const SCENARIO: &str = r#"
name = "small"
about = "a small buffer, soon full"
source = "test"
[[hop]]
name = "access"
up = { rate = "3Mbit", delay = "10ms", queue = "fifo limit 64000b" }
down = { rate = "20Mbit", delay = "10ms", queue = "fifo limit 256000b" }
"#;

fn test_over_lab(lab: &[&str], test: &str) -> Ran {
    let path = scratch().join("small.toml");
    std::fs::write(&path, SCENARIO).unwrap();
    let script = format!("exec {} test $FATHOM_SERVER {test}", env!("CARGO_BIN_EXE_fathom"));
    let line = path.display().to_string();
    let mut args = vec!["lab", "--line", &line];
    args.extend(lab);
    args.extend(["--", "sh", "-c", &script]);
    run(&args)
}

/// Observed values of a metric in a phase.
fn values(run: &Value, metric: &str, phase: &str) -> Vec<f64> {
    let list =
        |v: &Value| -> Vec<f64> { v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect() };
    let phase = run["phases"].as_array().unwrap().iter().find(|p| p["kind"] == phase).unwrap();
    let (start, end) = (phase["start_ns"].as_f64().unwrap(), phase["end_ns"].as_f64().unwrap());
    let series =
        run["series"].as_array().unwrap().iter().find(|s| s["metric"] == metric && s["flow"].is_null());
    let series = series.unwrap_or_else(|| panic!("no {metric}"));
    // The value of a lost probe is the waiting time, not a latency.
    let lost: Vec<usize> = series["censored"]
        .as_array()
        .map_or(Vec::new(), |c| c.iter().map(|i| i.as_u64().unwrap() as usize).collect());
    let pairs = list(&series["at_ns"]).into_iter().zip(list(&series["values"])).enumerate();
    pairs.filter(|(i, (at, _))| (start..end).contains(at) && !lost.contains(i)).map(|(_, (_, v))| v).collect()
}

fn sorted(mut v: Vec<f64>) -> Vec<f64> {
    v.sort_by(f64::total_cmp);
    v
}

fn median(v: Vec<f64>) -> f64 {
    let v = sorted(v);
    v[v.len() / 2]
}

#[test]
fn finds_the_bloat_that_is_there() {
    let _alone = alone();
    let ran = test_over_lab(&[], "--json --no-save --phases idle,up,drain --max-phase 10s");
    assert_eq!(ran.code, Some(1), "bufferbloat is exit 1: {}", ran.describe());
    let run = ran.document();
    // 64,000 bytes at 3 Mbit/s are 170.7 ms on top of the idle line.
    for metric in ["udp_rtt_s", "icmp_rtt_s"] {
        let (idle, up) = (median(values(&run, metric, "idle")), sorted(values(&run, metric, "up")));
        let expected = idle + 64_000.0 * 8.0 / 3e6;
        // A machine that pauses delays single probes, so the 90th percentile is compared.
        let (high, max) = (up[up.len() * 9 / 10], up[up.len() - 1]);
        assert!(max > 0.95 * expected, "{metric}: idle {idle}, max {max}, expected {expected}");
        assert!(high < 1.05 * expected, "{metric}: idle {idle}, p90 {high}, expected {expected}");
    }
    for metric in ["tcp_connect_s", "http_foreign_s", "http_kept_s", "goodput_bits_per_second"] {
        assert!(!values(&run, metric, "up").is_empty(), "{metric}");
    }
    let goodput = median(values(&run, "goodput_bits_per_second", "up"));
    // 1,448 bytes of payload in 1,514 on the wire, less the share of the probes (at most 5 %).
    assert!((0.90..=0.96).contains(&(goodput / 3e6)), "goodput {goodput}");
    let up = run["phases"].as_array().unwrap().iter().find(|p| p["kind"] == "up").unwrap();
    assert_eq!(up["load"]["congestion_control"], "cubic");
}

#[test]
fn a_managed_queue_is_healthy() {
    let _alone = alone();
    let ran = test_over_lab(&["--queue", "fq_codel"], "--no-save --phases idle,up --max-phase 8s");
    assert_eq!(ran.code, Some(0), "{}", ran.describe());
}

#[test]
fn every_form_of_a_result() {
    let _alone = alone();
    let folder = scratch();
    let outputs = ["r.json", "r.json.gz", "r.html", "r.svg", "r.csv", "r.flent.gz"];
    let flags: String = outputs.iter().map(|o| format!(" -o {}", folder.join(o).display())).collect();
    // Six seconds fill the buffer of 171 ms three times.
    let ran = test_over_lab(&[], &format!("--phases idle,up,drain --max-phase 6s{flags}"));
    assert_eq!(ran.code, Some(1), "{}", ran.describe());
    let file = |name: &str| folder.join(name).display().to_string();
    let json: Value = serde_json::from_str(&std::fs::read_to_string(file("r.json")).unwrap()).unwrap();
    let unpacked = |name: &str| {
        let mut text = String::new();
        let packed = flate2::read::GzDecoder::new(std::fs::File::open(file(name)).unwrap());
        std::io::Read::read_to_string(&mut { packed }, &mut text).unwrap();
        text
    };
    assert_eq!(serde_json::from_str::<Value>(&unpacked("r.json.gz")).unwrap(), json);
    let series = json["series"].as_array().unwrap();
    let count = |of: &Value| of["values"].as_array().unwrap().len();
    check_csv(&std::fs::read_to_string(file("r.csv")).unwrap(), series.iter().map(count).sum());
    check_flent(&serde_json::from_str(&unpacked("r.flent.gz")).unwrap());
    check_drawing(&std::fs::read_to_string(file("r.svg")).unwrap(), "svg");
    let html = std::fs::read_to_string(file("r.html")).unwrap();
    check_drawing(&html, "html");
    for external in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!html.contains(external), "the page loads something: {external}");
    }
    let (plain, packed) = (run(&["report", &file("r.json")]), run(&["report", &file("r.json.gz")]));
    // A line that holds the name of the file may be wrapped, so only the words are the same.
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&plain.out), words(&packed.out.replace("r.json.gz", "r.json")));
    assert_eq!(plain.code, ran.code, "a report's exit code is the test's: {}", plain.describe());
    let compared = run(&["compare", &file("r.json"), &file("r.json.gz")]);
    assert_eq!(compared.code, Some(0), "{}", compared.describe());
    narrow(Path::new(&file("r.json")));
}

/// A header, and one row per value. Each row has as many cells as the header, and a number as time.
#[test]
fn events_are_lines_of_the_published_schema() {
    let server = Serve::start(&[]);
    let args =
        ["test", &server.target(), "--no-save", "--json-lines", "--max-phase", "1s", "--phases", "idle,up"];
    let ran = run(&args);
    assert!(ran.err.is_empty(), "{}", ran.err);
    let lines = ran.events();
    let kinds: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds[1], *kinds.last().unwrap()), ("started", "connected", "result"));
    let count = |kind| kinds.iter().filter(|k| **k == kind).count();
    assert_eq!((count("phase_started"), count("phase_ended"), count("result")), (2, 2, 1));
    let delays = lines.iter().filter(|line| line["metric"] == "udp_rtt_s").count();
    assert!(delays > 50, "{delays}");
    assert_eq!(lines.last().unwrap()["document"]["command"], "test");
}

fn check_csv(text: &str, values: usize) {
    let mut rows = text.lines();
    let head: Vec<&str> = rows.next().unwrap().split(',').collect();
    let time = head.iter().position(|name| *name == "time_s").unwrap_or_else(|| panic!("{head:?}"));
    let mut count = 0;
    for row in rows {
        let cells: Vec<&str> = row.split(',').collect();
        assert_eq!(cells.len(), head.len(), "{row}");
        assert!(cells[time].parse::<f64>().is_ok_and(f64::is_finite), "{row}");
        count += 1;
    }
    assert_eq!(count, values);
}

/// Each series of a Flent file has one value per time.
fn check_flent(file: &Value) {
    assert_eq!(file["version"], 4, "{file:.300}");
    let times = file["x_values"].as_array().unwrap().len();
    let results = file["results"].as_object().unwrap();
    assert!(times > 10 && !results.is_empty(), "{times} times");
    for (name, values) in results {
        let values = values.as_array().unwrap();
        assert_eq!(values.len(), times, "{name}");
        assert!(values.iter().any(Value::is_number), "{name} has no value");
    }
}

/// Every element is closed in order, and at least one line is drawn.
fn check_drawing(text: &str, root: &str) {
    let void = ["meta", "link", "br", "hr", "img", "input", "col", "!doctype", "!--"];
    let mut open: Vec<String> = Vec::new();
    let mut roots = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let end = rest[at..].find('>').map(|end| at + end).unwrap_or_else(|| panic!("{:.60}", &rest[at..]));
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap().to_lowercase();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(&*closed.trim().to_lowercase()));
        } else if !tag.ends_with('/') && !void.contains(&name.as_str()) {
            if open.is_empty() {
                roots.push(name.clone());
            }
            open.push(name.clone());
        }
        // Their content is not markup.
        if ["script", "style"].contains(&name.as_str()) && !tag.starts_with('/') {
            rest = &rest[rest.find(&format!("</{name}")).unwrap()..];
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    assert_eq!(roots, [root]);
    let drawn = ["<path", "<polyline", "<line"].iter().map(|mark| text.matches(mark).count()).sum::<usize>();
    assert!(drawn > 3, "{drawn} lines are drawn");
}

/// No line of a report is wider than a terminal of 40 columns.
fn narrow(file: &Path) {
    let script = format!("stty cols 40 rows 20; {} report {}", env!("CARGO_BIN_EXE_fathom"), file.display());
    let shown = std::process::Command::new("script")
        .args(["-qec", &script, "/dev/null"])
        .env("NO_COLOR", "1")
        .output();
    let text = String::from_utf8_lossy(&shown.unwrap().stdout).into_owned();
    for line in text.lines().map(|l| l.trim_end_matches('\r')) {
        assert!(line.chars().count() <= 40, "{} columns: {line}", line.chars().count());
    }
}
