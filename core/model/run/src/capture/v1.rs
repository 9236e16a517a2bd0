//! Deserialization of fields that are sentences or lists in files of schema version 1. Each type
//! accepts the old and the current form.
use super::{
    DelayedParty, IpMarking, PartDirection, PathPart, QueueAlternative as Today, QueueManagement,
    UnknownReason,
};
use alloc::string::String;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Delay {
    List([f64; 4]),
    Percentiles { p5_s: f64, median_s: f64, p90_s: f64, p95_s: f64, max_s: f64 },
}

impl From<Delay> for super::DelayPercentiles {
    fn from(read: Delay) -> Self {
        let (p5_s, median_s, p90_s, p95_s, max_s) = match read {
            Delay::List([p5_s, median_s, p95_s, max_s]) => (p5_s, median_s, p95_s, p95_s, max_s),
            Delay::Percentiles { p5_s, median_s, p90_s, p95_s, max_s } => {
                (p5_s, median_s, p90_s, p95_s, max_s)
            }
        };
        super::DelayPercentiles { p5_s, median_s, p90_s, p95_s, max_s }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum PartDelay {
    List(String, f64),
    Named { part: PathPart, p95_s: f64 },
}

impl From<PartDelay> for super::PartDelay {
    fn from(read: PartDelay) -> Self {
        match read {
            PartDelay::List(name, p95_s) => super::PartDelay { part: part(&name), p95_s },
            PartDelay::Named { part, p95_s } => super::PartDelay { part, p95_s },
        }
    }
}

/// Parses `10.0.0.1 to capture` and `capture to 10.0.0.1`.
fn part(name: &str) -> PathPart {
    match name.strip_suffix(" to capture") {
        Some(host) => PathPart { host: host.into(), direction: PartDirection::ToCapture },
        None => PathPart {
            host: name.strip_prefix("capture to ").unwrap_or(name).into(),
            direction: PartDirection::FromCapture,
        },
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum DelayAtLoss {
    List([f64; 3]),
    Percentiles { p10_s: f64, median_s: f64, p90_s: f64 },
}

impl From<DelayAtLoss> for super::DelayAtLoss {
    fn from(read: DelayAtLoss) -> Self {
        let (DelayAtLoss::List([p10_s, median_s, p90_s])
        | DelayAtLoss::Percentiles { p10_s, median_s, p90_s }) = read;
        super::DelayAtLoss { p10_s, median_s, p90_s }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum HopDelay {
    List([f64; 3]),
    Percentiles { median_s: f64, p95_s: f64, max_s: f64 },
}

impl From<HopDelay> for super::HopDelay {
    fn from(read: HopDelay) -> Self {
        let (HopDelay::List([median_s, p95_s, max_s]) | HopDelay::Percentiles { median_s, p95_s, max_s }) =
            read;
        super::HopDelay { median_s, p95_s, max_s }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Management {
    List(QueueManagement, f64),
    Estimate { kind: QueueManagement, confidence_ratio: f64 },
}

impl From<Management> for super::ManagementEstimate {
    fn from(read: Management) -> Self {
        let (Management::List(kind, confidence_ratio) | Management::Estimate { kind, confidence_ratio }) =
            read;
        super::ManagementEstimate { kind, confidence_ratio }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum FlowShare {
    List(u32, f64),
    Share { flow: u32, bytes_ratio: f64 },
}

impl From<FlowShare> for super::FlowShare {
    fn from(read: FlowShare) -> Self {
        let (FlowShare::List(flow, bytes_ratio) | FlowShare::Share { flow, bytes_ratio }) = read;
        super::FlowShare { flow, bytes_ratio }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum DelayedFlows {
    List(String, f64),
    Flows { who: DelayedParty, added_p95_s: f64 },
}

impl From<DelayedFlows> for super::DelayedFlows {
    fn from(read: DelayedFlows) -> Self {
        match read {
            DelayedFlows::List(text, added_p95_s) => super::DelayedFlows { who: party(&text), added_p95_s },
            DelayedFlows::Flows { who, added_p95_s } => super::DelayedFlows { who, added_p95_s },
        }
    }
}

/// Parses `Flow 3 (10.0.0.1:1 to 10.0.0.2:2)`, `A short flow's first exchange` and
/// `The first exchange of 5 short flows`.
fn party(text: &str) -> DelayedParty {
    let count =
        text.strip_prefix("The first exchange of ").and_then(|rest| rest.strip_suffix(" short flows"));
    match text.strip_prefix("Flow ") {
        Some(rest) => {
            let (number, ends) = rest.split_once(' ').unwrap_or((rest, ""));
            let ends = ends.strip_prefix('(').and_then(|ends| ends.strip_suffix(')'));
            DelayedParty::Flow {
                number: number.parse().unwrap_or(0),
                ends: ends.and_then(|ends| ends.split_once(" to ")).map(|(a, b)| [a.into(), b.into()]),
            }
        }
        None => DelayedParty::ShortFlows { count: count.and_then(|count| count.parse().ok()).unwrap_or(1) },
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Alternative {
    Sentence(String),
    Data(Tagged),
}

/// The fields of [`Today`], which itself deserializes through [`Alternative`].
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Tagged {
    UnsteadyClock { host: String, hertz: f64, packets: u64, error_s: f64 },
    AcknowledgedElsewhere,
    ArrivedElsewhere,
    SenderOrNextHop,
    Text { text: String },
}

impl From<Alternative> for Today {
    fn from(read: Alternative) -> Self {
        match read {
            Alternative::Sentence(text) | Alternative::Data(Tagged::Text { text }) => Today::Text { text },
            Alternative::Data(Tagged::UnsteadyClock { host, hertz, packets, error_s }) => {
                Today::UnsteadyClock { host, hertz, packets, error_s }
            }
            Alternative::Data(Tagged::AcknowledgedElsewhere) => Today::AcknowledgedElsewhere,
            Alternative::Data(Tagged::ArrivedElsewhere) => Today::ArrivedElsewhere,
            Alternative::Data(Tagged::SenderOrNextHop) => Today::SenderOrNextHop,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Unknown {
    Sentence(String),
    Data { flow: u32, reason: UnknownReason },
}

impl From<Unknown> for super::UnknownQueue {
    fn from(read: Unknown) -> Self {
        match read {
            Unknown::Sentence(text) => {
                let number = text.strip_prefix("Flow ").and_then(|rest| rest.split_once([' ', '\'']));
                let flow = number.and_then(|(number, _)| number.parse().ok()).unwrap_or(0);
                super::UnknownQueue { flow, reason: UnknownReason::Text { text } }
            }
            Unknown::Data { flow, reason } => super::UnknownQueue { flow, reason },
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Remarking {
    Sentence(String),
    Data { from: IpMarking, to: IpMarking, packets: u64 },
}

impl From<Remarking> for super::Remarking {
    fn from(read: Remarking) -> Self {
        let (from, to, packets) = match read {
            Remarking::Sentence(text) => remarking(&text).unwrap_or_default(),
            Remarking::Data { from, to, packets } => (from, to, packets),
        };
        super::Remarking { from, to, packets }
    }
}

/// Parses `DSCP 10 ECT(0) to DSCP 0 Not-ECT in 17 packets`.
fn remarking(text: &str) -> Option<(IpMarking, IpMarking, u64)> {
    let (markings, packets) = text.strip_suffix(" packets")?.split_once(" in ")?;
    let (from, to) = markings.split_once(" to ")?;
    Some((marking(from)?, marking(to)?, packets.parse().ok()?))
}

fn marking(text: &str) -> Option<IpMarking> {
    let (dscp, ecn) = text.strip_prefix("DSCP ")?.split_once(' ')?;
    let ecn = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"].iter().position(|name| *name == ecn)?;
    Some(IpMarking { dscp: dscp.parse().ok()?, ecn: ecn as u8 })
}

#[cfg(test)]
mod tests {
    use super::super::{DelayedFlows, QueueAlternative, Remarking, UnknownQueue};
    use super::*;
    use crate::CaptureDefect;
    use alloc::format;
    use alloc::string::ToString;

    #[test]
    fn sentences_of_version_1_become_data() {
        let remarked: Remarking =
            serde_json::from_str("\"DSCP 10 ECT(0) to DSCP 0 Not-ECT in 17 packets\"").unwrap();
        let (from, to) = (IpMarking { dscp: 10, ecn: 2 }, IpMarking { dscp: 0, ecn: 0 });
        assert_eq!(remarked, Remarking { from, to, packets: 17 });
        for (text, who) in [
            ("Flow 3", DelayedParty::Flow { number: 3, ends: None }),
            (
                "Flow 4 ([::1]:1 to b:2)",
                DelayedParty::Flow { number: 4, ends: Some(["[::1]:1".into(), "b:2".into()]) },
            ),
            ("A short flow's first exchange", DelayedParty::ShortFlows { count: 1 }),
            ("The first exchange of 12 short flows", DelayedParty::ShortFlows { count: 12 }),
        ] {
            let read: DelayedFlows = serde_json::from_str(&format!("[\"{text}\",0.25]")).unwrap();
            assert_eq!(read, DelayedFlows { who, added_p95_s: 0.25 });
        }
        for name in ["10.0.0.1 to capture", "capture to 2001:db8::1"] {
            assert_eq!(part(name).to_string(), name);
        }
        let unknown: UnknownQueue = serde_json::from_str("\"Flow 12 met no queue.\"").unwrap();
        assert_eq!(unknown.flow, 12);
    }

    #[test]
    fn defects_are_sentences_or_data() {
        let json =
            r#"{"name":"a","frames":1,"wire_bytes":2,"duration_s":0.5,"defects":["Old.",{"kind":"empty"}]}"#;
        let source: super::super::CaptureSource = serde_json::from_str(json).unwrap();
        let old = CaptureDefect::Text { text: "Old.".into() };
        assert_eq!(source.defects, [old, CaptureDefect::Empty]);
    }

    #[test]
    fn current_alternatives_are_unchanged() {
        for all in [
            QueueAlternative::UnsteadyClock { host: "a".into(), hertz: 1000.0, packets: 9, error_s: 1e-3 },
            QueueAlternative::AcknowledgedElsewhere,
            QueueAlternative::ArrivedElsewhere,
            QueueAlternative::SenderOrNextHop,
            QueueAlternative::Text { text: "b".into() },
        ] {
            let written = serde_json::to_string(&all).unwrap();
            assert_eq!(serde_json::from_str::<QueueAlternative>(&written).unwrap(), all, "{written}");
        }
    }
}
