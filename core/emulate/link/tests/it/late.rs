//! A host that wakes late sees the same times as one that wakes at each event.
use crate::common::{Log, TestPacket, advance, link, packet};
use fathom_link::{Bottleneck, BottleneckParams, ImpairmentParams};
use fathom_units::{Bytes, Duration, Ratio, Rng, Time};

const SPECS: &[&str] = &[
    "fifo limit 20p",
    "fifo limit 20p drop head",
    "fifo limit 15ms",
    "codel target 2ms interval 20ms",
    "fq_codel flows 4 target 2ms interval 20ms",
];

fn arrivals(seed: u64) -> Vec<(Time, TestPacket)> {
    let mut rng = Rng::stream(seed, "arrivals");
    let mut now = Time::ZERO;
    let mut next = |id| {
        now += Duration::from_nanos(rng.below(1_500_000));
        (now, packet(id, 60 + rng.below(1440)))
    };
    (0..500).map(&mut next).collect()
}

fn params(spec: &str) -> BottleneckParams {
    let impairment = ImpairmentParams {
        loss: Ratio(0.02),
        duplicate: Ratio(0.02),
        reorder: Ratio(0.05),
        reorder_delay: Duration::from_millis(3),
        ..ImpairmentParams::default()
    };
    BottleneckParams { impairment, overhead: Bytes(14), ..link(Some("7mbit"), "4ms", spec) }
}

/// Handles everything due by `now`, each event exactly on time.
fn punctual(line: &mut Bottleneck<TestPacket>, now: Time, log: &mut Log) -> Vec<(u64, Time)> {
    let mut out = Vec::new();
    while let Some(next) = line.next_event().filter(|next| *next <= now) {
        let came = advance(line, next, log);
        assert!(came.iter().all(|(_, time)| *time == next), "asked to wake at {next}: {came:?}");
        out.extend(came);
    }
    out
}

#[test]
fn late_hosts_see_the_same_times() {
    for spec in SPECS {
        for seed in 0..20 {
            let (mut early, mut late) =
                (Bottleneck::new(&params(spec), seed), Bottleneck::new(&params(spec), seed));
            let (mut early_log, mut late_log) = (Log::default(), Log::default());
            let (mut early_out, mut late_out) = (Vec::new(), Vec::new());
            let mut rng = Rng::stream(seed, "sleep");
            for (now, packet) in arrivals(seed) {
                early_out.extend(punctual(&mut early, now, &mut early_log));
                early.arrive(packet.clone(), now, &mut early_log);
                // The other host wakes at only one arrival in ten.
                if rng.chance(0.1) {
                    late_out.extend(advance(&mut late, now, &mut late_log));
                }
                late.arrive(packet, now, &mut late_log);
            }
            early_out.extend(punctual(&mut early, Time::MAX, &mut early_log));
            late_out.extend(advance(&mut late, Time::MAX, &mut late_log));
            assert!(late_out.len() > 200, "{spec}");
            assert_eq!(early_out, late_out, "{spec}, seed {seed}");
            assert_eq!(early_log, late_log, "{spec}, seed {seed}");
        }
    }
}
