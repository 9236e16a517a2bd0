//! The diagnosis of a simulated run finds the properties of the line.
use crate::common::{plan, run};
use fathom_diagnose::{Health, diagnose};
use fathom_run::{
    BufferLimit, BufferSize, Conclusion, FindingKind, Grade, ManagementRule, Metric, Reason, Remedy,
    ShaperLimit,
};
use fathom_sim::{TestOptions, test};
use fathom_units::Direction;

#[test]
fn a_deep_buffer_is_bloated() {
    let up = "rate = \"3mbit\", delay = \"10ms\", queue = \"fifo limit 375000b\"";
    let outcome =
        run(&plan(up, "rate = \"50mbit\", delay = \"10ms\"", "[load]\nup_flows = 1\nduration = \"30s\""));
    let diagnosis = diagnose(&outcome.run);
    assert_eq!(
        (diagnosis.health, diagnosis.latency_source),
        (Health::Bloated, Some(Metric::UdpRtt)),
        "{:?}",
        diagnosis.reason
    );
    let bytes = diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::BufferSize(size) => Some(size.ip_bytes),
        _ => None,
    });
    assert!((340e3..390e3).contains(&bytes.unwrap()), "{bytes:?}");
    let rule = diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::QueueManagement(management) => Some(management.rule),
        _ => None,
    });
    assert_eq!(rule, Some(ManagementRule::TailDrop), "{:#?}", diagnosis.findings);
}

#[test]
fn a_managed_queue_is_healthy() {
    let side = "rate = \"20mbit\", delay = \"10ms\", queue = \"fq_codel\"";
    let outcome = run(&plan(side, side, "[load]\nup_flows = 2\ndown_flows = 2\nduration = \"20s\""));
    let diagnosis = diagnose(&outcome.run);
    assert_eq!(diagnosis.health, Health::Healthy, "{:?}", diagnosis.reason);
    assert!(diagnosis.grade <= Some(Grade::A), "{:?}", diagnosis.grade);
    assert!(
        !diagnosis.findings.iter().any(|f| f.kind() == FindingKind::Instrument),
        "{:#?}",
        diagnosis.findings
    );
}

/// What a test says about the download queue of a line with this link and three flows of Reno.
fn download_rule(link: &str) -> Option<ManagementRule> {
    download_rule_with(link, 3)
}

fn download_rule_with(link: &str, flows: u32) -> Option<ManagementRule> {
    let down = format!("rate = \"10mbit\", delay = \"20ms\", {link}");
    let load = format!(
        "[load]\nup_flows = 1\ndown_flows = {flows}\ncongestion_control = \"reno\"\nduration = \"12s\""
    );
    let plan = plan("rate = \"10mbit\", delay = \"20ms\", queue = \"fq_codel\"", &down, &load);
    let diagnosis = diagnose(&test(&plan, &TestOptions::new(1)).run);
    diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::QueueManagement(found) if finding.direction == Some(Direction::Down) => Some(found.rule),
        _ => None,
    })
}

/// Only a queue that dropped packets itself, and never was long, is called short.
#[test]
fn losses_of_a_link_say_nothing_about_its_queue() {
    assert_eq!(download_rule("queue = \"fifo limit 18750b\""), Some(ManagementRule::KeptShort));
    assert_eq!(download_rule("queue = \"fifo limit 125000b\""), Some(ManagementRule::TailDrop));
    for loss in ["0.3%", "1%", "3%"] {
        let lossy = format!("queue = \"fifo limit 125000b\", loss = \"{loss}\"");
        assert_eq!(download_rule(&lossy), None, "{loss}");
    }
}

/// Packets of the load wait in the queues of their flows, and probes do not wait.
#[test]
fn queues_per_flow_are_found() {
    for queue in ["fq_codel", "cake"] {
        let rule = download_rule_with(&format!("queue = \"{queue}\""), 16);
        assert_eq!(rule, Some(ManagementRule::FairQueueing), "{queue}");
    }
    for queue in ["codel", "pie", "fifo limit 50ms"] {
        let rule = download_rule_with(&format!("queue = \"{queue}\""), 16);
        assert_ne!(rule, Some(ManagementRule::FairQueueing), "{queue}");
    }
}

/// Acknowledgments of the other load make a buffer that counts packets shorter.
#[test]
fn what_a_buffer_counts_is_found() {
    let limit = |limit: &str, seed: u64| {
        let up = format!("rate = \"3mbit\", delay = \"20ms\", queue = \"fifo limit {limit}\"");
        let down = "rate = \"10mbit\", delay = \"20ms\", queue = \"fq_codel\"";
        let load = "[load]\nup_flows = 2\ndown_flows = 8\nduration = \"20s\"";
        let diagnosis = diagnose(&test(&plan(&up, down, load), &TestOptions::new(seed)).run);
        diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
            Conclusion::BufferSize(size) if finding.direction == Some(Direction::Up) => size.limit,
            _ => None,
        })
    };
    for seed in 1..=3 {
        assert_eq!(limit("100p", seed), Some(BufferLimit::Packets), "seed {seed}");
        assert_eq!(limit("151400b", seed), Some(BufferLimit::Bytes), "seed {seed}");
    }
}

/// Nothing waits, much is lost, and the rate does not vary.
#[test]
fn a_policer_is_found() {
    let shaper =
        |limit: &str| format!("rate = \"100mbit\", queue = \"tbf rate 10mbit burst 12500b limit {limit}\"");
    let rule = |queue: &str| {
        let down = format!("delay = \"5ms\", {queue}");
        let up = "rate = \"100mbit\", delay = \"5ms\", queue = \"fq_codel\"";
        let load = "[load]\nup_flows = 1\ndown_flows = 8\nduration = \"12s\"";
        let diagnosis = diagnose(&test(&plan(up, &down, load), &TestOptions::new(1)).run);
        let of_download = diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
            Conclusion::QueueManagement(found) if finding.direction == Some(Direction::Down) => {
                Some((found.rule, found.policed_bits_per_second))
            }
            _ => None,
        });
        of_download.expect("a rule")
    };
    let (policer, rate) = rule(&shaper("1514b"));
    assert_eq!(policer, ManagementRule::Policer);
    assert!((0.93..1.0).contains(&(rate.unwrap() / 10e6)), "{rate:?}");
    assert_eq!(rule(&shaper("60000b")), (ManagementRule::TailDrop, None));
}

/// Where others keep the queue full, the load adds nothing, and the line is not healthy.
#[test]
fn a_queue_of_others_is_not_healthy() {
    let up = "rate = \"2mbit\", delay = \"10ms\", queue = \"fifo limit 1s\"";
    let down = "rate = \"20mbit\", delay = \"10ms\", queue = \"fq_codel\"";
    let load = "[load]\nup_flows = 4\ndown_flows = 4\nduration = \"12s\"\n[[workload]]\nname = \"others\"\n\
                kind = \"bulk\"\ndirection = \"up\"\nflows = 8";
    for seed in 1..=3 {
        let diagnosis = diagnose(&test(&plan(up, down, load), &TestOptions::new(seed)).run);
        assert_eq!(diagnosis.health, Health::Inconclusive, "seed {seed}: {:#?}", diagnosis.findings);
        let Some(Reason::OtherTraffic { increase_p50_s, .. }) = diagnosis.reason else {
            panic!("seed {seed}: {:?}", diagnosis.reason);
        };
        assert!((0.5..1.1).contains(&increase_p50_s), "seed {seed}: {increase_p50_s} s");
        let found = diagnosis.findings.iter().find(|f| f.kind() == FindingKind::OtherTraffic);
        assert_eq!(found.and_then(|f| f.direction), Some(Direction::Up), "seed {seed}");
    }
}

/// What the load adds to a queue of others has no known direction, and is no increase if the queue
/// of the others shrinks.
#[test]
fn an_increase_over_a_queue_of_others_has_no_direction() {
    let up = "rate = \"2mbit\", delay = \"10ms\", queue = \"fifo limit 1s\"";
    let down = "rate = \"20mbit\", delay = \"10ms\", queue = \"fifo limit 300ms\"";
    for flows in [1, 2, 4] {
        let load = format!(
            "[load]\nup_flows = 8\ndown_flows = 8\nduration = \"12s\"\n[[workload]]\nname = \"others\"\n\
             kind = \"bulk\"\ndirection = \"up\"\nflows = {flows}"
        );
        let diagnosis = diagnose(&test(&plan(up, down, &load), &TestOptions::new(1)).run);
        let has_others = diagnosis.findings.iter().any(|f| f.kind() == FindingKind::OtherTraffic);
        assert!(has_others, "{flows} flows: {:#?}", diagnosis.findings);
        for finding in &diagnosis.findings {
            if let Conclusion::Bufferbloat(increase) = &finding.conclusion {
                assert_eq!(finding.direction, None, "{flows} flows");
                assert!(increase.loaded_p50_s > increase.idle_p50_s, "{flows} flows: {increase:?}");
            }
        }
    }
}

/// The rate of a radio link varies all the time.
#[test]
fn a_rate_that_varies_is_reported() {
    let down =
        "cellular = { low = \"2mbit\", high = \"12mbit\" }, delay = \"20ms\", queue = \"fifo limit 1s\"";
    let up = "rate = \"10mbit\", delay = \"20ms\", queue = \"fq_codel\"";
    let load = "[load]\nup_flows = 1\ndown_flows = 4\nduration = \"12s\"";
    for seed in 1..=5 {
        let diagnosis = diagnose(&test(&plan(up, down, load), &TestOptions::new(seed)).run);
        let found = diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
            Conclusion::RateChange(change) if finding.direction == Some(Direction::Down) => Some(change),
            _ => None,
        });
        let change = found.unwrap_or_else(|| panic!("seed {seed}: {:#?}", diagnosis.findings));
        let (low, high) = (change.lowest_bits_per_second, change.highest_bits_per_second);
        assert!(2e6 * 0.9 < low && low * 1.2 < high && high < 12e6, "seed {seed}: {change:?}");
    }
}

/// An AQM drops from a queue that has room, so the longest delay is not that of a full buffer.
#[test]
fn a_managed_queue_shows_no_buffer() {
    let load = "[load]\nup_flows = 4\ndown_flows = 4\nduration = \"12s\"";
    for rate in ["500kbit", "1mbit", "2mbit"] {
        let side = format!("rate = \"{rate}\", delay = \"20ms\", queue = \"codel target 20ms\"");
        let diagnosis = diagnose(&test(&plan(&side, &side, load), &TestOptions::new(1)).run);
        let has_buffer = diagnosis.findings.iter().any(|f| f.kind() == FindingKind::BufferSize);
        assert!(!has_buffer, "{rate}: {:#?}", diagnosis.findings);
    }
}

/// The advice about the download of a line.
fn download_advice(rate: &str, flows: u32) -> Vec<Remedy> {
    let down = format!("rate = \"{rate}\", delay = \"10ms\", queue = \"fifo limit 500ms\"");
    let load = format!("[load]\nup_flows = 1\ndown_flows = {flows}\nduration = \"12s\"");
    let up = "rate = \"20mbit\", delay = \"10ms\", queue = \"fq_codel\"";
    let diagnosis = diagnose(&test(&plan(up, &down, &load), &TestOptions::new(1)).run);
    assert_eq!(diagnosis.health, Health::Bloated, "{rate}, {flows} flows");
    diagnosis.advice
}

/// What many senders keep under way waits in front of a slow link, and a shaper is behind it. Such
/// lines were shaped again: at 3 Mbit/s, 4 flows wait for 17 ms at most, and 16 flows for 220 ms.
#[test]
fn a_shaper_is_recommended_where_it_helps() {
    for (rate, flows) in [("3mbit", 1), ("3mbit", 4), ("6mbit", 8), ("20mbit", 16)] {
        let advice = download_advice(rate, flows);
        assert!(matches!(advice[..], [Remedy::Shape { .. }]), "{rate}, {flows} flows: {advice:?}");
    }
    for (rate, flows) in [("1mbit", 8), ("3mbit", 16), ("6mbit", 32)] {
        let advice = download_advice(rate, flows);
        let [Remedy::DoNotShape { cause: ShaperLimit::ManyFlows { flow_count, .. }, .. }] = advice[..] else {
            panic!("{rate}, {flows} flows: {advice:?}");
        };
        assert_eq!(flow_count, flows);
    }
    let slow = download_advice("120kbit", 1);
    assert!(matches!(slow[..], [Remedy::DoNotShape { cause: ShaperLimit::SlowLink { .. }, .. }]), "{slow:?}");
}

/// Where packets hardly wait, nothing shows when the link is busy, and the mean rate is a bound.
#[test]
fn the_rate_of_a_link_without_a_queue_of_probes_is_a_lower_bound() {
    let side = "rate = \"500kbit\", delay = \"20ms\", queue = \"fq_codel target 40ms\"";
    let load = "[load]\nup_flows = 20\ndown_flows = 20\nduration = \"12s\"";
    let diagnosis = diagnose(&test(&plan(side, side, load), &TestOptions::new(1)).run);
    let sizes: Vec<&BufferSize> = diagnosis
        .findings
        .iter()
        .filter_map(|finding| match &finding.conclusion {
            Conclusion::BufferSize(size) => Some(size),
            _ => None,
        })
        .collect();
    assert!(!sizes.is_empty(), "{:#?}", diagnosis.findings);
    for size in sizes {
        assert!(size.is_rate_lower_bound && size.is_lower_bound, "{size:?}");
        // 500 kbit/s of Ethernet are 495 kbit/s of IP packets.
        assert!((400e3..500e3).contains(&size.rate_bits_per_second), "{size:?}");
    }
}

/// Packets in the queue leave one after the other when the link works again, so they arrive apart.
#[test]
fn an_outage_is_found_behind_a_long_queue() {
    let text = |limit: &str| {
        let side = format!("{{ trace = \"stop.trace\", delay = \"20ms\", queue = \"fifo limit {limit}\" }}");
        format!(
            "name = \"x\"\nabout = \"x\"\nsource = \"x\"\n[[hop]]\nname = \"link\"\nup = {side}\ndown = {side}\n\
             [load]\nup_flows = 2\ndown_flows = 2\nduration = \"12s\""
        )
    };
    let stop = |_: &str| Ok("0s 5000000bit\n13s 0bit\n15s 5000000bit\n".to_owned());
    for limit in ["312500b", "1250000b"] {
        let plan = fathom_scenario::parse_with_files(&text(limit), "x.toml", &stop).unwrap();
        let diagnosis = diagnose(&test(&plan, &TestOptions::new(1)).run);
        let longest_s = diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
            Conclusion::Outage(outage) => Some(outage.longest_s),
            _ => None,
        });
        assert!(longest_s.is_some_and(|s| (1.9..2.1).contains(&s)), "{limit}: {longest_s:?}");
    }
}
