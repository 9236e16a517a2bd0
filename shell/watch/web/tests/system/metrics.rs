//! `/metrics` compared with golden files, and its protobuf format decoded.
use crate::client::{get, server};
use std::path::PathBuf;

fn golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../golden/web").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "{} differs: run with UPDATE_GOLDEN=1 and read the difference", path.display());
}

#[test]
fn both_text_forms_are_as_written() {
    let server = server(2);
    let text = get(&server, "/metrics", "");
    assert_eq!(text.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    golden("metrics.txt", text.text());
    let open = get(&server, "/metrics", "Accept: application/openmetrics-text; version=1.0.0\r\n");
    assert_eq!(open.headers["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8");
    golden("openmetrics.txt", open.text());
}

/// A field of a message: its number, and its bytes or value.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (eight, rest) = bytes.split_at(8);
                bytes = rest;
                Field::Number(u64::from_le_bytes(eight.try_into().unwrap()))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (inner, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(inner)
            }
            other => panic!("wire type {other}"),
        };
        all.push((key >> 3, field));
    }
    all
}

fn inner<'a>(message: &[(u64, Field<'a>)], number: u64) -> Vec<&'a [u8]> {
    let bytes = |(n, field): &(u64, Field<'a>)| match field {
        Field::Bytes(bytes) if *n == number => Some(*bytes),
        _ => None,
    };
    message.iter().filter_map(bytes).collect()
}

fn number(message: &[(u64, Field<'_>)], wanted: u64) -> u64 {
    let value = |(n, field): &(u64, Field<'_>)| match field {
        Field::Number(value) if *n == wanted => Some(*value),
        _ => None,
    };
    message.iter().find_map(value).unwrap()
}

fn zagzig(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[test]
fn a_native_histogram_has_every_probe_in_the_bucket_of_the_history() {
    let server = server(1);
    let accept = "Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited\r\n";
    let answer = get(&server, "/metrics", accept);
    assert!(answer.headers["content-type"].starts_with("application/vnd.google.protobuf; proto="));
    let mut bytes = answer.body.as_slice();
    let mut families = Vec::new();
    while !bytes.is_empty() {
        let length = varint(&mut bytes) as usize;
        let (family, rest) = bytes.split_at(length);
        families.push(fields(family));
        bytes = rest;
    }
    let named = |name: &[u8]| families.iter().find(|family| inner(family, 1)[0] == name).unwrap();
    assert_eq!(number(named(b"fathom_probes_total"), 3), 0);
    let rtt = named(b"fathom_rtt_seconds");
    assert_eq!(number(rtt, 3), 4);
    let metric = fields(inner(rtt, 4)[0]);
    let histogram = fields(inner(&metric, 7)[0]);
    assert_eq!(zagzig(number(&histogram, 5)), 5, "schema");
    let mut counted = Vec::new();
    let (mut bucket, mut count) = (0, 0);
    let mut deltas = inner(&histogram, 13)[0];
    for span in inner(&histogram, 12) {
        let span = fields(span);
        bucket += zagzig(number(&span, 1));
        for _ in 0..number(&span, 2) {
            count += zagzig(varint(&mut deltas));
            counted.push((bucket as i32, count as u64));
            bucket += 1;
        }
    }
    counted.retain(|(_, times)| *times > 0);
    let total = fathom_watch_web::Live::totals(&crate::synthetic::Made::new(1)).remove(0);
    assert_eq!(counted, total.sketch.buckets().collect::<Vec<_>>());
    assert_eq!(number(&histogram, 1), total.sketch.count());
}
