//! Headline and verdict for a household.
use crate::instrument::reason;
use crate::phase::doing;
use crate::queue::{manager, place, size, who};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::{Diagnosis, Health, PhaseSummary};
use fathom_run::threshold::{MODEST_S, SHAPER_RATE_RATIO};
use fathom_run::{
    BufferSize, Capture, CapturedQueue, Conclusion, Finding, FindingKind, LatencyIncrease, PhaseKind, Remedy,
    Run,
};
use fathom_text::{bytes, milliseconds, rate, seconds};
use fathom_units::Direction;

/// Largest factor between two latencies that is worth a sentence: beyond it the idle latency is that of a laboratory.
const MAX_FACTOR: f64 = 500.0;

/// A verdict in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// One sentence.
    pub headline: String,
    /// A few sentences: where the queue is, what it does to people, what to try.
    pub sentences: Vec<String>,
}

/// The verdict of a run.
pub fn verdict(run: &Run, diagnosis: &Diagnosis) -> Verdict {
    match (diagnosis.health, &run.capture) {
        (Health::Invalid, _) => Verdict {
            headline: format!("Invalid measurement: {}.", why(diagnosis)),
            sentences: Vec::from([
                "Close other programs, or test from a faster machine or one that is not virtual, then test again."
                    .to_string(),
            ]),
        },
        (Health::Inconclusive, capture) => Verdict {
            headline: format!("No verdict: {}.", why(diagnosis)),
            sentences: match capture {
                Some(capture) => capture.unknown.iter().map(crate::unknown).collect(),
                None => run.notes.iter().map(crate::note).collect(),
            },
        },
        (Health::Bloated, Some(capture)) => captured_bloat(capture, diagnosis),
        (Health::Healthy, Some(capture)) => captured_health(capture),
        (_, None) if run.history.is_some() => watched(diagnosis),
        (Health::Bloated, None) => bloated(diagnosis),
        (Health::Healthy, None) => healthy(diagnosis),
    }
}

/// A period of a watch: the weightiest finding is the headline.
fn watched(diagnosis: &Diagnosis) -> Verdict {
    let headline = diagnosis.findings.first().map(|first| crate::finding(first, None)).unwrap_or_default();
    Verdict { headline, sentences: Vec::new() }
}

fn why(diagnosis: &Diagnosis) -> String {
    diagnosis.reason.as_ref().map_or_else(|| "the reason is unknown".to_string(), reason)
}

/// The increase of latency that the headline is about.
fn headline_increase(diagnosis: &Diagnosis) -> Option<&LatencyIncrease> {
    diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::Bufferbloat(increase) | Conclusion::LowLatency(increase) => {
            (Some(increase.phase) == diagnosis.headline_phase).then_some(increase)
        }
        _ => None,
    })
}

fn bloated(diagnosis: &Diagnosis) -> Verdict {
    let headline = headline_increase(diagnosis).map(|increase| {
        let (idle, loaded) = (increase.idle_p50_s, increase.loaded_p90_s);
        let times = loaded / idle.max(1e-6);
        let times = if times < MAX_FACTOR { format!(" ({times:.0} times)") } else { String::new() };
        format!(
            "{} makes this line slow: latency rises from {} to {}{times}.",
            doing(increase.phase),
            milliseconds(idle),
            milliseconds(loaded),
        )
    });
    let sizes = buffers(diagnosis).map(|(direction, size)| in_front(direction, size));
    let starved = diagnosis.findings.iter().find(|f| f.kind() == FindingKind::AckStarvation);
    let starved = starved.map(|finding| crate::finding(finding, None));
    let sentences = sizes.chain(starved).chain(impact(diagnosis)).chain([advice(diagnosis)]);
    Verdict { headline: headline.unwrap_or_default(), sentences: sentences.collect() }
}

/// The buffers of bloated directions.
fn buffers(diagnosis: &Diagnosis) -> impl Iterator<Item = (Direction, &BufferSize)> {
    diagnosis.findings.iter().filter_map(|finding| match &finding.conclusion {
        Conclusion::BufferSize(size) if size.is_bloated => Some((finding.direction?, size)),
        _ => None,
    })
}

fn in_front(direction: Direction, size: &BufferSize) -> String {
    format!(
        "A queue of about {} builds up in front of the {} {}: every packet waits behind it, up to {}.",
        bytes(size.ip_bytes),
        rate(size.rate_bits_per_second),
        if direction == Direction::Up { "uplink" } else { "downlink" },
        milliseconds(size.delay_p99_s)
    )
}

/// What a call, a game and a page are like, idle and under load.
fn impact(diagnosis: &Diagnosis) -> Option<String> {
    let idle = diagnosis.phases.iter().find(|p| p.kind == PhaseKind::Idle)?;
    let loaded = headline_summary(diagnosis)?;
    let (before, after) = (idle.impact?, loaded.impact?);
    let page = before.page_load_s.zip(after.page_load_s);
    let page =
        page.map(|(b, a)| format!("; a web page takes about {} instead of {}", seconds(a), seconds(b)));
    Some(format!(
        "Under this load a voice call would be {} (MOS {:.1}, idle {:.1}); games: {}{}.",
        after.call.words(),
        after.call.mos,
        before.call.mos,
        after.game.words(),
        page.unwrap_or_default()
    ))
}

/// The phase that the headline is about.
fn headline_summary(diagnosis: &Diagnosis) -> Option<&PhaseSummary> {
    let kind = diagnosis.headline_phase?;
    diagnosis.phases.iter().find(|phase| phase.kind == kind)
}

fn advice(diagnosis: &Diagnosis) -> String {
    let rates: Vec<String> = diagnosis.advice.iter().filter_map(shaper_rates).collect();
    let rates = if rates.is_empty() { String::new() } else { format!(" ({})", rates.join("; ")) };
    let [low, high] = SHAPER_RATE_RATIO.map(|share| share * 100.0);
    format!(
        "To try: on the router, turn on smart queue management (fq_codel or CAKE) at {low:.0} to {high:.0} % of the line's \
         rate{rates}, then test again."
    )
}

/// `upload: 2.54 Mbit/s to 2.84 Mbit/s`.
fn shaper_rates(remedy: &Remedy) -> Option<String> {
    let Remedy::Shape { direction, min_bits_per_second, max_bits_per_second } = remedy else { return None };
    let (min, max) = (rate((*min_bits_per_second)?), rate((*max_bits_per_second)?));
    Some(match direction {
        Some(Direction::Up) => format!("upload: {min} to {max}"),
        Some(Direction::Down) => format!("download: {min} to {max}"),
        None => format!("{min} to {max}"),
    })
}

fn healthy(diagnosis: &Diagnosis) -> Verdict {
    let headline = headline_increase(diagnosis).map(|increase| {
        format!(
            "This line stays responsive under load: latency goes from {} idle to {}.",
            milliseconds(increase.idle_p50_s),
            milliseconds(increase.loaded_p90_s)
        )
    });
    let caveat: Option<&Finding> = diagnosis.findings.iter().find(|f| f.kind() == FindingKind::LowerBound);
    let caveat = caveat.map(|finding| crate::finding(finding, None));
    let sentences = throughput(diagnosis).into_iter().chain(impact(diagnosis)).chain(caveat);
    Verdict { headline: headline.unwrap_or_default(), sentences: sentences.collect() }
}

fn throughput(diagnosis: &Diagnosis) -> Option<String> {
    let of = |kind| diagnosis.phases.iter().find(|phase| phase.kind == kind);
    let up = of(PhaseKind::Up).and_then(|phase| phase.goodput_up_bits_per_second);
    let down = of(PhaseKind::Down).and_then(|phase| phase.goodput_down_bits_per_second);
    let up = up.map(|value| format!("{} up", rate(value)));
    let down = down.map(|value| format!("{} down", rate(value)));
    let parts: Vec<String> = up.into_iter().chain(down).collect();
    (!parts.is_empty()).then(|| format!("Throughput during the test: {}.", parts.join(", ")))
}

fn captured_bloat(capture: &Capture, diagnosis: &Diagnosis) -> Verdict {
    let Some(queue) = capture.queues.first() else {
        return Verdict { headline: String::new(), sentences: Vec::new() };
    };
    let headline = format!(
        "{} filled {}{}: packets behind it waited {} (median), {} (p95).",
        who(capture, queue),
        manager(queue),
        size(queue),
        milliseconds(queue.delay.median_s),
        milliseconds(queue.delay.p95_s)
    );
    let path = queue.base_rtt_s.map(|base| base_rtt(queue, base));
    let found = format!("The queue is {}.", place(queue));
    let to_try = diagnosis.advice.iter().find_map(shaper_rates).zip(queue.rate_bits_per_second);
    let to_try = to_try.map(|(rates, link)| {
        format!(
            "A {} buffer would be only {}. To try: shape to {rates} just in front of the link with CAKE or fq_codel, then capture again.",
            milliseconds(MODEST_S),
            bytes(MODEST_S * link.value / 8.0)
        )
    });
    Verdict { headline, sentences: path.into_iter().chain([found]).chain(to_try).collect() }
}

fn base_rtt(queue: &CapturedQueue, base: f64) -> String {
    let times = (queue.delay.median_s + base) / base.max(1e-6);
    let times = if times < MAX_FACTOR {
        format!("; under this load it is {times:.0} times that")
    } else {
        String::new()
    };
    format!("The base round-trip time of the path is {}{times}.", milliseconds(base))
}

fn captured_health(capture: &Capture) -> Verdict {
    let headline = capture.queues.first().map(|queue| {
        format!(
            "No bufferbloat: the longest queue was {} (median), {} (p95), {}.",
            milliseconds(queue.delay.median_s),
            milliseconds(queue.delay.p95_s),
            place(queue)
        )
    });
    Verdict { headline: headline.unwrap_or_default(), sentences: Vec::new() }
}
