//! Writes a page of a synthetic upload with any number of segments:
//! `cargo run --example sawtooth -- FILE [SEGMENTS]`.
use fathom_capture::Address;
use fathom_flow::{Probe, ProbeKind, RttValidity, Sink, Times};
use fathom_text::thousands;
use fathom_trace_page::{Curve, Finding, Level, Limits, Panel, Recorder, Scope, Tone, Words};
use std::process::ExitCode;

#[path = "../../../core/present/trace-page/tests/it/sawtooth.rs"]
mod sawtooth;
use sawtooth::{BEGIN, FLOW, Sawtooth};

/// Rate, 100 Mbit/s: a million segments take two minutes.
const MBIT: i64 = 100;
const BUFFER_MS: i64 = 200;
/// Base round-trip time of the model.
const BASE_NS: i64 = 10_000_000;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else { return ExitCode::from(2) };
    let segments = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    match std::fs::write(file, page(segments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(3),
    }
}

/// An echo that waited in the queue at that time.
fn ping(number: u64, at: i64, delay_s: f64) -> Probe {
    let frame = 1 + 1_500 * number;
    let took = BASE_NS + (delay_s * 1e9) as i64;
    Probe {
        kind: ProbeKind::Echo,
        ends: [(Address::v4([10, 7, 0, 1]), 1), (Address::v4([10, 7, 0, 2]), 0)],
        asked: Times { at, frame },
        answered: Some(Times { at: at + took, frame: frame + 3 }),
        validity: RttValidity::Clean,
    }
}

fn page(segments: u64) -> String {
    let mut recorder = Recorder::new(&[FLOW], Limits::default(), Some(BEGIN));
    let mut model = Sawtooth::new(&mut recorder, 1, MBIT, BUFFER_MS);
    model.run(segments);
    let (truth, queue) = (model.truth.clone(), model.queue.clone());
    for (number, (at, delay_s)) in queue.iter().enumerate().step_by(5) {
        recorder.probe(&ping(number as u64, *at, *delay_s));
    }
    recorder.add_curve(Curve {
        name: "towards the receiver, behind the capture".into(),
        panel: Panel::QueueDelay,
        scope: Scope::All,
        points: queue,
    });
    let level = |name: &str, panel, value| Level { name: name.into(), panel, scope: Scope::All, value };
    recorder.add_level(level("base RTT", Panel::RoundTrip, 0.010));
    recorder.add_level(level("buffer full", Panel::RoundTrip, 0.210));
    recorder.add_level(level("BDP", Panel::Outstanding, 125e3));
    let (sent, lost) = (thousands(truth.segments as f64), thousands(truth.losses as f64));
    let sentences = [format!("A model, no capture: {sent} segments, of which {lost} were lost.")];
    let finding = Finding {
        name: "buffer size".into(),
        confidence: "confident".into(),
        text: "The buffer holds 2.5 MB.".into(),
        evidence: vec![("losses".into(), truth.losses.to_string())],
        frames: vec![2, 1000],
        alternatives: vec!["None: it is a model.".into()],
    };
    recorder.finish(&Words {
        title: "sawtooth",
        command: "a made-up upload",
        headline: "Everything waits for 0.2 s behind a buffer that is never empty.",
        sentences: &sentences,
        tone: Tone::Bad,
        findings: &[finding],
        facts: &[("segments".into(), sent)],
        version: env!("CARGO_PKG_VERSION"),
        ..Words::default()
    })
}
