//! Diagnoses of lines with known ground truth.
use crate::line::{BLOATED, Line, MANAGED};
use fathom_diagnose::{Diagnosis, Health, diagnose};
use fathom_run::{
    Alternative, Certainty, Conclusion, CpuCause, Fact, Finding, FindingKind, Grade, ManagementRule, Metric,
    Note, Observation, PhaseEnd, PhaseKind, Reason, Remedy, Run, Series, SeriesKey, Span, Value,
};
use fathom_units::{Direction, Duration, Time};

type Damage = (Reason, fn(&mut Run));

type IsReason<'t> = &'t dyn Fn(&Reason) -> bool;

fn of(line: &Line) -> Diagnosis {
    diagnose(&line.run())
}

fn finding(diagnosis: &Diagnosis, kind: FindingKind, direction: Option<Direction>) -> &Finding {
    let found = diagnosis.findings.iter().find(|f| f.kind() == kind && f.direction == direction);
    found.unwrap_or_else(|| panic!("no {kind:?} {direction:?} in {:#?}", diagnosis.findings))
}

fn has(diagnosis: &Diagnosis, kind: FindingKind) -> bool {
    diagnosis.findings.iter().any(|f| f.kind() == kind)
}

#[track_caller]
fn parameter(finding: &Finding, name: &str) -> f64 {
    let parameters = finding.conclusion.parameters();
    parameters[name].as_f64().unwrap_or_else(|| panic!("no {name} in {finding:#?}"))
}

fn rule(finding: &Finding) -> ManagementRule {
    match &finding.conclusion {
        Conclusion::QueueManagement(management) => management.rule,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn within(got: f64, low: f64, high: f64) {
    assert!((low..=high).contains(&got), "{got} is not in {low}..={high}");
}

#[test]
fn the_deep_upload_buffer() {
    let d = of(&BLOATED);
    assert_eq!(
        (d.health, d.grade, d.latency_source),
        (Health::Bloated, Some(Grade::F), Some(Metric::UdpRtt))
    );
    let size = finding(&d, FindingKind::BufferSize, Some(Direction::Up));
    // 1 s at 3 Mbit/s of IP packets is 375 kB.
    within(parameter(size, "ip_bytes"), 355e3, 385e3);
    let down = finding(&d, FindingKind::BufferSize, Some(Direction::Down));
    within(parameter(down, "ip_bytes"), 280e3, 310e3);
    let bloat = finding(&d, FindingKind::Bufferbloat, Some(Direction::Up));
    assert!(parameter(bloat, "up_ratio") > 0.95 && bloat.certainty == Certainty::Certain);
    assert!(bloat.excluded.contains(&Alternative::OtherDirection));
    let managed = finding(&d, FindingKind::QueueManagement, Some(Direction::Up));
    assert_eq!(rule(managed), ManagementRule::TailDrop);
    within(parameter(finding(&d, FindingKind::FillTime, None), "fill_s"), 0.5, 3.0);
    within(parameter(finding(&d, FindingKind::DrainTime, None), "drain_s"), 0.5, 1.2);
    let starved = finding(&d, FindingKind::AckStarvation, None);
    within(parameter(starved, "alone_bits_per_second"), 19e6, 20e6);
    assert!(!has(&d, FindingKind::LowerBound) && !has(&d, FindingKind::Instrument), "{:#?}", d.findings);
}

#[test]
fn the_managed_line_is_healthy() {
    let d = of(&MANAGED);
    assert_eq!(d.health, Health::Healthy, "{:?}", d.reason);
    assert!(d.grade <= Some(Grade::A), "{:?}", d.grade);
    let managed = finding(&d, FindingKind::QueueManagement, Some(Direction::Up));
    assert_eq!(rule(managed), ManagementRule::KeptShort);
    assert!(!has(&d, FindingKind::BufferSize) && !has(&d, FindingKind::AckStarvation));
}

fn retransmissions(run: &Run) -> Vec<Time> {
    let counters = run.series.iter().filter(|s| s.key.metric == Metric::FlowRetransmits);
    let grown = counters.flat_map(|s| {
        let all: Vec<_> = s.between(Time::ZERO, Time::MAX).collect();
        all.windows(2).filter(|two| two[0].value != two[1].value).map(|two| two[1].at).collect::<Vec<_>>()
    });
    grown.collect()
}

#[test]
fn losses_without_probes_nearby_count() {
    let mut run = BLOATED.run();
    let lost = retransmissions(&run);
    assert!(!lost.is_empty());
    for series in run.series.iter_mut().filter(|s| s.key.metric == Metric::UdpRtt) {
        let all: Vec<Observation> = series.between(Time::ZERO, Time::MAX).collect();
        *series = Series::new(series.key.clone());
        let blind = |at: Time| lost.iter().any(|l| at <= *l && *l < at + Duration::from_millis(300));
        all.into_iter().filter(|o| !blind(o.at)).for_each(|o| series.push(o));
    }
    let d = diagnose(&run);
    let mut managed = d.findings.iter().filter(|f| f.kind() == FindingKind::QueueManagement);
    assert!(managed.all(|f| rule(f) != ManagementRule::NeverDropped), "{:#?}", d.findings);
}

#[test]
fn losses_that_nobody_records_are_not_absent() {
    let mut run = BLOATED.run();
    run.series.retain(|s| s.key.metric != Metric::FlowRetransmits);
    let d = diagnose(&run);
    assert!(has(&d, FindingKind::Bufferbloat), "{:#?}", d.findings);
    assert!(!has(&d, FindingKind::QueueManagement), "{:#?}", d.findings);
    // Of uploads alone, this end sees them.
    let mut uploads = BLOATED.run();
    let is_up = |s: &Series| s.key.direction == Some(Direction::Up);
    uploads.series.retain(|s| s.key.metric != Metric::FlowRetransmits || is_up(s));
    let of_uploads = diagnose(&uploads);
    let managed = of_uploads.findings.iter().filter(|f| f.kind() == FindingKind::QueueManagement);
    assert!(managed.clone().all(|f| rule(f) == ManagementRule::TailDrop), "{:#?}", of_uploads.findings);
    assert_eq!(managed.count(), 1, "{:#?}", of_uploads.findings);
}

/// The uplink sends no probes between two times in seconds.
fn stop_probes(run: &mut Run, (from, to): (f64, f64)) {
    let is_stopped = |key: &SeriesKey| {
        key.metric == Metric::UdpRtt || *key == SeriesKey::directed(Metric::OneWayDelay, Direction::Up)
    };
    for series in run.series.iter_mut().filter(|s| is_stopped(&s.key)) {
        for (at, value) in series.at_ns.iter().zip(&mut series.values) {
            let sent = *at as f64 / 1e9;
            // Queued packets are sent in order when the link recovers.
            *value += if (from..to).contains(&sent) { to - sent + 0.02 * (sent - from) } else { 0.0 };
        }
    }
}

/// The uplink sends nothing between two times in seconds.
fn stop(run: &mut Run, (from, to): (f64, f64)) {
    stop_probes(run, (from, to));
    for series in run.series.iter_mut().filter(|s| s.key.metric == Metric::Goodput) {
        for (at, value) in series.at_ns.iter().zip(&mut series.values) {
            *value *= if (from..to).contains(&(*at as f64 / 1e9)) { 0.0 } else { 1.0 };
        }
    }
}

#[test]
fn an_outage_is_not_a_full_queue() {
    let run = MANAGED.run();
    let up = run.phase(PhaseKind::Up).unwrap().start_ns as f64 / 1e9;
    let span = (up + 4.0, up + 7.0);
    // Probes alone do not show it: a queue that drains while senders pause looks alike.
    let mut probes_only = run.clone();
    stop_probes(&mut probes_only, span);
    assert!(!has(&diagnose(&probes_only), FindingKind::Outage));
    let mut stopped = run;
    stop(&mut stopped, span);
    let d = diagnose(&stopped);
    within(parameter(finding(&d, FindingKind::Outage, None), "longest_s"), 2.9, 3.2);
    assert!(!has(&d, FindingKind::FillTime), "{:#?}", d.findings);
    assert!(!has(&of(&BLOATED), FindingKind::Outage) && !has(&of(&MANAGED), FindingKind::Outage));
}

/// An AQM that the load does not obey drops the probes that would have waited longest.
#[test]
fn many_lost_probes_leave_the_verdict_open() {
    let run = |lost_of_ten: usize, (waited_s, every): (f64, usize)| {
        let mut run = MANAGED.run();
        let up = Span::of(run.phase(PhaseKind::Up).unwrap());
        let series = run.series.iter_mut().find(|s| s.key.metric == Metric::UdpRtt).unwrap();
        let all: Vec<Observation> = series.iter().collect();
        *series = Series::new(series.key.clone());
        for (number, o) in all.into_iter().enumerate() {
            let is_up = (up.start_ns..up.end_ns).contains(&o.at.as_nanos());
            let value = match o.value {
                Value::Observed(_) if is_up && number % 10 < lost_of_ten => Value::Censored { at_least: 2.0 },
                Value::Observed(latency_s) if is_up && number % every == 0 => {
                    Value::Observed(latency_s + waited_s)
                }
                value => value,
            };
            series.push(Observation { value, ..o });
        }
        diagnose(&run)
    };
    assert_eq!(run(1, (0.04, 1)).health, Health::Healthy);
    // The slowest tenth was lost, and the others are slow at times.
    assert_eq!(run(0, (0.15, 4)).health, Health::Healthy);
    assert_eq!(run(2, (0.15, 3)).health, Health::Inconclusive);
    // A link may stall for seconds and drop all packets.
    assert_eq!(run(2, (0.0, 1)).health, Health::Healthy);
    assert_eq!(run(4, (0.0, 1)).health, Health::Inconclusive);
    let d = run(3, (0.04, 1));
    assert_eq!(d.health, Health::Inconclusive);
    let Some(Reason::ConnectionBroken { phase: PhaseKind::Up, loss_ratio }) = d.reason else {
        panic!("{:?}", d.reason);
    };
    within(loss_ratio, 0.25, 0.35);
}

/// A phase that started on a queue of others is not judged: the rest does not make a line healthy.
#[test]
fn a_phase_on_a_queue_leaves_the_verdict_open() {
    let mut run = MANAGED.run();
    let up = Span::of(run.phase(PhaseKind::Up).unwrap());
    for series in run.series.iter_mut().filter(|s| s.key.metric == Metric::UdpRtt) {
        for (at_ns, value) in series.at_ns.iter().zip(&mut series.values) {
            *value += if (up.start_ns..up.end_ns).contains(at_ns) { 0.04 } else { 0.0 };
        }
    }
    assert_eq!(diagnose(&run).health, Health::Healthy);
    run.notes.push(Note::QueueNotEmpty { phase: PhaseKind::Up, waited_s: 5.0 });
    let d = diagnose(&run);
    assert_eq!(d.health, Health::Inconclusive);
    assert!(matches!(d.reason, Some(Reason::OtherTraffic { .. })), "{:?}", d.reason);
}

#[test]
fn ground_truth_series_are_not_used() {
    let mut run = MANAGED.run();
    let before = diagnose(&run);
    let mut sojourn = Series::new(SeriesKey::directed(Metric::Sojourn, Direction::Up));
    sojourn.push(Observation { at: Time::from_nanos(15_000_000_000), value: Value::Observed(30.0) });
    run.series.push(sojourn);
    assert_eq!(diagnose(&run), before);
}

#[test]
fn a_busy_machine_invalidates_only_increases_it_can_explain() {
    let small = Line { full_up_s: 0.09, full_down_s: 0.002, ..BLOATED };
    // Line, timer lateness, CPU usage, expected health.
    let late = |line: &Line, ms, busy| Line {
        lateness: Duration::from_millis(ms),
        cpu_busy_ratio: busy,
        ..line.clone()
    };
    let cases = [
        ("1 s of queue, timer 3 ms late", late(&BLOATED, 3, 0.2), Health::Bloated),
        ("1 s of queue, all CPUs busy", late(&BLOATED, 3, 1.0), Health::Bloated),
        ("1 s of queue, timer 800 ms late", late(&BLOATED, 800, 0.2), Health::Invalid),
        ("80 ms of queue, quiet machine", late(&small, 0, 0.2), Health::Bloated),
        ("80 ms of queue, timer 3 ms late", late(&small, 3, 0.2), Health::Bloated),
        ("80 ms of queue, timer 60 ms late", late(&small, 60, 0.2), Health::Invalid),
        ("80 ms of queue, all CPUs busy", late(&small, 0, 1.0), Health::Invalid),
        ("no queue, timer 60 ms late", late(&MANAGED, 60, 1.0), Health::Healthy),
    ];
    for (name, line, health) in cases {
        let d = of(&line);
        assert_eq!(d.health, health, "{name}: {:?}", d.reason);
    }
}

#[test]
fn a_measurement_without_cpu_time_is_never_healthy() {
    let lossless = |run: &mut Run| {
        run.series
            .iter_mut()
            .filter(|s| s.key.metric == Metric::FlowRetransmits)
            .for_each(|s| s.values.fill(0.0))
    };
    let unprobed = |run: &mut Run, count| {
        let source = run.series.iter_mut().find(|s| s.key.metric == Metric::UdpRtt).unwrap();
        source.not_sent.insert(fathom_run::NotSent::NotRunInTime, count);
    };
    let limited = |reason: &Reason| matches!(reason, Reason::CpuLimited { cause: CpuCause::Busy, cpu_ratio, .. } if *cpu_ratio > 0.99);
    let left_out =
        |reason: &Reason| matches!(reason, Reason::ProbesLeftOut { left_out_ratio } if *left_out_ratio > 0.1);
    let none = |_: &Reason| false;
    // Description, CPU usage, load without losses, skipped probes, expected health and reason.
    let cases: [(_, _, _, _, _, IsReason<'_>); 6] = [
        ("quiet machine", 0.2, false, 0, Health::Healthy, &none),
        ("quiet machine, nothing lost", 0.2, true, 0, Health::Healthy, &none),
        ("busy machine, queue met", 1.0, false, 0, Health::Healthy, &none),
        ("busy machine, nothing lost", 1.0, true, 0, Health::Invalid, &limited),
        ("some probes left out", 1.0, false, 50, Health::Healthy, &none),
        ("many probes left out", 0.5, false, 900, Health::Invalid, &left_out),
    ];
    for (name, cpu_busy_ratio, no_loss, left_out_count, health, is_reason) in cases {
        let mut run = Line { cpu_busy_ratio, ..MANAGED }.run();
        if no_loss {
            lossless(&mut run);
        }
        unprobed(&mut run, left_out_count);
        let d = diagnose(&run);
        assert_eq!(d.health, health, "{name}: {:?}", d.reason);
        assert!(d.reason.as_ref().is_none_or(is_reason), "{name}: {:?}", d.reason);
        assert_eq!(d.reason.is_some(), health == Health::Invalid, "{name}");
    }
}

#[test]
fn missing_data_is_reported() {
    let without = |change: fn(&mut Run)| {
        let mut run = BLOATED.run();
        change(&mut run);
        diagnose(&run)
    };
    let cases: [Damage; 4] = [
        (Reason::NoAnswers, |r| r.series.clear()),
        (Reason::NoIdleLatency, |r| r.phases.retain(|p| p.kind != PhaseKind::Idle)),
        (Reason::NotLoaded, |r| r.phases.retain(|p| p.kind == PhaseKind::Idle)),
        (Reason::NothingDelivered, |r| {
            for load in r.phases.iter_mut().filter_map(|p| p.load.as_mut()) {
                (load.delivered_up_bytes, load.delivered_down_bytes) = (0, 0);
            }
        }),
    ];
    for (reason, change) in cases {
        let d = without(change);
        assert_eq!((d.health, d.reason), (Health::Inconclusive, Some(reason)));
    }
}

/// Latency without load is not that of a busy line, nor is its grade.
#[test]
fn a_load_that_delivered_nothing_has_no_figures_of_a_load() {
    let mut run = BLOATED.run();
    for load in run.phases.iter_mut().filter_map(|phase| phase.load.as_mut()) {
        (load.delivered_up_bytes, load.delivered_down_bytes) = (0, 0);
    }
    for phase in diagnose(&run).phases {
        let figures = (phase.increase_p50_s, phase.increase_up_s, phase.rpm, phase.grade);
        assert_eq!(figures, (None, None, None, None), "{:?}", phase.kind);
        assert!(phase.latency.is_some());
    }
}

#[test]
fn a_phase_cut_off_while_latency_grew_gives_lower_bounds() {
    let mut run = Line { fill_rate: 0.08, ..BLOATED }.run();
    run.phases.iter_mut().for_each(|p| p.end = PhaseEnd::TimeLimit);
    let d = diagnose(&run);
    assert!(has(&d, FindingKind::LowerBound));
    let size = finding(&d, FindingKind::BufferSize, Some(Direction::Up));
    assert_eq!(size.conclusion.parameters()["is_lower_bound"], true, "{size:?}");
}

#[test]
fn icmp_replaces_filtered_udp() {
    let mut run = BLOATED.run();
    let udp = run.series.iter_mut().find(|s| s.key.metric == Metric::UdpRtt).unwrap();
    udp.censored = (0..udp.values.len() as u32).collect();
    assert_eq!(diagnose(&run).latency_source, Some(Metric::IcmpRtt));
}

#[test]
fn without_one_way_delays_the_load_determines_the_direction() {
    let d = of(&Line { one_way: false, ..BLOATED });
    let bloat = finding(&d, FindingKind::Bufferbloat, Some(Direction::Up));
    assert!(bloat.certainty < Certainty::Certain && !bloat.excluded.contains(&Alternative::OtherDirection));
    assert_eq!(bloat.alternatives, [Alternative::OtherDirection]);
    within(parameter(finding(&d, FindingKind::BufferSize, Some(Direction::Up)), "ip_bytes"), 355e3, 385e3);
}

#[test]
fn lost_probes_have_a_direction_and_do_not_hide_the_queue() {
    let d = of(&Line { loss_ratio: 0.12, ..BLOATED });
    let loss = finding(&d, FindingKind::ProbeLoss, Some(Direction::Up));
    let (lost, sent) = (parameter(loss, "lost_packets"), parameter(loss, "sent_packets"));
    within(lost / sent, 0.03, 0.2);
    let up = d.phase(PhaseKind::Up).unwrap();
    let p95 = up.latency.unwrap().p95;
    assert!(!p95.at_least, "{p95:?}");
    within(p95.value, 1.0, 1.1);
    let bloat = finding(&d, FindingKind::Bufferbloat, Some(Direction::Up));
    within(parameter(bloat, "loaded_p90_s"), 1.0, 1.1);
}

#[test]
fn lossy_and_broken_lines_are_not_bloated() {
    let lossy = of(&Line { loss_ratio: 0.15, ..MANAGED });
    assert_eq!(lossy.health, Health::Healthy, "{:?}", lossy.reason);
    assert!(has(&lossy, FindingKind::ProbeLoss));
    let mut run = BLOATED.run();
    // From the first phase with load on nothing is answered.
    let start = run.phases[1].start_ns;
    let end = run.phases.last().unwrap().end_ns;
    for series in run.series.iter_mut().filter(|s| s.key.metric == Metric::UdpRtt) {
        for (at, value) in series.at_ns.iter().zip(&mut series.values).filter(|(at, _)| **at > start) {
            *value = (end - at) as f64 / 1e9;
        }
        series.censored = (0..).zip(&series.at_ns).filter(|(_, at)| **at > start).map(|(i, _)| i).collect();
    }
    let broken = diagnose(&run);
    assert_eq!(broken.health, Health::Inconclusive);
    assert!(matches!(broken.reason, Some(Reason::ConnectionBroken { .. })), "{:?}", broken.reason);
}

/// Probes follow the rate of the line, which is unknown at first: here three of four are missing in
/// the first half of the upload, while the queue grows.
#[test]
fn percentiles_are_over_time_and_not_over_probes() {
    let line = Line { fill_rate: 0.15, ..BLOATED };
    let mut run = line.run();
    let latency = |of: &Run| diagnose(of).phase(PhaseKind::Up).unwrap().latency.unwrap();
    let all = latency(&run);
    let up = run.phase(PhaseKind::Up).unwrap().clone();
    let is_missing = |at: u64| {
        let is_first_half = (up.start_ns..u64::midpoint(up.start_ns, up.end_ns)).contains(&at);
        is_first_half && !(at / 20_000_000).is_multiple_of(4)
    };
    let series = run.series.iter_mut().find(|s| s.key == SeriesKey::of(Metric::UdpRtt)).unwrap();
    let kept: Vec<Observation> = series.iter().filter(|o| !is_missing(o.at.as_nanos())).collect();
    let mut thinned = Series::new(series.key.clone());
    kept.iter().for_each(|observation| thinned.push(*observation));
    *series = thinned;
    let thin = latency(&run);
    assert!(thin.count < all.count * 3 / 4, "{} of {}", thin.count, all.count);
    for (wanted, got) in [(all.p50, thin.p50), (all.p90, thin.p90)] {
        assert!((got.value / wanted.value - 1.0).abs() < 0.02, "{got:?} instead of {wanted:?}");
    }
}

/// Figures that half of the probes would not have shown are approximate. That the line is slow is
/// certain.
#[test]
fn figures_of_few_probes_are_approximate() {
    let is_approximate = |of: &Run| {
        let diagnosis = diagnose(of);
        let found = finding(&diagnosis, FindingKind::Bufferbloat, Some(Direction::Up));
        assert_eq!(found.certainty, Certainty::Certain);
        matches!(&found.conclusion, Conclusion::Bufferbloat(increase) if increase.is_approximate)
    };
    let mut run = BLOATED.run();
    assert!(!is_approximate(&run));
    let up = run.phase(PhaseKind::Up).unwrap().clone();
    let series = run.series.iter_mut().find(|s| s.key == SeriesKey::of(Metric::UdpRtt)).unwrap();
    for (n, (at, value)) in series.at_ns.iter().zip(&mut series.values).enumerate() {
        *value += if (up.start_ns..up.end_ns).contains(at) && n % 2 == 0 { 0.05 } else { 0.0 };
    }
    assert!(is_approximate(&run));
}

/// Packets waited for a ninth of the time, which makes the line slow, but is too short to know the
/// rate of the link: the load did not fill it.
#[test]
fn a_shaper_has_no_rate_where_the_load_seldom_filled_the_link() {
    let mut run = Line { full_up_s: 0.001, full_down_s: 0.001, phase_s: 6.0, ..BLOATED }.run();
    let phases: Vec<_> = run.phases.iter().filter(|p| p.kind == PhaseKind::Up).cloned().collect();
    let waits = |at: u64| {
        let since = |start_ns: u64| at.checked_sub(start_ns + 4_000_000_000);
        phases.iter().any(|phase| since(phase.start_ns).is_some_and(|since| since < 650_000_000))
    };
    let keys = [SeriesKey::of(Metric::UdpRtt), SeriesKey::directed(Metric::OneWayDelay, Direction::Up)];
    for series in run.series.iter_mut().filter(|series| keys.contains(&series.key)) {
        for (at, value) in series.at_ns.iter().zip(&mut series.values) {
            *value += if waits(*at) { 0.25 } else { 0.0 };
        }
    }
    let d = diagnose(&run);
    assert_eq!(d.health, Health::Bloated);
    assert_eq!(d.advice, [Remedy::shape_at_unknown_rate(Some(Direction::Up))]);
}

/// A line that stopped once may do so again, so no rate is sure to be below its own.
#[test]
fn a_shaper_has_no_rate_where_the_link_stopped() {
    let mut run = BLOATED.run();
    let up = run.phase(PhaseKind::Up).unwrap().start_ns as f64 / 1e9;
    stop(&mut run, (up + 4.0, up + 7.0));
    let d = diagnose(&run);
    assert!(has(&d, FindingKind::Outage), "{:#?}", d.findings);
    assert_eq!(d.advice.first(), Some(&Remedy::shape_at_unknown_rate(Some(Direction::Up))), "{:?}", d.advice);
}

#[test]
fn advice_is_a_shaper_below_the_rate_of_the_line() {
    let d = of(&BLOATED);
    let shaped = |remedy: &Remedy| match remedy {
        Remedy::Shape { direction: Some(direction), min_bits_per_second, max_bits_per_second, .. } => {
            (*direction, min_bits_per_second.unwrap(), max_bits_per_second.unwrap())
        }
        other => panic!("{other:?}"),
    };
    let advice: Vec<_> = d.advice.iter().map(shaped).collect();
    let (direction, min, max) = advice[0];
    assert_eq!(direction, Direction::Up);
    within(min, 0.85 * 2.9e6, 0.85 * 3.15e6);
    within(max, 0.95 * 2.9e6, 0.95 * 3.15e6);
    assert_eq!(of(&MANAGED).advice, []);
}

/// Each piece of evidence equals the run's own measure of that series, statistic and span.
#[test]
fn evidence_can_be_recomputed_from_the_run() {
    for line in [&BLOATED, &MANAGED] {
        let run = line.run();
        let d = diagnose(&run);
        let evidence: Vec<_> = d.findings.iter().flat_map(|f| &f.evidence).collect();
        assert!(evidence.len() > 20, "{}", evidence.len());
        for one in evidence {
            let direction =
                one.series.direction.map_or("", |of| if of == Direction::Up { "up " } else { "down " });
            let (name, statistic, span) = (one.series.metric.info().name, one.statistic, one.span);
            let text = format!("{name} {direction}{statistic} from {}ns to {}ns", span.start_ns, span.end_ns);
            let measured = text.parse::<fathom_run::Measure>().unwrap().of(&run);
            assert_eq!(measured, Some(one.value), "{text}");
        }
    }
}

/// Findings are unchanged by writing and reading; unknown kinds of newer versions are preserved.
#[test]
fn findings_survive_json() {
    for line in [&BLOATED, &MANAGED] {
        let findings = of(line).findings;
        let text = serde_json::to_string(&findings).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Finding>>(&text).unwrap(), findings);
    }
    let newer = r#"{"kind":"gremlins","certainty":"likely","parameters":{"count":3}}"#;
    let finding: Finding = serde_json::from_str(newer).unwrap();
    assert_eq!((finding.kind(), finding.conclusion.name()), (FindingKind::Unknown, "gremlins"));
    let again: serde_json::Value = serde_json::to_value(&finding).unwrap();
    assert_eq!(again, serde_json::from_str::<serde_json::Value>(newer).unwrap());
}

#[test]
fn no_run_causes_a_panic() {
    // Randomly damaged runs: series and phases missing, phases moved, all values equal.
    for seed in 0..40 {
        let mut rng = fathom_units::Rng::new(seed);
        let mut run = Line { phase_s: 2.0, loss_ratio: rng.next_f64(), seed, ..BLOATED }.run();
        run.series.retain(|_| rng.chance(0.7));
        run.phases.retain(|_| rng.chance(0.8));
        for phase in &mut run.phases {
            if rng.chance(0.3) {
                phase.end_ns = phase.start_ns;
            }
            if rng.chance(0.3) {
                phase.load = None;
            }
        }
        let d = diagnose(&run);
        assert_eq!(d.phases.len(), run.phases.len(), "seed {seed}");
        assert!(d.reason.is_some() || matches!(d.health, Health::Healthy | Health::Bloated), "seed {seed}");
    }
}

#[test]
fn the_line_in_numbers() {
    let line = fathom_diagnose::estimate_line(&BLOATED.run()).unwrap();
    within(line.idle_rtt_s, 0.050, 0.053);
    let up = line.up.unwrap();
    within(up.bits_per_second, 2.9e6, 3.15e6);
    within(up.buffer_bytes.unwrap(), 355e3, 385e3);
    assert_eq!((up.flows, up.congestion_control.as_str(), up.is_lower_bound), (4, "cubic", false));
    within(line.down.unwrap().bits_per_second, 19e6, 21e6);
    let managed = fathom_diagnose::estimate_line(&MANAGED.run()).unwrap();
    assert_eq!(managed.up.unwrap().buffer_bytes, None);
    let idle_only = Run { phases: BLOATED.run().phases[..1].to_vec(), ..BLOATED.run() };
    assert_eq!(fathom_diagnose::estimate_line(&idle_only), Err("no direction was loaded".into()));
}

/// Results of other programs may have no series of goodput, only the number of bytes.
#[test]
fn a_line_is_estimated_without_samples_of_goodput() {
    let mut run = BLOATED.run();
    run.series.retain(|series| !matches!(series.key.metric, Metric::Goodput | Metric::DeliveryRate));
    for phase in &mut run.phases {
        let seconds = phase.seconds();
        if let Some(load) = &mut phase.load {
            load.delivered_up_bytes = (2.9e6 / 8.0 * seconds) as u64;
        }
    }
    let up = fathom_diagnose::estimate_line(&run).unwrap().up.unwrap();
    within(up.bits_per_second, 2.9e6, 3.15e6);
}

/// A line on which nothing waits, with a counter of the flows of one direction that grows at a
/// rate per second.
fn without_queue(metric: Metric, direction: Direction, rate: f64) -> Run {
    let mut run = Line { full_up_s: 0.0, full_down_s: 0.0, ..BLOATED }.run();
    run.phases.retain(|phase| phase.kind.loads().iter().all(|d| *d == direction));
    run.series.retain(|s| s.key.metric != Metric::FlowRetransmits || direction == Direction::Up);
    let mut flow = Series::new(SeriesKey { flow: Some(1), ..SeriesKey::directed(metric, direction) });
    for phase in run.phases.iter().filter(|phase| phase.load.is_some()) {
        for n in 0..=10 {
            let at = Time::from_nanos(phase.start_ns + n * (phase.end_ns - phase.start_ns) / 11);
            let seconds = n as f64 * phase.seconds() / 11.0;
            flow.push(Observation { at, value: Value::Observed(rate * seconds) });
        }
    }
    run.series.push(flow);
    run
}

#[test]
fn a_server_that_was_the_limit_says_nothing_about_the_line() {
    let of = |metric, direction, rate| {
        let d = diagnose(&without_queue(metric, direction, rate));
        (d.health, d.reason)
    };
    let silent = of(Metric::FlowOutOfOrder, Direction::Down, 0.0);
    assert_eq!(silent, (Health::Inconclusive, Some(Reason::SenderLimited)));
    // A loss shows that the line was full. Without a count of losses, it may have been.
    assert_eq!(of(Metric::FlowOutOfOrder, Direction::Down, 1.0), (Health::Healthy, None));
    assert_eq!(of(Metric::FlowRtt, Direction::Down, 0.0), (Health::Healthy, None));
    // `fathom serve` says whether it had data to send.
    let idle = of(Metric::FlowUnsent, Direction::Down, 0.0);
    assert_eq!(idle, (Health::Inconclusive, Some(Reason::SenderIdle)));
    assert_eq!(of(Metric::FlowUnsent, Direction::Down, 1_448.0), (Health::Healthy, None));
    let (health, reason) = of(Metric::FlowReceiverLimited, Direction::Up, 0.9);
    let Some(Reason::ReceiverLimited { direction: Direction::Up, limited_ratio }) = reason else {
        panic!("{reason:?}")
    };
    assert_eq!(health, Health::Inconclusive);
    assert!((limited_ratio - 0.9).abs() < 1e-6, "{limited_ratio}");
    assert_eq!(of(Metric::FlowReceiverLimited, Direction::Up, 0.1), (Health::Healthy, None));
    // A server that lies about its downloads.
    let whole = Reason::ReceiverLimited { direction: Direction::Down, limited_ratio: 1.0 };
    let lie = of(Metric::FlowReceiverLimited, Direction::Down, 50.0);
    assert_eq!(lie, (Health::Inconclusive, Some(whole)));
    assert_eq!(of(Metric::FlowReceiverLimited, Direction::Down, -50.0), (Health::Healthy, None));
}

/// A line whose queue never fills, with a load at a chosen rate.
fn at_chosen_rate(fact: Fact, loss: f64) -> Run {
    let mut run = Line { full_up_s: 0.0, full_down_s: 0.0, ..BLOATED }.run();
    run.facts.insert(fact, "2Mbit".into());
    run.series.retain(|s| s.key.metric != Metric::FlowRetransmits);
    for direction in Direction::BOTH {
        let mut losses = Series::new(SeriesKey::directed(Metric::LoadLoss, direction));
        for phase in run.phases.iter().filter(|phase| phase.kind.loads().contains(&direction)) {
            let at = Time::from_nanos((phase.start_ns + phase.end_ns) / 2);
            losses.push(Observation { at, value: Value::Observed(loss) });
        }
        run.series.push(losses);
    }
    run
}

#[test]
fn a_load_below_the_capacity_says_nothing_about_the_line() {
    for fact in [Fact::Pace, Fact::Udp] {
        let d = diagnose(&at_chosen_rate(fact, 0.001));
        assert_eq!((d.health, d.reason), (Health::Inconclusive, Some(Reason::BelowCapacity)));
        let bound = d.findings.iter().find(|f| f.kind() == FindingKind::LowerBound).unwrap();
        assert_eq!(
            (bound.certainty, &bound.alternatives[..]),
            (Certainty::Likely, &[Alternative::EcnMarking][..])
        );
    }
    // A load that exceeds the capacity of a line with a short queue.
    assert_eq!(diagnose(&at_chosen_rate(Fact::Udp, 0.1)).health, Health::Healthy);
}

#[test]
fn an_overload_of_datagrams_is_no_loss_of_the_line_and_has_no_acknowledgments() {
    let lossy = Line { loss_ratio: 0.1, ..BLOATED }.run();
    let has = |run: &Run, kind| diagnose(run).findings.iter().any(|f| f.kind() == kind);
    assert!(has(&lossy, FindingKind::ProbeLoss));
    let mut overloaded = at_chosen_rate(Fact::Udp, 0.1);
    let losses = overloaded.series.iter().filter(|s| s.key.metric == Metric::LoadLoss).cloned();
    let mut run = lossy;
    run.series.extend(losses.collect::<Vec<_>>());
    run.facts.append(&mut overloaded.facts);
    let in_load = diagnose(&run).findings.into_iter().filter(|f| {
        matches!(&f.conclusion, Conclusion::ProbeLoss(loss) if loss.phase.is_loaded() && f.direction.is_some_and(|d| loss.phase.loads().contains(&d)))
    });
    assert_eq!(in_load.count(), 0);
    assert!(!has(&run, FindingKind::AckStarvation));
}
