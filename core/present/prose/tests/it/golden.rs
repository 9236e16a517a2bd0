//! Every sentence about a result in one file, which a person can read aloud in ten minutes.
//! `UPDATE_GOLDEN=1` rewrites it.
use crate::every;
use crate::fixture::{HOSTS, audited};
use crate::line::MANAGED;
use crate::samples::{findings, histories, history, hours, runs};
use crate::shapers::steps;
use crate::upload::upload;
use fathom_diagnose::{Diagnosis, Health, Impact, PhaseSummary, diagnose, diagnose_audit};
use fathom_prose::{
    Origin, actions, alternative, audit_verdict, autorate_reason, calculation, certainty_name,
    conflict_advice, defect, excluded, figures, finding, fix_headline, fix_step, interruption, kind_name,
    note, numbers, queue_name, queue_reason, reasons, refuted_by, remedy, unknown, verdict,
};
use fathom_run::{
    AckStarvation, Alternative, Bottleneck, BufferSize, Call, Capture, Certainty, Conclusion, CpuCause,
    DelayedFlows, DelayedProbes, DrainTime, Estimate, FillTime, Finding, FindingKind, FlowRetransmission,
    Game, InstrumentEffect, LatencyIncrease, LowerBound, Management, ManagementEstimate, Outage, PathLoss,
    PathRemarking, PhaseKind, ProbeLoss, QueueDelay, QueueKind, QueueVictims, RecurringDelay, Remarking,
    Reordering, Retransmissions, Run, ShaperCheck, ShaperConflict, UnknownQueue,
};
use fathom_shape::autorate::Reason;
use fathom_shape::fix::Outcome;
use fathom_units::Direction;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

#[track_caller]
fn golden(name: &str, got: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../golden/prose").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, got).expect("golden/prose can be written");
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{name} differs; UPDATE_GOLDEN=1 rewrites it. Now it is:\n{got}");
}

/// Sections of lines, each line once.
#[derive(Default)]
struct Sentences {
    text: String,
    seen: BTreeSet<String>,
}

impl Sentences {
    fn section(&mut self, name: &str) {
        let gap = if self.text.is_empty() { "" } else { "\n" };
        writeln!(self.text, "{gap}## {name}").unwrap();
    }
    fn line(&mut self, name: &str, sentence: &str) {
        let line = if name.is_empty() { sentence.to_string() } else { format!("{name}: {sentence}") };
        assert!(!sentence.is_empty() && sentence.trim() == sentence, "{line}");
        if self.seen.insert(line.clone()) {
            writeln!(self.text, "{line}").unwrap();
        }
    }
}

fn increase(phase: PhaseKind, up_ratio: Option<f64>) -> LatencyIncrease {
    let (idle_p50_s, loaded_p50_s, loaded_p90_s, loaded_max_s) = (0.049, 1.043, 1.120, 1.3);
    LatencyIncrease { phase, idle_p50_s, loaded_p50_s, loaded_p90_s, loaded_max_s, up_ratio }
}

fn management(rule: fathom_run::ManagementRule, of_capture: bool) -> Management {
    let measured = (!of_capture).then_some(0.0061);
    Management {
        rule,
        loss_count: 12,
        mark_packets: 0,
        episode_count: Some(2),
        delay_at_loss: None,
        delay_at_loss_p50_s: None,
        delay_p50_s: measured,
        delay_p95_s: measured.map(|_| 0.983),
        top_ratio: measured.map(|_| 0.83),
    }
}

type Found = (Option<Direction>, Conclusion);

/// Examples of each kind of a measured line and of a capture. Those of a watch and of an audit are
/// made elsewhere.
fn examples(kind: FindingKind) -> Vec<Found> {
    use Direction::{Down, Up};
    let up = PhaseKind::Up;
    match kind {
        FindingKind::Bufferbloat => vec![
            (Some(Up), Conclusion::Bufferbloat(increase(up, Some(0.95)))),
            (Some(Up), Conclusion::Bufferbloat(increase(PhaseKind::Down, Some(1.0)))),
            (None, Conclusion::Bufferbloat(increase(PhaseKind::Both, Some(0.55)))),
            (None, Conclusion::Bufferbloat(increase(up, None))),
        ],
        FindingKind::LowLatency => every::phases()
            .into_iter()
            .filter(|phase| matches!(phase, PhaseKind::Up | PhaseKind::Down | PhaseKind::Both))
            .map(|phase| (None, Conclusion::LowLatency(increase(phase, None))))
            .collect(),
        FindingKind::Outage => [1, 3]
            .map(|count| {
                let outage = Outage { phase: up, count, longest_s: 1.8, total_s: 1.8 * count as f64 };
                (None, Conclusion::Outage(outage))
            })
            .into(),
        FindingKind::BufferSize => [(Up, false), (Down, false), (Up, true)]
            .map(|(direction, is_lower_bound)| {
                let size = BufferSize {
                    phase: up,
                    delay_p99_s: 0.998,
                    goodput_bits_per_second: 2.8e6,
                    probes_bits_per_second: 4e4,
                    rate_bits_per_second: 2.98e6,
                    ip_bytes: 372_000.0,
                    ethernet_bytes: 376_000.0,
                    is_lower_bound,
                    is_bloated: true,
                };
                (Some(direction), Conclusion::BufferSize(size))
            })
            .into(),
        FindingKind::QueueManagement => every::rules()
            .into_iter()
            .flat_map(|rule| [(Some(Up), management(rule, false)), (None, management(rule, true))])
            .map(|(direction, rule)| (direction, Conclusion::QueueManagement(rule)))
            .collect(),
        FindingKind::FillTime => {
            let fill = FillTime { phase: up, fill_s: 6.2, delay_p95_s: 1.1, growth_ratio: 0.16 };
            vec![(None, Conclusion::FillTime(fill))]
        }
        FindingKind::DrainTime => [true, false]
            .map(|is_empty| {
                (None, Conclusion::DrainTime(DrainTime { drain_s: 2.4, is_empty, threshold_s: 0.06 }))
            })
            .into(),
        FindingKind::AckStarvation => {
            let (alone_bits_per_second, loaded_bits_per_second, ack_delay_s) = (19.2e6, 7.69e6, 0.9);
            let starvation = AckStarvation { alone_bits_per_second, loaded_bits_per_second, ack_delay_s };
            vec![(None, Conclusion::AckStarvation(starvation))]
        }
        FindingKind::ProbeLoss => every::phases()
            .into_iter()
            .zip([Some(Up), Some(Down), None].into_iter().cycle())
            .map(|(phase, direction)| {
                let loss = ProbeLoss { phase, lost_packets: 12, sent_packets: 1_100 };
                (direction, Conclusion::ProbeLoss(loss))
            })
            .collect(),
        FindingKind::LowerBound => every::bounds()
            .into_iter()
            .map(|cause| (None, Conclusion::LowerBound(LowerBound { phase: up, cause })))
            .collect(),
        FindingKind::Instrument => {
            instruments().into_iter().map(|one| (None, Conclusion::Instrument(one))).collect()
        }
        FindingKind::ShaperCheck => every::criteria()
            .into_iter()
            .zip([true, false].into_iter().cycle())
            .map(|(criterion, passed)| {
                (None, Conclusion::ShaperCheck(ShaperCheck { phase: up, passed, criterion }))
            })
            .collect(),
        FindingKind::ShaperConflict => every::conflicts()
            .into_iter()
            .map(|cause| {
                (None, Conclusion::ShaperConflict(ShaperConflict { interface: "eth0".into(), cause }))
            })
            .collect(),
        FindingKind::QueueDelay
        | FindingKind::Bottleneck
        | FindingKind::Oscillation
        | FindingKind::DelayedFlows
        | FindingKind::DelayedProbes
        | FindingKind::Remarking
        | FindingKind::PathLoss
        | FindingKind::Reordering
        | FindingKind::Retransmission => captured(kind).into_iter().map(|one| (None, one)).collect(),
        FindingKind::RecurringDelay => every::day_groups()
            .into_iter()
            .zip(every::link_uses().into_iter().cycle())
            .map(|(days, own_link)| {
                let hours = hours(days, 19, 23);
                let delay = RecurringDelay { of: history(), hours, excess_s: 0.08, own_link };
                (None, Conclusion::RecurringDelay(delay))
            })
            .collect(),
        FindingKind::LatencyVariation
        | FindingKind::RecurringLoss
        | FindingKind::OwnLoad
        | FindingKind::BaseChange => {
            let of_kind = histories().into_iter().filter(|found| found.kind() == kind);
            let own = of_kind.flat_map(|one| match one {
                Conclusion::OwnLoad(_) => vec![(Some(Up), one.clone()), (Some(Down), one)],
                _ => vec![(None, one)],
            });
            own.collect()
        }
        FindingKind::Unknown => {
            vec![(None, Conclusion::Unknown { kind: "gremlins".into(), parameters: serde_json::Value::Null })]
        }
        // The queue points of a host have their own section.
        FindingKind::BloatedQueue
        | FindingKind::QdiscBypass
        | FindingKind::DarkBuffer
        | FindingKind::UnreadableQueue
        | FindingKind::HarmlessQueue => Vec::new(),
    }
}

fn instruments() -> Vec<InstrumentEffect> {
    let late = every::parts().into_iter().map(|part| InstrumentEffect::Late { part, lateness_p95_s: 0.012 });
    let why = every::not_sent().into_iter().map(|why| InstrumentEffect::ProbesNotSent {
        not_sent_packets: 17,
        due_packets: 1_200,
        why,
    });
    every::effects().into_iter().chain(late).chain(why).collect()
}

/// Findings of captures, some of which name the queues and flows of [`capture`].
fn captured(kind: FindingKind) -> Vec<Conclusion> {
    let captures = ["snd.pcap", "rcv.pcap"].map(String::from);
    match kind {
        FindingKind::QueueDelay => (1..=places().len() as u32)
            .map(|queue| {
                Conclusion::QueueDelay(QueueDelay {
                    queue,
                    is_bloated: true,
                    delay_p5_s: 0.1,
                    delay_p50_s: 0.5,
                    delay_p90_s: 0.8,
                    delay_p95_s: 0.9,
                    delay_max_s: 1.0,
                    samples: 50,
                    base_rtt_s: None,
                })
            })
            .collect(),
        FindingKind::Bottleneck => [(None, false), (Some(1.25e6), true), (Some(1.25e6), false)]
            .map(|(buffer, was_full)| {
                Conclusion::Bottleneck(Bottleneck {
                    queue: 1,
                    rate_bits_per_second: Estimate { value: 9.99e6, error: 2e4 },
                    buffer_bytes: buffer.map(|value| Estimate { value, error: 1e4 }),
                    was_full,
                })
            })
            .into(),
        FindingKind::Oscillation => [None, Some("CUBIC".to_string())]
            .map(|congestion_control| {
                let predicted_s = congestion_control.as_ref().map(|_| 8.5);
                Conclusion::Oscillation(fathom_run::Oscillation {
                    queue: 1,
                    period_s: 10.4,
                    congestion_control,
                    predicted_s,
                })
            })
            .into(),
        FindingKind::DelayedFlows => {
            let one = |who| DelayedFlows { who, added_p95_s: 0.98 };
            let all: Vec<DelayedFlows> = every::parties().into_iter().map(one).collect();
            let victims = all.iter().map(|one| vec![one.clone()]).chain([all[..2].to_vec(), all.clone()]);
            victims.map(|flows| Conclusion::DelayedFlows(QueueVictims { queue: 1, flows })).collect()
        }
        FindingKind::DelayedProbes => every::probe_kinds()
            .into_iter()
            .zip([(1, 0), (12, 3)].into_iter().cycle())
            .map(|(probe, (answers, unanswered))| {
                Conclusion::DelayedProbes(DelayedProbes {
                    queue: 1,
                    probe,
                    from: "10.7.0.1".into(),
                    to: "10.7.0.2".into(),
                    answers,
                    unanswered,
                    max_s: 1.005,
                    min_s: 0.0103,
                    added_p95_s: 0.9,
                })
            })
            .collect(),
        FindingKind::Remarking => {
            let change = |from: (u8, u8), to: (u8, u8)| Remarking {
                from: fathom_run::IpMarking { dscp: from.0, ecn: from.1 },
                to: fathom_run::IpMarking { dscp: to.0, ecn: to.1 },
                packets: 17,
            };
            let changes = vec![change((10, 2), (0, 0)), change((0, 1), (0, 3))];
            vec![Conclusion::Remarking(PathRemarking { captures, changes })]
        }
        FindingKind::PathLoss => [1, 548]
            .map(|lost_packets| {
                let captures = captures.clone();
                Conclusion::PathLoss(PathLoss { captures, lost_packets, matched_packets: 102_000 })
            })
            .into(),
        FindingKind::Reordering => [(3, 0), (0, 1), (1, 2)]
            .map(|(reordered_packets, duplicated_packets)| {
                let captures = captures.clone();
                Conclusion::Reordering(Reordering { captures, reordered_packets, duplicated_packets })
            })
            .into(),
        FindingKind::Retransmission => {
            let retransmissions = Retransmissions {
                fast_packets: 180,
                probe_packets: 30,
                timeout_packets: 2,
                spurious_packets: 2,
                unknown_packets: 1,
                ..Retransmissions::default()
            };
            let (from, to) = ("10.7.0.1:40000".into(), "10.7.0.2:5201".into());
            let flow = FlowRetransmission { flow: 2, from, to, sent_packets: 32_410, retransmissions };
            vec![Conclusion::Retransmission(flow)]
        }
        _ => Vec::new(),
    }
}

/// Places of queues; the first is in the headline.
fn places() -> Vec<fathom_run::QueuePlace> {
    let mut places = every::places();
    places.push(places[2]);
    places
}

/// A capture with a queue at each place.
fn capture() -> Capture {
    let mut capture = upload();
    let queue = capture.queues.remove(0);
    capture.queues =
        places().into_iter().map(|place| fathom_run::CapturedQueue { place, ..queue.clone() }).collect();
    capture
}

#[test]
fn sentences() {
    let mut all = Sentences::default();
    headlines(&mut all);
    consequences(&mut all);
    captured_headlines(&mut all);
    all.section("Findings");
    let of_capture = capture();
    let kinds = FindingKind::ALL.iter().chain([&FindingKind::Unknown]);
    for kind in kinds {
        for (direction, conclusion) in examples(*kind) {
            assert_eq!(conclusion.kind(), *kind);
            let found = Finding::new(conclusion, direction, Certainty::Likely);
            all.line(kind_name(*kind), &finding(&found, Some(&of_capture)));
            if let Some(advice) = conflict_advice(&found) {
                all.line("  try", &advice);
            }
            if let Some(refuted) = refuted_by(&found) {
                all.line("  refuted by", refuted);
            }
        }
    }
    merged(&mut all);
    all.section("Certainties");
    for certainty in [Certainty::Certain, Certainty::Likely, Certainty::Possible] {
        all.line("", certainty_name(certainty));
    }
    all.section("Alternatives (\"or\", \"Excluded\")");
    let captured = every::queue_alternatives().into_iter().map(Alternative::Captured);
    every::alternatives().into_iter().chain(captured).for_each(|one| all.line("", &alternative(&one)));
    all.section("Flows with a queue at an unknown place");
    every::unknowns()
        .into_iter()
        .for_each(|reason| all.line("", &unknown(&UnknownQueue { flow: 7, reason })));
    all.section("What to do");
    advice(&mut all);
    all.section("Defects of captures");
    every::defects().iter().for_each(|one| all.line("", &defect(one)));
    all.section("Notes");
    every::notes().iter().for_each(|one| all.line("", &note(one)));
    every::interruptions().iter().for_each(|one| all.line("incomplete", &interruption(one)));
    audits(&mut all);
    fixes(&mut all);
    golden("sentences.txt", &all.text);
}

/// A verdict of a line with these findings.
fn headline(all: &mut Sentences, health: Health, found: Vec<Conclusion>) {
    let phase = found.iter().find_map(|conclusion| match conclusion {
        Conclusion::Bufferbloat(increase) | Conclusion::LowLatency(increase) => Some(increase.phase),
        _ => None,
    });
    let findings = found.into_iter().map(|one| Finding::new(one, None, Certainty::Certain)).collect();
    let diagnosis = Diagnosis { health, headline_phase: phase, findings, ..Diagnosis::default() };
    say(all, &MANAGED.run(), &diagnosis);
}

fn say(all: &mut Sentences, run: &Run, diagnosis: &Diagnosis) {
    let words = verdict(run, diagnosis);
    all.line(words.level.word(), &words.headline);
    if let Some(more) = words.consequence {
        all.line("  then", &more);
    }
}

fn headlines(all: &mut Sentences) {
    all.section("Headlines");
    let loads = [PhaseKind::Up, PhaseKind::Down, PhaseKind::Both];
    for phase in loads {
        headline(all, Health::Bloated, vec![Conclusion::Bufferbloat(increase(phase, None))]);
    }
    headline(all, Health::Bloated, Vec::new());
    let low = || {
        let (loaded_p50_s, loaded_p90_s) = (0.055, 0.063);
        LatencyIncrease { loaded_p50_s, loaded_p90_s, ..increase(PhaseKind::Up, None) }
    };
    let growing = |cause| Conclusion::LowerBound(LowerBound { phase: PhaseKind::Up, cause });
    for cause in every::bounds() {
        let bloated = Conclusion::Bufferbloat(increase(PhaseKind::Up, None));
        headline(all, Health::Bloated, vec![bloated, growing(cause)]);
    }
    let last = every::bounds().remove(0);
    headline(all, Health::Healthy, vec![Conclusion::LowLatency(low()), growing(last)]);
    let none = LatencyIncrease { loaded_p90_s: 0.049, ..low() };
    headline(all, Health::Healthy, vec![Conclusion::LowLatency(none)]);
    for kind in [FindingKind::Outage, FindingKind::ProbeLoss] {
        for (_, spoiler) in examples(kind).into_iter().take(2) {
            headline(all, Health::Healthy, vec![Conclusion::LowLatency(low()), spoiler]);
        }
    }
    for reason in every::reasons() {
        let health = if matches!(reason, fathom_run::Reason::CpuExplains { cause: CpuCause::Busy, .. }) {
            Health::Invalid
        } else {
            Health::Inconclusive
        };
        say(all, &MANAGED.run(), &Diagnosis { health, reason: Some(reason), ..Diagnosis::default() });
    }
    say(all, &MANAGED.run(), &Diagnosis::default());
    let watched = Run { history: Some(fathom_run::History::default()), ..MANAGED.run() };
    let mut kinds = BTreeSet::new();
    for conclusion in histories().into_iter().filter(|one| kinds.insert(one.kind())) {
        let findings = vec![Finding::new(conclusion, None, Certainty::Likely)];
        say(all, &watched, &Diagnosis { health: Health::Healthy, findings, ..Diagnosis::default() });
    }
}

/// Impacts of each kind, idle and under load.
fn consequences(all: &mut Sentences) {
    all.section("What people notice");
    let impact = |delay_s, game, page_load_s| Impact { call: Call::new(delay_s, 0.0), game, page_load_s };
    let phase = |kind, impact| PhaseSummary {
        kind,
        impact: Some(impact),
        ..diagnose(&MANAGED.run()).phases.remove(0)
    };
    let mut pair = |idle: Impact, loaded: Impact| {
        let low =
            LatencyIncrease { loaded_p50_s: 0.055, loaded_p90_s: 0.063, ..increase(PhaseKind::Up, None) };
        let diagnosis = Diagnosis {
            health: Health::Healthy,
            headline_phase: Some(PhaseKind::Up),
            phases: vec![phase(PhaseKind::Idle, idle), phase(PhaseKind::Up, loaded)],
            findings: vec![Finding::new(Conclusion::LowLatency(low), None, Certainty::Certain)],
            ..Diagnosis::default()
        };
        say(all, &MANAGED.run(), &diagnosis);
    };
    let idle = impact(0.02, Game::All, Some(1.3));
    pair(impact(0.02, Game::All, None), impact(0.03, Game::All, None));
    pair(idle, impact(0.03, Game::All, Some(1.4)));
    for (delay_s, game) in [0.03, 0.2, 0.25, 0.4].into_iter().zip(every::games()) {
        let loaded = impact(delay_s, game, Some(9.7));
        pair(idle, loaded);
        pair(loaded, loaded);
    }
}

fn captured_headlines(all: &mut Sentences) {
    all.section("Headlines and numbers of captures");
    let of_flows = |filled_by: &[(u32, f64)], kind, was_full| {
        let mut capture = upload();
        let queue = &mut capture.queues[0];
        let share = |(flow, bytes_ratio): &(u32, f64)| fathom_run::FlowShare {
            flow: *flow,
            bytes_ratio: *bytes_ratio,
        };
        queue.filled_by = filled_by.iter().map(share).collect();
        queue.management = Some(ManagementEstimate { kind, confidence_ratio: 0.9 });
        queue.was_full = was_full;
        Run { capture: Some(Box::new(capture)), ..MANAGED.run() }
    };
    let flows: [&[(u32, f64)]; 4] = [&[(2, 0.9)], &[(9, 0.9)], &[(1, 0.4), (2, 0.3)], &[]];
    for (at, kind) in every::managements().into_iter().enumerate() {
        let run = of_flows(flows[at % flows.len()], kind, at % 2 == 0);
        let diagnosis = diagnose(&run);
        say(all, &run, &diagnosis);
        for number in numbers(&run, &diagnosis) {
            let values = number.values.iter().map(|value| format!("{} {}", value.text, value.of));
            all.line(&format!("  {}", number.label), values.collect::<Vec<_>>().join(", ").trim());
        }
    }
    let (_, short) =
        runs().into_iter().find(|(name, _)| name.starts_with("queue kept short")).expect("a run");
    say(all, &short, &diagnose(&short));
}

/// Entries of the list that are made of several findings.
fn merged(all: &mut Sentences) {
    all.section("Findings in one entry");
    for (_, run) in runs().into_iter().take(7) {
        let diagnosis = diagnose(&run);
        for reason in reasons(&run, &diagnosis).iter().filter(|reason| reason.findings.len() > 1) {
            all.line("", &reason.text);
        }
        if let Some(excluded) = excluded(&diagnosis.findings) {
            all.line("Excluded", &excluded);
        }
    }
}

fn advice(all: &mut Sentences) {
    let test = Origin { command: Some("fathom test far"), file: Some("result.json.gz") };
    let sim = Origin { command: Some("fathom sim dsl"), file: None };
    let trace = Origin { command: Some("fathom trace snd.pcap"), file: None };
    for (_, mut run) in runs() {
        let diagnosis = diagnose(&run);
        let origins = match run.capture {
            Some(_) => vec![("trace", trace)],
            None => vec![("test", test), ("test", Origin::default()), ("sim", sim)],
        };
        for (command, origin) in origins {
            run.command = command.into();
            for action in actions(&run, &diagnosis, origin) {
                let command = action.command.map_or_else(String::new, |command| format!("  {command}"));
                all.line("", &format!("{}{command}", action.text));
            }
        }
    }
}

fn audits(all: &mut Sentences) {
    all.section("Queue points of a host");
    let mut seen = BTreeSet::new();
    for (name, rates) in HOSTS {
        let diagnosis = diagnose_audit(&audited(name, rates));
        let words = audit_verdict(&diagnosis);
        all.line(words.level.word(), &words.headline);
        words.consequence.iter().for_each(|more| all.line("  then", more));
        for found in &diagnosis.findings {
            let point = found.queue_point().expect("a queue point");
            let kind = point.queue.kind();
            // Each reason once, with the first queue that has it.
            if seen.insert((kind, queue_reason(found.kind(), point))) {
                all.line(kind_name(found.kind()), &finding(found, None));
            }
        }
    }
    let missing = QueueKind::ALL.iter().filter(|kind| !seen.iter().any(|(seen, _)| seen == *kind));
    missing.for_each(|kind| all.line("no example on these hosts", queue_name(*kind)));
    for one in every::remedies() {
        let text = remedy(&one);
        all.line("fix", &text.apply);
        text.undo.iter().for_each(|undo| all.line("undo", undo));
    }
}

fn fixes(all: &mut Sentences) {
    all.section("A fix");
    for outcome in [Outcome::NotNeeded, Outcome::Planned, Outcome::NotVerified, Outcome::Verified] {
        all.line("", &fix_headline("eth0", outcome));
    }
    steps().iter().filter_map(fix_step).for_each(|step| all.line("", step.trim()));
    for reason in Reason::ALL {
        all.line(reason.name(), autorate_reason(*reason));
    }
}

/// The rows of evidence of each kind.
#[test]
fn evidence() {
    let mut text = String::new();
    for found in findings() {
        writeln!(text, "{}", kind_name(found.kind())).unwrap();
        for figure in figures(&found) {
            writeln!(text, "  {}: {}", figure.name, figure.value).unwrap();
        }
    }
    golden("evidence.txt", &text);
}

/// The calculation that is shown to the user gives the delay that is shown.
#[test]
fn a_calculation_gives_the_delay() {
    for (name, rates) in HOSTS {
        let points = audited(name, rates).queues.into_iter().map(|queue| queue.point);
        for worst in points.flat_map(|point| [point.worst, point.worst_of_super_packets]).flatten() {
            let text = calculation(&worst);
            let (factors, rate) = text.split_once(" / ").unwrap();
            let bits: f64 = factors.split(" * ").map(|factor| factor.parse::<f64>().unwrap()).product();
            let shown = bits / rate.parse::<f64>().unwrap();
            assert!((shown - worst.delay_s).abs() <= 2e-9, "{name}: {text} = {shown}, not {}", worst.delay_s);
        }
    }
}
