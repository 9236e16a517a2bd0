//! Congestion controls by name.
use fathom_tcp::{AnyControl, ControlConfig, ControlKind};

#[test]
fn names_round_trip() {
    for kind in ControlKind::ALL {
        assert_eq!(kind.to_string().parse::<ControlKind>().unwrap(), *kind);
        assert_eq!(AnyControl::new(*kind, &ControlConfig::default()).kind(), Some(*kind));
    }
}

#[test]
fn an_unknown_name_lists_the_known_names() {
    let error = "newreno".parse::<ControlKind>().unwrap_err().to_string();
    let message = "unknown congestion control \"newreno\" (known: reno cubic bbr dctcp vegas westwood \
        ledbat ledbat++ cubic-hystart++ bbr3 prague copa)";
    assert_eq!(error, message);
}

#[test]
fn a_control_is_small() {
    assert!(size_of::<AnyControl>() <= 256, "{}", size_of::<AnyControl>());
}
