//! Summarizes each phase.
use crate::latency::{answered, losses};
use crate::sample::{alone, has_delivered, pair, sample};
use crate::{Impact, PhaseSummary};
use alloc::vec::Vec;
use fathom_run::{
    Call, Fact, Game, Grade, Metric, Phase, PhaseKind, Rpm, Run, Series, SeriesKey, Span, page_load_s,
};
use fathom_stats::{Bounded, Sample, Summary, jain_index, percentile_interval};
use fathom_units::Direction;

/// Summaries of the phases of `run` in time order, with the latency of `source`.
pub(crate) fn phases(run: &Run, source: Option<&Series>) -> Vec<PhaseSummary> {
    let idle = run.phase(PhaseKind::Idle);
    run.phases.iter().map(|phase| summarize(run, source, phase, idle)).collect()
}

fn summarize(run: &Run, source: Option<&Series>, phase: &Phase, idle: Option<&Phase>) -> PhaseSummary {
    let loaded = phase.kind.is_loaded() && has_delivered(phase);
    let latency_in = |p: &Phase| latency(source, p);
    let latency = latency_in(phase);
    let idle_latency = idle.and_then(latency_in);
    let with_idle = latency.zip(idle_latency).filter(|_| loaded);
    let one_way_rise =
        |direction| idle.filter(|_| loaded).and_then(|i| one_way_rise(run, direction, phase, i));
    PhaseSummary {
        kind: phase.kind,
        start_s: phase.start_ns as f64 / 1e9,
        duration_s: phase.seconds(),
        end: phase.end,
        goodput_up_bits_per_second: goodput(run, Direction::Up, phase),
        goodput_down_bits_per_second: goodput(run, Direction::Down, phase),
        fairness_index: fairness(run, phase),
        latency,
        intervals_s: source.zip(latency).and_then(|(source, latency)| intervals(source, phase, &latency)),
        increase_p50_s: with_idle.map(|(l, i)| Bounded { value: l.p50.value - i.p50.value, ..l.p50 }),
        increase_up_s: one_way_rise(Direction::Up),
        increase_down_s: one_way_rise(Direction::Down),
        loss_ratio: source.and_then(|source| loss_ratio(source, phase)),
        // Other tools do not measure all that the definition requires.
        rpm: (loaded && !run.facts.contains_key(&Fact::Tool)).then(|| rpm(run, phase)).flatten(),
        grade: with_idle.and_then(|(l, i)| grade(&l, &i)),
        impact: impact(run, source, phase),
    }
}

fn latency(source: Option<&Series>, phase: &Phase) -> Option<Summary> {
    answered(source?, Span::of(phase))
}

/// Confidence intervals of p50 and p90. They are of the probes, not over time: if the percentile
/// over time lies outside, because probes were sent at unequal intervals, there is none.
fn intervals(source: &Series, phase: &Phase, latency: &Summary) -> Option<[(f64, Option<f64>); 2]> {
    let delays: Vec<f64> = source.within(phase).filter_map(|o| o.value.observed()).collect();
    let around = |of: Bounded, p| {
        let holds =
            |(low, high): &(f64, Option<f64>)| (*low..=high.unwrap_or(f64::INFINITY)).contains(&of.value);
        percentile_interval(&delays, p).filter(holds)
    };
    Some([around(latency.p50, 0.5)?, around(latency.p90, 0.9)?])
}

/// `None` if the outcome of no probe is known.
fn loss_ratio(source: &Series, phase: &Phase) -> Option<f64> {
    let (lost, known) = losses(source, Span::of(phase));
    (known > 0).then(|| lost as f64 / known as f64)
}

/// If every probe was lost, the bounds of the median replace the mean.
fn grade(loaded: &Summary, idle: &Summary) -> Option<Grade> {
    let mean = loaded.mean_of_observed.unwrap_or(loaded.p50.value);
    Some(Grade::of_increase(mean - idle.mean_of_observed?))
}

/// Share of a phase at its start that slow start takes; omitted from goodput.
const SLOW_START: f64 = 0.25;

/// Mean goodput of all load flows without the start of the phase; if it was not sampled, delivered
/// bytes divided by time. `None` for a phase without load.
pub(crate) fn goodput(run: &Run, direction: Direction, phase: &Phase) -> Option<f64> {
    let load = phase.load.as_ref()?;
    let (flows, delivered) = match direction {
        Direction::Up => (load.flows_up, load.delivered_up_bytes),
        Direction::Down => (load.flows_down, load.delivered_down_bytes),
    };
    let sampled =
        run.series(&SeriesKey::directed(Metric::Goodput, direction)).and_then(|s| mean_rate(s, phase));
    let mean = (phase.seconds() > 0.0).then(|| delivered as f64 * 8.0 / phase.seconds());
    (flows > 0).then(|| sampled.or(mean)).flatten()
}

/// Weights each observation by its interval, which started at the previous observation.
fn mean_rate(goodput: &Series, phase: &Phase) -> Option<f64> {
    let length = (phase.end_ns - phase.start_ns) as f64;
    let from = phase.start_ns + (SLOW_START * length) as u64;
    let mut before = phase.start_ns;
    let (mut bits, mut time) = (0.0, 0.0);
    for o in goodput.within(phase) {
        let at = o.at.as_nanos();
        if before >= from {
            let interval = (at - before) as f64;
            bits += pair(o.value).0 * interval;
            time += interval;
        }
        before = at;
    }
    (time > 0.0).then(|| bits / time)
}

/// Jain's index of the flows' goodputs in the less fair direction.
fn fairness(run: &Run, phase: &Phase) -> Option<f64> {
    let index = |direction| {
        let flows = run.series.iter().filter(|s| {
            s.key.metric == Metric::Goodput && s.key.direction == Some(direction) && s.key.flow.is_some()
        });
        let means =
            flows.filter_map(|s| Sample::new(s.within(phase).map(|o| pair(o.value))).mean_of_observed());
        jain_index(means)
    };
    Direction::BOTH.into_iter().filter_map(index).min_by(f64::total_cmp)
}

fn one_way_rise(run: &Run, direction: Direction, phase: &Phase, idle: &Phase) -> Option<f64> {
    let key = SeriesKey::directed(Metric::OneWayDelay, direction);
    let median = |p| sample(run, &key, p).percentile(0.5);
    Some(median(phase)?.value - median(idle)?.value)
}

/// Unanswered attempts count with the time waited, so the result is an upper bound then.
fn rpm(run: &Run, phase: &Phase) -> Option<Rpm> {
    let of = |metric| -> Vec<f64> {
        let series = run.series.iter().filter(|s| s.key.metric == metric && s.key.scope.is_none());
        series.flat_map(|s| s.within(phase)).map(|o| pair(o.value).0).collect()
    };
    let [tcp, tls, http, loaded, flows] =
        [Metric::TcpConnect, Metric::TlsConnect, Metric::HttpForeign, Metric::HttpLoaded, Metric::FlowRtt]
            .map(of);
    Rpm::new([&tcp, &tls, &http], &loaded, &flows)
}

/// Uses answered probes; loss is considered separately.
fn impact(run: &Run, source: Option<&Series>, phase: &Phase) -> Option<Impact> {
    let all = Sample::new(source?.within(phase).map(|o| pair(o.value)));
    let round_trip_loss = loss_ratio(source?, phase)?;
    let latency = all.observed_only().summary()?;
    // The worse direction decides, because both sides must hear each other.
    let one_way = Direction::BOTH.into_iter().filter_map(|d| {
        let series = run.series(&SeriesKey::directed(Metric::OneWayDelay, d))?;
        let loss = loss_ratio(series, phase)?;
        let delays = Sample::new(series.within(phase).map(|o| pair(o.value)));
        Some((delays.observed_only().percentile(0.95)?.value, loss))
    });
    let worse = one_way.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)));
    let (delay, loss) = worse.unwrap_or((latency.p95.value / 2.0, round_trip_loss));
    Some(Impact {
        call: Call::new(delay, loss),
        game: Game::at(latency.p95.value),
        page_load_s: line_down(run).map(|goodput| page_load_s(latency.p50.value, goodput)),
    })
}

/// Download goodput of the line, from the phase with download only if there is one.
fn line_down(run: &Run) -> Option<f64> {
    let phase = run.phase(alone(Direction::Down)).or_else(|| run.phase(PhaseKind::Both))?;
    // Below 1 bit/s no page arrives.
    goodput(run, Direction::Down, phase).filter(|g| *g >= 1.0)
}
