//! Shapers on a link without a rate: how much they send, and when.
use crate::common::{Log, TestPacket, build, packet};
use fathom_qdisc::{AnyQdisc, Qdisc};
use fathom_units::{Bytes, Duration, Rate, Rng, Time};

/// Packets and when they left.
pub(crate) type Departures = Vec<(Time, TestPacket)>;

/// Dequeues at the times that the queue asks for, until `end`.
pub(crate) fn serve(queue: &mut AnyQdisc<TestPacket>, from: Time, end: Time, out: &mut Departures) {
    let (mut now, mut log) = (from, Log::default());
    loop {
        while let Some((packet, _)) = queue.dequeue(now, &mut log) {
            out.push((now, packet));
        }
        match queue.next_ready(now) {
            Some(next) if next <= end => {
                assert!(next > now, "nothing is ready at {now}, and so it says");
                now = next;
            }
            Some(_) => return,
            None => {
                assert_eq!(queue.backlog().packets, 0, "it stalls at {now}");
                return;
            }
        }
    }
}

/// Bursts of mixed sizes with pauses between them, at an average load of `share` times `rate`.
fn departures(spec: &str, rate: Rate, share: f64, seed: u64) -> Departures {
    let (mut queue, mut rng, mut out) = (build(spec), Rng::new(seed), vec![]);
    let (mut now, mut log) = (Time::ZERO, Log::default());
    for burst in 0..60_u64 {
        let mut bytes = 0;
        for number in 0..=rng.below(20) {
            let len = [60, 500, 1000, 1200][rng.below(4) as usize];
            bytes += len;
            queue.enqueue(packet(burst * 100 + number, rng.below(3), len), now, &mut log);
        }
        let pause = rate.serialization_time(Bytes(bytes)).as_secs_f64() / share * 2.0 * rng.next_f64();
        let next = now + Duration::from_secs_f64(pause);
        serve(&mut queue, now, next, &mut out);
        now = next;
    }
    serve(&mut queue, now, Time::MAX, &mut out);
    out
}

/// Fails if more than `burst` + `rate` t leaves in any window of length t.
fn assert_conforms(out: &Departures, rate: Rate, burst: Bytes, place: &str) {
    for (first, (start, _)) in out.iter().enumerate() {
        let mut bits = 0_u128;
        for (end, packet) in &out[first..] {
            bits += u128::from(packet.len.get()) * 8;
            let nanos = u128::from((*end - *start).as_nanos());
            // In units of 10^-9 bit, which is exact.
            let allowed =
                u128::from(burst.get()) * 8_000_000_000 + u128::from(rate.as_bits_per_second()) * nanos;
            assert!(bits * 1_000_000_000 <= allowed, "{place}: {bits} bits from {start} to {end}");
        }
    }
}

#[test]
fn no_window_sees_more_than_burst_and_rate() {
    let (rate, peak) = (Rate::from_bits_per_second(3_000_001), Rate::from_bits_per_second(7_000_003));
    for queue in ["limit 90000b", "{ fq_codel }", "{ sfb }"] {
        for seed in 0..20 {
            for share in [0.5, 0.9, 1.5] {
                let plain = format!("tbf rate 3000001bit burst 5000b {queue}");
                let place = format!("{plain}, seed {seed}, share {share}");
                let out = departures(&plain, rate, share, seed);
                assert!(out.len() > 300, "{place}");
                assert_conforms(&out, rate, Bytes(5000), &place);
                let with_peak =
                    departures(&format!("{plain} peakrate 7000003bit mtu 1200b"), rate, share, seed);
                assert_conforms(&with_peak, rate, Bytes(5000), &place);
                assert_conforms(&with_peak, peak, Bytes(1200), &place);
            }
        }
    }
}

/// A million full packets at an odd rate: rounding each by a nanosecond would be 0.025 %.
#[test]
fn a_long_run_keeps_the_rate_to_a_packet() {
    let rate = Rate::from_bits_per_second(2_999_999_929);
    let mut queue = build("tbf rate 2999999929bit burst 3028b limit 3000000000b");
    let (mut out, mut log) = (vec![], Log::default());
    (0..1_000_000).for_each(|_| queue.enqueue(packet("", 0, 1514), Time::ZERO, &mut log));
    serve(&mut queue, Time::ZERO, Time::MAX, &mut out);
    let bits = 999_998 * 1514 * 8_u128;
    let exact = (bits * 1_000_000_000).div_ceil(u128::from(rate.as_bits_per_second()));
    assert_eq!(u128::from(out.last().unwrap().0.saturating_since(Time::ZERO).as_nanos()), exact);
}
