//! The first lines of a result: a level, a sentence that a household can repeat, and what people
//! notice.
use crate::impact::consequence;
use crate::instrument::reason;
use crate::phase::while_doing;
use crate::queue::{host, manager, size, who};
use alloc::format;
use alloc::string::{String, ToString};
use fathom_diagnose::{Diagnosis, Health};
use fathom_run::{
    BoundCause, Call, Capture, CapturedQueue, Conclusion, DatagramLoad, DatagramLoss, FindingKind,
    LatencyIncrease, Outage, PhaseEnd, PhaseKind, ProbeLoss, ProbedDelay, Reason, Run, threshold,
};
use fathom_text::{milliseconds, percent, rate, seconds};
use fathom_units::Direction;

/// R factor of a call below which nearly all users are dissatisfied (ITU-T G.107 annex B).
const BROKEN_CALL_R: f64 = 60.0;
/// Share of lost datagrams above which calls and video break up: the R factor of a call with the
/// codec of ITU-T G.113 appendix I falls below 60 at about a tenth.
const BROKEN_DATAGRAMS: f64 = 0.1;
/// Longer delays are printed in seconds.
const LONG_S: f64 = 9.95;
/// Shorter lags are printed as zero.
const NO_LAG_S: f64 = 0.000_5;

/// What people notice of a line, in one word. Unlike [`Health`] it also counts loss and outages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Nothing.
    Good,
    /// Some programs suffer.
    Fair,
    /// Everything waits, or calls break up.
    Bad,
    /// As [`Level::Bad`], and the load ended before the worst was seen.
    AtLeastBad,
    /// Unknown.
    NoResult,
}

impl Level {
    /// All levels.
    pub const ALL: [Level; 5] = [Level::Good, Level::Fair, Level::Bad, Level::AtLeastBad, Level::NoResult];
    /// The word that a result begins with.
    pub const fn word(self) -> &'static str {
        match self {
            Level::Good => "GOOD",
            Level::Fair => "FAIR",
            Level::Bad => "BAD",
            Level::AtLeastBad => "AT LEAST BAD",
            Level::NoResult => "NO RESULT",
        }
    }
    /// Name in JSON documents.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Good => "good",
            Level::Fair => "fair",
            Level::Bad => "bad",
            Level::AtLeastBad => "at_least_bad",
            Level::NoResult => "no_result",
        }
    }
    /// Level of a result that has a health alone, as those of an audit.
    pub const fn of(health: Health) -> Self {
        match health {
            Health::Healthy => Level::Good,
            Health::Bloated => Level::Bad,
            Health::Invalid | Health::Inconclusive => Level::NoResult,
        }
    }
}

/// The first lines of a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// What people notice, in one word.
    pub level: Level,
    /// One or two sentences.
    pub headline: String,
    /// What calls, games and web pages are like, or what to do if there is no result.
    pub consequence: Option<String>,
}

impl Verdict {
    const fn new(level: Level, headline: String, consequence: Option<String>) -> Self {
        Verdict { level, headline, consequence }
    }
}

/// The verdict of a run.
pub fn verdict(run: &Run, diagnosis: &Diagnosis) -> Verdict {
    match (diagnosis.health, &run.capture) {
        (Health::Invalid, _) => {
            Verdict::new(Level::NoResult, why(diagnosis), Some(ANOTHER_MACHINE.to_string()))
        }
        (_, None) if run.history.is_some() => watched(diagnosis),
        (Health::Bloated | Health::Healthy, None) if run.is_of_bursts() => crate::burst::verdict(diagnosis),
        (Health::Inconclusive, _) => {
            let advice = diagnosis.reason.as_ref().and_then(another_end).map(ToString::to_string);
            Verdict::new(Level::NoResult, why(diagnosis), advice)
        }
        (Health::Bloated, Some(capture)) => captured_bloat(capture),
        (Health::Healthy, Some(capture)) => captured_health(capture),
        (Health::Bloated, None) => bloated(diagnosis),
        (Health::Healthy, None) => healthy(diagnosis),
    }
}

const ANOTHER_MACHINE: &str = "Close other programs, or use another machine.";

/// What to do about an end that limited the load.
const fn another_end(reason: &Reason) -> Option<&'static str> {
    match reason {
        Reason::ReceiverLimited { direction: Direction::Down, .. } => Some(ANOTHER_MACHINE),
        Reason::ReceiverLimited { .. } | Reason::SenderLimited | Reason::SenderIdle => {
            Some("Use another server.")
        }
        _ => None,
    }
}

fn why(diagnosis: &Diagnosis) -> String {
    diagnosis.reason.as_ref().map_or_else(|| "No reason is known: measure again.".to_string(), reason)
}

/// A period of a watch: what recurs is the headline, else how latency varied.
fn watched(diagnosis: &Diagnosis) -> Verdict {
    let of = |kinds: &[FindingKind]| diagnosis.findings.iter().find(|found| kinds.contains(&found.kind()));
    let recurs = of(&[
        FindingKind::OwnLoad,
        FindingKind::RecurringDelay,
        FindingKind::RecurringLoss,
        FindingKind::BaseChange,
        FindingKind::ProbeLoss,
    ]);
    if let Some(finding) = recurs {
        let level = if finding.kind() == FindingKind::OwnLoad { Level::Bad } else { Level::Fair };
        return Verdict::new(level, crate::finding(finding, None), None);
    }
    match (diagnosis.health, diagnosis.findings.first().map(|first| &first.conclusion)) {
        (Health::Healthy, Some(Conclusion::LatencyVariation(latency))) => {
            let (median, p95) = (milliseconds(latency.p50_s), milliseconds(latency.p95_s));
            // An increase that people notice at the 90th percentile; its load is unknown.
            let varied = latency.p90_s - latency.base_p5_s >= threshold::BLOATED_P50_S;
            let (level, course) = if varied { (Level::Fair, "varied") } else { (Level::Good, "stayed low") };
            Verdict::new(level, format!("Latency {course}: {median} (median), {p95} (p95)."), None)
        }
        _ => Verdict::new(Level::NoResult, why(diagnosis), None),
    }
}

/// The increase of latency that the headline is about.
pub(crate) fn headline_increase(diagnosis: &Diagnosis) -> Option<&LatencyIncrease> {
    increases(diagnosis).find(|increase| Some(increase.phase) == diagnosis.headline_phase)
}

/// The increase of latency in each phase with load.
pub(crate) fn increases(diagnosis: &Diagnosis) -> impl Iterator<Item = &LatencyIncrease> {
    diagnosis.findings.iter().filter_map(|finding| match &finding.conclusion {
        Conclusion::Bufferbloat(increase) | Conclusion::LowLatency(increase) => Some(increase),
        _ => None,
    })
}

/// Lag when busy: `+966 ms`.
pub fn lag(lag_s: f64) -> String {
    match lag_s {
        s if s < NO_LAG_S => "+0 ms".to_string(),
        s if s < LONG_S => format!("+{}", milliseconds(s)),
        s => format!("+{}", seconds(s)),
    }
}

/// What ended the phase of the headline while latency was still growing.
fn growing(diagnosis: &Diagnosis) -> Option<PhaseEnd> {
    diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::LowerBound(bound) if Some(bound.phase) == diagnosis.headline_phase => {
            match &bound.cause {
                BoundCause::StillGrowing { end, .. } => Some(*end),
                BoundCause::NotReached { .. } => None,
            }
        }
        _ => None,
    })
}

/// What ended a phase too early.
pub(crate) const fn limit(end: PhaseEnd) -> &'static str {
    match end {
        PhaseEnd::ByteLimit => "the data cap",
        PhaseEnd::Aborted => "the interruption",
        PhaseEnd::TimeLimit | PhaseEnd::Settled => "the time limit",
    }
}

fn still_growing(end: PhaseEnd, lag_s: f64) -> String {
    format!(
        "Latency was still growing when {} ended the load: lag when busy is at least {}.",
        limit(end),
        lag(lag_s)
    )
}

fn bloated(diagnosis: &Diagnosis) -> Verdict {
    let consequence = diagnosis.headline_phase.and_then(|phase| consequence(diagnosis, phase));
    let Some(increase) = headline_increase(diagnosis) else {
        let headline = "Everything waits when the line is busy.".to_string();
        return Verdict::new(Level::Bad, headline, consequence);
    };
    let lag_s = increase.lag_s();
    if let Some(end) = growing(diagnosis) {
        return Verdict::new(Level::AtLeastBad, still_growing(end, lag_s), consequence);
    }
    let lag = lag(lag_s);
    let headline = match increase.phase {
        PhaseKind::Up => format!("Your upload makes everything wait: {lag} when busy."),
        PhaseKind::Down => format!("Your download makes everything wait: {lag} when busy."),
        _ => format!("Everything waits when you upload and download at once: {lag} when busy."),
    };
    Verdict::new(Level::Bad, headline, consequence)
}

/// Latency stays low, but loss, outages or a short test may still spoil the line.
fn healthy(diagnosis: &Diagnosis) -> Verdict {
    let lag_s = headline_increase(diagnosis).map_or(0.0, LatencyIncrease::lag_s);
    let lag = lag(lag_s);
    if let Some(loss) = worst_loss(diagnosis) {
        let call = diagnosis.phase(loss.phase).and_then(|phase| phase.impact).map(|impact| impact.call);
        let broken = call.is_some_and(|call| call.r_factor < BROKEN_CALL_R);
        let headline = format!(
            "This line loses packets: {} of the probes {}. Lag when busy is {lag}.",
            percent(loss_ratio(loss)),
            while_doing(loss.phase)
        );
        let level = if broken { Level::Bad } else { Level::Fair };
        return Verdict::new(level, headline, consequence(diagnosis, loss.phase));
    }
    if let Some(loss) = worst_datagram_loss(diagnosis) {
        let ratio = datagram_loss_ratio(loss);
        let headline = format!(
            "This line loses packets: {} of the datagrams of \"{}\". Lag when busy is {lag}.",
            percent(ratio),
            loss.workload
        );
        let level = if ratio > BROKEN_DATAGRAMS { Level::Bad } else { Level::Fair };
        return Verdict::new(level, headline, None);
    }
    let phase = diagnosis.headline_phase;
    let noticed = phase.and_then(|phase| crate::impact::noticed(diagnosis, phase));
    let consequence = phase.and_then(|phase| consequence(diagnosis, phase));
    let idle = headline_increase(diagnosis).map(|i| format!(" (idle {})", milliseconds(i.idle_p50_s)));
    let idle = idle.unwrap_or_default();
    let (level, headline) = if let Some(outage) = longest_outage(diagnosis) {
        let stalled = format!(
            "This line stalled for {} {}. Otherwise lag when busy is {lag}.",
            seconds(outage.longest_s),
            while_doing(outage.phase)
        );
        (Level::Fair, stalled)
    } else if let Some(end) = growing(diagnosis) {
        (Level::Fair, still_growing(end, lag_s))
    } else if noticed.is_some() {
        (Level::Fair, format!("This line slows down when busy: {lag}{idle}."))
    } else {
        (Level::Good, format!("This line stays responsive: {lag} when busy{idle}."))
    };
    Verdict::new(level, headline, consequence)
}

fn loss_ratio(loss: &ProbeLoss) -> f64 {
    loss.lost_packets as f64 / loss.sent_packets.max(1) as f64
}

fn worst_loss(diagnosis: &Diagnosis) -> Option<&ProbeLoss> {
    let losses = diagnosis.findings.iter().filter_map(|finding| match &finding.conclusion {
        Conclusion::ProbeLoss(loss) => Some(loss),
        _ => None,
    });
    losses.max_by(|a, b| loss_ratio(a).total_cmp(&loss_ratio(b)))
}

fn datagram_loss_ratio(loss: &DatagramLoss) -> f64 {
    loss.lost_packets as f64 / loss.sent_packets.max(1) as f64
}

fn worst_datagram_loss(diagnosis: &Diagnosis) -> Option<&DatagramLoss> {
    let losses = diagnosis.findings.iter().filter_map(|finding| match &finding.conclusion {
        Conclusion::DatagramLoss(loss) => Some(loss),
        _ => None,
    });
    losses.max_by(|a, b| datagram_loss_ratio(a).total_cmp(&datagram_loss_ratio(b)))
}

fn longest_outage(diagnosis: &Diagnosis) -> Option<&Outage> {
    let outages = diagnosis.findings.iter().filter_map(|finding| match &finding.conclusion {
        Conclusion::Outage(outage) => Some(outage),
        _ => None,
    });
    outages.max_by(|a, b| a.longest_s.total_cmp(&b.longest_s))
}

fn captured_bloat(capture: &Capture) -> Verdict {
    let Some(queue) = capture.queues.first() else {
        return Verdict::new(Level::Bad, String::new(), None);
    };
    if let Some(probed) = &queue.probed {
        return Verdict::new(Level::Bad, probed_bloat(queue, probed), Some(call(queue, probed)));
    }
    let headline = format!("{} filled {}{}.", who(capture, queue), manager(queue), size(queue));
    let waited = format!(
        "Packets in this queue waited {} (median), {} (p95).",
        milliseconds(queue.delay.median_s),
        milliseconds(queue.delay.p95_s)
    );
    Verdict::new(Level::Bad, headline, Some(waited))
}

/// By probes alone: what they show, and what was sent at that time.
fn probed_bloat(queue: &CapturedQueue, probed: &ProbedDelay) -> String {
    let (idle, busy) = (milliseconds(probed.min_s), milliseconds(probed.min_s + queue.delay.p95_s));
    let rises = format!("Latency to {} rises from {idle} to {busy} (p95)", probed.to);
    match probed.loads.first() {
        Some(load) => format!("{rises} while {}.", sends(load)),
        None => format!("{rises}. The traffic that causes it is not in this capture."),
    }
}

/// `10.7.0.1 sends 3.30 Mbit/s of UDP`.
fn sends(load: &DatagramLoad) -> String {
    let rate = rate(load.bits_per_second);
    match (&load.program, load.is_arriving) {
        (Some(program), true) => format!("{} receives {rate} of UDP from {}", program.name, host(&load.from)),
        (Some(program), false) => format!("{} sends {rate} of UDP", program.name),
        (None, true) => format!("{rate} of UDP arrives from {}", host(&load.from)),
        (None, false) => format!("{} sends {rate} of UDP", host(&load.from)),
    }
}

/// What calls on this path are like.
fn call(queue: &CapturedQueue, probed: &ProbedDelay) -> String {
    let waited = format!(
        "Packets on this path waited {} (median), {} (p95).",
        milliseconds(queue.delay.median_s),
        milliseconds(queue.delay.p95_s)
    );
    match Call::new(probed.min_s / 2.0 + queue.delay.p95_s, 0.0).r_factor < BROKEN_CALL_R {
        true => format!("{waited} Calls break up at this delay."),
        false => waited,
    }
}

fn captured_health(capture: &Capture) -> Verdict {
    let headline = capture.queues.first().map(|queue| {
        if let Some(probed) = &queue.probed {
            let (median, p95) = (probed.min_s + queue.delay.median_s, probed.min_s + queue.delay.p95_s);
            let load = probed.loads.first().map(|load| format!(" while {}", sends(load)));
            return format!(
                "No bufferbloat: latency to {} is {} (median), {} (p95){}.",
                probed.to,
                milliseconds(median),
                milliseconds(p95),
                load.unwrap_or_default()
            );
        }
        format!(
            "No bufferbloat: the longest queue delayed packets by {} (median), {} (p95).",
            milliseconds(queue.delay.median_s),
            milliseconds(queue.delay.p95_s)
        )
    });
    Verdict::new(Level::Good, headline.unwrap_or_default(), None)
}
