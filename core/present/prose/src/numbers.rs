//! The numbers that a result is remembered by: lag when busy, throughput and responsiveness.
use crate::queue::{part, party, rule_name};
use crate::verdict::{increases, lag};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::{Diagnosis, PhaseSummary};
use fathom_run::{
    Capture, CapturedFlow, CapturedQueue, Conclusion, Grade, LatencyIncrease, MeasuredBuffer, PhaseKind, Run,
    threshold,
};
use fathom_text::{bytes, counted, milliseconds, percent, rate, seconds, thousands};
use fathom_units::Direction;

/// A row of numbers of one kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Number {
    /// What they are.
    pub label: &'static str,
    /// One for each direction or statistic.
    pub values: Vec<Value>,
}

/// A number of a row.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// The number with its unit, or words.
    pub text: String,
    /// Its direction or statistic, to be read after it.
    pub of: &'static str,
    /// The grade that goes with it.
    pub grade: Option<Grade>,
}

pub(crate) const fn value(text: String, of: &'static str) -> Value {
    Value { text, of, grade: None }
}

/// The numbers of a run, in the order in which they are shown.
pub fn numbers(run: &Run, diagnosis: &Diagnosis) -> Vec<Number> {
    let all = match &run.capture {
        Some(capture) => captured(capture),
        None if run.history.is_some() => watched(diagnosis),
        None if run.switch.is_some() => {
            buffers(diagnosis).into_iter().chain(crate::switch::numbers(diagnosis)).collect()
        }
        None if run.is_of_bursts() => buffers(diagnosis),
        None => loaded(diagnosis),
    };
    all.into_iter().filter(|number| !number.values.is_empty()).collect()
}

/// The phases of one direction; both at once only where they are alone, or the headline is about
/// them.
fn phases(diagnosis: &Diagnosis) -> impl Iterator<Item = &PhaseSummary> {
    let has = |kind| diagnosis.phase(kind).is_some();
    let alone = !has(PhaseKind::Up) && !has(PhaseKind::Down);
    let both = alone || diagnosis.headline_phase == Some(PhaseKind::Both);
    let kinds = [Some(PhaseKind::Up), Some(PhaseKind::Down), both.then_some(PhaseKind::Both)];
    kinds.into_iter().flatten().filter_map(|kind| diagnosis.phase(kind))
}

/// Direction of a load, after a number.
const fn load_name(phase: PhaseKind) -> &'static str {
    match phase {
        PhaseKind::Up => "up",
        PhaseKind::Down => "down",
        _ => "both",
    }
}

fn loaded(diagnosis: &Diagnosis) -> Vec<Number> {
    let increase = |kind| increases(diagnosis).find(|increase: &&LatencyIncrease| increase.phase == kind);
    let idle = diagnosis.phase(PhaseKind::Idle).and_then(|phase| phase.latency);
    // With three phases there is no room for it; the findings have it, too.
    let idle = idle.filter(|_| phases(diagnosis).count() < 3);
    let idle = idle.map(|latency| value(milliseconds(latency.p50.value), "idle"));
    let lags = phases(diagnosis).filter_map(|phase| {
        // Without it, the load delivered nothing.
        phase.increase_p50_s?;
        Some(value(lag(increase(phase.kind)?.lag_s()), load_name(phase.kind)))
    });
    let goodput = |kind, name, of: fn(&PhaseSummary) -> Option<f64>| {
        let alone = diagnosis.phase(kind).and_then(of);
        let goodput = alone.or_else(|| diagnosis.phase(PhaseKind::Both).and_then(of))?;
        Some(value(rate(goodput), name))
    };
    let goodputs = [
        goodput(PhaseKind::Up, "up", |phase| phase.goodput_up_bits_per_second),
        goodput(PhaseKind::Down, "down", |phase| phase.goodput_down_bits_per_second),
    ];
    let rpm = phases(diagnosis).filter_map(|phase| {
        let text = format!("{} RPM", thousands(phase.rpm.as_ref()?.per_minute));
        Some(Value { text, of: load_name(phase.kind), grade: phase.grade })
    });
    Vec::from([
        Number { label: "Lag when busy", values: lags.chain(idle).collect() },
        Number { label: "Throughput", values: goodputs.into_iter().flatten().collect() },
        Number { label: "Responsiveness", values: rpm.collect() },
    ])
}

/// What bursts found in each direction. Their delay in a managed queue says nothing about others.
fn buffers(diagnosis: &Diagnosis) -> Vec<Number> {
    let of = |written: fn(&MeasuredBuffer) -> Option<String>| {
        let each = diagnosis.findings.iter().filter_map(move |finding| match &finding.conclusion {
            Conclusion::MeasuredBuffer(buffer) => {
                Some(value(written(buffer)?, finding.direction.map_or("", Direction::name)))
            }
            _ => None,
        });
        each.collect::<Vec<Value>>()
    };
    let delay = |buffer: &MeasuredBuffer| {
        let managed = crate::burst::management(buffer).map(ToString::to_string);
        Some(managed.unwrap_or_else(|| milliseconds(buffer.delay_s)))
    };
    let size = |buffer: &MeasuredBuffer| {
        crate::burst::management(buffer).is_none().then(|| bytes(buffer.bytes.value))
    };
    Vec::from([
        Number { label: "Full buffer", values: of(delay) },
        Number { label: "Size", values: of(size) },
        Number { label: "Link rate", values: of(|buffer| Some(rate(buffer.rate_bits_per_second.value))) },
    ])
}

fn watched(diagnosis: &Diagnosis) -> Vec<Number> {
    let variation = diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::LatencyVariation(variation) => Some(variation),
        _ => None,
    });
    let latency = variation.map(|of| {
        [(of.p50_s, "median"), (of.p95_s, "p95"), (of.max_s, "max")]
            .map(|(seconds, name)| value(milliseconds(seconds), name))
    });
    let loss = diagnosis.phases.first().and_then(|phase| phase.loss_ratio);
    let loss = loss.map(|ratio| value(percent(ratio), "of the probes"));
    Vec::from([
        Number { label: "Latency", values: latency.into_iter().flatten().collect() },
        Number { label: "Loss", values: loss.into_iter().collect() },
    ])
}

fn captured(capture: &Capture) -> Vec<Number> {
    let words = |label, text: Option<String>| Number {
        label,
        values: text.map(|text| value(text, "")).into_iter().collect(),
    };
    let queue = capture.queues.first();
    Vec::from([
        // Without a queue there is no bottleneck to locate.
        words(
            "Bottleneck",
            queue.filter(|queue| queue.probed.is_none() || is_waiting(queue)).map(bottleneck),
        ),
        words("Delayed", queue.and_then(delayed)),
        words("Sender", queue.and_then(|queue| sender(capture, queue))),
        // With a queue the user looks at the queue.
        words("Capture", sources(capture).filter(|_| queue.is_none())),
    ])
}

/// Whether packets waited long enough for a queue rather than the response time of a host.
fn is_waiting(queue: &CapturedQueue) -> bool {
    threshold::is_bloated(queue.delay.median_s, queue.delay.p90_s)
}

/// `10.0 Mbit/s, tail drop, between the capture point and 10.7.0.2`.
fn bottleneck(queue: &CapturedQueue) -> String {
    let link = queue.rate_bits_per_second.map(|link| rate(link.value));
    let kind = rule_name(queue);
    let parts: Vec<String> =
        link.into_iter().chain(kind.map(ToString::to_string)).chain([part(queue)]).collect();
    parts.join(", ")
}

/// The flow or the probes that waited longest.
fn delayed(queue: &CapturedQueue) -> Option<String> {
    let first = queue.delayed.first()?;
    let more = queue.delayed.len() - 1;
    let more = if more == 0 { String::new() } else { format!("; {more} more") };
    Some(format!("{} by {} (p95){more}", party(&first.who), milliseconds(first.added_p95_s)))
}

/// What limited the flow that filled most of the queue, and what it sent again.
fn sender(capture: &Capture, queue: &CapturedQueue) -> Option<String> {
    let number = queue.filled_by.first()?.flow;
    let flow: &CapturedFlow = capture.flows.iter().find(|flow| flow.number == number)?;
    let side = flow.sent.iter().max_by_key(|side| side.payload_bytes)?;
    let again = side.retransmissions.packets();
    let limits = side.limits.map(|limits| {
        let all = [
            (limits.window_ratio, "the receive window"),
            (limits.congestion_ratio, "congestion"),
            (limits.application_ratio, "the application"),
        ];
        let most = all.into_iter().fold((-1.0, ""), |most, one| if one.0 > most.0 { one } else { most });
        format!("limited by {} for {} of the time, ", most.1, percent(most.0))
    });
    let repeated = counted(again, "retransmission", "retransmissions");
    Some(format!("flow {number}, {}{repeated}", limits.unwrap_or_default()))
}

/// Names without directories: the user knows where the files are.
fn sources(capture: &Capture) -> Option<String> {
    let name =
        |source: &fathom_run::CaptureSource| source.name.rsplit('/').next().unwrap_or_default().to_string();
    match capture.sources.as_slice() {
        [] => None,
        [one] => Some(format!(
            "{}: {}, {}, {}",
            name(one),
            counted(one.frames, "frame", "frames"),
            bytes(one.wire_bytes as f64),
            seconds(one.duration_s)
        )),
        several => Some(several.iter().map(name).collect::<Vec<_>>().join(", ")),
    }
}
