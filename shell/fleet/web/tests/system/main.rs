//! The API and the page over a made-up fleet, over real sockets and in a real Chromium.
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod browser;
mod made;

use fathom_fleet_web::serve;
use fathom_web::{Server, WebConfig, WebError};
use made::{HOSTILE, Made, Many};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// 2026-12-01T00:00:00Z, and a week before it.
const SPAN: &str = "from=1795478400&to=1796083200";

pub(crate) fn serving(sites: u64) -> Server {
    let result =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/results/v0.2.0-test.json.gz");
    let source = Arc::new(Made { sites, result: Some(result) });
    serve(&WebConfig::default(), source.clone(), source).unwrap()
}

pub(crate) fn serving_many(sites: u64) -> Server {
    let source = Arc::new(Many(sites));
    serve(&WebConfig::default(), source.clone(), source).unwrap()
}

fn get(server: &Server, path: &str) -> (u16, String) {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let mut answer = agent.get(format!("http://{}{path}", server.address)).call().unwrap();
    (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap())
}

fn api(server: &Server, path: &str) -> Value {
    let (status, text) = get(server, &format!("/api/v1/{path}"));
    assert_eq!(status, 200, "{path}: {text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn sites_are_counted_grouped_searched_and_limited() {
    let server = serving(40);
    let all = api(&server, &format!("sites?{SPAN}&by=provider&limit=3"));
    assert_eq!((&all["tested"], &all["bloated"], &all["found"]), (&json!(40), &json!(10), &json!(40)));
    assert_eq!(all["sites"].as_array().unwrap().len(), 3);
    assert_eq!(all["sites"][0]["site"], "home-36");
    assert_eq!(all["by"]["groups"].as_array().unwrap().len(), 3);
    assert_eq!(all["values"], json!({ "provider": ["Alpha & Sons", "Beta", "Gamma"] }));
    let found = api(&server, &format!("sites?{SPAN}&search=HOME-1"));
    assert_eq!((&found["found"], &found["tested"]), (&json!(9), &json!(40)));
    let only = api(&server, &format!("sites?{SPAN}&only=provider%3DAlpha%2520%2526%2520Sons"));
    assert_eq!(only["tested"], 14);
}

#[test]
fn each_view_has_its_answer() {
    let server = serving(40);
    let plot = api(&server, &format!("buffers?{SPAN}&by=provider&direction=up"));
    assert_eq!((plot["points"].as_array().unwrap().len(), plot["cells"].as_array().unwrap().len()), (40, 0));
    let none = api(&server, &format!("buffers?{SPAN}&direction=down"));
    assert_eq!(none["points"], json!([]));
    let trend = api(&server, &format!("trend?{SPAN}&by=provider"));
    assert_eq!(trend["all"]["points"].as_array().unwrap().len(), 7);
    assert_eq!(trend["by"]["trends"].as_array().unwrap().len(), 3);
    let together = api(&server, &format!("together?{SPAN}"));
    assert_eq!(together["together"][0]["value"], "Beta");
    let changes = api(&server, "changes?at=1795478400&now=1796083200&days=7");
    assert_eq!(changes["changes"].as_array().unwrap().len(), 40);
    assert_eq!(changes["changes"][0]["change"], "same");
    let site = api(&server, &format!("site?{SPAN}&name=home-0"));
    assert_eq!((site["tests"].as_array().unwrap().len(), &site["site"]["tests"]), (14, &json!(14)));
    assert_eq!(site["results"][0]["name"], "test.json.gz");
    assert!(!site["results"][0]["verdict"].as_str().unwrap().is_empty());
    let many = api(&serving(30_000), &format!("buffers?{SPAN}"));
    let lines: u64 =
        many["cells"].as_array().unwrap().iter().map(|cell| cell["lines"].as_u64().unwrap()).sum();
    assert_eq!((many["points"].as_array().unwrap().len(), lines), (0, 30_000));
}

/// A browser gets cells and the first rows, not a million of them: bytes are counted.
#[test]
fn of_a_million_sites_the_page_gets_little() {
    const SITES: u64 = 1_000_000;
    let server = serving_many(SITES);
    let little = |path: &str| {
        let (status, text) = get(&server, &format!("/api/v1/{path}"));
        assert!(status == 200 && text.len() < 1_000_000, "{path}: {status}, {} bytes", text.len());
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let plot = little(&format!("buffers?{SPAN}&by=plan"));
    let cells = plot["cells"].as_array().unwrap();
    let lines: u64 = cells.iter().map(|cell| cell["lines"].as_u64().unwrap()).sum();
    assert_eq!((plot["points"].as_array().unwrap().len(), lines), (0, SITES));
    // Also of cells with lines on both sides of the limit.
    assert_eq!((&plot["lines"], &plot["bloated"]), (&json!(SITES), &json!(SITES / 4)));
    let sites = little(&format!("sites?{SPAN}&by=plan"));
    assert_eq!(
        (&sites["found"], &sites["tested"], &sites["bloated"]),
        (&json!(SITES), &json!(SITES), &json!(SITES / 4))
    );
    assert_eq!(
        (sites["sites"].as_array().unwrap().len(), sites["by"]["groups"].as_array().unwrap().len()),
        (1_000, 3)
    );
    let changes = little("changes?at=1795478400&now=1796083200&days=7");
    assert_eq!((&changes["found"], &changes["known"]), (&json!(SITES), &json!(SITES)));
    let better = changes["better"].as_u64().unwrap();
    assert!(better > SITES * 3 / 4, "{better}");
    let rows = changes["changes"].as_array().unwrap();
    assert!(rows[0]["after_s"].as_f64().unwrap() > 1.99, "{}", rows[0]);
    assert!(rows.len() == 1_000 && rows.iter().all(|row| row["change"] == "worse"), "{} rows", rows.len());
}

#[test]
fn a_result_is_shown_and_other_files_are_not() {
    let server = serving(5);
    let (status, page) = get(&server, &format!("/results/home-0/test.json.gz?{SPAN}"));
    assert!(
        status == 200 && page.starts_with("<!doctype html>"),
        "{status} {}",
        &page[..200.min(page.len())]
    );
    for path in ["home-0/..%2F..%2Fetc%2Fpasswd", "home-1/test.json.gz", "home-0/other.json", "x"] {
        assert_eq!(get(&server, &format!("/results/{path}?{SPAN}")).0, 404, "{path}");
    }
}

#[test]
fn wrong_requests_are_refused_and_named() {
    let server = serving(5);
    for (path, status, part) in [
        ("sites", 400, "parameter from is missing"),
        ("sites?from=2&to=1", 400, "from is not before to"),
        (&format!("sites?{SPAN}&x=1"), 400, "unknown parameter \"x\""),
        (&format!("sites?{SPAN}&limit=0"), 400, "limit: invalid value"),
        (
            &format!("buffers?{SPAN}&direction=left"),
            400,
            "direction: invalid value \"left\" (expected up or down)",
        ),
        ("changes?at=2&now=1", 400, "at is not before now"),
        ("changes?at=1&now=2&days=4000", 400, "days: invalid value"),
        (&format!("site?{SPAN}"), 400, "parameter name is missing"),
        (&format!("site?{SPAN}&name=nobody"), 502, "site nobody: has no test in this period"),
        (&format!("site?{SPAN}&name=broken"), 502, "http://127.0.0.1:9: refused"),
        ("other", 404, "\"/api/v1/other\" does not exist"),
    ] {
        let (seen, text) = get(&server, &format!("/api/v1/{path}"));
        let body: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(seen, status, "{path}: {text}");
        assert!(body["error"].as_str().unwrap().contains(part), "{path}: {text}");
    }
    assert_eq!(get(&server, "/nothing").0, 404);
    let (status, page) = get(&server, "/");
    assert!(status == 200 && page.contains("<title>Fathom fleet</title>") && !page.contains(HOSTILE));
}

#[test]
fn others_need_a_password() {
    let source = Arc::new(Made { sites: 1, result: None });
    let open = WebConfig { listen: "0.0.0.0:0".parse().unwrap(), ..WebConfig::default() };
    assert!(matches!(serve(&open, source.clone(), source.clone()), Err(WebError::NoSecret { .. })));
    let folder = tempfile::tempdir().unwrap();
    let config = WebConfig { secret_file: Some(folder.path().join("password")), ..WebConfig::default() };
    let server = serve(&config, source.clone(), source).unwrap();
    assert_eq!(get(&server, &format!("/api/v1/sites?{SPAN}")).0, 401);
    let (status, login) = get(&server, "/login");
    assert!(status == 200 && login.contains("Fathom") && login.contains("fathom fleet page"), "{login}");
}
