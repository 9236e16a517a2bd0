//! Overrides of scenario values.
use fathom_scenario::{BUILTIN_NAMES, Setting, builtin, parse, with_settings};
use fathom_units::Rate;

fn with(settings: &[&str]) -> Result<String, String> {
    let settings: Vec<Setting> = settings.iter().map(|s| s.parse().unwrap()).collect();
    with_settings(builtin("seifried-2011").unwrap(), "x.toml", &settings).map_err(|e| e.to_string())
}

#[test]
fn settings_change_their_field() {
    let text =
        with(&["hop.cable-modem.up.rate=5mbit", "hop.0.down.queue=fq_codel", "load.up_flows=4"]).unwrap();
    let plan = parse(&text, "x.toml").unwrap();
    assert_eq!(plan.line.hops[1].up.nominal_rate(), Some(Rate::from_bits_per_second(5_000_000)));
    assert!(plan.line.hops[0].down.queue.to_string().starts_with("fq_codel"));
    assert_eq!(plan.load.unwrap().up_flows, 4);
}

#[test]
fn no_settings_leave_the_plan_unchanged() {
    for name in BUILTIN_NAMES {
        let text = builtin(name).unwrap();
        assert_eq!(parse(&with_settings(text, name, &[]).unwrap(), name), parse(text, name), "{name}");
    }
}

#[test]
fn unknown_paths_are_rejected() {
    let table = [
        ("hop.modem.up.rate=5mbit", "unknown item \"modem\" (expected "),
        ("hop.9.up.rate=5mbit", "unknown item \"9\" (expected "),
        ("name.up=5mbit", "\"up\": a string has no keys"),
    ];
    for (setting, word) in table {
        let error = with(&[setting]).expect_err(setting);
        assert!(error.contains(word), "{error}");
    }
    // An unknown key is added here, and then rejected as it would be in a file.
    let text = with(&["hopp.0.up=5mbit"]).unwrap();
    assert!(parse(&text, "x.toml").unwrap_err().to_string().contains("did you mean `hop`"));
    for wrong in ["", "rate", "=5", "a..b=5", "rate="] {
        assert!(wrong.parse::<Setting>().is_err(), "{wrong}");
    }
}

#[test]
fn the_old_name_of_workloads_is_accepted() {
    let name = "s10-bittorrent";
    let text = builtin(name).unwrap();
    let older = text.replace("[[workload]]", "[[work]]");
    assert_ne!(older, text);
    assert_eq!(parse(&older, name), parse(text, name));
    let of = |source: &str, key: &str| {
        let setting: Setting = format!("{key}.0.flows=3").parse().unwrap();
        parse(&with_settings(source, name, &[setting]).unwrap(), name).unwrap()
    };
    assert_eq!(of(&older, "work"), of(text, "workload"));
    assert_eq!(of(text, "work").workloads[0].flows, 3);
}
