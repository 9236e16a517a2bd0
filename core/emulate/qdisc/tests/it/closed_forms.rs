//! Results that follow from arithmetic alone.
use crate::common::{Log, TestPacket, build, dequeue, enqueue, ms, packet};
use fathom_qdisc::{AnyQdisc, Qdisc};
use fathom_units::{Duration, Rng, Time};

/// Disciplines with limits and targets that M/D/1 at half load does not reach.
const UNLOADED: &[&str] = &[
    "fifo limit 1000p",
    "codel",
    "codel variant linux",
    "fq_codel",
    "fq_codel variant linux",
    "fq_pie",
    "fq",
    "sfq",
    "drr",
    "rfc970",
    "pie",
    "pie variant linux",
    "blue",
    "cake",
    "sfb",
    "ebdp",
    "dualpi2 target 100ms",
    "dualpi2 variant linux target 100ms",
    "astar",
    "red",
    "red variant linux",
];

/// Share of arrivals with a signal at a constant `backlog` in packets of 1000 bytes.
fn signal_share(queue: &mut AnyQdisc<TestPacket>, backlog: u64, arrivals: u32) -> f64 {
    let mut signals = 0;
    for number in 0..arrivals {
        // Time only matters for an idle link, which this is not.
        let now = ms(1.0);
        signals += u32::from(enqueue(queue, packet(number, 0, 1000), now) != "-");
        if queue.backlog().packets > backlog {
            dequeue(queue, now);
        }
    }
    f64::from(signals) / f64::from(arrivals)
}

/// At an average halfway to `max`, p_b = 0.05. The paper's p_b / (1 - count p_b) gives gaps of 1 to
/// 1 / p_b - 1 packets, all equally likely: mean 1 / (2 p_b), share 2 p_b. Linux's random number
/// gives gaps of 1 to 1 / p_b: share 2 / (1 / p_b + 1). Independent drops would give p_b.
#[test]
fn reds_share_of_drops_at_a_fixed_average() {
    let words = "limit 1000000b min 10000b max 30000b avpkt 1000b burst 20 probability 0.1";
    for (variant, share) in [("rfc", 0.1), ("linux", 2.0 / 21.0)] {
        let mut queue = build(&format!("red variant {variant} {words}"));
        signal_share(&mut queue, 20, 2000);
        let got = signal_share(&mut queue, 20, 200_000);
        // 20000 gaps with a standard deviation of 5.5 around 10: 0.4 % of the share.
        assert!((got / share - 1.0).abs() < 0.012, "{variant}: {got}, expected {share}");
    }
}

/// Gentle, at an average of 1.1 max: p_b = 0.1 + 0.9 * 0.1 = 0.19. Gaps of 1 to 4 packets have p_b
/// / (1 - p_b) = 0.2346 each, the fifth gets a signal: 0.2346 * 10 + 0.0617 * 5 = 2.654.
#[test]
fn gentle_red_above_max() {
    let words = "limit 1000000b min 10000b max 30000b avpkt 1000b burst 20 probability 0.1";
    for (mode, share) in [("gentle", 1.0 / 2.654), ("", 1.0)] {
        let mut queue = build(&format!("red {words} {mode}"));
        signal_share(&mut queue, 33, 5000);
        let got = signal_share(&mut queue, 33, 50_000);
        assert!((got / share - 1.0).abs() < 0.02, "{mode}: {got}, expected {share}");
    }
}

/// Mean sojourn of Poisson arrivals of 1000 bytes at load `rho` and 1 ms per packet.
fn mean_wait(spec: &str, rho: f64, arrivals: u32) -> f64 {
    let (mut queue, mut rng) = (build(spec), Rng::new(3));
    let service = Duration::from_millis(1);
    let (mut arrival, mut free, mut is_idle) = (Time::ZERO, Time::ZERO, true);
    let (mut sum, mut sent) = (0.0, 0_u32);
    let mut log = Log::default();
    for number in 0..arrivals {
        arrival += Duration::from_secs_f64(-(1.0 - rng.next_f64()).ln() / rho * 1e-3);
        while !is_idle && free <= arrival {
            let taken = queue.dequeue(free, &mut log);
            is_idle = taken.is_none();
            if let Some((_, sojourn)) = taken {
                (sum, sent, free) = (sum + sojourn.as_secs_f64(), sent + 1, free + service);
            }
        }
        queue.enqueue(packet(number, 0, 1000), arrival, &mut log);
        if is_idle && queue.dequeue(arrival, &mut log).is_some() {
            (sent, free, is_idle) = (sent + 1, arrival + service, false);
        }
    }
    assert_eq!(log.0, Vec::<String>::new(), "{spec}");
    sum / f64::from(sent)
}

/// Without a reason to signal it behaves like M/D/1: the mean wait is rho / (2 mu (1 - rho)).
#[test]
fn unloaded_disciplines_wait_as_m_d_1() {
    let rho = 0.5;
    let expected = rho / (2.0 * 1000.0 * (1.0 - rho));
    for spec in UNLOADED {
        let got = mean_wait(spec, rho, 200_000);
        // Successive waits are correlated: 200000 of them have a standard error of about 1 %.
        assert!((got / expected - 1.0).abs() < 0.03, "{spec}: {got} s, expected {expected} s");
    }
}
