//! The rate is exact.
use crate::common::at;
use fathom_link::Serializer;
use fathom_units::{Bytes, Rate, Rng, Time};

#[test]
fn times_by_table() {
    // Rate, start, bytes, last bit. 1500 bytes at 12 Mbit/s take 1 ms.
    let table = [
        (
            "12mbit",
            [("0ms", 1500, "1ms"), ("0ms", 1500, "2ms"), ("5ms", 1500, "6ms"), ("5.5ms", 750, "6.5ms")],
        ),
        // A third of a nanosecond is carried over: 1 byte at 24 Gbit/s takes 1/3 ns.
        ("24gbit", [("0ns", 1, "0ns"), ("0ns", 1, "0ns"), ("0ns", 1, "1ns"), ("0ns", 6, "3ns")]),
        // But not over a pause: a packet that starts later starts at a whole nanosecond.
        ("24gbit", [("0ns", 1, "0ns"), ("9ns", 2, "9ns"), ("9ns", 1, "10ns"), ("20ns", 5, "21ns")]),
    ];
    for (rate, sends) in table {
        let mut serializer = Serializer::new(Some(rate.parse().unwrap()));
        for (start, bytes, end) in sends {
            assert_eq!(serializer.send(Bytes(bytes), at(start)), at(end), "{rate}, {bytes} bytes at {start}");
        }
    }
}

#[test]
fn no_rate_takes_no_time() {
    let mut serializer = Serializer::new(None);
    assert_eq!(serializer.send(Bytes(u64::MAX), at("3ms")), at("3ms"));
    assert_eq!(serializer.free_at(), at("3ms"));
}

#[test]
#[should_panic(expected = "0 bit/s")]
fn a_rate_of_zero_is_refused() {
    let _ = Serializer::new(Some(Rate::from_bits_per_second(0)));
}

#[test]
fn a_million_packets_back_to_back_keep_the_rate_to_the_nanosecond() {
    let mut rng = Rng::new(3);
    // Rates that do not divide evenly.
    for rate in [56_000, 2_999_999, 30_000_000, 999_999_937, 7_000_000_001] {
        let mut serializer = Serializer::new(Some(Rate::from_bits_per_second(rate)));
        let (mut bits, mut end) = (0_u128, Time::ZERO);
        for _ in 0..1_000_000 {
            let len = 60 + rng.below(1455);
            bits += u128::from(len) * 8;
            end = serializer.send(Bytes(len), Time::ZERO);
        }
        let exact = bits * 1_000_000_000 / u128::from(rate);
        assert_eq!(u128::from(end.as_nanos()), exact, "{rate} bit/s");
    }
}
