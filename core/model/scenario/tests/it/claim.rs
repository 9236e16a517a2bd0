//! Claims and their calculations.
use fathom_scenario::{Arithmetic, Plan, ScenarioError, parse};

fn plan(claim: &str) -> Result<Plan, ScenarioError> {
    let line = "name = \"x\"\nabout = \"x\"\nsource = \"x\"\n[[hop]]\nname = \"a\"\nup = { delay = \"1ms\" }\n\
                down = { delay = \"1ms\" }\n[[claim]]\nsays = \"x\"\n";
    parse(&format!("{line}{claim}"), "x.toml")
}

#[test]
fn sums() {
    let table = [
        // Arista's 9 GiB at 10 Gbit/s: 7.7 s. Its 777 s at 100 Mbit/s would be 9.7 GB.
        ("9gb at 10gbit", 7.730_941_132_8),
        ("256p of 1514b at 10mbit", 0.310_067_2),
        ("100000b at 10mbit", 0.08),
        ("5000000000b filled by 1010mbit into 1gbit", 4000.0),
    ];
    for (text, seconds) in table {
        let sum: Arithmetic = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!((sum.seconds() / seconds - 1.0).abs() < 1e-9, "{text}: {}", sum.seconds());
    }
    for text in
        ["", "9gb", "9gb by 10gbit", "9 at 10gbit", "5gb filled by 1gbit into 1gbit", "1p of 1b at 0bit"]
    {
        assert!(text.parse::<Arithmetic>().is_err(), "{text}");
    }
}

#[test]
fn bounds_have_the_unit_of_the_metric() {
    let measured = |measure: &str, expected: &str| {
        plan(&format!("measure = \"{measure}\"\nexpected = {expected}\n")).map(|p| p.claims[0].expected)
    };
    assert_eq!(measured("udp_rtt_s max", "[\"1s\", \"1200ms\"]"), Ok([1.0, 1.2]));
    assert_eq!(measured("udp_rtt_s lost", "[\"41%\", 0.43]"), Ok([0.41, 0.43]));
    assert_eq!(measured("goodput_bits_per_second up mean", "[\"1mbit\", \"2mbit\"]"), Ok([1e6, 2e6]));
    assert_eq!(measured("queue_drops_packets up last", "[0, 12]"), Ok([0.0, 12.0]));
    for (measure, expected, word) in [
        ("udp_rtt_s max", "[1, 2]", "has no unit"),
        ("udp_rtt_s max", "[\"2s\", \"1s\"]", "[minimum, maximum]"),
        ("udp_rtt_s max", "[\"1mbit\", \"2s\"]", "1mbit"),
        ("udp_rtt_s biggest", "[\"1s\", \"2s\"]", "biggest"),
    ] {
        let error = measured(measure, expected).expect_err(expected);
        assert!(error.what.contains(word) && error.line >= 8, "{error}");
    }
}

#[test]
fn a_claim_has_one_check() {
    assert!(plan("expected = [\"1s\", \"2s\"]\n").is_err());
    let both = "measure = \"udp_rtt_s max\"\narithmetic = \"9gb at 10gbit\"\nexpected = [\"1s\", \"2s\"]\n";
    assert!(plan(both).is_err());
}
