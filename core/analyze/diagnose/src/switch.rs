//! Diagnosis of a switch.
use crate::view::View;
use crate::{Diagnosis, Health, bursts, probes};
use alloc::vec::Vec;
use fathom_run::{
    BufferLimit, Certainty, Conclusion, Estimate, Finding, HeadOfLineBlocking, LosslessBurst, ManagementRule,
    MeasuredBuffer, Metric, PauseFrames, PortOverload, PortStream, PortTestKind, Reason, Run, SharedBuffer,
    Switch, threshold,
};
use fathom_units::Direction;

/// A port that has less of the buffer than this while another one is full shares it. What leaves
/// during a burst differs by some percent.
const SHARED: f64 = 0.85;
/// Pings to another port wait for the full one if they take this share of its delay longer than
/// without load, ...
const BLOCKED: f64 = 0.1;
/// ... and this time, or if this share is lost.
const BLOCKED_S: f64 = 0.001;
const BLOCKED_LOSS: f64 = 0.01;

/// Delays of full and of small frames that differ by at most this share are alike.
const SAME: f64 = 0.15;
/// Share of the places in a buffer that pings take: one for 50 frames, of which half are lost.
const PINGS: f64 = 0.01;
/// Header of an Ethernet frame.
const ETHERNET_BYTES: f64 = 14.0;
/// A link may lose a frame or two while the buffer fills.
const MOST_EARLY: u64 = 2;
/// The queue grows as fast as the load exceeds the rate, to at least this share of its delay.
const GREW: f64 = 0.7;

pub(crate) fn diagnose(run: &Run, switch: &Switch) -> Diagnosis {
    let view = View::new(run);
    let overload = overload(switch);
    let found = match is_tail_drop(switch, overload.as_ref()) {
        true => bursts::tail_drop(run, Direction::Up),
        false => bursts::finding(run, Direction::Up),
    };
    let buffer = found.map(|found| of_port(found, switch, overload.as_ref()));
    let has_bloated_buffer =
        matches!(&buffer, Some(Finding { conclusion: Conclusion::MeasuredBuffer(b), .. }) if b.is_bloated);
    let was_loaded = overload.as_ref().is_some_and(|overload| overload.loss_ratio > 0.0);
    // An AQM may not control a load that does not respond.
    let delay_s = overload.as_ref().and_then(|overload| overload.delay_s);
    let waits = was_loaded && delay_s.is_some_and(|delay_s| delay_s >= threshold::BLOATED_P50_S);
    let is_bloated = has_bloated_buffer || waits;
    let others = [
        overload.map(Conclusion::PortOverload),
        lossless(switch, PortTestKind::Microburst).map(Conclusion::LosslessBurst),
        lossless(switch, PortTestKind::Incast).map(Conclusion::LosslessBurst),
        shared(switch).map(Conclusion::SharedBuffer),
        blocking(switch).map(Conclusion::HeadOfLineBlocking),
        pause(switch).map(Conclusion::PauseFrames),
    ];
    let certain = |conclusion| Finding::new(conclusion, None, Certainty::Certain);
    let findings: Vec<Finding> =
        buffer.into_iter().chain(others.into_iter().flatten().map(certain)).collect();
    let (health, reason) = match (is_bloated, was_loaded) {
        (true, _) => (Health::Bloated, None),
        (false, true) => (Health::Healthy, None),
        (false, false) => (Health::Inconclusive, Some(Reason::BelowCapacity)),
    };
    Diagnosis {
        health,
        reason,
        latency_source: Some(Metric::UdpRtt),
        phases: view.phases,
        probes: probes::statistics(run),
        findings,
        ..Diagnosis::default()
    }
}

/// Whether the buffer of the overloaded port lost nothing before it was full. An AQM would have,
/// while the queue grew for seconds; in a burst, each stall of this host looks like one.
fn is_tail_drop(switch: &Switch, overload: Option<&PortOverload>) -> bool {
    let Some((test, overload)) = switch.test(PortTestKind::Overload).zip(overload) else { return false };
    let (Some(fill_s), Some(delay_s)) = (overload.fill_s, overload.delay_s) else { return false };
    let grew_s = fill_s * (overload.load_ratio - 1.0);
    test.early_packets <= MOST_EARLY && grew_s >= GREW * delay_s
}

/// The buffer that bursts found, of a port.
fn of_port(found: Finding, switch: &Switch, overload: Option<&PortOverload>) -> Finding {
    let delay_s = overload.filter(|_| is_tail_drop(switch, overload)).and_then(|overload| overload.delay_s);
    let conclusion = match found.conclusion {
        Conclusion::MeasuredBuffer(buffer) if !buffer.is_per_flow => {
            let sized = delay_s.and_then(|delay_s| sized(&buffer, switch, delay_s));
            Conclusion::MeasuredBuffer(sized.unwrap_or(buffer))
        }
        other => other,
    };
    Finding { conclusion, direction: None, remedies: Vec::new(), ..found }
}

/// A buffer in which pings through frames of full size have this delay: the median of seconds,
/// while the longest wait of a burst includes a stall of this host.
fn sized(buffer: &MeasuredBuffer, switch: &Switch, delay_s: f64) -> Option<MeasuredBuffer> {
    let port = loaded(switch)?;
    let idle_s = switch.test(PortTestKind::Idle)?.stream(port, true)?.delay_p50_s?;
    let load = switch.test(PortTestKind::Overload)?.stream(port, false)?;
    let frame_of =
        |stream: &PortStream| f64::from(stream.frame_bytes) - ETHERNET_BYTES + buffer.overhead_bytes;
    let (frame, wait_s) = (frame_of(load), delay_s - idle_s);
    let rate = buffer.rate_bits_per_second;
    let (bytes, error) = (wait_s * rate.value / 8.0, rate.error / rate.value);
    let small = switch.test(PortTestKind::SmallFrames).filter(|test| test.fill_s.is_some());
    let small = small.and_then(|test| test.stream(port, false));
    let shown = small.and_then(|small| {
        let ratio = (small.delay_p50_s? - idle_s) / wait_s;
        let is_near = |expected: f64| (ratio / expected - 1.0).abs() <= SAME;
        match (is_near(frame_of(small) / frame), is_near(1.0)) {
            (true, _) => Some(BufferLimit::Packets),
            (false, true) => Some(BufferLimit::Bytes),
            (false, false) => None,
        }
    });
    let limit = shown.or(buffer.limit);
    let estimate = |value: f64, one: f64| Estimate { value, error: one / 2.0 + value * (error + PINGS) };
    Some(MeasuredBuffer {
        delay_s,
        bytes: estimate(bytes, frame),
        packets: (limit == Some(BufferLimit::Packets)).then(|| estimate(bytes / frame, 1.0)),
        is_lower_bound: false,
        limit,
        rule: Some(ManagementRule::TailDrop),
        drops_early: false,
        is_bloated: delay_s >= threshold::BLOATED_P50_S,
        ..buffer.clone()
    })
}

/// Number of the port that is overloaded: that of the load.
fn loaded(switch: &Switch) -> Option<u32> {
    let overload = switch.test(PortTestKind::Overload)?;
    overload.streams.iter().find(|stream| !stream.is_ping).map(|stream| stream.to)
}

fn overload(switch: &Switch) -> Option<PortOverload> {
    let test = switch.test(PortTestKind::Overload)?;
    let loads = || test.streams.iter().filter(|stream| !stream.is_ping);
    let sent: u64 = loads().map(|stream| stream.sent_packets).sum();
    let lost: u64 = loads().map(|stream| stream.lost_packets).sum();
    let pings = test.stream(loaded(switch)?, true)?;
    Some(PortOverload {
        load_ratio: switch.load_ratio,
        spacing: switch.spacing,
        delay_s: pings.delay_p50_s,
        loss_ratio: lost as f64 / sent.max(1) as f64,
        ping_loss_ratio: pings.loss_ratio(),
        fill_s: test.fill_s,
        drain_s: test.drain_s,
    })
}

fn lossless(switch: &Switch, kind: PortTestKind) -> Option<LosslessBurst> {
    let test = switch.test(kind)?;
    let loads = || test.streams.iter().filter(|stream| !stream.is_ping);
    Some(LosslessBurst {
        port_count: loads().count() as u32,
        sent_packets: loads().map(|stream| stream.sent_packets).sum(),
        bytes: loads().map(|stream| stream.sent_packets as f64 * f64::from(stream.frame_bytes)).sum(),
    })
}

fn shared(switch: &Switch) -> Option<SharedBuffer> {
    let port = loaded(switch)?;
    let longest_s = |kind| switch.test(kind)?.stream(port, false)?.delay_p98_s;
    let left_ratio = longest_s(PortTestKind::SharedBuffer)? / longest_s(PortTestKind::FullBurst)?;
    Some(SharedBuffer { left_ratio, is_shared: left_ratio < SHARED })
}

fn blocking(switch: &Switch) -> Option<HeadOfLineBlocking> {
    let full = loaded(switch)?;
    let (test, idle) = (switch.test(PortTestKind::HeadOfLine)?, switch.test(PortTestKind::Idle)?);
    let others = || test.streams.iter().filter(|stream| stream.is_ping && stream.to != full);
    let of_full_s = test.stream(full, true).and_then(|pings| pings.delay_p50_s).unwrap_or(0.0);
    let idle_s = idle.stream(others().next()?.to, true)?.delay_p50_s?;
    let delay_s = others().filter_map(|pings| pings.delay_p50_s).fold(idle_s, f64::max) - idle_s;
    let loss_ratio = others().map(|pings| pings.loss_ratio()).fold(0.0, f64::max);
    let waits = delay_s >= (BLOCKED * of_full_s).max(BLOCKED_S);
    Some(HeadOfLineBlocking { delay_s, loss_ratio, is_blocked: waits || loss_ratio >= BLOCKED_LOSS })
}

fn pause(switch: &Switch) -> Option<PauseFrames> {
    let counted: Vec<u64> =
        switch.ports.iter().filter_map(|port| Some(port.pause?.received_packets)).collect();
    // Without ports there was no test.
    switch.ports.first()?;
    Some(PauseFrames { sent_packets: (!counted.is_empty()).then(|| counted.iter().sum()) })
}
