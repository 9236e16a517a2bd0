//! A run of tests of a switch, and findings of such runs.
use crate::line::MANAGED;
use fathom_run::{
    Burst, Conclusion, HeadOfLineBlocking, LosslessBurst, PauseCounts, PauseFrames, PortOverload, PortStream,
    PortTest, PortTestKind, Run, SharedBuffer, Spacing, Switch, SwitchPort,
};
use fathom_units::Direction;

/// Time of the port for a frame: 100 Mbit/s.
const FRAME_NS: u64 = 115_360;
/// The bursts are after the probes of the run.
const AFTER_NS: u64 = 1_000_000_000_000;
/// Frames of 1,442 bytes in the buffer.
pub(crate) const HELD: u64 = 2_807;

/// A burst through a buffer that counts packets, at ten times the rate of the port.
fn burst(payload_bytes: u32, count: u32) -> Burst {
    let frame_ns = FRAME_NS * u64::from(payload_bytes + 42) / 1_442;
    let (before, apart) = (5, 20_000_000);
    let sent = |n: u32| match n {
        0..5 => u64::from(n) * apart,
        _ if n < before + count => 5 * apart + u64::from(n - 5) * frame_ns / 10,
        _ => 5 * apart + u64::from(count) * frame_ns / 10 + u64::from(n - 5 - count) * apart,
    };
    let mut free = 0;
    let mut forward = |at: u64| {
        let waits = free > at + HELD * frame_ns;
        free = if waits { free } else { free.max(at) + frame_ns };
        (!waits).then_some(free)
    };
    let sent_ns: Vec<u64> = (0..before + count + 40).map(|n| AFTER_NS + sent(n)).collect();
    Burst {
        direction: Direction::Up,
        payload_bytes,
        header_bytes: 28,
        before,
        count,
        received_ns: sent_ns.iter().map(|at| forward(*at)).collect(),
        sent_ns,
        echo_every: 0,
        ecn: 0,
        ce: Vec::new(),
        is_complete: true,
    }
}

fn stream((from, to): (u32, u32), is_ping: bool, [sent, lost]: [u64; 2], delay_s: f64) -> PortStream {
    PortStream {
        from,
        to,
        is_ping,
        frame_bytes: if is_ping { 98 } else { 1_514 },
        sent_packets: sent,
        lost_packets: lost,
        delay_p50_s: Some(delay_s),
        delay_p98_s: Some(delay_s),
    }
}

/// A switch with two ports that send and two that receive, of which the first is overloaded. The
/// queue of its port has an AQM if frames are lost before it is full.
pub(crate) fn switch(early_packets: u64) -> Switch {
    let test = |kind, streams| PortTest { kind, fill_s: None, early_packets: 0, drain_s: 0.34, streams };
    let pings = |to, counts, delay_s| stream((0, to), true, counts, delay_s);
    let load = |to, counts, delay_s| stream((0, to), false, counts, delay_s);
    let overload = vec![load(2, [90_000, 8_190], 0.34), pings(2, [500, 210], 0.34)];
    let small = vec![PortStream { frame_bytes: 514, ..load(2, [60_000, 12_000], 0.116) }];
    let name = |name: &str| SwitchPort { name: name.to_owned(), pause: None };
    let counting =
        SwitchPort { pause: Some(PauseCounts { received_packets: 12, sent_packets: 0 }), ..name("eth1") };
    Switch {
        ports: vec![counting, name("eth2"), name("eth3"), name("eth4")],
        load_ratio: 1.1,
        spacing: Spacing::Even,
        tests: vec![
            test(PortTestKind::Idle, vec![pings(2, [100, 0], 0.001), pings(3, [100, 0], 0.001)]),
            PortTest { fill_s: Some(3.4), early_packets, ..test(PortTestKind::Overload, overload) },
            PortTest { fill_s: Some(1.3), ..test(PortTestKind::SmallFrames, small) },
            test(PortTestKind::FullBurst, vec![load(2, [4_600, 1_500], 0.34)]),
            test(PortTestKind::Microburst, vec![load(2, [3_027, 0], 0.34)]),
            test(
                PortTestKind::Incast,
                vec![load(2, [1_500, 0], 0.34), stream((1, 2), false, [1_500, 0], 0.34)],
            ),
            test(
                PortTestKind::SharedBuffer,
                vec![load(2, [4_600, 2_500], 0.17), load(3, [4_600, 2_500], 0.17)],
            ),
            test(PortTestKind::HeadOfLine, vec![pings(2, [100, 42], 0.34), pings(3, [400, 0], 0.001)]),
        ],
    }
}

/// The run of such tests.
pub(crate) fn run(early_packets: u64) -> Run {
    let bursts = vec![burst(1_400, 6_000), burst(700, 6_000), burst(200, 8_000)];
    Run { command: "dut".to_owned(), bursts, switch: Some(Box::new(switch(early_packets))), ..MANAGED.run() }
}

/// What tests of a switch show: an overload, bursts from one port and from two, and what happens at
/// other ports.
#[allow(dead_code, reason = "used by the tests of other crates")]
pub(crate) fn findings() -> Vec<Conclusion> {
    let even = PortOverload {
        load_ratio: 1.1,
        spacing: Spacing::Even,
        delay_s: Some(0.34),
        loss_ratio: 0.091,
        ping_loss_ratio: 0.42,
        fill_s: Some(3.4),
        drain_s: 0.34,
    };
    let random = PortOverload { spacing: Spacing::Random, delay_s: None, fill_s: None, ..even.clone() };
    let burst = |port_count| LosslessBurst { port_count, sent_packets: 3_027, bytes: 4_582_878.0 };
    let shared = |is_shared| SharedBuffer { left_ratio: 0.52, is_shared };
    let blocking = |is_blocked| HeadOfLineBlocking { delay_s: 0.12, loss_ratio: 0.03, is_blocked };
    let pause = |sent_packets| PauseFrames { sent_packets };
    vec![
        Conclusion::PortOverload(even),
        Conclusion::PortOverload(random),
        Conclusion::LosslessBurst(burst(1)),
        Conclusion::LosslessBurst(burst(2)),
        Conclusion::SharedBuffer(shared(true)),
        Conclusion::SharedBuffer(shared(false)),
        Conclusion::HeadOfLineBlocking(blocking(true)),
        Conclusion::HeadOfLineBlocking(blocking(false)),
        Conclusion::PauseFrames(pause(Some(12))),
        Conclusion::PauseFrames(pause(None)),
    ]
}
