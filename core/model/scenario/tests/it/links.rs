//! Every kind of link in a file, and the errors for invalid ones.
use fathom_link::{CellularRate, Trace, TransmitterParams};
use fathom_scenario::{HopPlan, Plan, ScenarioError, TRACE_NAMES, parse, parse_with_files};
use fathom_units::{Bytes, Duration};

/// The sides are in lines 6 and 7, `rest` is in line 8.
fn text(up: &str, down: &str, rest: &str) -> String {
    let head = "name = \"x\"\nabout = \"x\"\nsource = \"x\"\n[[hop]]\nname = \"a\"\n";
    format!(
        "{head}up = {{ delay = \"1ms\"{up} }}\ndown = {{ delay = \"1ms\"{down} }}\n{rest}\n[load]\nup_flows = 1\n"
    )
}
fn files(name: &str) -> Result<String, String> {
    match name {
        "lte.trace" => Ok("0s 20mbit\n12.5s 0bit\n30s loop\n".to_owned()),
        "mahimahi.trace" => Ok("1\n2\n3\n".to_owned()),
        "broken.trace" => Ok("0s 20mbit\n# a comment\n12.5s fast\n".to_owned()),
        _ => Err("no such file".to_owned()),
    }
}
fn plan(up: &str, down: &str, rest: &str) -> Result<Plan, ScenarioError> {
    parse_with_files(&text(up, down, rest), "x.toml", &files)
}
fn hop(up: &str, down: &str, rest: &str) -> HopPlan {
    plan(up, down, rest).unwrap_or_else(|error| panic!("{up}: {error}")).line.hops.remove(0)
}
fn sends(up: &str) -> TransmitterParams {
    hop(up, "", "").up.transmitter
}

#[test]
fn every_link_kind_is_parsed() {
    assert_eq!(sends(""), TransmitterParams::Fixed(None));
    let TransmitterParams::Boost(boost) =
        sends(", rate = \"20mbit\", boost = { rate = \"100mbit\", bucket = \"10mb\" }")
    else {
        panic!("boost")
    };
    assert_eq!((boost.sustained, boost.peak), ("20mbit".parse().unwrap(), "100mbit".parse().unwrap()));
    assert_eq!(boost.bucket, Bytes(10 << 20));
    assert!(matches!(sends(", trace = \"lte.trace\""), TransmitterParams::Trace(Trace::Rates(_))));
    assert!(matches!(
        sends(", trace = \"mahimahi.trace\""),
        TransmitterParams::Trace(Trace::Opportunities(_))
    ));
    let hop = hop("", "", "half_duplex = true");
    assert!(hop.half_duplex);
}

#[test]
fn radio_parameters_are_parsed() {
    let side = ", wifi = { phy = \"300mbit\", stations = 3, error = \"1%\", aggregate = 16, aggregate_airtime = \"4ms\" }";
    let hop = hop(side, side, "");
    let TransmitterParams::Wifi(wifi) = &hop.up.transmitter else { panic!("wifi") };
    assert!(hop.half_duplex && hop.up.transmitter == hop.down.transmitter);
    assert_eq!((wifi.stations, wifi.error.0, wifi.station_phy), (3, 0.01, wifi.phy));
    assert_eq!((wifi.aggregate.packets, wifi.aggregate.airtime), (16, Duration::from_millis(4)));
    let cellular = sends(
        ", cellular = { tti = \"2ms\", grant = \"8ms\", harq = \"10%\", low = \"1mbit\", high = \"40mbit\", \
         outage_every = \"60s\", outage = \"5s\" }",
    );
    let TransmitterParams::Cellular(cellular) = cellular else { panic!("cellular") };
    assert_eq!((cellular.tti, cellular.grant), (Duration::from_millis(2), Duration::from_millis(8)));
    assert_eq!(cellular.outages.unwrap().length, Duration::from_secs(5));
    let traced = sends(", trace = \"lte.trace\", cellular = { harq = \"1%\" }");
    let TransmitterParams::Cellular(traced) = traced else { panic!("cellular") };
    assert!(matches!(traced.rate, CellularRate::Trace(_)));
}

#[test]
fn loss_bursts_are_parsed() {
    let burst =
        hop(", loss_burst = { enter = \"1%\", leave = \"25%\" }", "", "").up.impairment.burst.unwrap();
    assert_eq!((burst.enter.0, burst.leave.0, burst.loss.0), (0.01, 0.25, 1.0));
}

#[test]
fn built_in_traces_are_read_without_files() {
    for name in TRACE_NAMES {
        let scenario = text(&format!(", trace = \"{name}\""), "", "");
        assert!(parse(&scenario, "x.toml").is_ok(), "{name}");
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scenarios/traces");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), TRACE_NAMES.len());
}

#[test]
fn invalid_values_are_rejected_with_their_line() {
    let cell = |keys: &str| format!(", cellular = {{ low = \"1mbit\", high = \"4mbit\"{keys} }}");
    let wifi = |keys: &str| format!(", wifi = {{ phy = \"65mbit\"{keys} }}");
    let table = [
        (
            ", rate = \"1mbit\", trace = \"lte.trace\"".into(),
            "x.toml:6: trace: the rate is already given by rate",
        ),
        (
            ", rate = \"1mbit\"".to_owned() + &cell(""),
            "x.toml:6: cellular: the rate is already given by rate",
        ),
        (", rate = \"1mbit\"".to_owned() + &wifi(""), "x.toml:6: wifi: the rate is already given by rate"),
        (
            ", trace = \"lte.trace\"".to_owned() + &cell(""),
            "x.toml:6: low and high: the rate is already given",
        ),
        (
            ", trace = \"mahimahi.trace\", cellular = {}".into(),
            "x.toml:6: trace: a trace already contains the timing (omit cellular)",
        ),
        (", rate = \"0mbit\"".into(), "x.toml:6: rate: invalid value \"0mbit\""),
        (", boost = { rate = \"1mbit\", bucket = \"1mb\" }".into(), "x.toml:6: boost: rate is missing"),
        (
            ", rate = \"2mbit\", boost = { rate = \"1mbit\", bucket = \"1mb\" }".into(),
            "x.toml:6: boost: rate = 1Mbit is not above the rate 2Mbit of the link",
        ),
        (", trace = \"none.trace\"".into(), "x.toml:6: trace: \"none.trace\": no such file"),
        (
            ", trace = \"nosuch\"".into(),
            "x.toml:6: trace: \"nosuch\": unknown built-in trace (known: codel-nomadic",
        ),
        (
            ", trace = \"../lte.trace\"".into(),
            "x.toml:6: trace: \"../lte.trace\": expected a file in the folder",
        ),
        (", trace = \"broken.trace\"".into(), "broken.trace:3: invalid rate \"fast\""),
        (", cellular = {}".into(), "x.toml:6: cellular: expected low and high"),
        (cell(", tti = \"3ms\""), "x.toml:6: tti: invalid value 3ms (expected 1ms for LTE"),
        (cell(", harq = \"95%\""), "x.toml:6: harq: invalid value 95% (expected 0% to 90%)"),
        (cell(", outage = \"5s\""), "x.toml:6: outage_every and outage require each other"),
        (
            cell(", outage_every = \"1s\", outage = \"0s\""),
            "x.toml:6: outage: invalid value 0ns (expected 1ms to",
        ),
        (
            ", cellular = { low = \"4mbit\", high = \"1mbit\" }".into(),
            "x.toml:6: high: 1Mbit is below low = 4Mbit",
        ),
        (", cellular = { low = \"1bit\", high = \"1mbit\" }".into(), "x.toml:6: low: invalid value 1bit"),
        (cell(", grnt = \"1ms\""), "x.toml:6: unknown field `grnt`"),
        (wifi(""), "x.toml:5: wifi: both directions share the medium"),
        (wifi(", stations = 33"), "x.toml:6: stations: invalid value 33 (expected 0 to 32)"),
        (wifi(", aggregate = 65"), "x.toml:6: aggregate: invalid value 65 (expected 1 to 64)"),
        (wifi(", aggregate_bytes = \"2mb\""), "x.toml:6: aggregate_bytes: invalid value 2.097152MB"),
        (
            ", wifi = { phy = \"1kbit\" }".into(),
            "x.toml:6: phy: invalid value 1Kbit (expected 1Mbit to 1Tbit)",
        ),
        (", loss_burst = { enter = \"0%\", leave = \"1%\" }".into(), "x.toml:6: enter: invalid value 0%"),
        (", loss_burst = { enter = \"1%\" }".into(), "x.toml:6: loss_burst: missing field `leave`"),
    ];
    for (up, message) in table {
        let error = plan(&up, "", "").expect_err(&up).to_string();
        assert!(error.starts_with(message), "{up}: {error}");
    }
    assert!(plan(&cell(", grnt = \"1ms\""), "", "").unwrap_err().what.contains("did you mean `grant`"));
}

#[test]
fn both_sides_of_one_medium_must_agree() {
    let (few, many) = (", wifi = { phy = \"65mbit\" }", ", wifi = { phy = \"65mbit\", stations = 2 }");
    let refused = |plan: Result<Plan, ScenarioError>, message: &str| {
        let error = plan.expect_err(message).to_string();
        assert!(error.starts_with(message), "{error}");
    };
    refused(plan(few, many, ""), "x.toml:5: wifi: up has stations = 0 at 65Mbit, down 2 at 65Mbit");
    refused(plan(few, few, "half_duplex = false"), "x.toml:8: half_duplex: wifi is always half-duplex");
    let alone = parse(&text(", trace = \"lte.trace\"", "", ""), "x.toml");
    refused(
        alone,
        "x.toml:6: trace: \"lte.trace\": the scenario is not a file, so it cannot refer to other files",
    );
}
