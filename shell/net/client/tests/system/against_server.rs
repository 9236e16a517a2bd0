//! Tests against `fathom-server`.
use crate::support::{UNPRIVILEGED, directed, median, phase, quick, run, run_with_events, series, server};
use fathom_client::{Event, FlowLoad, ProbeKind, TestConfig, TestError, run_test};
use fathom_run::{Fact, Interruption, Metric, Note, PhaseEnd, PhaseKind, Run, SeriesKey};
use fathom_server::Config;
use fathom_units::{Bytes, Direction, Duration, Ecn, Rate};
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn a_whole_test_measures_every_metric() {
    let server = server(Config::default());
    let run = run(&quick(server.local_port())).unwrap();
    assert_eq!(run.partial, None);
    // ICMP echo needs root or net.ipv4.ping_group_range; CI has one of them.
    for metric in [Metric::IcmpRtt, Metric::UdpRtt, Metric::TcpConnect, Metric::HttpForeign, Metric::HttpKept]
    {
        let s = series(&run, metric);
        // 2.5 s at 20 ms are 125 probes.
        assert!(s.values.len() >= 40, "{metric:?}: {} probes, not sent {:?}", s.values.len(), s.not_sent);
        let middle = median(s.values.iter().copied());
        assert!((1e-7..0.2).contains(&middle), "{metric:?}: median {middle} s on loopback");
    }
    for direction in Direction::BOTH {
        for metric in [
            Metric::Goodput,
            Metric::DeliveryRate,
            Metric::OneWayDelay,
            Metric::Jitter,
            Metric::DelayVariation,
        ] {
            assert!(directed(&run, metric, direction).values.len() >= 4, "{metric:?} {direction:?}");
        }
        let goodput = median(directed(&run, Metric::Goodput, direction).values.iter().copied());
        assert!(goodput > 50e6, "{direction:?}: {goodput} bit/s over loopback");
    }
    for metric in [Metric::FlowRtt, Metric::FlowCwnd, Metric::FlowRetransmits] {
        for direction in Direction::BOTH {
            let has = |s: &&fathom_run::Series| s.key.metric == metric && s.key.direction == Some(direction);
            // Two flows in each of two phases.
            assert_eq!(run.series.iter().filter(has).count(), 4, "{metric:?} {direction:?}");
        }
    }
}

#[test]
fn the_record_is_consistent() {
    let server = server(Config::default());
    let run = run(&quick(server.local_port())).unwrap();
    assert!(run.phases.windows(2).all(|w| w[0].end_ns <= w[1].start_ns));
    let kinds: Vec<PhaseKind> = run.phases.iter().map(|p| p.kind).collect();
    assert_eq!(kinds, [PhaseKind::Idle, PhaseKind::Down, PhaseKind::Up, PhaseKind::Both, PhaseKind::Drain]);
    for s in &run.series {
        assert!(s.at_ns.is_sorted(), "{:?} is out of order", s.key);
        assert!(s.values.iter().all(|v| v.is_finite() && *v >= 0.0), "{:?}", s.key);
    }
    for p in run.phases.iter().filter(|p| p.load.is_some()) {
        let load = p.load.as_ref().unwrap();
        let (up, down) = (load.delivered_up_bytes > 0, load.delivered_down_bytes > 0);
        assert_eq!((up, down), (p.kind != PhaseKind::Down, p.kind != PhaseKind::Up), "{load:?}");
        assert_eq!((load.flows_up > 0, load.flows_down > 0), (up, down));
        assert!(!load.congestion_control.is_empty());
    }
    let [offset, uncertainty] = run.instrument.clock_offset_s.unwrap();
    // Server and client are this process; their clocks started within one test duration of each
    // other.
    assert!((0.0..60.0).contains(&offset) && uncertainty < 0.01, "{offset} {uncertainty}");
    assert!(run.instrument.kernel_timestamp_ratio > 0.5, "{}", run.instrument.kernel_timestamp_ratio);
    assert!(run.instrument.send_lateness.count() > 100);
    assert!(run.started.ends_with('Z') && run.host.cpus > 0 && run.host.kernel.starts_with("Linux "));
}

#[test]
fn events_report_the_phases_in_order() {
    let server = server(Config::default());
    let (run, events) = run_with_events(&quick(server.local_port()));
    let run = run.unwrap();
    assert!(matches!(events[0], Event::Connected(_)));
    let started = events.iter().filter(|e| matches!(e, Event::PhaseStarted { .. })).count();
    let ended: Vec<_> = events
        .iter()
        .filter_map(|e| if let Event::PhaseEnded(p) = e { Some(p.kind) } else { None })
        .collect();
    assert_eq!((started, ended.len()), (5, 5));
    let observed = |metric| {
        events.iter().filter(|e| matches!(e, Event::Observed { key, .. } if key.metric == metric)).count()
    };
    assert!(observed(Metric::UdpRtt) >= series(&run, Metric::UdpRtt).values.len() * 9 / 10);
    assert!(observed(Metric::Goodput) > 0 && observed(Metric::OneWayDelay) > 0);
}

#[test]
fn a_flow_reports_the_congestion_control_that_was_chosen() {
    let server = server(Config::default());
    let mut config = TestConfig { congestion_control: "reno".into(), ..quick(server.local_port()) };
    config.phases = vec![phase(PhaseKind::Both, 300, 300)];
    let load = run(&config).unwrap().phases[0].load.clone().unwrap();
    assert_eq!(load.congestion_control, "reno");
    config.congestion_control = "no_such_cc".into();
    let run = run(&config).unwrap();
    assert_ne!(run.phases[0].load.clone().unwrap().congestion_control, "no_such_cc");
    assert!(
        run.notes.iter().any(
            |n| matches!(n, Note::CongestionControlReplaced { requested, .. } if requested == "no_such_cc")
        ),
        "{:?}",
        run.notes
    );
}

#[test]
fn the_limit_of_bytes_ends_the_load_and_the_rest_is_measured() {
    let server = server(Config::default());
    let config = TestConfig { max_bytes: Some(Bytes(50_000_000)), ..quick(server.local_port()) };
    let run = run(&config).unwrap();
    let ends: Vec<_> = run.phases.iter().map(|p| (p.kind, p.end)).collect();
    assert_eq!(ends[1], (PhaseKind::Down, PhaseEnd::ByteLimit));
    assert_eq!(ends.last().unwrap().0, PhaseKind::Drain);
    // On loopback, the limit is exceeded within one sample: then the later phases are left out and
    // named.
    let left_out = run.notes.iter().filter(|n| matches!(n, Note::PhaseLeftOut { .. })).count();
    assert_eq!(ends.len() + left_out, 5, "{ends:?} {:?}", run.notes);
    assert_eq!(run.partial, None);
}

#[test]
fn a_stop_keeps_what_was_gathered() {
    let server = server(Config::default());
    let config = TestConfig {
        phases: vec![phase(PhaseKind::Idle, 20_000, 20_000)],
        probes: UNPRIVILEGED.to_vec(),
        ..quick(server.local_port())
    };
    let stop = AtomicBool::new(false);
    let mut answers = 0;
    let run = run_test(&config, &stop, &mut |event| {
        answers += u32::from(matches!(event, Event::Observed { .. }));
        stop.store(answers > 20, Ordering::Relaxed);
    })
    .unwrap();
    assert_eq!(run.partial, Some(Interruption::Stopped));
    assert_eq!(run.phases[0].end, PhaseEnd::Aborted);
    assert!(!series(&run, Metric::UdpRtt).values.is_empty());
    stop.store(true, Ordering::Relaxed);
    assert_eq!(run_test(&config, &stop, &mut |_| ()), Err(TestError::Stopped));
}

#[test]
fn a_server_that_stops_mid_test_leaves_a_partial_run() {
    let mut server = Some(server(Config::default()));
    let mut config = quick(server.as_ref().unwrap().local_port());
    config.phases = vec![phase(PhaseKind::Idle, 300, 300), phase(PhaseKind::Both, 20_000, 20_000)];
    let mut goodput = 0;
    let run = run_test(&config, &AtomicBool::new(false), &mut |event| {
        let down = SeriesKey::directed(Metric::Goodput, Direction::Down);
        goodput += u32::from(matches!(event, Event::Observed { key, .. } if key == down));
        if goodput > 3 {
            drop(server.take());
        }
    })
    .unwrap();
    assert!(run.partial.is_some());
    assert_eq!(run.phases.len(), 2);
    assert_eq!(run.phases[1].end, PhaseEnd::Aborted);
    assert!(directed(&run, Metric::Goodput, Direction::Down).values.len() > 2);
    assert!(series(&run, Metric::UdpRtt).values.len() > 10);
}

#[test]
fn a_wrong_token_is_rejected() {
    let server = server(Config { token: Some("right".into()), ..Config::default() });
    let attempt = |token: Option<&str>| {
        let mut config = quick(server.local_port());
        config.phases = vec![phase(PhaseKind::Idle, 200, 200)];
        config.token = token.map(str::to_owned);
        run(&config)
    };
    assert!(attempt(Some("right")).is_ok());
    for wrong in [None, Some("wrong")] {
        let error = attempt(wrong).unwrap_err();
        assert!(matches!(&error, TestError::Rejected { code, .. } if code == "token"), "{error:?}");
    }
}

#[test]
fn a_full_server_rejects_the_test() {
    let server = server(Config { max_sessions: 0, ..Config::default() });
    let error = run(&quick(server.local_port())).unwrap_err();
    assert!(matches!(&error, TestError::Rejected { code, .. } if code == "full"), "{error:?}");
}

#[test]
fn the_byte_limit_of_the_server_ends_the_load() {
    let server = server(Config { max_bytes: Bytes(10_000_000), ..Config::default() });
    let mut config = quick(server.local_port());
    config.phases = vec![phase(PhaseKind::Idle, 300, 300), phase(PhaseKind::Down, 10_000, 10_000)];
    let run = run(&config).unwrap();
    // On loopback, the limit is exceeded within one sample, so the server may be the first to end
    // the test.
    let by_server = run.partial.as_ref().is_some_and(|r| matches!(r, Interruption::NoFlowLeft { .. }));
    let by_us = run.notes.iter().any(|n| matches!(n, Note::ServerByteLimit { .. }));
    assert!(by_server || by_us, "{:?} {:?}", run.partial, run.notes);
    assert!(!series(&run, Metric::UdpRtt).values.is_empty());
}

#[test]
fn idle_settles_before_its_limit() {
    let server = server(Config::default());
    let mut config = quick(server.local_port());
    config.phases = vec![phase(PhaseKind::Idle, 500, 20_000)];
    config.sample_every = Duration::from_millis(10);
    let run = run(&config).unwrap();
    assert_eq!(run.phases[0].end, PhaseEnd::Settled);
    assert!(run.phases[0].seconds() < 15.0);
}

/// A load of 20 Mbit/s in each direction, with two flows.
fn at_20_mbit(port: u16, load: fn(Rate) -> FlowLoad) -> Run {
    let load_rate = Some(load(Rate::from_bits_per_second(20_000_000)));
    run(&TestConfig { load_rate, probes: UNPRIVILEGED.to_vec(), ..quick(port) }).unwrap()
}

#[test]
fn a_paced_load_has_its_rate_in_both_directions() {
    let server = server(Config::default());
    let run = at_20_mbit(server.local_port(), FlowLoad::Paced);
    assert_eq!(run.facts[&Fact::Pace], "20Mbit");
    for direction in Direction::BOTH {
        let goodput = median(directed(&run, Metric::Goodput, direction).values.iter().copied());
        // The kernel starts with a burst, and sends by its timer.
        assert!((10e6..30e6).contains(&goodput), "{direction}: {goodput} bit/s");
    }
}

#[test]
fn a_load_of_datagrams_has_its_rate_and_no_metric_of_tcp() {
    let server = server(Config::default());
    let run = at_20_mbit(server.local_port(), FlowLoad::Datagrams);
    assert_eq!(run.partial, None, "{:?}", run.notes);
    assert_eq!(run.facts[&Fact::Udp], "20Mbit");
    assert!(!run.facts.contains_key(&Fact::CongestionControl));
    for direction in Direction::BOTH {
        let goodput = median(directed(&run, Metric::Goodput, direction).values.iter().copied());
        assert!((15e6..25e6).contains(&goodput), "{direction}: {goodput} bit/s");
        assert!(directed(&run, Metric::LoadLoss, direction).values.iter().all(|ratio| *ratio < 0.5));
    }
    let of_tcp = [Metric::FlowRtt, Metric::FlowCwnd, Metric::FlowRetransmits, Metric::DeliveryRate];
    assert!(run.series.iter().all(|s| !of_tcp.contains(&s.key.metric)), "{:?}", run.notes);
}

#[test]
fn codepoints_of_probes_and_datagrams_arrive_on_a_clear_path() {
    let server = server(Config::default());
    let datagrams = FlowLoad::Datagrams(Rate::from_bits_per_second(2_000_000));
    for (ecn, load_rate) in [(Ecn::Ect1, Some(datagrams)), (Ecn::Ect0, None)] {
        let probes = vec![ProbeKind::Udp];
        let run =
            run(&TestConfig { ecn: Some(ecn), load_rate, probes, ..quick(server.local_port()) }).unwrap();
        assert_eq!(run.facts[&Fact::Ecn], ecn.name());
        for direction in Direction::BOTH {
            let count = |metric, codepoint: Ecn| {
                let scope = Some(codepoint.name().to_owned());
                let key = SeriesKey { scope, ..SeriesKey::directed(metric, direction) };
                run.series(&key).map(|s| s.values.iter().sum::<f64>())
            };
            for metric in [Metric::EcnProbes, Metric::EcnLoad] {
                let counts = Ecn::ALL.map(|codepoint| count(metric, codepoint));
                let is_recorded = metric == Metric::EcnProbes || load_rate.is_some();
                for (codepoint, arrived) in Ecn::ALL.into_iter().zip(counts) {
                    assert_eq!(
                        arrived.map(|n| n > 40.0),
                        is_recorded.then_some(codepoint == ecn),
                        "{counts:?}"
                    );
                }
            }
        }
        // Two flows in two phases of each direction; the host decides whether they use ECN.
        let tcp = run.facts.get(&Fact::TcpEcn).map(|flows| flows.ends_with(" of 8 flows"));
        assert_eq!(tcp, load_rate.is_none().then_some(true), "{:?}", run.facts);
    }
}

#[test]
fn each_class_has_a_flow_in_each_direction_and_probes() {
    let server = server(Config::default());
    let config = TestConfig {
        sample_every: Duration::from_millis(20),
        patience: Duration::from_secs(2),
        ..TestConfig::new(&format!("127.0.0.1:{}", server.local_port()))
    };
    let mut config = config.rrul(Duration::from_millis(500));
    config.phases.iter_mut().for_each(|plan| *plan = phase(plan.kind, 500, 500));
    let run = run(&config).unwrap();
    let kinds: Vec<PhaseKind> = run.phases.iter().map(|phase| phase.kind).collect();
    assert_eq!(
        (run.partial.as_ref(), &kinds[..]),
        (None, &[PhaseKind::Idle, PhaseKind::Both, PhaseKind::Drain][..])
    );
    for class in ["BE", "BK", "CS5", "EF"] {
        for direction in Direction::BOTH {
            let is_of = |s: &&fathom_run::Series| {
                let key = &s.key;
                key.metric == Metric::Goodput
                    && key.direction == Some(direction)
                    && key.scope.as_deref() == Some(class)
            };
            assert_eq!(run.series.iter().filter(is_of).count(), 1, "{class} {direction}");
        }
    }
    for metric in [Metric::UdpRtt, Metric::UdpBackgroundRtt, Metric::UdpExpeditedRtt] {
        let probes = series(&run, metric);
        assert!(probes.values.len() >= 20 && probes.censored.is_empty(), "{metric:?}: {probes:?}");
    }
    // The server counts the probes of each class, so that no loss is found in the others.
    for direction in Direction::BOTH {
        assert!(directed(&run, Metric::OneWayDelay, direction).censored.is_empty());
    }
}

#[test]
fn a_load_at_a_chosen_rate_needs_a_flow() {
    let load_rate = Some(FlowLoad::Datagrams(Rate::from_bits_per_second(1_000_000)));
    let error = run(&TestConfig { load_rate, flows: 0, ..quick(1) }).unwrap_err();
    assert!(matches!(error, TestError::Config(_)), "{error:?}");
}
