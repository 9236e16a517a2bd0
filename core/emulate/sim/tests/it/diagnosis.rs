//! The diagnosis of a simulated run finds the properties of the line.
use crate::common::{number, plan, run, within};
use fathom_diagnose::{Health, diagnose};
use fathom_run::{
    BufferLimit, Conclusion, Finding, FindingKind, Grade, ManagementRule, Metric, Reason, Remedy, Run,
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

/// Acknowledgments share the queue of the other direction with its data. Their rate is far from
/// that of the link while this queue grows or drains.
#[test]
fn loads_in_both_directions_do_not_make_a_steady_rate_vary() {
    for flows in [1, 4, 32] {
        let side = "rate = \"20mbit\", delay = \"10ms\", queue = \"fifo limit 1000ms\"";
        let load = format!("[load]\nup_flows = {flows}\ndown_flows = {flows}\nduration = \"60s\"");
        let diagnosis = diagnose(&run(&plan(side, side, &load)).run);
        let is_wrong = |f: &&Finding| f.kind() == FindingKind::RateChange;
        assert_eq!(diagnosis.findings.iter().find(is_wrong), None, "{flows} flows");
        for finding in &diagnosis.findings {
            let Conclusion::BufferSize(size) = &finding.conclusion else { continue };
            assert!((size.rate_bits_per_second / 20e6 - 1.0).abs() < 0.08, "{flows} flows: {size:?}");
        }
        let remedies = &diagnosis.advice;
        let is_shaped =
            |r: &Remedy| matches!(r, Remedy::DoNotShape { cause: ShaperLimit::VaryingRate { .. }, .. });
        assert!(!remedies.iter().any(is_shaped), "{flows} flows: {remedies:?}");
    }
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
    let found = |of: &str| (1..=16).filter_map(|seed| limit(of, seed)).collect::<Vec<_>>();
    // A buffer that two flows hardly ever fill is a lower bound, which counts nothing.
    let packets = found("100p");
    assert!(packets.len() >= 12 && packets.iter().all(|kind| *kind == BufferLimit::Packets), "{packets:?}");
    assert_eq!(found("151400b"), vec![BufferLimit::Bytes; 16]);
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

/// An AQM drops from a queue that has room, so the longest delay is not that of a full buffer: at
/// most a bound. Chance decides the start of the flows, so there are several seeds.
#[test]
fn a_managed_queue_shows_no_buffer() {
    let load = "[load]\nup_flows = 4\ndown_flows = 4\nduration = \"12s\"";
    for rate in ["500kbit", "1mbit", "2mbit"] {
        let side = format!("rate = \"{rate}\", delay = \"20ms\", queue = \"codel target 20ms\"");
        for seed in 1..13 {
            let diagnosis = diagnose(&test(&plan(&side, &side, load), &TestOptions::new(seed)).run);
            let has_size = |finding: &Finding| match &finding.conclusion {
                Conclusion::BufferSize(size) => !size.is_lower_bound || rate == "2mbit",
                _ => false,
            };
            let has_buffer = diagnosis.findings.iter().any(has_size);
            assert!(!has_buffer, "{rate}, seed {seed}: {:#?}", diagnosis.findings);
        }
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

/// Where each flow has a queue, the load may have a share of the link only, and probes show no
/// buffer.
#[test]
fn the_rate_of_a_link_with_flow_queues_is_a_lower_bound() {
    let side = "rate = \"500kbit\", delay = \"20ms\", queue = \"fq_codel target 40ms\"";
    let load = "[load]\nup_flows = 20\ndown_flows = 20\nduration = \"12s\"";
    let diagnosis = diagnose(&test(&plan(side, side, load), &TestOptions::new(1)).run);
    let rate = |finding: &Finding| match &finding.conclusion {
        Conclusion::QueueManagement(found) => found.least_bits_per_second,
        Conclusion::BufferSize(size) => panic!("{size:?}"),
        _ => None,
    };
    let rates: Vec<f64> = diagnosis.findings.iter().filter_map(rate).collect();
    assert_eq!(rates.len(), 2, "{:#?}", diagnosis.findings);
    // 500 kbit/s of Ethernet are 495 kbit/s of IP packets.
    assert!(rates.iter().all(|bits| (480e3..500e3).contains(bits)), "{rates:?}");
}

/// The rule of the upload's queue, and the least rate of its link.
fn upload_rule(up: &str, flows: u32, seed: u64) -> Option<(ManagementRule, Option<f64>)> {
    let down = "rate = \"20mbit\", delay = \"5ms\", queue = \"fq_codel\"";
    let load = format!("[load]\nup_flows = {flows}\ndown_flows = 1\nduration = \"12s\"");
    let diagnosis = diagnose(&test(&plan(up, down, &load), &TestOptions::new(seed)).run);
    diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::QueueManagement(found) if finding.direction == Some(Direction::Up) => {
            Some((found.rule, found.least_bits_per_second))
        }
        _ => None,
    })
}

/// On a slow link, a probe waits for a packet of many flows, but their packets wait longer. With
/// one queue for all flows, both wait alike.
#[test]
fn flow_queues_of_a_slow_link_are_found() {
    let up = |queue: &str| format!("rate = \"300kbit\", delay = \"5ms\", queue = \"{queue}\"");
    for (flows, seed) in [(8, 1), (16, 1), (30, 1), (30, 2)] {
        let found = upload_rule(&up("fq_codel target 60ms"), flows, seed);
        let Some((ManagementRule::FairQueueing, Some(rate))) = found else {
            panic!("{flows} flows, seed {seed}: {found:?}");
        };
        assert!((0.97..1.005).contains(&(rate / 300e3)), "{flows} flows, seed {seed}: {rate} bit/s");
        for queue in ["fifo limit 1s", "codel target 60ms", "pie target 60ms"] {
            let one_queue = upload_rule(&up(queue), flows, seed);
            let is_fair = one_queue.is_some_and(|(rule, _)| rule == ManagementRule::FairQueueing);
            assert!(!is_fair, "{flows} flows, seed {seed}, {queue}: {one_queue:?}");
        }
    }
}

/// RED holds the queue of many flows at one length, where most of its losses are, but it does not
/// limit the longest delay as a full buffer does. A few runs look alike.
#[test]
fn red_is_seldom_called_tail_drop() {
    let (mut wrong, mut right) = (0, 0);
    for (rate, limit, flows) in
        [("39500kbit", 4_422_766, 190), ("39500kbit", 1_422_766, 40), ("500kbit", 60_000, 6)]
    {
        for seed in 1..=8 {
            let is_tail_drop = |queue: &str| {
                let up = format!("rate = \"{rate}\", delay = \"10ms\", queue = \"{queue}\"");
                upload_rule(&up, flows, seed).is_some_and(|(rule, _)| rule == ManagementRule::TailDrop)
            };
            wrong += usize::from(is_tail_drop(&format!("red limit {limit}b bandwidth {rate}")));
            right += usize::from(is_tail_drop(&format!("fifo limit {}b", limit / 4)));
        }
    }
    assert!(wrong <= 7, "{wrong} of 24 with RED");
    assert!(right >= 20, "{right} of 24 with tail drop");
}

/// The advice about the upload of a line without other load.
fn upload_advice(up: &str, others: &str) -> Vec<Remedy> {
    let down = "rate = \"50mbit\", delay = \"5ms\", queue = \"fq_codel\"";
    let load = format!("[load]\nup_flows = 4\ndown_flows = 1\nduration = \"20s\"\n{others}");
    let diagnosis = diagnose(&test(&plan(up, down, &load), &TestOptions::new(1)).run);
    let about_upload = |remedy: &Remedy| remedy.direction() == Some(Direction::Up);
    diagnosis.advice.into_iter().filter(about_upload).collect()
}

/// A burst that is served faster does not make the rate vary: the advice is about the rate that
/// lasts.
#[test]
fn the_advice_after_a_boost_is_about_the_rate_that_lasts() {
    let up = "rate = \"4mbit\", boost = { rate = \"16mbit\", bucket = \"5000000b\" }, delay = \"10ms\", \
              queue = \"fifo limit 500ms\"";
    let advice = upload_advice(up, "");
    let [Remedy::Shape { min_bits_per_second: Some(min), max_bits_per_second: Some(max), .. }] = advice[..]
    else {
        panic!("{advice:?}");
    };
    assert!((3.2e6..3.5e6).contains(&min) && (3.6e6..3.9e6).contains(&max), "{min} to {max}");
}

/// The AQM of a shaper needs the round-trip time where it is longer than the default.
#[test]
fn the_advice_for_a_long_path_has_a_round_trip_time() {
    let round_trip = |delay: &str| {
        let up = format!("rate = \"10mbit\", delay = \"{delay}\", queue = \"fifo limit 2s\"");
        let advice = upload_advice(&up, "");
        let [Remedy::Shape { round_trip_s, .. }] = advice[..] else { panic!("{delay}: {advice:?}") };
        round_trip_s
    };
    assert_eq!(round_trip("10ms"), None);
    let satellite_s = round_trip("300ms").expect("a time");
    assert!((0.45..0.47).contains(&satellite_s), "{satellite_s} s");
}

/// Where flows need seconds to use the rate of a shaper, the advice says so: on a long path, and
/// with a large window.
#[test]
fn the_advice_for_flows_that_adapt_slowly_says_how_long() {
    let adaptation = |rate: &str, delay: &str| {
        let up = format!("rate = \"{rate}\", delay = \"{delay}\", queue = \"fifo limit 2s\"");
        let advice = upload_advice(&up, "");
        let [Remedy::Shape { adapted_after_s, .. }] = advice[..] else { panic!("{rate}: {advice:?}") };
        adapted_after_s
    };
    assert_eq!(adaptation("10mbit", "10ms"), None);
    assert_eq!(adaptation("10mbit", "300ms"), None);
    // Four flows of CUBIC with 616 packets each: cbrt(0.3 * 616 / 0.4) = 7.7 s.
    let far_s = adaptation("100mbit", "300ms").expect("a time");
    assert!((7.3..7.9).contains(&far_s), "{far_s} s");
}

/// If the initial windows of all flows exceed the bandwidth-delay product, here 212 packets, no
/// flow of BBR sees the empty path. They keep a queue in front of a shaper until they measure their
/// minimum round-trip time again, after ten seconds, and the advice says so.
#[test]
fn many_downloads_of_bbr_adapt_to_a_shaper_after_ten_seconds() {
    let load = |flows: u32| {
        format!(
            "[load]\nup_flows = 0\ndown_flows = {flows}\ncongestion_control = \"bbr\"\nduration = \"20s\""
        )
    };
    let up = "rate = \"16mbit\", delay = \"80ms\", queue = \"fifo limit 10ms\"";
    let down = "rate = \"16mbit\", delay = \"80ms\", queue = \"fifo limit 30s\"";
    let adaptation = |flows: u32| {
        let diagnosis = diagnose(&test(&plan(up, down, &load(flows)), &TestOptions::new(1)).run);
        diagnosis.advice.into_iter().find_map(|remedy| match remedy {
            Remedy::Shape { direction: Some(Direction::Down), adapted_after_s, .. } => Some(adapted_after_s),
            _ => None,
        })
    };
    assert_eq!([adaptation(4), adaptation(27)], [Some(None), Some(Some(10.0))]);
    let shaped = |flows: u32| {
        let link = format!("[[hop]]\nname = \"line\"\nup = {{ {up} }}\ndown = {{ {down} }}\n{}", load(flows));
        let shaper = "delay = \"0ms\", queue = \"cake bandwidth 14200kbit rtt 240ms\"";
        run(&plan("delay = \"0ms\"", shaper, &link)).run
    };
    // The load starts after three seconds.
    let median = |run: &Run, span: &str| number(run, &format!("udp_rtt_s p50 from {span}"));
    within(median(&shaped(4), "6s to 12s"), 0.16, 0.18);
    let many = shaped(27);
    within(median(&many, "6s to 12s"), 0.4, 0.7);
    within(median(&many, "16s to 22s"), 0.16, 0.18);
}

/// Behind a shaper, packets wait for others at its rate, which is lower than that of the link: no
/// shaper keeps a link of 177 kbit/s below the threshold, unless its queue is much longer.
#[test]
fn no_shaper_helps_where_its_own_packets_take_too_long() {
    let upload = |queue: &str| {
        upload_advice(&format!("rate = \"177kbit\", delay = \"10ms\", queue = \"{queue}\""), "")
    };
    let short = upload("fifo limit 250ms");
    assert!(matches!(short[..], [Remedy::DoNotShape { .. }]), "{short:?}");
    let long = upload("fifo limit 2s");
    assert!(matches!(long[..], [Remedy::Shape { max_bits_per_second: Some(_), .. }]), "{long:?}");
}

/// The load has only a share of a link whose queue others fill, so its rate is unknown.
#[test]
fn a_queue_of_others_shows_no_rate() {
    let up = "rate = \"2mbit\", delay = \"10ms\", queue = \"fifo limit 1s\"";
    let others = "[[workload]]\nname = \"others\"\nkind = \"bulk\"\ndirection = \"up\"\nflows = 2";
    assert_eq!(upload_advice(up, others), []);
}

/// Bursts of many flows fill a short queue, which few probes meet: that is no queue per flow.
#[test]
fn bursts_are_no_queues_of_flows() {
    let up = "rate = \"530mbit\", delay = \"333ms\", queue = \"fifo limit 662931b\"";
    let down = "rate = \"1890mbit\", delay = \"333ms\", queue = \"fifo limit 1004653b\"";
    let load = "[load]\nup_flows = 64\ndown_flows = 1\ncongestion_control = \"reno\"\nduration = \"6.4s\"";
    for seed in 1..=2 {
        let diagnosis = diagnose(&test(&plan(up, down, load), &TestOptions::new(seed)).run);
        let is_fair = |finding: &&Finding| match &finding.conclusion {
            Conclusion::QueueManagement(found) => found.rule == ManagementRule::FairQueueing,
            _ => false,
        };
        let found = diagnosis.findings.iter().find(is_fair);
        assert!(found.is_none(), "seed {seed}: {found:?}");
    }
}

/// Many uploads over a slow link take many seconds to yield to an AQM on a long path. That is no
/// start-up, but a wait whenever they start.
#[test]
fn a_start_of_many_seconds_is_no_start_up() {
    let up = "rate = \"3360kbit\", boost = { rate = \"10255kbit\", bucket = \"8598741b\" }, delay = \"167ms\", \
              queue = \"codel limit 1000p target 5.4ms\"";
    let down = "rate = \"7mbit\", delay = \"167ms\", queue = \"fifo limit 8822b\"";
    let load = "[load]\nup_flows = 28\ndown_flows = 28\nduration = \"30s\"";
    for seed in 1..=3 {
        let diagnosis = diagnose(&test(&plan(up, down, load), &TestOptions::new(seed)).run);
        assert_eq!(diagnosis.health, Health::Bloated, "seed {seed}: {:#?}", diagnosis.findings);
    }
}

/// One flow over a short buffer has few losses, and all come when it is full.
#[test]
fn few_losses_of_one_flow_show_tail_drop() {
    let load = "[load]\nup_flows = 1\nduration = \"8s\"";
    let up = "rate = \"3mbit\", delay = \"10ms\", queue = \"fifo limit 37500b\"";
    for seed in 1..=4 {
        let outcome = test(&plan(up, "rate = \"50mbit\", delay = \"10ms\"", load), &TestOptions::new(seed));
        let rule = diagnose(&outcome.run).findings.into_iter().find_map(|finding| match finding.conclusion {
            Conclusion::QueueManagement(management) => Some(management.rule),
            _ => None,
        });
        assert_eq!(rule, Some(ManagementRule::TailDrop), "seed {seed}");
    }
}

/// The places of queues that a test of a line with these links names: direction and hops.
fn places(links: &[[&str; 2]], load: &str, seed: u64) -> Vec<(Option<Direction>, u8, u8)> {
    let hop = |(n, [up, down]): (usize, &[&str; 2])| {
        format!("[[hop]]\nname = \"hop{n}\"\nup = {{ {up} }}\ndown = {{ {down} }}\n")
    };
    let hops: String = links.iter().enumerate().map(hop).collect();
    let text = format!("name = \"x\"\nabout = \"x\"\nsource = \"x\"\n{hops}{load}");
    let plan = fathom_scenario::parse(&text, "x").unwrap();
    let diagnosis = diagnose(&test(&plan, &TestOptions::new(seed)).run);
    let place = |finding: &Finding| match &finding.conclusion {
        Conclusion::QueueLocation(place) => Some((finding.direction, place.near_hop, place.far_hop)),
        _ => None,
    };
    diagnosis.findings.iter().filter_map(place).collect()
}

#[test]
fn a_queue_is_placed_in_front_of_its_link() {
    let load = "[load]\nup_flows = 4\ndown_flows = 4\nduration = \"12s\"";
    let fast = ["rate = \"100mbit\", delay = \"5ms\""; 2];
    let slow = ["rate = \"5mbit\", delay = \"5ms\", queue = \"fifo limit 300ms\""; 2];
    for seed in 1..5 {
        for (links, near) in [([slow, fast], 0), ([fast, slow], 1)] {
            let found = places(&links, load, seed);
            let expected = [Direction::Down, Direction::Up].map(|d| (Some(d), near, near + 1));
            assert_eq!(found, expected, "seed {seed}");
        }
    }
}

/// Where each flow has a queue, probes of one hop wait in another than those of the next, which
/// looked like a queue behind the first router.
#[test]
fn no_queue_is_placed_behind_the_only_link_with_a_queue_per_flow() {
    let load = "[load]\nup_flows = 46\ndown_flows = 46\ncongestion_control = \"bbr\"\nduration = \"12s\"";
    let side = "rate = \"935570bit\", delay = \"790us\", queue = \"fq_codel target 19.4ms\"";
    for seed in 1..7 {
        let found = places(&[[side; 2]], load, seed);
        assert!(found.iter().all(|(_, near, _)| *near == 0), "seed {seed}: {found:?}");
    }
}

/// During an outage a link has no rate, so a link that has one otherwise does not vary.
#[test]
fn an_outage_is_no_rate_that_varies() {
    let side =
        |trace: &str| format!("{{ trace = \"{trace}\", delay = \"64ms\", queue = \"fifo limit 31286p\" }}");
    let text = format!(
        "name = \"x\"\nabout = \"x\"\nsource = \"x\"\n[[hop]]\nname = \"link\"\nup = {}\ndown = {}\n\
         [load]\nup_flows = 5\ndown_flows = 5\nduration = \"30s\"",
        side("900kbit.trace"),
        side("8mbit.trace")
    );
    let trace = |name: &str| {
        let rate = name.trim_end_matches(".trace");
        Ok(format!("0.000s {rate}\n10.900s 0bit\n13.201s loop\n"))
    };
    let plan = fathom_scenario::parse_with_files(&text, "x", &trace).unwrap();
    for seed in 1..4 {
        let diagnosis = diagnose(&test(&plan, &TestOptions::new(seed)).run);
        let count = |kind| diagnosis.findings.iter().filter(|finding| finding.kind() == kind).count();
        assert_eq!(count(FindingKind::RateChange), 0, "seed {seed}: {:#?}", diagnosis.findings);
        assert!(count(FindingKind::Outage) > 0, "seed {seed}");
    }
}

/// With both loads, the short queue of the first link drops packets, because its rate has fallen:
/// the long queue behind it is then never full, and as long as one that counts packets by chance.
#[test]
fn a_queue_that_others_keep_from_being_full_shows_no_limit() {
    let text = "name = \"x\"\nabout = \"x\"\nsource = \"x\"\n\
        [[hop]]\nname = \"near\"\n\
        up = { delay = \"632us\", rate = \"19561434bit\", boost = { rate = \"56181747bit\", \
        bucket = \"43748034b\" }, queue = \"fifo limit 24452b\" }\n\
        down = { delay = \"632us\", rate = \"123929200bit\", boost = { rate = \"355932955bit\", \
        bucket = \"277160606b\" }, queue = \"fifo limit 1003692b\" }\n\
        [[hop]]\nname = \"far\"\n\
        up = { delay = \"632us\", rate = \"47362380bit\", queue = \"fifo limit 613505b\" }\n\
        down = { delay = \"632us\", rate = \"300058875bit\", queue = \"fifo limit 3886792b\" }\n\
        [load]\nup_flows = 6\ndown_flows = 6\ncongestion_control = \"cubic\"\nduration = \"30s\"\n";
    let plan = fathom_scenario::parse(text, "x").unwrap();
    for seed in 1..4 {
        let diagnosis = diagnose(&test(&plan, &TestOptions::new(seed)).run);
        let limit = |finding: &Finding| match &finding.conclusion {
            Conclusion::BufferSize(size) => size.limit,
            _ => None,
        };
        let limits: Vec<BufferLimit> = diagnosis.findings.iter().filter_map(limit).collect();
        assert!(!limits.contains(&BufferLimit::Packets), "seed {seed}");
    }
}
