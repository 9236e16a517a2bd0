//! The JSON document against its published schema, by an independent validator.
use crate::fixture::{HOSTS, audited};
use crate::samples::{findings, runs};
use fathom_diagnose::{Diagnosis, FixEvidence, diagnose, diagnose_audit, diagnose_fix};
use fathom_report::{ExportData, FixData, FixOutcome, command_document, phases, searches};
use fathom_run::{ConflictCause, Finding, FindingKind, HostAudit};
use fathom_shape::fix::Report;
use fathom_shape::knee::{Found, Trial};
use fathom_units::{Duration, PerDirection, Rate};
use serde_json::{Value, json};

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/schema/result.schema.json");
    serde_json::from_slice(&std::fs::read(path).expect(path)).expect("the schema is JSON")
}

#[track_caller]
fn check(name: &str, document: &Value) {
    let validator = jsonschema::draft202012::new(&schema()).expect("the schema is a schema");
    let errors: Vec<String> =
        validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
}

#[test]
fn documents_of_runs_match_the_schema() {
    for (name, run) in runs() {
        let diagnosis = diagnose(&run);
        let document = serde_json::to_value(fathom_report::document(&run, &diagnosis)).unwrap();
        check(name, &document);
        // It is a result file, too.
        let read = fathom_run::Run::from_json(&serde_json::to_vec(&document).unwrap()).unwrap();
        assert_eq!(read, run, "{name}");
    }
}

/// A fix of which everything is known.
fn fixed(before: &Diagnosis, after: &Diagnosis) -> FixData {
    let trial = Trial {
        offered: Rate::from_bits_per_second(9_600_000),
        delivered: Rate::from_bits_per_second(9_500_000),
        delay: Duration::from_millis(3),
        is_delayed: false,
        is_marginal: true,
        is_demanded: true,
    };
    let mut report = Report::default();
    report.trials.up.push(trial);
    report.knees.up = Some(Found { rate: trial.offered, above: None, is_varying: false });
    FixData {
        interface: Some("eth0".into()),
        outcome: Some(FixOutcome::Verified),
        plan: Some(json!({ "interface": "eth0" })),
        counters: Some(PerDirection { up: Some(json!({ "sent_bytes": 5 })), down: None }),
        overhead_bytes: Some(38),
        searches: Some(searches(&report)),
        before: Some(phases(before)),
        after: Some(phases(after)),
        auto: Some(json!({ "answers": 7 })),
        export: Some(ExportData {
            platform: "vyos",
            rates_bits_per_second: PerDirection { up: Some(9_500_000), down: None },
            configuration: "set qos interface eth0 egress FATHOM-UP\n".into(),
        }),
        interfaces: Some(vec![json!({ "interface": "eth0" })]),
    }
}

#[test]
fn documents_of_fixes_match_the_schema() {
    let runs = runs();
    let (before, after) = (&runs[0].1, &runs[1].1);
    let measured = FixEvidence {
        interface: "eth0",
        before: Some(before),
        after: Some(after),
        is_shaped: true,
        checks: &[],
        conflicts: &[ConflictCause::SqmScripts],
    };
    let by_hand = FixEvidence { before: None, after: None, ..measured };
    let whole = fixed(&diagnose(before), &diagnose(after));
    for (name, evidence, fix, health) in
        [("whole", measured, whole, "healthy"), ("by hand", by_hand, FixData::default(), "inconclusive")]
    {
        let diagnosis = diagnose_fix(&evidence);
        let document =
            serde_json::to_value(command_document("fix", "Done.".into(), &diagnosis, ("fix", &fix))).unwrap();
        check(name, &document);
        assert_eq!(document["verdict"]["health"], health);
        assert_eq!(document["findings"][0]["kind"], "shaper_conflict");
    }
}

/// The order of members is that of the screen: the verdict, the numbers, the findings, what to do.
#[test]
fn members_are_in_the_order_of_the_screen() {
    let (_, run) = runs().remove(0);
    let diagnosis = diagnose(&run);
    let of_run = serde_json::to_string(&fathom_report::document(&run, &diagnosis)).unwrap();
    let of_command = command_document("audit", "Done.".into(), &diagnosis, ("audit", "data")).to_string();
    for text in [of_run, of_command] {
        let at = |name: &str| text.find(&format!("\"{name}\":")).expect(name);
        let members = ["verdict", "summary", "findings", "advice"].map(at);
        assert!(members.is_sorted(), "{members:?}");
    }
}

#[test]
fn documents_of_audits_match_the_schema() {
    for (name, rates) in HOSTS {
        let audit = audited(name, rates);
        let diagnosis = diagnose_audit(&audit);
        let document = serde_json::to_value(command_document(
            "audit",
            "Done.".into(),
            &diagnosis,
            ("audit", &audit.host),
        ))
        .unwrap();
        check(name, &document);
        // Findings and the host can be read again.
        let read: Vec<Finding> = serde_json::from_value(document["findings"].clone()).unwrap();
        assert_eq!(read, diagnosis.findings, "{name}");
        assert_eq!(
            serde_json::from_value::<HostAudit>(document["audit"].clone()).unwrap(),
            audit.host,
            "{name}"
        );
    }
}

#[test]
fn every_kind_of_finding_is_in_the_schema() {
    let (_, run) = runs().remove(0);
    let mut diagnosis = diagnose(&run);
    diagnosis.findings = findings();
    let document = serde_json::to_value(fathom_report::document(&run, &diagnosis)).unwrap();
    check("each kind", &document);
    let all = schema()["$defs"]["finding"]["allOf"].clone();
    let names: Vec<&str> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["if"]["properties"]["kind"]["const"].as_str().unwrap())
        .collect();
    let kinds: Vec<&str> = FindingKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names, kinds);
}

#[test]
fn documents_without_a_run_match_the_schema() {
    let target = json!({
        "target": "far", "probe": "icmp", "from": "2026-02-05T00:00:00Z", "to": "2026-02-05T00:01:00Z", "sent": 60,
        "answered": 58, "late": 1, "lost": 1, "failed": 0, "duplicates": 0, "reordered": 0, "loss_ratio": 0.017,
        "median_s": 0.012, "p95_s": 0.03, "max_s": null, "newest_at": "2026-02-05T00:01:00Z",
    });
    let sent = json!({ "name": "far", "sent_until": "2026-02-05T00:01:00Z", "behind_s": 3.0 });
    let archives = json!([
        { "name": "far", "sent_until": "2026-02-05T12:00:00Z", "objects": 7, "refused": 0, "results": 1 },
        { "name": "near", "problem": "nothing was sent yet" },
    ]);
    let test = json!({
        "test": "line", "at": "2026-02-05T12:00:00.000Z", "lag_up_s": 0.5, "lag_down_s": 0.06, "idle_p50_s": 0.012,
        "goodput_up_bits_per_second": 9e5, "goodput_down_bits_per_second": null, "buffer_up_bytes": 64e3,
        "buffer_down_bytes": null,
    });
    let pushes = [sent, json!({ "name": "far", "problem": "no cursor" })];
    let alert = json!({
        "alert": "slow", "type": "latency", "target": "far", "probe": "icmp", "raised_at": "2026-02-05T00:00:00Z",
        "cleared_at": null, "flapping": false, "evidence": "latency 80 ms", "to": ["ops"],
    });
    let diagnosis = Diagnosis { findings: findings(), ..Diagnosis::default() };
    for (command, data) in [
        (
            "watch status",
            (
                "status",
                json!({ "targets": [target], "tests": [test], "tested": "line", "pushes": pushes, "archives": archives }),
            ),
        ),
        (
            "watch diagnose",
            ("period", json!({ "from": "2026-02-05T00:00:00Z", "to": "2026-02-06T00:00:00Z" })),
        ),
        ("watch alerts", ("alerts", json!([alert]))),
    ] {
        let document =
            serde_json::to_value(command_document(command, "Fine.".into(), &diagnosis, (data.0, &data.1)))
                .unwrap();
        check(command, &document);
        assert_eq!((&document["verdict"]["health"], &document[data.0]), (&json!("inconclusive"), &data.1));
    }
}

/// A change to a document, and what it is called.
type Damage = (&'static str, fn(&mut Value));

/// A schema that accepts anything would prove nothing.
#[test]
fn the_schema_rejects_invalid_documents() {
    let (_, run) = runs().remove(0);
    let diagnosis = diagnose(&run);
    let good = serde_json::to_value(fathom_report::document(&run, &diagnosis)).unwrap();
    let validator = jsonschema::draft202012::new(&schema()).unwrap();
    let damages: [Damage; 9] = [
        ("no verdict", |d| drop(d.as_object_mut().unwrap().remove("verdict"))),
        ("an unknown health", |d| d["verdict"]["health"] = "poor".into()),
        ("a number as text", |d| d["findings"][0]["parameters"]["loaded_p50_s"] = "0.9".into()),
        ("an unknown parameter", |d| d["findings"][0]["parameters"]["text"] = "slow".into()),
        ("a missing parameter", |d| {
            drop(d["findings"][0]["parameters"].as_object_mut().unwrap().remove("phase"));
        }),
        ("a note as a sentence", |d| d["notes"] = json!(["It rained."])),
        ("an instrument without timers", |d| {
            drop(d["instrument"].as_object_mut().unwrap().remove("timer_lateness"));
        }),
        ("an unknown member of a series", |d| d["series"][0]["color"] = "red".into()),
        ("an unknown certainty", |d| d["findings"][0]["certainty"] = "high".into()),
    ];
    for (name, damage) in damages {
        let mut bad = good.clone();
        damage(&mut bad);
        assert!(!validator.is_valid(&bad), "{name} is accepted");
    }
}
