//! What the page says of a capture: its diagnosis, queues and paths.
use crate::{Curve, Level as LevelLine, Panel, Recorder, Scope, Tone, Words};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_bottleneck::{Bottleneck, QueueReport, Queues, Reference};
use fathom_diagnose::Diagnosis;
use fathom_flow::End;
use fathom_prose::{Level, Origin, certainty_name, kind_name};
use fathom_run::{Finding, Run};
use fathom_text::{bytes, counted, seconds};

/// The page of a capture.
pub fn page(mut recorder: Recorder, queues: &Queues, run: &Run, diagnosis: &Diagnosis) -> String {
    add_queues(&mut recorder, queues);
    add_paths(&mut recorder, queues);
    let reasons = fathom_prose::reasons(run, diagnosis);
    let findings: Vec<_> =
        reasons.iter().flat_map(|reason| &reason.findings).map(|one| finding(run, one)).collect();
    let verdict = fathom_prose::verdict(run, diagnosis);
    let sentences: Vec<String> = verdict.consequence.into_iter().collect();
    let numbers: Vec<(String, String)> = fathom_prose::numbers(run, diagnosis)
        .into_iter()
        .map(|number| {
            let values: Vec<String> = number.values.into_iter().map(|value| value.text).collect();
            (number.label.to_owned(), values.join(", "))
        })
        .collect();
    let actions: Vec<(String, String)> = fathom_prose::actions(run, diagnosis, Origin::default())
        .into_iter()
        .map(|action| (action.text, action.command.unwrap_or_default()))
        .collect();
    let sources = run.capture.iter().flat_map(|capture| &capture.sources);
    let facts: Vec<(String, String)> = sources
        .flat_map(|source| {
            let frames = format!(
                "{}, {}, {}",
                counted(source.frames, "frame", "frames"),
                bytes(source.wire_bytes as f64),
                seconds(source.duration_s)
            );
            let defects =
                source.defects.iter().map(|defect| ("defect".to_owned(), fathom_prose::defect(defect)));
            [(source.name.clone(), frames)].into_iter().chain(defects)
        })
        .collect();
    recorder.finish(&Words {
        title: &run.title,
        command: &format!("trace, {}", run.started),
        level: verdict.level.word(),
        tone: tone(verdict.level),
        headline: &verdict.headline,
        sentences: &sentences,
        numbers: &numbers,
        actions: &actions,
        findings: &findings,
        facts: &facts,
        version: &run.tool_version,
    })
}

fn add_queues(recorder: &mut Recorder, queues: &Queues) {
    for report in &queues.flows {
        for leg in report.legs.iter().flatten() {
            recorder.add_curve(Curve {
                name: fathom_capture_run::part(leg.leg, report).to_string(),
                panel: Panel::QueueDelay,
                scope: Scope::Flow(report.flow),
                points: points(queues, leg.over_time.iter().map(|point| (point.at_ns, point.max_ns))),
            });
        }
    }
    for bottleneck in &queues.bottlenecks {
        let flows = bottleneck.flows.iter();
        let drain_s = bottleneck.buffer.as_ref().map(|buffer| buffer.drain_ns / 1e9);
        let link = bottleneck.rate.as_ref().ok().map(|rate| rate.ip.bits_per_second);
        let is_full = bottleneck.buffer.as_ref().is_some_and(|buffer| buffer.is_full_seen);
        let full = if is_full { "buffer full" } else { "longest seen" };
        let levels = [(full, Panel::QueueDelay, drain_s), ("link (IP packets)", Panel::Rate, link)];
        for (flow, _) in flows {
            for (name, panel, value) in &levels {
                let Some(value) = *value else { continue };
                let (name, scope) = ((*name).to_owned(), Scope::Flow(*flow));
                recorder.add_level(LevelLine { name, panel: panel.clone(), scope, value });
            }
        }
    }
}

/// Adds the base round-trip time and the bandwidth-delay product of each path.
fn add_paths(recorder: &mut Recorder, queues: &Queues) {
    for report in &queues.flows {
        for end in [End::A, End::B] {
            let Some(trips) = report.round_trips[end.other() as usize] else { continue };
            let name = match trips.reference {
                Reference::Relative => "least seen",
                Reference::OwnLeast | Reference::PathLeast { .. } => "base RTT",
            };
            let (name, scope) = (name.to_owned(), Scope::Track(report.flow, end));
            recorder.add_level(LevelLine {
                name,
                panel: Panel::RoundTrip,
                scope,
                value: trips.base_ns / 1e9,
            });
        }
    }
    for bottleneck in &queues.bottlenecks {
        for (flow, sender) in &bottleneck.flows {
            let report = queues.flows.iter().find(|report| report.flow == *flow);
            let Some(value) = report.and_then(|report| product(bottleneck, report)) else { continue };
            let (name, scope) = ("BDP".to_owned(), Scope::Track(*flow, *sender));
            recorder.add_level(LevelLine { name, panel: Panel::Outstanding, scope, value });
        }
    }
}

/// Bandwidth-delay product in bytes of IP packets: the data in flight when the link is busy and the
/// queue empty. `None` if the path was never seen without a queue.
fn product(bottleneck: &Bottleneck, report: &QueueReport) -> Option<f64> {
    let rate = bottleneck.rate.as_ref().ok().filter(|_| bottleneck.reference != Reference::Relative)?;
    let base_ns: f64 = report.round_trips.iter().flatten().map(|trips| trips.base_ns).sum();
    (base_ns > 0.0).then_some(rate.ip.bits_per_second / 8.0 * base_ns / 1e9)
}

/// Converts times to the clock of the capture.
fn points(queues: &Queues, of: impl Iterator<Item = (f64, f64)>) -> Vec<(i64, f64)> {
    of.map(|(at, ns)| (queues.origin_ns.saturating_add(at as i64), ns.max(0.0) / 1e9)).collect()
}

const fn tone(level: Level) -> Tone {
    match level {
        Level::Good => Tone::Good,
        Level::Bad | Level::AtLeastBad => Tone::Bad,
        Level::Fair | Level::NoResult => Tone::Fair,
    }
}

fn finding(run: &Run, finding: &Finding) -> crate::Finding {
    let values = fathom_prose::figures(finding).into_iter().map(|row| (row.name, row.value));
    crate::Finding {
        name: kind_name(finding.kind()).to_owned(),
        confidence: certainty_name(finding.certainty).to_owned(),
        text: fathom_prose::finding(finding, run.capture.as_deref()),
        evidence: values.collect(),
        frames: finding.frames.clone(),
        alternatives: finding.alternatives.iter().map(fathom_prose::alternative).collect(),
    }
}
