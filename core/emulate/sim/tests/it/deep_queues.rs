//! A test in virtual time over lines that a shorter or simpler test measures wrongly.
use crate::common::plan;
use fathom_diagnose::{Diagnosis, Health, diagnose};
use fathom_probe::PhasePlan;
use fathom_run::{BufferSize, Conclusion, Finding, FindingKind, Metric, Note, PhaseKind, Run, SeriesKey};
use fathom_scenario::Plan;
use fathom_sim::{TestOptions, test};
use fathom_units::Direction;

fn measured(plan: &Plan, seed: u64) -> (Run, Diagnosis) {
    let run = test(plan, &TestOptions::new(seed)).run;
    let diagnosis = diagnose(&run);
    (run, diagnosis)
}

fn kinds(diagnosis: &Diagnosis) -> Vec<FindingKind> {
    diagnosis.findings.iter().map(|f| f.kind()).collect()
}

fn buffer(diagnosis: &Diagnosis, direction: Direction) -> Option<&BufferSize> {
    diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::BufferSize(size) if finding.direction == Some(direction) => Some(size),
        _ => None,
    })
}

#[test]
fn each_phase_measures_its_own_queue_however_long_the_one_before_it_was() {
    // Rate in bit/s, and buffer in bytes of IP packets.
    for (rate, bytes) in [(2e6, 2.4e6), (6e6, 6e6)] {
        let side = format!(
            "rate = \"{rate}bit\", delay = \"10ms\", overhead = \"0b\", queue = \"fifo limit {bytes}b\""
        );
        let (run, diagnosis) = measured(&plan(&side, &side, ""), 1);
        assert_eq!(diagnosis.health, Health::Bloated);
        assert!(!kinds(&diagnosis).contains(&FindingKind::Outage), "{:#?}", diagnosis.findings);
        assert!(!run.notes.iter().any(|n| matches!(n, Note::QueueNotEmpty { .. })), "{:?}", run.notes);
        for direction in Direction::BOTH {
            let size = buffer(&diagnosis, direction).expect("a buffer");
            let error = size.ip_bytes / bytes - 1.0;
            assert!(size.is_lower_bound && error < 0.03 || error.abs() < 0.03, "{direction:?} {size:?}");
            assert!((size.rate_bits_per_second / rate - 1.0).abs() < 0.03, "{direction:?} {size:?}");
        }
    }
}

/// The truth of a measurement needs the delays of packets that still wait at its end, too.
#[test]
fn the_log_of_the_queues_has_what_waits_at_the_end() {
    let side = "rate = \"1mbit\", delay = \"10ms\", overhead = \"0b\", queue = \"fifo limit 20mb\"";
    let mut options = TestOptions::new(1);
    options.options.log_queues = true;
    options.phases = vec![PhasePlan::of(PhaseKind::Idle), PhasePlan::of(PhaseKind::Up)];
    let outcome = test(&plan(side, side, "[load]\nup_flows = 8"), &options);
    let up = outcome.run.phase(PhaseKind::Up).unwrap();
    let waits = &outcome.queue_log.unwrap().waits[0];
    let last = waits.iter().rfind(|wait| wait.arrived.as_nanos() < up.end_ns).unwrap();
    assert!(up.end_ns - last.arrived.as_nanos() < 1_000_000_000, "{last:?} {}", up.end_ns);
    assert!(last.sojourn.as_secs_f64() > 10.0, "{last:?}");
}

#[test]
fn a_rate_that_falls_after_a_burst_is_measured_to_its_end() {
    let up = "rate = \"2mbit\", boost = { rate = \"8mbit\", bucket = \"5mb\" }, delay = \"10ms\", queue = \"fifo limit 256kb\"";
    let down = "rate = \"50mbit\", delay = \"10ms\", queue = \"fq_codel\"";
    let (run, diagnosis) = measured(&plan(up, down, ""), 1);
    let upload = run.phase(PhaseKind::Up).unwrap();
    assert!(upload.seconds() > 10.0, "{} s", upload.seconds());
    let size =
        buffer(&diagnosis, Direction::Up).unwrap_or_else(|| panic!("no buffer: {:#?}", diagnosis.findings));
    let error = size.rate_bits_per_second / 2e6 - 1.0;
    assert!(error.abs() < 0.05, "{size:?}");
    assert!((0.9..1.1).contains(&(size.delay_s / 1.045)), "{size:?}");
}

#[test]
fn a_managed_queue_is_not_called_slow_for_its_start() {
    for (rate, queue) in [("4.5mbit", "codel"), ("1mbit", "codel"), ("1mbit", "pie"), ("5mbit", "pie")] {
        let side = format!("rate = \"{rate}\", delay = \"5.5ms\", queue = \"{queue}\"");
        // Both directions together exceed the threshold: 4 flows each have at least two segments.
        let is_slow =
            |f: &&Finding| matches!(&f.conclusion, Conclusion::Bufferbloat(i) if i.phase != PhaseKind::Both);
        // One start of 3.5 s is longer than what counts as a start.
        let slow: Vec<u64> = (1..=12)
            .filter(|seed| measured(&plan(&side, &side, ""), *seed).1.findings.iter().any(|f| is_slow(&f)))
            .collect();
        assert!(slow.len() <= 1, "{rate} {queue}: seeds {slow:?}");
    }
}

#[test]
fn probes_do_not_load_a_slow_line() {
    // A probe of 92 bytes and 14 of Ethernet takes 8.5 ms up, a response 0.8 ms down.
    let up = "rate = \"100kbit\", delay = \"200ms\", queue = \"fifo limit 100p\"";
    let down = "rate = \"1mbit\", delay = \"200ms\", queue = \"fifo limit 100p\"";
    let (run, diagnosis) = measured(&plan(up, down, ""), 1);
    let idle = diagnosis.phase(PhaseKind::Idle).and_then(|phase| phase.latency).expect("idle latency");
    assert!((0.409..0.420).contains(&idle.p50.value), "{idle:?}");
    assert!(idle.count >= 5, "{idle:?}");
    let upload = run.phase(PhaseKind::Up).unwrap();
    let probes = run.series(&SeriesKey::of(Metric::UdpRtt)).unwrap().within(upload).count();
    // 2 % of the line, in probes of 106 bytes.
    let most = 0.02 * 100e3 / (8.0 * 106.0) * upload.seconds() * 1.2 + 1.0;
    assert!(probes as f64 <= most, "{probes} probes in {} s", upload.seconds());
}

/// The first second of a load over a long path delivers little, which is not the rate of the line.
#[test]
fn probes_go_on_while_the_rate_is_unknown() {
    let side = "rate = \"1mbit\", delay = \"190ms\", queue = \"fifo limit 1s\"";
    for seed in 1..=5 {
        let (run, _) = measured(&plan(side, side, "[load]\nup_flows = 4\ndown_flows = 4\n"), seed);
        for phase in run.phases.iter().filter(|phase| phase.kind.is_loaded()) {
            let probes = run.series(&SeriesKey::of(Metric::UdpRtt)).unwrap().within(phase);
            let sent: Vec<u64> = probes.map(|probe| probe.at.as_nanos()).collect();
            let longest = sent.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
            assert!(longest < 500_000_000, "seed {seed}, {:?}: {longest} ns", phase.kind);
        }
    }
}

#[test]
fn goodput_alone_shows_no_change_of_the_rate() {
    // Data behind a lost segment reach the application late and at once.
    let up = "rate = \"3mbit\", delay = \"25ms\", overhead = \"0b\", queue = \"fifo limit 375000b\"";
    let down = "rate = \"50mbit\", delay = \"25ms\", queue = \"fifo limit 300000b\"";
    for seed in 1..=5 {
        let (mut run, with_rate) = measured(&plan(up, down, ""), seed);
        assert!(!kinds(&with_rate).contains(&FindingKind::RateChange), "seed {seed}");
        run.series.retain(|series| series.key.metric != Metric::DeliveryRate);
        let diagnosis = diagnose(&run);
        assert!(!kinds(&diagnosis).contains(&FindingKind::RateChange), "seed {seed}");
        let size = buffer(&diagnosis, Direction::Up).expect("a buffer");
        assert!((size.rate_bits_per_second / 3e6 - 1.0).abs() < 0.03, "seed {seed}: {size:?}");
    }
}
