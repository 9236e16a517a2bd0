//! Every finding, verdict, advice and error in one file, for review, and the parts of sentences in
//! another one. `UPDATE_GOLDEN=1` rewrites both.
use crate::corpus::Corpus;
use crate::errors::{errors, without_example};
use crate::every;
use crate::examples::{capture, examples, increase};
use crate::fixture::{HOSTS, audited};
use crate::line::MANAGED;
use crate::recent;
use crate::samples::{findings, histories, runs};
use crate::shapers::steps;
use crate::upload::upload;
use crate::variants::Likeness;
use fathom_diagnose::{Diagnosis, Health, Impact, PhaseSummary, diagnose, diagnose_audit};
use fathom_prose::{
    Level, Origin, actions, alternative, audit_verdict, autorate_reason, calculation, certainty_name,
    conflict_advice, defect, figures, finding, fix_headline, fix_step, interruption, kind_name, note,
    numbers, queue_name, queue_reason, reasons, refuted_by, remedy, unknown, verdict,
};
use fathom_run::{
    Alternative, Call, Certainty, Conclusion, CpuCause, Finding, FindingKind, Game, LatencyIncrease,
    LowerBound, ManagementEstimate, PhaseKind, Process, QueueKind, Remedy, Run, UnknownQueue,
};
use fathom_shape::autorate::Reason;
use fathom_shape::fix::Outcome;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Sentences about results have examples of values, so they differ in several places.
const RESULTS: Likeness = Likeness { max_choices: 3, min_saved_percent: 50 };

#[track_caller]
fn golden(name: &str, got: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../golden/prose").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, got).expect("golden/prose can be written");
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{name} differs; UPDATE_GOLDEN=1 rewrites it. Now it is:\n{got}");
}

/// Most words about results: a person reads 300 words of plain text a minute, and shall read this
/// in fourteen minutes.
const RESULT_WORDS: usize = 4_290;
/// Most words of errors: eleven minutes.
const ERROR_WORDS: usize = 3_400;

#[test]
fn sentences() {
    let (mut results, mut problems, mut parts) = (Corpus::default(), Corpus::default(), Corpus::default());
    headlines(&mut results);
    consequences(&mut results);
    captured_headlines(&mut results, &mut parts);
    all_findings(&mut results, &mut parts);
    merged(&mut results);
    results.section("What to do", RESULTS);
    advice(&mut results);
    results.section("Flows with a queue at an unknown place", RESULTS);
    let unknowns = every::unknowns().into_iter().map(|reason| UnknownQueue { flow: 7, reason });
    unknowns.for_each(|one| results.add("", &unknown(&one)));
    results.section("Defects of captures", RESULTS);
    every::defects().iter().for_each(|one| results.add("", &defect(one)));
    results.section("Notes", RESULTS);
    every::notes().iter().for_each(|one| results.add("", &note(one)));
    every::interruptions().iter().for_each(|one| results.add("incomplete", &interruption(one)));
    parts.section("Alternatives of a finding (or, excluded)", RESULTS);
    let captured = every::queue_alternatives().into_iter().map(Alternative::Captured);
    let alternatives = every::alternatives().into_iter().chain(captured);
    alternatives.for_each(|one| parts.add("", &alternative(&one)));
    audits(&mut results, &mut parts);
    fixes(&mut results, &mut parts);
    results.section("The last minute of a watch, and patterns of its history", RESULTS);
    parts.section("Numbers of patterns", RESULTS);
    for (name, text) in recent::sentences() {
        match (name.trim(), text.trim()) {
            // A finding follows the name of its target.
            ("why", text) => results.add("", text.split_once("(icmp): ").map_or(text, |(_, found)| found)),
            ("do", text) => results.add("do", &text.replace("nas", "shop")),
            ("then", text) => results.add("then", text),
            (name, text) if Level::ALL.iter().any(|level| level.word() == name) => results.add(name, text),
            (name, text) => parts.add(name, text),
        }
    }
    results.section("Further sentences, with {names} of values", RESULTS);
    parts.section("Names and values", RESULTS);
    without_example(&mut results, &mut parts);
    errors(&mut problems, &mut parts);
    evidence(&mut parts);
    let text = format!("{HEADER}{}{}", results.text(), problems.text());
    golden("sentences.txt", &text);
    golden("parts.txt", &format!("{PARTS_HEADER}{}", parts.text()));
    for (corpus, most) in [(&results, RESULT_WORDS), (&problems, ERROR_WORDS)] {
        assert!(corpus.words() <= most, "{} words, more than {most}:\n{}", corpus.words(), corpus.sizes());
    }
}

const HEADER: &str = "\
# Every finding, verdict, advice and error of the program, for review. Sentences that differ in one
# place are in one line: [this | that], [an option]. Results have examples of values, errors have
# {names} of them. An error begins with what it is about (`{path}: `), and ends with the value, the
# legal values or the cause: these and other parts of sentences are in parts.txt, for look-up.
# `UPDATE_GOLDEN=1 cargo test -p fathom-prose` rewrites both files.
";
const PARTS_HEADER: &str = "\
# What accompanies the sentences of sentences.txt: names, steps, commands, evidence, and the errors in
# full, with their legal values. For look-up: nobody has to read this.
";

/// Kinds whose examples are the queue points of hosts.
const QUEUE_POINTS: [FindingKind; 5] = [
    FindingKind::BloatedQueue,
    FindingKind::QdiscBypass,
    FindingKind::DarkBuffer,
    FindingKind::UnreadableQueue,
    FindingKind::HarmlessQueue,
];

fn all_findings(to: &mut Corpus, parts: &mut Corpus) {
    parts.section("What accompanies a finding", RESULTS);
    to.section("Findings", RESULTS);
    let of_capture = capture();
    for kind in FindingKind::ALL.iter().chain([&FindingKind::Unknown]) {
        let (name, examples) = (kind_name(*kind), examples(*kind));
        let is_queue_point = QUEUE_POINTS.contains(kind);
        assert!(is_queue_point == examples.is_empty(), "{name} has no example");
        for (direction, conclusion) in examples {
            assert_eq!(conclusion.kind(), *kind);
            let found = Finding::new(conclusion, direction, Certainty::Likely);
            to.add(name, &finding(&found, Some(&of_capture)));
            if let Some(advice) = conflict_advice(&found) {
                parts.add("what to try", &advice);
            }
            if let Some(refuted) = refuted_by(&found) {
                parts.add("what would refute it", refuted);
            }
        }
    }
}

/// A verdict of a line with these findings.
fn headline(all: &mut Corpus, health: Health, found: Vec<Conclusion>) {
    let phase = found.iter().find_map(|conclusion| match conclusion {
        Conclusion::Bufferbloat(increase) | Conclusion::LowLatency(increase) => Some(increase.phase),
        _ => None,
    });
    let findings = found.into_iter().map(|one| Finding::new(one, None, Certainty::Certain)).collect();
    let diagnosis = Diagnosis { health, headline_phase: phase, findings, ..Diagnosis::default() };
    say(all, &MANAGED.run(), &diagnosis);
}

fn say(all: &mut Corpus, run: &Run, diagnosis: &Diagnosis) {
    let words = verdict(run, diagnosis);
    all.add(words.level.word(), &words.headline);
    if let Some(more) = words.consequence {
        all.add("then", &more);
    }
}

fn headlines(all: &mut Corpus) {
    all.section("Headlines", RESULTS);
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
    for conclusion in histories() {
        let found = Finding::new(conclusion, None, Certainty::Likely);
        let sentence = finding(&found, None);
        let diagnosis = Diagnosis { health: Health::Healthy, findings: vec![found], ..Diagnosis::default() };
        // What recurs is the headline itself, and is shown among the findings.
        if verdict(&watched, &diagnosis).headline != sentence {
            say(all, &watched, &diagnosis);
        }
    }
}

/// Impacts of each kind, idle and under load.
fn consequences(all: &mut Corpus) {
    all.section("What people notice", RESULTS);
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

fn captured_headlines(all: &mut Corpus, parts: &mut Corpus) {
    parts.section("Numbers of captures", RESULTS);
    all.section("Headlines of captures", RESULTS);
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
            parts.add(number.label, values.collect::<Vec<_>>().join(", ").trim());
        }
    }
    let (_, short) =
        runs().into_iter().find(|(name, _)| name.starts_with("queue kept short")).expect("a run");
    say(all, &short, &diagnose(&short));
    for (_, run) in
        runs().into_iter().filter(|(name, _)| name.contains("UDP") || name.starts_with("probes wait"))
    {
        say(all, &run, &diagnose(&run));
        let run = with_programs(run);
        say(all, &run, &diagnose(&run));
    }
    let run = with_programs(of_flows(flows[0], every::managements()[0], true));
    say(all, &run, &diagnose(&run));
}

/// A capture of an interface of a host, whose programs have the flows.
fn with_programs(mut run: Run) -> Run {
    let program = Some(Process { id: 4_242, name: "rsync".into() });
    let capture = run.capture.as_mut().expect("a capture");
    capture.flows.iter_mut().for_each(|flow| flow.program.clone_from(&program));
    let probed = capture.queues.iter_mut().filter_map(|queue| queue.probed.as_mut());
    probed.flat_map(|probed| &mut probed.loads).for_each(|load| load.program.clone_from(&program));
    run
}

/// Entries of the list that are made of several findings.
fn merged(all: &mut Corpus) {
    all.section("Findings in one entry", RESULTS);
    for (_, run) in runs().into_iter().take(7) {
        let diagnosis = diagnose(&run);
        for reason in reasons(&run, &diagnosis).iter().filter(|reason| reason.findings.len() > 1) {
            all.add("", &reason.text);
        }
    }
}

fn advice(all: &mut Corpus) {
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
                all.add("", &format!("{}{next}", action.text));
            }
        }
    }
    // Lines that a shaper does not help, and one with a long path.
    let (_, mut run) = runs().remove(0);
    let not_shaped = every::remedies().into_iter().filter(|one| matches!(one, Remedy::DoNotShape { .. }));
    let far =
        Remedy::shape(Some(fathom_units::Direction::Up), 3.04e6).with_round_trip(0.6).with_adaptation(8.2);
    for remedy in not_shaped.chain([far]) {
        let diagnosis = Diagnosis { advice: vec![remedy], ..diagnose(&run) };
        for (command, origin) in [("test", test), ("sim", sim)] {
            run.command = command.into();
            for action in actions(&run, &diagnosis, origin) {
                let next = action.command.map_or_else(String::new, |text| format!("  {text}"));
                all.add("", &format!("{}{next}", action.text));
            }
        }
    }
}

fn audits(all: &mut Corpus, parts: &mut Corpus) {
    all.section("Queue points of a host", RESULTS);
    let mut seen = BTreeSet::new();
    for (name, rates) in HOSTS {
        let diagnosis = diagnose_audit(&audited(name, rates));
        let words = audit_verdict(&diagnosis);
        all.add(words.level.word(), &words.headline);
        words.consequence.iter().for_each(|more| all.add("then", more));
        for found in &diagnosis.findings {
            let point = found.queue_point().expect("a queue point");
            let kind = point.queue.kind();
            let reason = queue_reason(found.kind(), point);
            assert!(finding(found, None).to_lowercase().ends_with(&format!(". {}.", reason.to_lowercase())));
            seen.insert(kind);
            all.add(queue_name(kind), &reason);
        }
    }
    let missing = QueueKind::ALL.iter().filter(|kind| !seen.contains(*kind));
    parts.section("Queue points without an example", RESULTS);
    missing.for_each(|kind| parts.add("", queue_name(*kind)));
    parts.section("Remedies", RESULTS);
    for one in every::remedies() {
        let text = remedy(&one);
        parts.add("fix", &text.apply);
        text.undo.iter().for_each(|undo| parts.add("undo", undo));
    }
    parts.section("Certainties", RESULTS);
    for certainty in [Certainty::Certain, Certainty::Likely, Certainty::Possible] {
        parts.add("", certainty_name(certainty));
    }
}

fn fixes(all: &mut Corpus, parts: &mut Corpus) {
    all.section("A fix", RESULTS);
    for outcome in [Outcome::NotNeeded, Outcome::Planned, Outcome::NotVerified, Outcome::Verified] {
        all.add("", &fix_headline("eth0", outcome));
    }
    parts.section("Steps of a fix", RESULTS);
    steps().iter().filter_map(fix_step).for_each(|step| parts.add("", step.trim()));
    parts.section("What autorate does", RESULTS);
    for reason in Reason::ALL {
        parts.add(reason.name(), autorate_reason(*reason));
    }
}

/// The rows of evidence of each kind.
fn evidence(parts: &mut Corpus) {
    parts.section("Evidence", Likeness { max_choices: 0, ..RESULTS });
    for found in findings() {
        for figure in figures(&found) {
            parts.add(kind_name(found.kind()), &format!("{}: {}", figure.name, figure.value));
        }
    }
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
