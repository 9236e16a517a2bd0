//! Queues of a simulated model, compared with the ground truth.
use crate::model::{FlowPlan, Plan, Point, TickClock, Truth, run};
use fathom_bottleneck::{
    Bottleneck, Isolation, Leg, Location, Management, NoClock, OscillationCause, Queues, Reference,
};
use fathom_flow::End;
use fathom_tcp::ControlKind;
use fathom_units::Rng;

fn bottleneck<'a>(queues: &'a Queues, what: &str) -> &'a Bottleneck {
    let reports: Vec<_> = queues.flows.iter().map(|flow| (&flow.location, &flow.legs)).collect();
    queues.bottlenecks.first().unwrap_or_else(|| panic!("{what}: no bottleneck: {reports:?}"))
}

fn off(seen: f64, truth: f64) -> f64 {
    (seen / truth - 1.0).abs()
}

/// Rate within 1 %, buffer within 2 % or its own error, and the correct leg.
fn check(plan: &Plan, buffer_bytes: f64, queues: &Queues, truth: &Truth, what: &str) {
    let found = bottleneck(queues, what);
    let rate = found.rate.as_ref().unwrap_or_else(|why| panic!("{what}: {why:?}"));
    let rate_off = off(rate.frame_bits_per_second, plan.rate_bits as f64);
    assert!(rate_off < 0.01, "{what}: rate is off by {rate_off}: {rate:?}");
    let place = if plan.point == Point::Before { Leg::To(End::B) } else { Leg::From(End::A) };
    assert_eq!(found.location, Location::Leg(place), "{what}");
    assert!(truth.drops > 0, "{what}: the model never filled its buffer");
    let buffer = found.buffer.unwrap_or_else(|| panic!("{what}: no buffer"));
    let buffer_off = (buffer.frame_bytes - buffer_bytes).abs();
    let allowed = (0.02 * buffer_bytes).max(buffer.error_bytes);
    assert!(buffer_off <= allowed, "{what}: {buffer:?} for {buffer_bytes}");
    assert!(buffer.error_bytes < 0.1 * buffer_bytes + 6.0 * 1514.0, "{what}: {buffer:?} says too little");
    assert!(buffer.is_full_seen, "{what}");
    assert_eq!(found.fingerprint.management, Some(Management::TailDrop), "{what}: {:?}", found.fingerprint);
}

#[test]
fn rate_buffer_and_side_of_a_full_buffer() {
    let table = [
        (1_000_000, "fifo limit 60000b", 60_000.0, 60.0),
        (5_000_000, "fifo limit 400000b", 400_000.0, 40.0),
        (20_000_000, "fifo limit 1000000b", 1_000_000.0, 30.0),
        (100_000_000, "fifo limit 2500000b", 2_500_000.0, 20.0),
        (500_000_000, "fifo limit 6250000b", 6_250_000.0, 8.0),
    ];
    for (rate, queue, bytes, secs) in table {
        for point in [Point::Before, Point::Behind] {
            let plan = Plan { secs, point, ..Plan::new(rate, queue) };
            let (queues, truth) = run(&plan);
            check(&plan, bytes, &queues, &truth, &format!("{rate} {queue} {point:?}"));
        }
    }
}

#[test]
fn clocks_of_any_tick_and_skew() {
    for hertz in [10.0, 100.0, 250.0, 300.0, 1000.0, 1e6] {
        for skew_ppm in [-100.0, 0.0, 100.0] {
            let clock = TickClock { hertz, skew_ppm, offset: 0xfff0_0000, restarts_s: None };
            for point in [Point::Before, Point::Behind] {
                let what = format!("{hertz} Hz {skew_ppm} ppm {point:?}");
                let plan = Plan { clocks: [clock; 2], point, ..Plan::new(10_000_000, "fifo limit 1000000b") };
                let (queues, _) = run(&plan);
                for found in &queues.flows[0].clocks {
                    let found = found.unwrap_or_else(|why| panic!("{what}: {why:?}"));
                    assert_eq!((found.hertz, found.is_known_rate), (hertz, true), "{what}");
                    let skew_off = (found.skew_ratio * 1e6 - skew_ppm).abs();
                    assert!(skew_off <= found.skew_error_ratio * 1e6 + 2.0, "{what}: {found:?}");
                }
                let leg = if point == Point::Before { Leg::To(End::B) } else { Leg::From(End::A) };
                assert_eq!(bottleneck(&queues, &what).location, Location::Leg(leg), "{what}");
            }
        }
    }
}

#[test]
fn delays_equal_the_true_sojourn_times() {
    let plan = Plan::new(10_000_000, "fifo limit 1000000b");
    let (queues, truth) = run(&plan);
    for leg in queues.flows[0].legs.iter().filter_map(|leg| leg.as_ref().ok()) {
        if leg.leg != Leg::To(End::B) {
            assert!(leg.p95_ns <= leg.error_ns + 2e6, "{leg:?}");
            continue;
        }
        for point in &leg.over_time {
            // Its times are relative to the SYN.
            let left_ns = point.at_ns - plan.rtt_ms * 1e6 + plan.flows[0].starts_s * 1e9;
            let near = |left: f64| (left - left_ns).abs() < 50e6;
            let then: Vec<f64> =
                truth.sojourns.iter().filter(|s| near(s.0 as f64)).map(|s| s.1 as f64).collect();
            let (least, most) =
                then.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), s| (a.min(*s), b.max(*s)));
            // A frame takes 1.2 ms longer than the SYN, and a round trip counts when it ends.
            let allowed = leg.error_ns + 3e6 + 0.02 * most;
            let is_true = then.is_empty()
                || (least - allowed..most + allowed).contains(&point.mean_ns)
                || most - least > 0.1 * most;
            assert!(is_true, "{point:?} for {least} to {most}");
        }
    }
}

#[test]
fn a_clock_is_used_until_it_restarts_unless_that_is_early() {
    let restarting = |at: f64| TickClock { restarts_s: Some(at), ..TickClock::MILLIS };
    let of = |at: f64| {
        let plan = Plan {
            clocks: [restarting(at), TickClock::MILLIS],
            ..Plan::new(10_000_000, "fifo limit 200000b")
        };
        run(&plan).0.flows[0].clocks[0]
    };
    assert!(matches!(of(0.105), Err(NoClock::Restarted { .. })), "{:?}", of(0.105));
    let late = of(20.0).unwrap();
    assert_eq!(late.hertz, 1000.0);
    assert!((19e9..20.1e9).contains(&late.span_ns), "{late:?}");
}

#[test]
fn without_timestamps_only_the_round_trip_is_known() {
    let plan = Plan { has_stamps: false, ..Plan::new(10_000_000, "fifo limit 1000000b") };
    let (queues, _) = run(&plan);
    let found = bottleneck(&queues, "before");
    assert_eq!(found.location, Location::RoundTrip(End::B));
    assert!(off(found.rate.as_ref().unwrap().frame_bits_per_second, 1e7) < 0.01, "{:?}", found.rate);
    assert!(off(found.buffer.unwrap().frame_bytes, 1e6) < 0.02, "{:?}", found.buffer);
    assert_eq!(queues.flows[0].clocks, [Err(NoClock::NoTimestamps); 2]);

    let (behind, _) = run(&Plan { point: Point::Behind, ..plan });
    let report = &behind.flows[0];
    assert_eq!(report.location, Ok(Location::RoundTrip(End::A)), "{report:?}");
    let fill = report.hole_to_fill_ns.unwrap();
    assert!((0.6e9..1.1e9).contains(&fill), "a repair takes a round trip under load: {fill}");
}

#[test]
fn a_flow_that_starts_in_a_full_queue_uses_the_base_of_others() {
    let born = |starts_s: f64| FlowPlan { starts_s, ..FlowPlan::bulk(ControlKind::Cubic) };
    let before = FlowPlan { is_captured: false, ..FlowPlan::bulk(ControlKind::Cubic) };
    let plan = Plan::new(10_000_000, "fifo limit 1000000b");
    // If the handshake meets the shortest queue, the flow cannot detect the queue.
    let is_relative = |starts_s: &u32| {
        let (queues, _) = run(&Plan { flows: vec![before, born(f64::from(*starts_s))], ..plan.clone() });
        bottleneck(&queues, "alone").reference == Reference::Relative
    };
    let relative: Vec<u32> = (14..22).filter(is_relative).collect();
    assert!(relative.len() >= 2, "{relative:?}");

    let flows = vec![before, born(15.0), FlowPlan::sparse()];
    let (queues, _) = run(&Plan { flows, secs: 40.0, ..plan });
    let found = bottleneck(&queues, "next to a sparse flow");
    assert!(
        matches!(found.reference, Reference::PathLeast { less_ns } if less_ns > 100e6),
        "{:?}",
        found.reference
    );
    assert!((0.4e9..0.81e9).contains(&found.standing.p95_ns), "{:?}", found.standing);
}

#[test]
fn a_capture_that_starts_late_gives_relative_delays() {
    let plan = Plan { captured_from_s: 10.0, ..Plan::new(10_000_000, "fifo limit 1000000b") };
    let (queues, _) = run(&plan);
    assert_eq!(bottleneck(&queues, "late").reference, Reference::Relative);
}

#[test]
fn a_changing_rate_is_reported_by_span() {
    let plan = Plan { change: Some((15.0, 4_000_000)), ..Plan::new(10_000_000, "fifo limit 400000b") };
    let (queues, _) = run(&plan);
    let rate = bottleneck(&queues, "change").rate.clone().unwrap();
    let [before, after] = rate.spans.as_slice() else { panic!("{rate:?}") };
    let frames = rate.frame_bits_per_second / rate.ip.bits_per_second;
    assert!(off(before.bits_per_second * frames, 1e7) < 0.02, "{rate:?}");
    assert!(off(after.bits_per_second * frames, 4e6) < 0.02, "{rate:?}");
    assert!((after.from_ns - 15e9).abs() < 0.6e9, "{rate:?}");
}

#[test]
fn queue_management_is_identified() {
    let red = "red variant linux limit 1000000b min 20000b max 200000b avpkt 1500b burst 30 probability 0.1 bandwidth 10mbit";
    let table = [
        ("fifo limit 250000b", 1, false, Management::TailDrop, Isolation::Shared),
        ("fifo limit 12500b", 1, false, Management::TailDrop, Isolation::Shared),
        ("codel variant linux noecn", 1, false, Management::Codel, Isolation::Shared),
        ("codel variant linux noecn", 3, false, Management::Codel, Isolation::Shared),
        ("fq_codel variant linux noecn", 1, false, Management::Codel, Isolation::PerFlow),
        ("codel variant linux ecn", 1, true, Management::Codel, Isolation::Shared),
        (red, 5, false, Management::RandomEarly, Isolation::Shared),
    ];
    for (queue, bulks, has_ecn, management, isolation) in table {
        let mut flows = vec![FlowPlan::bulk(ControlKind::Cubic); bulks];
        flows.push(FlowPlan::sparse());
        for point in [Point::Before, Point::Behind] {
            let what = format!("{queue} {bulks} {point:?}");
            let plan =
                Plan { flows: flows.clone(), secs: 60.0, has_ecn, point, ..Plan::new(10_000_000, queue) };
            let (queues, truth) = run(&plan);
            let print = &bottleneck(&queues, &what).fingerprint;
            // A queue that never empties hides the sender's clock: no result, or a correct one.
            let is_silent = |is_none: bool| point == Point::Behind && is_none;
            let is_right = print.management == Some(management) || is_silent(print.management.is_none());
            assert!(is_right, "{what}: {print:?}, {} drops", truth.drops);
            let is_told = print.isolation == Some(isolation) || is_silent(print.isolation.is_none());
            assert!(is_told, "{what}: {print:?}");
            assert_eq!(print.marks > 0, truth.marks > 0, "{what}: {print:?}");
            let most = if point == Point::Before { truth.drops * 20 / 21 } else { 0 };
            assert!((most.saturating_sub(5)..=truth.drops).contains(&print.losses), "{what}: {print:?}");
        }
    }
}

#[test]
fn the_cause_of_oscillation_is_identified() {
    let table = [
        (ControlKind::Cubic, "fifo limit 1000000b", 90.0, OscillationCause::Cubic),
        (ControlKind::Reno, "fifo limit 100000b", 60.0, OscillationCause::Reno),
        (ControlKind::Bbr, "fifo limit 1000000b", 60.0, OscillationCause::Bbr),
    ];
    for (control, queue, secs, cause) in table {
        let plan = Plan { flows: vec![FlowPlan::bulk(control)], secs, ..Plan::new(10_000_000, queue) };
        let (queues, _) = run(&plan);
        let swing = &bottleneck(&queues, queue).oscillation;
        assert_eq!(swing.cause, Some(cause), "{control}: {swing:?}");
    }
}

#[test]
fn shares_and_delayed_flows_are_correct() {
    let small = FlowPlan { starts_s: 8.0, ..FlowPlan::bulk(ControlKind::Reno) };
    let flows = vec![FlowPlan::bulk(ControlKind::Cubic), small, FlowPlan::sparse()];
    let plan = Plan { flows, secs: 40.0, ..Plan::new(10_000_000, "fifo limit 500000b") };
    let (queues, _) = run(&plan);
    let found = bottleneck(&queues, "two");
    assert_eq!(queues.bottlenecks.len(), 1, "they share it");
    assert_eq!(found.flows.len(), 2);
    let passed: f64 = found.shares.iter().map(|share| share.passed_ratio).sum();
    assert!((passed - 1.0).abs() < 1e-9);
    let queued: f64 = found.shares.iter().map(|share| share.queued_bytes).sum();
    let standing = found.standing.p50_ns * found.rate.as_ref().unwrap().ip.bits_per_second / 8e9;
    assert!(off(queued, standing) < 0.25, "{queued} of {standing}");
    assert!(off(found.rate.as_ref().unwrap().frame_bits_per_second, 1e7) < 0.01, "{:?}", found.rate);
    let [victim] = found.delayed_flows.as_slice() else { panic!("{:?}", found.delayed_flows) };
    assert!(off(victim.added_p50_ns, found.standing.p50_ns) < 0.2, "{victim:?}");
}

#[test]
fn results_are_true_on_random_paths() {
    for seed in 1..=12 {
        let mut rng = Rng::stream(seed, "queues");
        let rate_bits = 1_000_000 * (2 + rng.below(60));
        let buffers = ["fifo limit 150000b", "fifo limit 400000b", "fifo limit 900000b"];
        let queue = buffers[rng.below(3) as usize];
        let bytes: f64 = queue[11..queue.len() - 1].parse().unwrap();
        let clock = |random: &mut Rng| TickClock {
            hertz: [100.0, 250.0, 1000.0, 1e6][random.below(4) as usize],
            skew_ppm: random.below(200) as f64 - 100.0,
            offset: random.next_u64() as u32,
            restarts_s: None,
        };
        let plan = Plan {
            rtt_ms: 5.0 + rng.below(80) as f64,
            clocks: [clock(&mut rng), clock(&mut rng)],
            point: if rng.chance(0.5) { Point::Before } else { Point::Behind },
            secs: 40.0,
            ..Plan::new(rate_bits, queue)
        };
        let (queues, truth) = run(&plan);
        let what = format!("seed {seed}: {plan:?}");
        let Some(found) = queues.bottlenecks.first() else {
            // A tick that is longer than the queueing delay hides it.
            assert!(truth.max_ns < 60e6, "{what}: {:?}", queues.flows[0].location);
            continue;
        };
        let place = if plan.point == Point::Before { Leg::To(End::B) } else { Leg::From(End::A) };
        assert_eq!(found.location, Location::Leg(place), "{what}");
        if let Ok(rate) = &found.rate {
            let allowed = 0.01 + rate.ip.error_ratio;
            assert!(off(rate.frame_bits_per_second, rate_bits as f64) < allowed, "{what}: {rate:?}");
        }
        if let Some(buffer) = found.buffer.filter(|buffer| buffer.is_full_seen) {
            let allowed = (0.02 * bytes).max(buffer.error_bytes);
            assert!((buffer.frame_bytes - bytes).abs() <= allowed, "{what}: {buffer:?}");
        }
    }
}
