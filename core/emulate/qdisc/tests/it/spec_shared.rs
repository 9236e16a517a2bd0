//! The text form of the disciplines that share between flows or contain other disciplines.
use fathom_qdisc::Spec;

/// A text, and what is written back.
const TEXTS: &[(&str, &str)] = &[
    ("tbf limit 64kb burst 3kb rate 8mbit", "tbf rate 8000000bit burst 3072b limit 65536b"),
    // 8 Mbit/s carry 100000 bytes in 100 ms.
    ("tbf rate 8mbit burst 2000b latency 100ms", "tbf rate 8000000bit burst 2000b limit 102000b"),
    // The peak rate gives the smaller limit: 200000 + 1000 bytes.
    (
        "tbf rate 16mbit burst 2000b latency 100ms peakrate 16000001bit mtu 1000b",
        "tbf rate 16000000bit burst 2000b peakrate 16000001bit mtu 1000b limit 201000b",
    ),
    (
        "tbf rate 8mbit burst 2000b { tbf rate 4mbit burst 2000b { fifo limit 5p } }",
        "tbf rate 8000000bit burst 2000b { tbf rate 4000000bit burst 2000b { fifo limit 5p } }",
    ),
    (
        "htb default 1 class 1 rate 20mbit burst 1600b cburst 1600b",
        "htb default 1 class 1 rate 20000000bit ceil 20000000bit burst 1600b cburst 1600b prio 0 quantum 200000b { fifo limit 1000p }",
    ),
    // 1 Mbit/s / 8 / 20 is 6250 bytes; 1 kbit/s would give less than 1000.
    (
        "htb r2q 20 class 7 ceil 5mbit rate 1mbit class 9 prio 3 rate 1kbit parent 7 match dscp 46 match flow 3..9 { fifo limit 1p } match ect1",
        "htb default 0 class 7 rate 1000000bit ceil 5000000bit burst 1600b cburst 1600b prio 0 quantum 6250b class 9 parent 7 rate 1000bit ceil 1000bit burst 1600b cburst 1600b prio 3 quantum 1000b match dscp 46 match flow 3..9 match ect1 { fifo limit 1p }",
    ),
    ("drr quantum 300b", "drr limit 1000p flows 1024 quantum 300b"),
    ("rfc970 ttl 255s", "rfc970 limit 1000p ttl 255s"),
    ("switch memory 4mb rate 1gbit ports 4", "switch ports 4 rate 1000000000bit memory 4194304b alpha 1"),
    (
        "switch ports 24 rate 10gbit memory 9mb alpha 0.0625",
        "switch ports 24 rate 10000000000bit memory 9437184b alpha 0.0625",
    ),
    ("switch ports 2 rate 1mbit memory 64kb shared", "switch ports 2 rate 1000000bit memory 65536b shared"),
    ("switch ports 2 rate 1mbit memory 64kb static", "switch ports 2 rate 1000000bit memory 65536b static"),
    ("sfq", "sfq limit 127p depth 127p divisor 1024 flows 128 quantum 1514b"),
    (
        "sfq headdrop perturb 10s divisor 64 flows 7 depth 3p limit 9p quantum 300b",
        "sfq limit 9p depth 3p divisor 64 flows 7 quantum 300b perturb 10s headdrop",
    ),
    (
        "fq_pie",
        "fq_pie limit 10240p flows 1024 quantum 1514b target 15ms tupdate 15ms alpha 2 beta 20 ecn_prob 0.1 noecn nobytemode no_dq_rate_estimator",
    ),
    (
        "fq_pie ecn ecn_prob 50% bytemode dq_rate_estimator flows 3",
        "fq_pie limit 10240p flows 3 quantum 1514b target 15ms tupdate 15ms alpha 2 beta 20 ecn_prob 0.5 ecn bytemode dq_rate_estimator",
    ),
    (
        "fq",
        "fq limit 10000p flow_limit 100p flows 1024 quantum 3028b initial_quantum 15140b refill_delay 40ms",
    ),
];

#[test]
fn texts_and_their_canonical_form() {
    for (text, written) in TEXTS {
        let spec: Spec = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(spec.to_string(), *written, "{text}");
        assert_eq!(written.parse(), Ok(spec), "{text}");
    }
}

const REFUSALS: &[(&str, &str)] = &[
    ("tbf rate 8mbit limit 5kb", "tbf requires \"burst\" with a value"),
    ("tbf rate 8mbit burst 5kb", "tbf requires \"limit\" with a value"),
    (
        "tbf rate 8mbit burst 5kb limit 5kb latency 5ms",
        "tbf accepts only one of \"limit\", \"latency\" and a queue in braces",
    ),
    ("tbf rate 8mbit burst 5kb limit 5kb peakrate 9mbit", "tbf requires \"mtu\" with a value"),
    (
        "tbf rate 8mbit burst 5kb limit 5kb peakrate 8mbit mtu 2kb",
        "invalid peakrate \"8000000bit\" (expected more than the rate)",
    ),
    ("tbf rate 8mbit burst 5kb { fifo limit 3p", "\"}\" after \"{\" is missing"),
    ("tbf rate 8mbit burst 5kb { fifo limit 3p } limit", "\"limit\" needs a value"),
    (
        "tbf rate 8mbit burst 5kb { fifo }",
        "fifo requires a limit (such as \"fifo limit 256p\" or \"fifo limit 64kb\")",
    ),
    (
        "tbf rate 8mbit burst 5kb fq_codel",
        "unknown parameter \"fq_codel\" of tbf (known: rate, burst, limit, latency, peakrate, mtu, {)",
    ),
    ("htb", "htb requires \"class\" with a value"),
    ("htb rate 8mbit", "htb requires \"class\" with a value"),
    ("htb class 1", "htb class requires \"rate\" with a value"),
    ("htb class 0 rate 8mbit", "invalid class \"0\" (expected a number from 1 to 65535)"),
    (
        "htb class 1 rate 8mbit class 1 rate 8mbit",
        "invalid class \"1\" (expected a unique number, and at most 1024 classes)",
    ),
    ("htb class 1 rate 8mbit ceil 4mbit", "invalid ceil \"4000000bit\" (expected at least the rate)"),
    (
        "htb class 1 rate 8mbit class 2 parent 3 rate 4mbit class 3 rate 5mbit",
        "invalid parent \"3\" (expected a class listed before this one, with at most 7 levels above)",
    ),
    (
        "htb class 1 rate 8mbit { fifo limit 2p } class 2 parent 1 rate 4mbit",
        "invalid class \"1\" (expected no \"match\" and no queue in a class with child classes)",
    ),
    (
        "htb default 1 class 1 rate 8mbit class 2 parent 1 rate 4mbit",
        "invalid default \"1\" (expected 0 or a leaf class)",
    ),
    ("htb class 1 rate 8mbit match port 5", "invalid match \"port\" (expected dscp, flow or ect1)"),
    (
        "htb class 1 rate 8mbit match flow 9..3",
        "invalid flow \"9..3\" (expected numbers below 1024 such as 0..511)",
    ),
    ("drr quantum 255b", "invalid quantum \"255b\" (expected 256b or more)"),
    ("switch ports 4 rate 1gbit", "switch requires \"memory\" with a value"),
    ("switch memory 4mb", "switch requires \"ports\" with a value"),
    ("switch ports 0 rate 1gbit memory 4mb", "invalid ports \"0\" (expected a whole number from 1 to 1024)"),
    (
        "switch ports 4 rate 1gbit memory 4mb alpha 0",
        "invalid alpha \"0\" (expected a number above 0 and at most 1024)",
    ),
    (
        "switch ports 4 rate 1gbit memory 4mb alpha nan",
        "invalid alpha \"nan\" (expected a number above 0 and at most 1024)",
    ),
    (
        "switch ports 4 rate 1gbit memory 4mb alpha 2 shared",
        "invalid shared \"shared\" (expected one of alpha, shared and static)",
    ),
    ("sfq divisor 1000", "invalid divisor \"1000\" (expected a power of two up to 65536)"),
    ("sfq depth 128p", "invalid depth \"128\" (expected at most 127p)"),
    ("fq_pie ecn_prob 10", "ecn_prob: ratio \"10\" has no unit (did you mean \"10%\"?)"),
    ("rfc970 flows 3", "unknown parameter \"flows\" of rfc970 (known: limit, ttl)"),
];

#[test]
fn errors_name_the_parameter() {
    for (text, refusal) in REFUSALS {
        let error = text.parse::<Spec>().expect_err(text);
        assert_eq!(error.to_string(), *refusal, "{text}");
    }
}

#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| {
        let open = "tbf rate 1mbit burst 2000b { ".repeat(depth);
        format!("{open}fifo limit 1p{}", " }".repeat(depth)).parse::<Spec>()
    };
    assert!(nested(8).is_ok());
    let error = nested(9).expect_err("9").to_string();
    assert_eq!(error, "invalid queue \"{\" (expected at most 8 nested disciplines)");
    assert!(nested(1000).is_err());
}
