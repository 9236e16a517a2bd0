//! Complete answers, in tables.
use fathom_size::{Answer, Question, Unknown};

fn answer(line: &str) -> Answer {
    let question: Question = line.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
    question.answer().unwrap_or_else(|e| panic!("{line}: {e}"))
}

#[test]
fn the_missing_quantity_is_calculated() {
    // Question, calculated quantity, buffer in bytes, rate in bit/s, delay in microseconds.
    let cases = [
        ("256p 10mbit", Unknown::Delay, 387_584, 10_000_000, 310_067),
        ("10mbit 20ms", Unknown::Buffer, 25_000, 10_000_000, 20_000),
        ("375000b 300ms", Unknown::Rate, 375_000, 10_000_000, 300_000),
        ("1gbit 100ms --flows 10000", Unknown::Buffer, 125_000, 1_000_000_000, 1_000),
        ("125000b 1gbit --flows 10000", Unknown::RoundTrip, 125_000, 1_000_000_000, 1_000),
        ("125000b 1gbit 100ms", Unknown::Flows, 125_000, 1_000_000_000, 1_000),
        ("125000b 100ms --flows 10000", Unknown::Rate, 125_000, 1_000_000_000, 1_000),
        ("1gbit --overload 1% --fill 4000s", Unknown::Buffer, 5_000_000_000, 1_000_000_000, 40_000_000),
        ("500000b --overload 10% --fill 4s", Unknown::Rate, 500_000, 10_000_000, 400_000),
    ];
    for (line, found, buffer, rate, micros) in cases {
        let got = answer(line);
        let delay = got.delay.as_nanos() / 1_000;
        let all = (got.found, got.buffer.0, got.rate.as_bits_per_second(), delay);
        assert_eq!(all, (found, buffer, rate, micros), "{line}");
    }
}

#[test]
fn buffer_that_tcp_needs() {
    // Question, round-trip time in milliseconds, bytes in flight, flows.
    let cases = [
        ("1gbit 100ms --flows 10000", 100, 12_500_000, 10_000.0),
        ("125000b 1gbit --flows 10000", 100, 12_500_000, 10_000.0),
        ("125000b 1gbit 100ms", 100, 12_500_000, 10_000.0),
        ("25000b 10mbit 10ms", 10, 12_500, 0.25),
    ];
    for (line, millis, bdp, flows) in cases {
        let needs = answer(line).needs.expect(line);
        let round_trip = needs.round_trip.as_nanos() / 1_000_000;
        assert_eq!((round_trip, needs.bdp.0, needs.flows), (millis, bdp, flows), "{line}");
    }
    assert!(answer("256p 10mbit").needs.is_none());
}

#[test]
fn fill_time_of_the_buffer() {
    // Question, overload in thousandths, bytes per second, seconds until the buffer is full.
    let cases = [
        ("40s 1gbit --overload 1%", 10.0, 1_250_000.0, 4_000.0),
        ("340ms 100mbit --arriving 110mbit", 100.0, 1_250_000.0, 3.4),
        ("340ms 100mbit --fill 3.4s", 100.0, 1_250_000.0, 3.4),
        ("340ms 100mbit 10%", 100.0, 1_250_000.0, 3.4),
        ("1s 10mbit --arriving 40mbit", 3_000.0, 3_750_000.0, 1.0 / 3.0),
    ];
    for (line, thousandths, each, seconds) in cases {
        let growth = answer(line).growth.expect(line);
        let got = [growth.overload * 1e3, growth.bytes_per_second, growth.fill.as_secs_f64()];
        for (value, want) in got.into_iter().zip([thousandths, each, seconds]) {
            assert!((value - want).abs() < want * 1e-6, "{line}: {value} for {want}");
        }
    }
}

#[test]
fn a_packet_on_the_line() {
    // Question, packet size on the line in bytes, delay in microseconds.
    let cases = [
        ("100p 10mbit", 1514, 121_120),
        ("100p 10mbit --overhead 24b", 1538, 123_040),
        // 1500 + 8 of AAL5 and further headers add up to 1532 bytes: 32 cells.
        ("100p 10mbit --packet 1500b --overhead 32b --atm", 1696, 135_680),
        ("100p 10mbit --packet 48b --atm", 53, 4_240),
        ("100p 10mbit --packet 49b --atm", 106, 8_480),
        // A buffer in bytes holds packets without the overhead of the line.
        ("151400b 10mbit --overhead 24b", 1538, 123_040),
    ];
    for (line, on_line, micros) in cases {
        let got = answer(line);
        assert_eq!((got.framing.on_line().0, got.delay.as_nanos() / 1_000), (on_line, micros), "{line}");
    }
}
