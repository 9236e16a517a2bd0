//! Delay, loss and buffers are those of the simulated switch.
use crate::switch::{Buffers, Switch, setup};
use fathom_burst::estimate;
use fathom_dut::{Outcome, Trouble};
use fathom_run::{BufferLimit, PortStream, PortTest, PortTestKind, Spacing};
use fathom_units::Rng;

fn near(name: &str, found: f64, truth: f64, tolerance: f64) {
    assert!((found - truth).abs() <= tolerance, "{name}: {found} instead of {truth}");
}

fn test(outcome: &Outcome, kind: PortTestKind) -> &PortTest {
    outcome.tests.iter().find(|test| test.kind == kind).unwrap_or_else(|| panic!("no {kind:?}"))
}

/// The share of a stream that is lost is near the expected one, within what chance explains.
fn loses(name: &str, stream: &PortStream, ratio: f64) {
    // The number of frames of a random load varies by the square root of their number.
    let chance = 4.0 * (stream.sent_packets as f64).sqrt().recip();
    near(name, stream.loss_ratio(), ratio, 0.02 + chance);
}

/// Load and pings of the overload.
fn overload(outcome: &Outcome, out: u32) -> [&PortStream; 2] {
    let test = test(outcome, PortTestKind::Overload);
    [false, true].map(|is_ping| test.stream(out, is_ping).unwrap())
}

/// Byte and packet limits, even and random spacing: what is limited, the delay of the full buffer,
/// and the losses of frames and pings.
#[test]
fn random_switches_are_told_apart() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let mut log = |low: f64, high: f64| low * (high / low).powf(rng.next_f64());
        let rate = log(1e7, 9e7);
        let packets = log(30.0, (0.5 * rate / 8.0 / 1514.0).clamp(31.0, 2_800.0)).round();
        let counts_packets = seed % 2 == 0;
        let spacing = if seed % 4 < 2 { Spacing::Even } else { Spacing::Random };
        let (buffers, limit) = match counts_packets {
            true => (Buffers::Packets(packets as usize), BufferLimit::Packets),
            // There is room for pings next to whole frames of the load.
            false => (Buffers::Bytes(packets as u64 * 1514 + 700), BufferLimit::Bytes),
        };
        let name = format!("seed {seed}: {buffers:?} at {:.2} Mbit/s, {spacing:?}", rate / 1e6);
        let outcome = Switch::new(buffers, rate, 1).measure(setup(1, 1, spacing), seed).expect(&name);
        let responses = fathom_burst::responses(&outcome.bursts);
        let buffer = estimate(&responses).expect(&name);
        assert_eq!(buffer.limit, Some(limit), "{name}");
        near(&name, buffer.rate_bits_per_second.value / rate, 1.0, 0.01);
        let [load, pings] = overload(&outcome, 1);
        let full_s = packets * 1514.0 * 8.0 / rate;
        // A small buffer is not always full if the load comes at random.
        let delay_s = if spacing == Spacing::Even { pings.delay_p50_s } else { pings.delay_p98_s };
        near(&name, delay_s.unwrap() / full_s, 1.0, 0.04 + 2.0 / packets);
        loses(&name, load, 1.0 - 1.0 / 1.1);
        let expected = match (counts_packets, spacing) {
            // A ping takes a free place before the next frame does.
            (true, Spacing::Even) => 1.0 - 1.0 / 2.2,
            (true, Spacing::Random) => 1.0 - 1.0 / 1.1,
            (false, _) => 0.0,
        };
        loses(&name, pings, expected);
        let small = test(&outcome, PortTestKind::SmallFrames).stream(1, false).unwrap();
        let small_s = if spacing == Spacing::Even { small.delay_p50_s } else { small.delay_p98_s };
        let ratio = if counts_packets { 514.0 / 1514.0 } else { 1.0 };
        near(&name, small_s.unwrap() / full_s, ratio, 0.05 + 2.0 / packets);
        let grew = test(&outcome, PortTestKind::Overload).fill_s.unwrap();
        if spacing == Spacing::Even {
            near(&name, grew / (full_s / 0.1), 1.0, 0.1 + 20.0 / packets);
        }
        // With those that leave while it is sent.
        let passed = test(&outcome, PortTestKind::Microburst).stream(1, false).unwrap();
        let pace = (1e9 / rate).min(10.0) * 1514.0 / 1538.0;
        near(&name, passed.sent_packets as f64 / (packets * pace / (pace - 1.0)), 0.97, 0.05 + 3.0 / packets);
        assert_eq!(passed.lost_packets, 0, "{name}");
    }
}

/// The switch of E. Auerswald, with even and random spacing.
#[test]
fn the_delay_and_losses_of_the_enterprise_switch() {
    for (spacing, ping_loss) in [(Spacing::Even, 0.545), (Spacing::Random, 0.091)] {
        let outcome =
            Switch::new(Buffers::Packets(2_807), 100e6, 1).measure(setup(1, 1, spacing), 7).unwrap();
        let [load, pings] = overload(&outcome, 1);
        near("delay", pings.delay_p50_s.unwrap(), 0.340, 0.004);
        near("loss of frames", load.loss_ratio(), 0.091, 0.004);
        near("loss of pings", pings.loss_ratio(), ping_loss, 0.08);
        let idle = test(&outcome, PortTestKind::Idle).stream(1, true).unwrap();
        assert!(idle.delay_p50_s.unwrap() < 1e-3 && idle.lost_packets == 0);
        // 340 ms at an excess of 10 %, and 340 ms until it is empty.
        let test = test(&outcome, PortTestKind::Overload);
        near("growth", test.fill_s.unwrap(), 3.4, 0.15);
        near("end", test.drain_s, 0.34, 0.004);
        assert_eq!(outcome.phases.len(), 3);
    }
}

/// Separate, shared and common queues of two ports.
#[test]
fn shared_buffers_and_blocking_are_recognized() {
    for (buffers, left, is_blocked) in [
        (Buffers::Packets(300), 1.0, false),
        (Buffers::Shared(450_000), 0.5, false),
        (Buffers::OneQueue(300), 1.0, true),
    ] {
        let outcome = Switch::new(buffers, 20e6, 2).measure(setup(2, 2, Spacing::Even), 3).unwrap();
        let delay = |kind, to| test(&outcome, kind).stream(to, false).unwrap().delay_p98_s.unwrap();
        if !is_blocked {
            let ratio = delay(PortTestKind::SharedBuffer, 2) / delay(PortTestKind::FullBurst, 2);
            near(&format!("{buffers:?}"), ratio, left, 0.1);
        }
        let pings: Vec<&PortStream> = test(&outcome, PortTestKind::HeadOfLine)
            .streams
            .iter()
            .filter(|s| s.is_ping && s.to == 3)
            .collect();
        assert_eq!(pings.len(), 2);
        for of_port in pings {
            let delay_s = of_port.delay_p50_s.unwrap();
            assert_eq!(delay_s > 0.1, is_blocked, "{buffers:?}: {delay_s}");
            assert_eq!(of_port.loss_ratio() > 0.05, is_blocked, "{buffers:?}");
        }
        // Two ports send at twice the rate, so that less leaves the buffer meanwhile.
        let of = |kind| {
            test(&outcome, kind)
                .streams
                .iter()
                .map(|s| if s.is_ping { 0 } else { s.sent_packets })
                .sum::<u64>()
        };
        let (one, both) = (of(PortTestKind::Microburst), of(PortTestKind::Incast));
        assert!((280..360).contains(&one) && (280..=one).contains(&both), "{buffers:?}: {one}, {both}");
    }
}

/// Two ports of the same rate as the one that receives: only both together overload it.
#[test]
fn ports_of_one_rate_send_together() {
    let rate = 1e9 * 1514.0 / 1538.0;
    let mut dut = Switch::new(Buffers::Packets(200), rate, 1);
    let outcome = dut.measure(setup(2, 1, Spacing::Even), 1).unwrap();
    let [load, pings] = overload(&outcome, 2);
    near("loss", load.loss_ratio(), 0.091, 0.02);
    near("delay", pings.delay_p50_s.unwrap(), 200.0 * 1514.0 * 8.0 / rate, 2e-4);
    let alone = Switch::new(Buffers::Packets(200), rate, 1).measure(setup(1, 1, Spacing::Even), 1);
    assert!(matches!(alone, Err(Trouble::NoQueue { sent_bits_per_second }) if sent_bits_per_second > 5e8));
}
