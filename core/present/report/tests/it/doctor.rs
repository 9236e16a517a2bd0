//! What `fathom doctor` shows.
use crate::golden::{ASCII, UNICODE, golden};
use fathom_report::{Ability, Check, doctor, doctor_headline};

fn checks() -> Vec<Check> {
    let check = |name, ability, found: &str, enable: Option<&str>| Check {
        name,
        commands: "test, ping",
        ability,
        found: found.into(),
        enable: enable.map(Into::into),
    };
    vec![
        check("kernel timestamps", Ability::Yes, "of each arriving datagram", None),
        check(
            "CPU for load",
            Ability::Partly,
            "1.20 Gbit/s of TCP between two programs here: too little for the 1.00 Gbit/s of eth0",
            None,
        ),
        check(
            "raw sockets",
            Ability::No,
            "not permitted",
            Some("sudo setcap cap_net_raw+ep /usr/bin/fathom"),
        ),
    ]
}

#[test]
fn a_table_of_checks() {
    golden("doctor.txt", &doctor("Linux 6.12, x86_64, 2 CPUs", &checks(), 80, UNICODE));
    let narrow = doctor("Linux 6.12, x86_64, 2 CPUs", &checks(), 40, ASCII);
    assert!(narrow.is_ascii(), "{narrow}");
    golden("doctor-narrow.txt", &narrow);
}

#[test]
fn the_headline_names_what_is_missing_and_what_is_limited() {
    let [timestamps, load, raw] = &checks()[..] else { panic!("three checks") };
    let headline =
        |of: &[&Check]| doctor_headline(&of.iter().map(|check| (*check).clone()).collect::<Vec<_>>());
    assert_eq!(headline(&[timestamps]), "Everything that Fathom needs is there.");
    assert_eq!(headline(&[timestamps, load]), "Limited: CPU for load.");
    assert_eq!(headline(&[timestamps, raw]), "Missing: raw sockets.");
    assert_eq!(headline(&[load, raw]), "Missing: raw sockets. Limited: CPU for load.");
}
