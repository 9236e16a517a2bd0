//! Errors in scenario files: line numbers and messages.
use fathom_scenario::parse;
use fathom_units::{Bytes, Duration, Ratio};

/// Line 9 is `up`, line 10 `down`; lines 12 to 15 are the load; lines 17 and 18 the expectations.
const GOOD: &str = r#"
name = "home"
about = "A test"
source = "None"

[[hop]]
name = "access"
# Up and down:
up = { rate = "3mbit", delay = "10ms", queue = "fifo limit 375000b" }
down = { rate = "50mbit", delay = "10ms", loss = "1%" }
[load]
up_flows = 1
down_flows = 2
congestion_control = "reno"
duration = "20s"
[expect]
idle_latency = ["20ms", "30ms"]
max_working_latency = ["900ms", "1050ms"]
"#;

#[test]
fn a_complete_file_is_parsed() {
    let plan = parse(GOOD, "home.toml").unwrap();
    assert_eq!((plan.name.as_str(), plan.line.hops.len()), ("home", 1));
    let hop = &plan.line.hops[0];
    assert_eq!(hop.up.nominal_rate().unwrap().as_bits_per_second(), 3_000_000);
    assert_eq!(hop.up.queue.to_string(), "fifo limit 375000b");
    assert_eq!(hop.down.impairment.loss, Ratio(0.01));
    // Defaults: the packet length of tc, the queue of Linux.
    assert_eq!(hop.down.overhead, Bytes(14));
    assert_eq!(hop.down.queue.to_string(), "fifo limit 1000p");
    let load = plan.load.as_ref().unwrap();
    assert_eq!((load.up_flows, load.down_flows, load.congestion_control.as_str()), (1, 2, "reno"));
    assert!(plan.expect.idle_latency.unwrap().contains(Duration::from_millis(30)));
    assert_eq!(plan.line.propagation(), Duration::from_millis(20));
}

#[test]
fn errors_give_line_and_reason() {
    // Text to replace, replacement, expected error.
    let table = [
        (
            "\"3mbit\"",
            "3",
            "home.toml:9: rate: rate \"3\" has no unit (did you mean \"3Mbit\" or \"3Kbit\"?)",
        ),
        (
            "delay = \"10ms\", loss",
            "delay = \"10\", loss",
            "home.toml:10: delay: duration \"10\" has no unit (did you mean \"10ms\" or \"10s\"?)",
        ),
        (
            "fifo limit 375000b",
            "fifo limit 64",
            "home.toml:9: queue: invalid limit \"64\" (expected an amount above 0 such as 256p, 375000b, 64kb or 100ms)",
        ),
        (
            "fifo limit 375000b",
            "fastest",
            "home.toml:9: queue: unknown queue discipline \"fastest\" (known: fifo, codel, fq_codel, ",
        ),
        (
            "\"3mbit\"",
            "\"0mbit\"",
            "home.toml:9: rate: invalid value \"0mbit\" (expected a rate above 0 and at most 1Tbit; leave it out for a link without serialization delay)",
        ),
        (
            "\"20s\"",
            "\"2000min\"",
            "home.toml:15: duration: invalid value \"2000min\" (expected at most 1 hour)",
        ),
        ("\"20s\"", "\"0s\"", "home.toml:11: duration: the load lasts 0 (leave out [load])"),
        ("loss = \"1%\"", "loss = \"101%\"", "home.toml:10: loss: ratio \"101%\" is too large"),
        (
            "loss = \"1%\"",
            "overhead = \"1kb\"",
            "home.toml:10: overhead: invalid value \"1kb\" (expected an overhead per packet of at most 256b)",
        ),
        (
            "loss = \"1%\"",
            "reorder = \"1%\"",
            "home.toml:10: reorder and reorder_delay require each other (for example reorder = \"1%\", reorder_delay = \"5ms\")",
        ),
        (
            "congestion_control = \"reno\"",
            "congestion_control = \"re no\"",
            "home.toml:14: invalid congestion_control \"re no\" (expected 1 to 15 letters, digits, \"-\", \"_\" and \".\")",
        ),
        (
            "up_flows = 1\ndown_flows = 2",
            "up_flows = 0\n",
            "home.toml:11: up_flows = 0, down_flows = 0: out of range (expected 1 to 1024 in at least one of them)",
        ),
        (
            "[\"20ms\", \"30ms\"]",
            "[\"30ms\", \"20ms\"]",
            "home.toml:17: 30ms exceeds 20ms (expected [minimum, maximum])",
        ),
        (
            "name = \"home\"",
            "name = \"\"",
            "home.toml:2: invalid name \"\" (expected 1 to 64 letters, digits, \"-\", \"_\" and \".\")",
        ),
    ];
    for (from, to, message) in table {
        assert!(GOOD.contains(from), "{from}");
        let error = parse(&GOOD.replacen(from, to, 1), "home.toml").expect_err(to);
        // A list of known values may continue after the expected text.
        assert!(error.to_string().starts_with(message), "{error}\n{message}");
    }
}

#[test]
fn misspelled_fields_are_rejected_with_a_suggestion() {
    for (from, to, line, guess) in [
        ("loss =", "los =", 10, "loss"),
        ("up_flows", "up_flow", 12, "up_flows"),
        ("[expect]", "[expects]", 16, "expect"),
        ("rate = \"3mbit\"", "rates = \"3mbit\"", 9, "rate"),
    ] {
        let error = parse(&GOOD.replacen(from, to, 1), "home.toml").expect_err(to);
        assert_eq!(error.line, line, "{error}");
        assert!(error.what.contains(&format!("did you mean `{guess}`?")), "{error}");
    }
    let error = parse(&GOOD.replacen("loss =", "bandwidth =", 1), "home.toml").unwrap_err();
    assert!(
        error.what.starts_with("unknown field `bandwidth`") && !error.what.contains("did you"),
        "{error}"
    );
}

#[test]
fn invalid_toml_and_missing_parts_are_rejected() {
    for (text, part) in [
        ("", "missing field `name`"),
        ("name = \"a\"\nname = \"b\"", "duplicate key"),
        ("name = ", "value"),
        ("\u{0}", ""),
    ] {
        let error = parse(text, "x.toml").expect_err(text).to_string();
        assert!(error.contains(part) && !error.contains('\n'), "{error}");
    }
    let without_hops = &GOOD[..GOOD.find("[[hop]]").unwrap()];
    let error = parse(&format!("{without_hops}\nhop = []"), "x.toml").unwrap_err();
    assert_eq!(error.to_string(), "x.toml:7: the line has 0 hops (expected 1 to 32)");
    let hop = "[[hop]]\nname = \"h\"\nup = { delay = \"0ms\" }\ndown = { delay = \"0ms\" }\n";
    assert!(parse(&format!("{without_hops}{}", hop.repeat(32)), "x.toml").is_ok());
    assert!(parse(&format!("{without_hops}{}", hop.repeat(33)), "x.toml").is_err());
    assert!(parse(&"#".repeat(2_000_000), "x.toml").unwrap_err().what.contains("more than the limit"));
}
