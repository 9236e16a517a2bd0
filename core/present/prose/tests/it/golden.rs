//! Every sentence about a result in one file, which a person can read in ten minutes.
//! `UPDATE_GOLDEN=1` rewrites it.
use crate::every;
use crate::examples::{capture, examples, increase};
use crate::fixture::{HOSTS, audited};
use crate::line::MANAGED;
use crate::recent;
use crate::samples::{findings, histories, runs};
use crate::shapers::steps;
use crate::upload::upload;
use fathom_diagnose::{Diagnosis, Health, Impact, PhaseSummary, diagnose, diagnose_audit};
use fathom_prose::{
    Origin, actions, alternative, audit_verdict, autorate_reason, calculation, certainty_name,
    conflict_advice, defect, excluded, figures, finding, fix_headline, fix_step, interruption, kind_name,
    note, numbers, queue_name, queue_reason, reasons, refuted_by, remedy, unknown, verdict,
};
use fathom_run::{
    Alternative, Call, Certainty, Conclusion, CpuCause, Finding, FindingKind, Game, LatencyIncrease,
    LowerBound, ManagementEstimate, PhaseKind, QueueKind, Run, UnknownQueue,
};
use fathom_shape::autorate::Reason;
use fathom_shape::fix::Outcome;
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
        self.text += &format!("{gap}## {name}\n");
    }
    fn line(&mut self, name: &str, sentence: &str) {
        let line = if name.is_empty() { sentence.to_string() } else { format!("{name}: {sentence}") };
        assert!(!sentence.is_empty() && sentence.trim() == sentence, "{line}");
        if self.seen.insert(line.clone()) {
            self.text += &format!("{line}\n");
        }
    }
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
    all.section("The last minute of a watch, and patterns of its history");
    recent::sentences().iter().for_each(|(name, text)| all.line(name, text));
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
    let impact_of = |delay_s, game, page_load_s| Impact { call: Call::new(delay_s, 0.0), game, page_load_s };
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
    let idle = impact_of(0.02, Game::All, Some(1.3));
    pair(impact_of(0.02, Game::All, None), impact_of(0.03, Game::All, None));
    pair(idle, impact_of(0.03, Game::All, Some(1.4)));
    for (delay_s, game) in [0.03, 0.2, 0.25, 0.4].into_iter().zip(every::games()) {
        let loaded = impact_of(delay_s, game, Some(9.7));
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
    for (_, run) in
        runs().into_iter().filter(|(name, _)| name.contains("UDP") || name.starts_with("probes wait"))
    {
        say(all, &run, &diagnose(&run));
    }
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
                let next = action.command.map_or_else(String::new, |text| format!("  {text}"));
                all.line("", &format!("{}{next}", action.text));
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
