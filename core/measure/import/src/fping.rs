//! Output of `fping`: with `-C`, `-c` or `-l`, also with `-D`, and with `--json`.
use crate::draft::{Draft, delay};
use crate::echoes::Echoes;
use crate::error::Problem;
use crate::lines::timestamp;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::{Metric, Run, SeriesKey};
use serde::Deserialize;

/// What a line says about one target.
enum Line {
    /// A probe: its number, and its round trip in ms if it was answered.
    Probe { sequence: u64, rtt_ms: Option<f64> },
    /// All probes, at the end of `-C`.
    All(Vec<Option<f64>>),
}

/// Whether this line is one of `fping`.
pub(crate) fn is_line(line: &str) -> bool {
    parse(line).is_some()
}

fn parse(line: &str) -> Option<(Option<f64>, String, Line)> {
    if line.starts_with('{') {
        return parse_json(line);
    }
    let (received_s, line) = timestamp(line);
    let (host, rest) = line.split_once(" : ")?;
    Some((received_s, host.trim().to_string(), probe(rest).or_else(|| all(rest))?))
}

/// `[0], 64 bytes, 0.059 ms (0.059 avg, 0% loss)`, or `[3], timed out (0.06 avg, 25% loss)`.
fn probe(rest: &str) -> Option<Line> {
    let (sequence, rest) = rest.strip_prefix('[')?.split_once("], ")?;
    let sequence = sequence.parse().ok()?;
    if rest.starts_with("timed out") {
        return Some(Line::Probe { sequence, rtt_ms: None });
    }
    let (_, rtt_ms) = rest.split_once(" ms")?.0.rsplit_once(' ')?;
    Some(Line::Probe { sequence, rtt_ms: Some(rtt_ms.parse().ok()?) })
}

/// `0.12 0.11 - 0.10`
fn all(rest: &str) -> Option<Line> {
    let value = |word: &str| if word == "-" { Some(None) } else { word.parse().ok().map(Some) };
    let values: Option<Vec<Option<f64>>> = rest.split_whitespace().map(value).collect();
    values.filter(|values| !values.is_empty()).map(Line::All)
}

/// A line of `--json`.
#[derive(Deserialize)]
struct Json {
    resp: Option<Probe>,
    timeout: Option<Probe>,
    #[serde(rename = "vSum")]
    all: Option<All>,
}

#[derive(Deserialize)]
struct Probe {
    host: String,
    seq: u64,
    rtt: Option<f64>,
}

#[derive(Deserialize)]
struct All {
    host: String,
    values: Vec<Option<f64>>,
}

fn parse_json(line: &str) -> Option<(Option<f64>, String, Line)> {
    let Json { resp, timeout, all } = serde_json::from_str(line).ok()?;
    let probe = |Probe { host, seq, rtt }| (None, host, Line::Probe { sequence: seq, rtt_ms: rtt });
    let all = all.map(|All { host, values }| (None, host, Line::All(values)));
    resp.or(timeout).map(probe).or(all)
}

pub(crate) fn read(text: &str) -> Result<Run, Problem> {
    let mut targets: BTreeMap<String, (Echoes, bool)> = BTreeMap::new();
    let mut first = None;
    for (received_s, host, line) in text.lines().filter_map(|line| parse(line.trim())) {
        first.get_or_insert_with(|| host.clone());
        let (echoes, has_probes) = targets.entry(host).or_default();
        match line {
            Line::Probe { sequence, rtt_ms } => {
                *has_probes = true;
                add(echoes, sequence, rtt_ms, received_s)?;
            }
            // The list repeats the lines before it.
            Line::All(_) if *has_probes => {}
            Line::All(values) => {
                for (sequence, rtt_ms) in (0..).zip(values) {
                    add(echoes, sequence, rtt_ms, None)?;
                }
            }
        }
    }
    let Some(target) = first else { return Err(Problem::Truncated) };
    let mut draft = Draft::new("fping", "", &target);
    // The first target is the one that is judged.
    let mut in_order: Vec<_> = targets.iter().collect();
    in_order.sort_by_key(|(host, _)| **host != target);
    for (host, (echoes, _)) in in_order {
        let scope = (*host != target).then(|| host.clone());
        draft.echoes(echoes, SeriesKey { scope, ..SeriesKey::of(Metric::IcmpRtt) }, None)?;
    }
    draft.unknown_load(&target);
    draft.finish()
}

fn add(
    echoes: &mut Echoes,
    sequence: u64,
    rtt_ms: Option<f64>,
    received_s: Option<f64>,
) -> Result<(), Problem> {
    match rtt_ms {
        Some(rtt_ms) => echoes.answer(sequence, delay(rtt_ms, 1e-3)?, received_s),
        None => echoes.lost(sequence),
    }
    Ok(())
}
