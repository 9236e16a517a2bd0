//! Answers that are read series by series, against a naive reader of whole documents.
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use crate::labels;
use fathom_fleet_view::{
    AnswerKind, Fleet, FleetBuilder, Labelled, Measure, SeriesLabels, Track, read_answer, read_range,
    read_vector,
};
use fathom_units::Rng;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The series of a correct answer, or `None` for any other.
fn naive(body: &str, kind: &str, member: &str) -> Option<Vec<Track>> {
    let whole: Value = serde_json::from_str(body).ok()?;
    if whole["status"] != "success" || whole["data"]["resultType"] != kind {
        return None;
    }
    let number = |text: &Value| text.as_str().unwrap().parse().ok().filter(|value: &f64| value.is_finite());
    let point = |pair: &Value| Some((pair[0].as_f64().unwrap(), number(&pair[1])?));
    let series = |one: &Value| {
        let text = |(name, value): (&String, &Value)| (name.clone(), value.as_str().unwrap().to_owned());
        let labels = one["metric"].as_object().into_iter().flatten().map(text).collect();
        let points = match member {
            "value" => point(&one[member]).into_iter().collect(),
            _ => one[member].as_array().unwrap().iter().filter_map(point).collect(),
        };
        Track { labels, points }
    };
    Some(whole["data"]["result"].as_array()?.iter().map(series).collect())
}

fn naive_vector(body: &str) -> Option<Vec<Labelled>> {
    let value = |Track { labels, points }: Track| {
        points.into_iter().map(move |(_, value)| Labelled { labels: labels.clone(), value })
    };
    Some(naive(body, "vector", "value")?.into_iter().flat_map(value).collect())
}

const TEXTS: [&str; 10] =
    ["a", "site", "direction", "up", "down", "", "\"quoted\" \\ \n", "\u{0}\u{1}", "Zürich 日本", "𝄞"];
const NUMBERS: [&str; 11] = [
    "0.5",
    "1e-3",
    "NaN",
    "+Inf",
    "-Inf",
    "-0",
    "9.9999999999e307",
    "1e999",
    "",
    "0.1234567890123456789",
    "x",
];

fn pick<'t>(rng: &mut Rng, from: &[&'t str]) -> &'t str {
    from[rng.below(from.len() as u64) as usize]
}

fn random_series(rng: &mut Rng, is_vector: bool) -> Value {
    let metric: BTreeMap<&str, String> = (0..rng.below(6))
        .map(|_| (pick(rng, &TEXTS), format!("{}{}", pick(rng, &TEXTS), rng.below(3))))
        .collect();
    let mut pair = || json!([rng.below(2_000_000_000) as f64 / 1e3, pick(rng, &NUMBERS)]);
    let mut series = if is_vector {
        json!({ "metric": metric, "value": pair() })
    } else {
        json!({ "metric": metric, "values": (0..4).map(|_| pair()).collect::<Vec<_>>() })
    };
    let members = series.as_object_mut().unwrap();
    if rng.chance(0.1) {
        members.remove("metric");
    }
    if rng.chance(0.1) {
        members.insert("exemplars".into(), json!([{ "value": [1, { "values": null }] }]));
    }
    series
}

/// An answer with its members in any order, and others that nobody needs.
fn random_answer(rng: &mut Rng) -> String {
    let is_vector = rng.chance(0.5);
    let series: Vec<Value> = (0..rng.below(8)).map(|_| random_series(rng, is_vector)).collect();
    let kind = format!("\"resultType\":\"{}\"", if is_vector { "vector" } else { "matrix" });
    let result = format!("\"result\":{}", json!(series));
    let data = if rng.chance(0.7) { format!("{kind},{result}") } else { format!("{result},{kind}") };
    let status = if rng.chance(0.9) { "success" } else { "error" };
    let mut members = vec![format!("\"status\":\"{status}\""), format!("\"data\":{{{data}}}")];
    for (chance, text) in [
        (0.3, "\"warnings\":[\"PromQL warning: \\\"x\\\"\"],\"infos\":[]"),
        (0.3, "\"stats\":{\"seriesFetched\":\"7\",\"nested\":[[{}]]},\"isPartial\":false"),
        (0.2, "\"error\":\"shard 2 failed\",\"errorType\":\"execution\""),
        (0.1, "\"error\":null"),
    ] {
        if rng.chance(chance) && !(text == "\"error\":null" && members.iter().any(|m| m.contains("shard"))) {
            members.insert(rng.below(1 + members.len() as u64) as usize, text.to_owned());
        }
    }
    format!(" {{{}}}\n", members.join(" ,\t"))
}

#[test]
fn random_answers_are_read_as_a_naive_reader_does() {
    let mut correct = 0;
    for seed in 0..4_000 {
        let mut rng = Rng::new(seed);
        let body = random_answer(&mut rng);
        let (vector, matrix) = (naive_vector(&body), naive(&body, "matrix", "values"));
        correct += usize::from(vector.is_some()) + usize::from(matrix.is_some());
        assert_eq!(read_vector(body.as_bytes()).ok(), vector, "seed {seed}: {body}");
        assert_eq!(read_range(body.as_bytes()).ok(), matrix, "seed {seed}: {body}");
    }
    assert!(correct > 3_000, "{correct}");
}

/// A changed byte never makes it panic, or read what is no JSON. No part of an answer is one.
#[test]
fn damaged_answers_are_refused_or_have_no_more_series() {
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let mut body = random_answer(&mut rng).trim_end().as_bytes().to_vec();
        for _ in 0..20 {
            let at = rng.below(body.len() as u64) as usize;
            let old = std::mem::replace(&mut body[at], b"{}[]\",:0e-\\x\x00\xff "[rng.below(15) as usize]);
            let text = String::from_utf8_lossy(&body).into_owned();
            if let Ok(read) = read_vector(&body) {
                let whole: Value = serde_json::from_str(&text).unwrap();
                let most = whole["data"]["result"].as_array().map_or(0, Vec::len);
                assert!(read.len() <= most, "seed {seed}: {text}");
            }
            body[at] = old;
            assert!(
                read_vector(&body[..at]).is_err() && read_range(&body[..at]).is_err(),
                "seed {seed}: {at}"
            );
        }
    }
}

#[test]
fn what_is_no_answer_is_refused() {
    let series = r#"{"metric":{"site":"a"},"value":[1,"2"]}"#;
    let with = |data: &str| read_vector(format!(r#"{{"status":"success","data":{data}}}"#).as_bytes());
    let result = |all: &str| with(&format!(r#"{{"resultType":"vector","result":{all}}}"#));
    assert_eq!(result(&format!("[{series}]")).unwrap().len(), 1);
    for bad in [
        "null",
        "{}",
        "[1]",
        "[null]",
        "[[]]",
        r#"[{"metric":{"site":"a"}}]"#,
        r#"[{"metric":null,"value":[1,"2"]}]"#,
        r#"[{"metric":{"site":1},"value":[1,"2"]}]"#,
        r#"[{"metric":{"site":"a"},"value":[1,2]}]"#,
        r#"[{"metric":{"site":"a"},"value":["1","2"]}]"#,
        r#"[{"metric":{"site":"a"},"value":[1]}]"#,
        r#"[{"metric":{"site":"a"},"value":[1,"2",3]}]"#,
        r#"[{"metric":{"site":"a"},"value":[1,"2"],"value":[1,"2"]}]"#,
        r#"[{"metric":{},"metric":{},"value":[1,"2"]}]"#,
        r#"[{"metric":{"site":"a"},"histogram":[1,{"count":"1"}]}]"#,
    ] {
        let refused = result(bad).unwrap_err().to_string();
        assert!(refused.starts_with("no answer of a Prometheus API: "), "{bad}: {refused}");
    }
    for bad in [
        "null",
        "[]",
        r#"{"resultType":"vector"}"#,
        r#"{"result":[]}"#,
        r#"{"resultType":"vector","result":[],"result":[]}"#,
        r#"{"resultType":"scalar","result":[1,"2"]}"#,
        r#"{"resultType":"vector","resultType":"vector","result":[]}"#,
    ] {
        assert!(with(bad).is_err(), "{bad}");
    }
    // Of labels with the same name, the last one counts.
    let twice = result(r#"[{"metric":{"site":"a","p":"x","site":"b"},"value":[1,"2"]}]"#).unwrap();
    assert_eq!(twice[0].labels, labels(&[("site", "b"), ("p", "x")]));
    let deep = format!("[{}", "[".repeat(100_000));
    assert!(result(&deep).is_err());
    assert!(read_vector(br#"{"status":"success","data":{"resultType":"vector","result":[]}} x"#).is_err());
}

/// A fleet from series is that from whole answers: the union of the labels of each site, and the
/// larger of several values.
#[test]
fn a_fleet_from_series_is_that_of_whole_answers() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let mut builder = FleetBuilder::default();
        let mut naive: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        let mut lags: BTreeMap<String, f64> = BTreeMap::new();
        let mut whole = Fleet::default();
        for measure in [Measure::Lag, Measure::Idle, Measure::Tests] {
            let series: Vec<Value> = (0..rng.below(40))
                .map(|_| {
                    let mut metric = json!({ "__name__": "n", "direction": pick(&mut rng, &["up", "down"]) });
                    for (label, most, chance) in [("site", 6, 0.9), ("plan", 3, 0.8), ("region", 2, 0.5)] {
                        if rng.chance(chance) {
                            metric[label] = format!("{}", rng.below(most)).into();
                        }
                    }
                    json!({ "metric": metric, "value": [1, format!("{}", rng.below(1_000))] })
                })
                .collect();
            let body = json!({ "status": "success", "data": { "resultType": "vector", "result": series } })
                .to_string();
            let mut each = |labels: &SeriesLabels, points: &[(f64, f64)]| {
                points.iter().for_each(|(_, value)| builder.add(measure, labels, *value));
                ControlFlow::Continue(())
            };
            let mut json = serde_json::Deserializer::from_str(&body);
            read_answer(&mut json, AnswerKind::Vector, &mut each).unwrap().unwrap();
            for Labelled { mut labels, value } in naive_vector(&body).unwrap() {
                let Some(site) = labels.remove("site") else { continue };
                labels.retain(|name, _| name != "direction" && name != "__name__");
                naive.entry(site.clone()).or_default().append(&mut labels);
                if measure == Measure::Lag {
                    let lag = lags.entry(site).or_default();
                    *lag = lag.max(value);
                }
            }
            whole.add(measure, read_vector(body.as_bytes()).unwrap());
        }
        let fleet = builder.finish();
        assert_eq!(fleet, whole, "seed {seed}");
        let seen: BTreeMap<String, _> =
            fleet.sites().map(|site| (site.name.to_string(), (*site.labels).clone())).collect();
        assert_eq!(seen, naive, "seed {seed}");
        let seen_lags: BTreeMap<String, f64> =
            fleet.sites().filter_map(|site| Some((site.name.to_string(), site.lag_s()?))).collect();
        assert_eq!(seen_lags, lags, "seed {seed}");
    }
}

/// The reader stops at once.
#[test]
fn the_visitor_ends_the_reading() {
    let series = r#"{"metric":{"site":"a"},"value":[1,"2"]},"#.repeat(100);
    let body = format!(r#"{{"status":"success","data":{{"resultType":"vector","result":[{series}"#);
    let mut seen = 0;
    let mut each = |_: &SeriesLabels, _: &[(f64, f64)]| {
        seen += 1;
        if seen == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut json = serde_json::Deserializer::from_str(&body);
    assert!(read_answer(&mut json, AnswerKind::Vector, &mut each).is_err());
    assert_eq!(seen, 7);
}

/// Sites with the same labels share them, in whatever order they arrive: memory is counted, not
/// measured.
#[test]
fn sites_of_a_plan_share_their_labels() {
    let mut builder = FleetBuilder::default();
    for measure in [Measure::Lag, Measure::Rate] {
        for site in 0..3_000 {
            let metric =
                json!({ "direction": "up", "plan": format!("{}", site % 3), "site": format!("s{site}") });
            let body = json!({ "status": "success", "data": { "resultType": "vector",
                "result": [{ "metric": metric, "value": [1, "2"] }] } })
            .to_string();
            let mut each = |labels: &SeriesLabels, points: &[(f64, f64)]| {
                builder.add(measure, labels, points[0].1);
                ControlFlow::Continue(())
            };
            let mut json = serde_json::Deserializer::from_str(&body);
            read_answer(&mut json, AnswerKind::Vector, &mut each).unwrap().unwrap();
        }
    }
    let fleet = builder.finish();
    let distinct: std::collections::BTreeSet<_> =
        fleet.sites().map(|site| std::sync::Arc::as_ptr(&site.labels)).collect();
    assert_eq!((fleet.len(), distinct.len()), (3_000, 3));
}
