//! The API compared with the samples it is based on.
use crate::client::{get, server};
use crate::synthetic::{NOW_S, outcome};
use fathom_watch_samples::Outcome;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

fn range(back: u64, seconds: u64) -> String {
    format!("from={}&to={}", NOW_S - back, NOW_S - back + seconds)
}

#[test]
fn columns_match_the_samples() {
    let server = server(5);
    let path = format!("/api/v1/smoke?series=2&{}&cols=10", range(7_200, 600));
    let answer = get(&server, &path, "").json();
    let columns = answer["columns"].as_array().unwrap();
    assert_eq!((columns.len(), answer["unit"].as_str()), (10, Some("seconds")));
    for (n, column) in columns.iter().enumerate() {
        let first = NOW_S - 7_200 + n as u64 * 60;
        let outcomes: Vec<Outcome> = (first..first + 60).map(|second| outcome(2, second)).collect();
        let mut delays: Vec<f64> = outcomes
            .iter()
            .filter_map(|o| if let Outcome::Answered(rtt) = o { Some(rtt.as_secs_f64()) } else { None })
            .collect();
        delays.sort_by(f64::total_cmp);
        assert_eq!(column["sent"], 60, "column {n}");
        assert_eq!(column["lost"], 60 - delays.len(), "column {n}");
        let near = |reported: &Value, truth: f64| (reported.as_f64().unwrap() / truth - 1.0).abs() < 0.011;
        assert!(near(&column["max_s"], delays[delays.len() - 1]), "column {n}: {column}");
        assert!(near(&column["median_s"], delays[(delays.len() - 1) / 2]), "column {n}: {column}");
    }
    let csv = get(&server, &format!("{path}&format=csv"), "");
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
    assert_eq!(csv.text().lines().count(), 11);
    let bytes = get(&server, &format!("{path}&format=binary"), "").body;
    assert_eq!((&bytes[..4], bytes.len()), (b"FSM1".as_slice(), 40 + 10 * 42));
}

#[test]
fn every_sample_of_a_day_is_returned() {
    let server = server(2);
    let path = format!("/api/v1/samples?series=1&{}", range(90_000, 86_400));
    let answer = get(&server, &path, "").json();
    let samples = answer["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 86_400);
    let lost = samples.iter().filter(|sample| sample[1] == "lost").count();
    let truth = (NOW_S - 90_000..NOW_S - 3_600).filter(|second| outcome(1, *second) == Outcome::Lost).count();
    assert_eq!(lost, truth);
    let csv = get(&server, &format!("{path}&format=csv"), "");
    assert_eq!(csv.text().lines().count(), 86_401);
    assert!(csv.text().starts_with("at_s,outcome,value_s\r\n"));
}

#[test]
fn a_closed_range_is_cacheable_and_revalidated() {
    let server = server(1);
    let old = format!("/api/v1/smoke?series=0&{}", range(86_400 * 400, 3_600));
    let first = get(&server, &old, "");
    assert_eq!(first.headers["cache-control"], "private, max-age=86400, immutable");
    let tag = &first.headers["etag"];
    let second = get(&server, &old, &format!("If-None-Match: {tag}\r\n"));
    assert_eq!((second.status, second.body.len()), (304, 0));
    assert_eq!(get(&server, &old, "If-None-Match: \"0\"\r\n").status, 200);
    let ahead = get(&server, "/api/v1/smoke?series=0&from=1795000000&to=9995000000", "");
    assert_eq!(ahead.headers["cache-control"], "private, no-cache");
}

#[test]
fn a_response_is_compressed_if_accepted() {
    let server = server(50);
    let plain = get(&server, "/api/v1/targets", "");
    let packed = get(&server, "/api/v1/targets", "Accept-Encoding: br, gzip\r\n");
    assert_eq!(packed.headers["content-encoding"], "gzip");
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(packed.body.as_slice()).read_to_end(&mut text).unwrap();
    let targets = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap()["targets"].clone();
    assert_eq!(targets(&text), targets(&plain.body));
    assert!(packed.body.len() * 4 < plain.body.len());
}

#[test]
fn hours_of_days_are_by_the_readers_clock() {
    let server = server(2);
    let from = NOW_S - 2 * 86_400;
    let heat = |offset: i64| {
        let path = format!("/api/v1/heatmap?series=1&from={from}&to={NOW_S}&utc_offset_s={offset}");
        get(&server, &path, "").json()["cells"].as_array().unwrap().clone()
    };
    let (utc, kolkata) = (heat(0), heat(19_800));
    assert_eq!(utc.len(), 48);
    assert_eq!((&utc[0]["day"], &utc[0]["hour"]), (&Value::from(from / 86_400), &Value::from(0)));
    // 5:30 h east: the first cell is the hour from 5:00 local time; the generated history has 60
    // probes per hour.
    assert_eq!(
        (kolkata.len(), &kolkata[0]["hour"], &kolkata[0]["sent"]),
        (49, &Value::from(5), &Value::from(60))
    );
}

#[test]
fn two_periods_are_compared() {
    let server = server(2);
    // Noon of one day compared with the evening before.
    let path = format!(
        "/api/v1/compare?series=1&{}&from2={}&to2={}",
        range(43_200, 600),
        NOW_S - 14_400,
        NOW_S - 13_800
    );
    let answer = get(&server, &path, "").json();
    let median = |side: &str| {
        let quantiles = answer[side]["quantiles_s"].as_array().unwrap().clone();
        quantiles.iter().find(|pair| pair[0] == 0.5).unwrap()[1].as_f64().unwrap()
    };
    assert!(median("second") > 3.0 * median("first"), "{answer}");
    let ecdf = answer["first"]["ecdf_s"].as_array().unwrap();
    assert!(
        ecdf.windows(2)
            .all(|two| two[0][0].as_f64() < two[1][0].as_f64() && two[0][1].as_f64() <= two[1][1].as_f64())
    );
    assert_eq!(ecdf.last().unwrap()[1], 1.0);
}

#[test]
fn changes_are_pushed_and_a_listener_resumes() {
    let server = server(3);
    let listen = |headers: &str| {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        write!(stream, "GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").unwrap();
        BufReader::new(stream)
    };
    let mut lines = listen("").lines().map(|line| line.unwrap());
    let id = lines.find(|line| line.starts_with("id: ")).unwrap();
    assert_eq!(lines.next().unwrap(), "event: targets");
    let data = lines.next().unwrap();
    let value: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!((&value["all"], value["targets"].as_array().unwrap().len()), (&Value::from(true), 3));
    // Nothing has changed since, so a resumed listener receives only the heartbeat.
    let resumed = listen(&format!("Last-Event-ID: {}\r\n", id.strip_prefix("id: ").unwrap()));
    let first = resumed
        .lines()
        .map(|line| line.unwrap())
        .find(|line| line.starts_with(':') || line.starts_with("id:"));
    assert_eq!(first.unwrap(), ": still here");
}

/// The generated history is slow from Thursdays to Mondays from 19 to 23 h UTC, and has ten minutes
/// of loss at the same time each day.
#[test]
fn findings_use_the_given_time_zone() {
    let server = server(2);
    let path = format!("/api/v1/findings?{}&utc_offset_s=", range(40 * 86_400, 40 * 86_400));
    let texts = |clock: &str| -> Vec<String> {
        let answer = get(&server, &format!("{path}{clock}"), "");
        assert_eq!(answer.status, 200, "{answer:?}");
        let document = answer.json();
        let found = document["findings"].as_array().unwrap();
        found.iter().filter(|f| f["series"] == 1).map(|f| f["text"].as_str().unwrap().to_owned()).collect()
    };
    let has =
        |all: &[String], words: &str| assert!(all.iter().any(|t| t.starts_with(words)), "{words}: {all:?}");
    has(&texts("0"), "On weekends from 19:00 to 23:00, latency is ");
    has(&texts("0"), "Every night from 0:00 to 1:00, ");
    has(&texts("-7200"), "On weekends from 17:00 to 21:00, latency is ");
    // Daylight saving time ended in the middle: in local time the hour is not constant.
    let middle = NOW_S - 20 * 86_400;
    assert_ne!(texts(&format!("7200,3600&utc_offset_from={middle}")), texts("3600"));
    for (wrong, why) in [
        ("7", "expected multiples of 900"),
        ("0,3600", "utc_offset_s has 2 offsets, but utc_offset_from has 0 times"),
        ("0,0,0&utc_offset_from=9,8", "one less, in ascending order"),
        ("0,0&utc_offset_from=x", "expected seconds since 1970"),
    ] {
        let answer = get(&server, &format!("{path}{wrong}"), "");
        assert_eq!(answer.status, 400, "{wrong}: {answer:?}");
        assert!(answer.text().contains(why), "{wrong}: {}", answer.text());
    }
}

/// Speed tests are listed among the events, and their reports have an opaque origin: nothing in
/// them sends requests to this server.
#[test]
fn a_test_of_the_line_leads_to_its_report() {
    let server = server(2);
    let events = get(&server, &format!("/api/v1/events?{}", range(7_200, 7_200)), "").json();
    let tests: Vec<&Value> =
        events["events"].as_array().unwrap().iter().filter(|event| event["kind"] == "test").collect();
    assert_eq!(tests.len(), 1, "{events}");
    assert_eq!(tests[0]["report"], "fathom test+1.json.gz");
    assert_eq!(tests[0]["until_s"].as_f64().unwrap() - tests[0]["at_s"].as_f64().unwrap(), 60.0);
    let report = get(&server, "/reports/fathom%20test%2B1.json.gz", "");
    assert_eq!((report.status, report.text()), (200, "<title>a report</title>"));
    let policy = &report.headers["content-security-policy"];
    assert!(policy.starts_with("sandbox ") && policy.contains("default-src 'none'"), "{policy}");
    for name in ["other.json", "..%2Fhistory.db", "%2Fetc%2Fpasswd", ""] {
        assert_eq!(get(&server, &format!("/reports/{name}"), "").status, 404, "{name}");
    }
}

/// The OpenAPI description lists all endpoints and parameters, and each responds as described.
#[test]
fn the_description_is_true() {
    let server = server(2);
    let api = get(&server, "/api/v1/openapi.json", "").json();
    let mut paths = BTreeSet::new();
    for (path, methods) in api["paths"].as_object().unwrap() {
        paths.insert(path.as_str());
        if path == "/api/v1/live" {
            continue;
        }
        let parameters = methods["get"]["parameters"].as_array().unwrap();
        let value = |name: &str| match name {
            "series" | "series2" => "1".to_owned(),
            "from" | "from2" => (NOW_S - 7_200).to_string(),
            "to" | "to2" => NOW_S.to_string(),
            "cols" => "5".to_owned(),
            "utc_offset_s" => "3600".to_owned(),
            "utc_offset_from" => String::new(),
            "format" => "json".to_owned(),
            other => panic!("what is {other} of {path}?"),
        };
        let names = parameters.iter().map(|parameter| parameter["name"].as_str().unwrap());
        let query: Vec<String> = names.map(|name| format!("{name}={}", value(name))).collect();
        let answer = get(&server, &format!("{path}?{}", query.join("&")), "");
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let content = &methods["get"]["responses"]["200"]["content"];
        let media_type = answer.headers["content-type"].split(';').next().unwrap();
        assert!(content.get(media_type).is_some(), "{path}: {media_type}");
        if let Some(schema) = content.get(media_type).and_then(|content| content["schema"].get("$ref")) {
            conforms(&api, schema.as_str().unwrap(), &answer.json(), path);
        }
    }
    assert_eq!(paths.len(), 12, "{paths:?}");
}

/// Every key of the response is described, and every required key is present.
fn conforms(api: &Value, reference: &str, value: &Value, place: &str) {
    let schema = api.pointer(reference.strip_prefix('#').unwrap()).unwrap();
    check(api, schema, value, place);
}

fn check(api: &Value, schema: &Value, value: &Value, place: &str) {
    if let Some(reference) = schema.get("$ref") {
        return conforms(api, reference.as_str().unwrap(), value, place);
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let object = value.as_object().unwrap_or_else(|| panic!("{place} is no object: {value}"));
        for required in schema["required"].as_array().unwrap() {
            assert!(object.contains_key(required.as_str().unwrap()), "{place} lacks {required}: {value}");
        }
        for (key, inner) in object {
            let described = properties.get(key).unwrap_or_else(|| panic!("{place}.{key} is not described"));
            check(api, described, inner, &format!("{place}.{key}"));
        }
    } else if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        values.iter().for_each(|inner| check(api, items, inner, place));
    }
}

#[test]
fn the_overview_is_the_same_cached_or_read() {
    let server_that_keeps = server(7);
    let path =
        |end: u64, cols: u64| format!("/api/v1/overview?from={}&to={end}&cols={cols}", end - cols * 600);
    // Older, newer, overlapping, disjoint, of another width, and not aligned to the width.
    let cases = [
        path(NOW_S, 40),
        path(NOW_S + 600, 40),
        path(NOW_S + 3_600, 40),
        path(NOW_S, 20),
        path(NOW_S - 90_000, 10),
        path(NOW_S, 40).replace("cols=40", "cols=80"),
        path(NOW_S + 7, 40),
    ];
    for case in cases {
        let kept = get(&server_that_keeps, &case, "").json();
        assert_eq!(kept, get(&server(7), &case, "").json(), "{case}");
        assert_eq!(kept["rows"].as_array().unwrap().len(), 7);
    }
    // Its columns match those of the plot.
    let row = get(&server_that_keeps, &path(NOW_S, 6), "").json()["rows"][2].clone();
    let plot =
        get(&server_that_keeps, &format!("/api/v1/smoke?series=2&{}&cols=6", range(3_600, 3_600)), "").json();
    for n in 0..6 {
        let near = |a: &Value, b: &Value| (a.as_f64().unwrap() / b.as_f64().unwrap() - 1.0).abs() < 0.002;
        assert!(near(&row["max_s"][n], &plot["columns"][n]["max_s"]), "{row} {plot}");
        assert!(near(&row["median_s"][n], &plot["columns"][n]["median_s"]), "{row} {plot}");
    }
}
