//! Built-in lines: they parse, and their expectations follow from their numbers.
use fathom_qdisc::{Limit, Spec};
use fathom_scenario::{BUILTIN_NAMES, Plan, builtin, builtin_plan, gallery_names};
use fathom_units::{Bytes, Duration};

fn plan(name: &str) -> Plan {
    builtin_plan(name).unwrap().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn all_scenarios_parse_and_have_their_file_name() {
    assert_eq!(BUILTIN_NAMES.len(), 9);
    for name in BUILTIN_NAMES {
        let plan = plan(name);
        assert_eq!(plan.name, *name);
        assert!(plan.load.is_some() && plan.expect.max_working_latency.is_some(), "{name}");
        assert!(plan.line.hops.len() >= 2, "{name}: nothing for traceroute to show");
        assert!(!plan.about.is_empty() && !plan.source.is_empty());
    }
    assert!(builtin("no such line").is_none() && builtin_plan("no such line").is_none());
}

/// Names of the scenario files in a subfolder of `scenarios`.
fn files(folder: &str) -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scenarios").join(folder);
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.is_file());
    let mut names: Vec<String> = files
        .map(|path| {
            path.file_name().unwrap().to_str().unwrap().strip_suffix(".toml").expect("a scenario").to_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn every_file_of_the_folders_is_built_in() {
    let mut names: Vec<&str> = BUILTIN_NAMES.to_vec();
    names.sort_unstable();
    assert_eq!(files(""), names);
    let mut items: Vec<&str> = gallery_names().filter(|name| !BUILTIN_NAMES.contains(name)).collect();
    items.sort_unstable();
    assert_eq!(files("gallery"), items);
}

#[test]
fn everything_in_the_gallery_makes_claims() {
    for name in gallery_names() {
        let plan = plan(name);
        assert_eq!(plan.name, name);
        assert!(!plan.claims.is_empty(), "{name} claims nothing");
        assert!(!plan.about.is_empty() && !plan.source.is_empty(), "{name}");
    }
}

/// A round trip sends 1514 bytes forward and 60 back, with 2 ms allowed for them.
#[test]
fn idle_latency_follows_from_delays() {
    for name in BUILTIN_NAMES {
        let plan = plan(name);
        let expected = plan.expect.idle_latency.unwrap();
        let propagation = plan.line.propagation();
        assert!(expected.contains(propagation), "{name}: {propagation}");
        assert!(propagation + Duration::from_millis(2) <= expected.at_most, "{name}: {propagation}");
    }
}

/// Delay of the full buffer at the slowest loaded link, plus the propagation delay.
fn full(plan: &Plan) -> Duration {
    let load = plan.load.as_ref().unwrap();
    let sides = plan.line.hops.iter().map(|hop| if load.up_flows > 0 { &hop.up } else { &hop.down });
    let slowest = sides.min_by_key(|side| side.nominal_rate()).unwrap();
    let Spec::Fifo(params) = slowest.queue else { panic!("{}: bloat needs a fifo", plan.name) };
    let bytes = match params.limit {
        Limit::Bytes(bytes) => bytes,
        Limit::Packets(packets) => Bytes(packets * 1514),
        Limit::Sojourn(_) => panic!("{}: not a buffer of its time", plan.name),
    };
    slowest.nominal_rate().unwrap().serialization_time(bytes) + plan.line.propagation()
}

#[test]
fn working_latency_follows_from_rate_and_buffer() {
    for name in BUILTIN_NAMES {
        let (plan, full) = (plan(name), full(&plan(name)));
        let expected = plan.expect.max_working_latency.unwrap();
        assert!(expected.contains(full), "{name}: {full} in {} to {}", expected.at_least, expected.at_most);
    }
}

#[test]
fn the_published_numbers_are_reproduced() {
    // Gettys: 1.2 s on a 10 ms path. Seifried: 50 ms to more than 1000 ms. Auerswald: 340 ms.
    for (name, idle_ms, full_ms) in
        [("gettys-2010", 9.8, 1209.8), ("seifried-2011", 48.4, 1048.4), ("auerswald-switch", 0.2, 340.2)]
    {
        let plan = plan(name);
        assert_eq!(plan.line.propagation().as_millis_f64(), idle_ms, "{name}");
        // Whole packets of 1,514 bytes match within one packet, 0.1 ms at 100 Mbit/s.
        assert!((full(&plan).as_millis_f64() - full_ms).abs() < 0.13, "{name}: {}", full(&plan));
    }
}
