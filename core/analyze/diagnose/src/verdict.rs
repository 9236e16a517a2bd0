//! The verdict in words for a household.
use crate::health::{State, is_bloated};
use crate::rules::buffer::{Buffer, buffer};
use crate::rules::doing;
use crate::view::{Rise, View, alone};
use crate::{Finding, FindingKind};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::PhaseKind;
use fathom_text::{bytes, milliseconds, rate, seconds};
use fathom_units::Direction;

/// Shares of the line's rate to which a shaper is set, so that the queue forms where it is managed.
const SHAPE: [f64; 2] = [0.85, 0.95];

/// Largest factor between two latencies that is told.
const MOST_TIMES: f64 = 500.0;

pub(crate) struct Words {
    pub(crate) headline: String,
    pub(crate) sentences: Vec<String>,
}

pub(crate) fn verdict(view: &View<'_>, state: &State, findings: &[Finding]) -> Words {
    match state {
        State::Bloated => bloated(view, findings),
        State::Healthy => healthy(view, findings),
        State::Invalid(reason) => Words {
            headline: format!("This measurement does not count: {reason}."),
            sentences: Vec::from([
                "Close other programs, or test from a faster machine or one that is not virtual, and run it again."
                    .to_string(),
            ]),
        },
        State::Inconclusive(reason) => {
            Words { headline: format!("No verdict: {reason}."), sentences: view.run.notes.clone() }
        }
    }
}

/// The phase of the headline: the highest 90th percentile, among phases of one direction if one of them is bloated, since
/// that is easier to understand and to change. The median of a short phase is diluted by the time the queue takes to
/// fill, and the largest value may be an accident.
pub(crate) fn worst<'v>(view: &'v View<'_>) -> Option<Rise<'v>> {
    let highest = |a: &Rise<'_>, b: &Rise<'_>| a.loaded.p90.value.total_cmp(&b.loaded.p90.value);
    let one_way = view.rises().filter(|r| r.phase.kind != PhaseKind::Both && is_bloated(r)).max_by(highest);
    one_way.or_else(|| view.rises().max_by(highest))
}

fn bloated(view: &View<'_>, findings: &[Finding]) -> Words {
    let Some(worst) = worst(view) else { return Words { headline: String::new(), sentences: Vec::new() } };
    let (idle, loaded) = (worst.idle.p50.value, worst.loaded.p90.value);
    let times = loaded / idle.max(1e-6);
    // Beyond that the idle latency is that of a laboratory, and the factor says nothing.
    let times = if times < MOST_TIMES { format!(" ({times:.0} times)") } else { String::new() };
    let headline = format!(
        "{} makes this line slow: latency rises from {} to {}{times}.",
        doing(worst.phase.kind),
        milliseconds(idle),
        milliseconds(loaded),
    );
    let starved = findings.iter().find(|f| f.kind == FindingKind::AckStarvation).map(|f| f.text.clone());
    let sentences = queues(view).into_iter().chain(starved).chain(impact(view, &worst)).chain(advice(view));
    Words { headline, sentences: sentences.collect() }
}

/// One sentence for each direction with a queue.
fn queues(view: &View<'_>) -> Vec<String> {
    bloated_directions(view).into_iter().map(|(direction, b)| queue(direction, &b)).collect()
}

fn queue(direction: Direction, buffer: &Buffer) -> String {
    let link = if direction == Direction::Up { "uplink" } else { "downlink" };
    format!(
        "A queue of about {} sits in front of the {} {link}; whatever is sent waits behind it, {} at worst.",
        bytes(buffer.ip_bytes),
        rate(buffer.line_bits_per_second()),
        milliseconds(buffer.delay_s)
    )
}

fn bloated_directions(view: &View<'_>) -> Vec<(Direction, Buffer)> {
    let is_bad = |d: &Direction| view.rise_of(*d).is_some_and(|r| is_bloated(&r));
    Direction::BOTH.into_iter().filter(is_bad).filter_map(|d| Some((d, buffer(view, d)?))).collect()
}

/// What a call, a game and a page are like, idle and under load.
fn impact(view: &View<'_>, rise: &Rise<'_>) -> Option<String> {
    let before = view.phases.iter().find(|p| p.kind == PhaseKind::Idle)?.impact?;
    let after = rise.summary.impact?;
    let page = before.page_load_s.zip(after.page_load_s);
    let page =
        page.map(|(b, a)| format!("; a web page takes about {} instead of {}", seconds(a), seconds(b)));
    Some(format!(
        "Meanwhile a call is {} (quality {:.1} of 4.4, idle {:.1}); games: {}{}.",
        after.call.words(),
        after.call.mos,
        before.call.mos,
        after.game.words(),
        page.unwrap_or_default()
    ))
}

fn advice(view: &View<'_>) -> Option<String> {
    let rates: Vec<String> = bloated_directions(view)
        .into_iter()
        .map(|(direction, b)| {
            let [low, high] = SHAPE.map(|share| rate(share * b.line_bits_per_second()));
            let word = if direction == Direction::Up { "upload" } else { "download" };
            format!("{word}: {low} to {high}")
        })
        .collect();
    let where_to = if rates.is_empty() { String::new() } else { format!(" ({})", rates.join("; ")) };
    Some(format!(
        "To try: on the router, smart queue management (fq_codel or CAKE) at 85 to 95 % of the line's rate{where_to}, \
         then run this test again."
    ))
}

fn healthy(view: &View<'_>, findings: &[Finding]) -> Words {
    let Some(worst) = worst(view) else { return Words { headline: String::new(), sentences: Vec::new() } };
    let headline = format!(
        "This line stays responsive under load: latency goes from {} idle to {}.",
        milliseconds(worst.idle.p50.value),
        milliseconds(worst.loaded.p90.value)
    );
    let caveat = findings.iter().find(|f| f.kind == FindingKind::LowerBound).map(|f| f.text.clone());
    let goodput = Direction::BOTH.into_iter().filter_map(|d| {
        let kind = alone(d);
        let phase = view.phases.iter().find(|p| p.kind == kind)?;
        let value = match d {
            Direction::Up => phase.goodput_up_bits_per_second?,
            Direction::Down => phase.goodput_down_bits_per_second?,
        };
        Some(format!("{} {d}", rate(value)))
    });
    let goodput: Vec<String> = goodput.collect();
    let carried = (!goodput.is_empty()).then(|| format!("It carried {} meanwhile.", goodput.join(" and ")));
    Words { headline, sentences: carried.into_iter().chain(impact(view, &worst)).chain(caveat).collect() }
}
