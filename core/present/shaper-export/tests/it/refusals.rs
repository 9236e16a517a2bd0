//! What is refused, with its reason.
use crate::line;
use fathom_shaper_export::{Line, Platform, QueueKind, Refusal, export};
use fathom_units::Rate;

/// Names that mean more than an interface in some configuration.
const HOSTILE: [&str; 25] = [
    "",
    " ",
    "eth 0",
    "eth0\n",
    "eth0\nset system login user x",
    "eth0\r",
    "eth0;reboot",
    "eth0'",
    "eth0\"",
    "$(reboot)",
    "`reboot`",
    "eth0&",
    "eth0|sh",
    "eth0>x",
    "<wan",
    "wan]]>",
    "-eth0",
    "..",
    "eth0\\",
    "eth0}",
    "eth0{",
    "eth0*",
    "#eth0",
    "!eth0",
    "ethé",
];

#[test]
fn no_name_is_written_that_means_something_else() {
    for platform in Platform::ALL {
        for name in HOSTILE {
            let wan = Line { wan: name.to_owned(), ..line(platform, 9_500_000, 47_000_000) };
            let refused = export(platform, &wan);
            assert!(matches!(refused, Err(Refusal::Name { .. })), "{platform}: {name:?}: {refused:?}");
        }
        let long = Line { wan: "e".repeat(64), ..line(platform, 9_500_000, 47_000_000) };
        assert!(matches!(export(platform, &long), Err(Refusal::Name { .. })), "{platform}");
    }
    for platform in [Platform::Mikrotik, Platform::Cisco, Platform::Junos] {
        for name in HOSTILE {
            let lan = Line { lan: Some(name.to_owned()), ..line(platform, 9_500_000, 47_000_000) };
            assert!(matches!(export(platform, &lan), Err(Refusal::Name { .. })), "{platform}: {name:?}");
        }
    }
}

/// XML forbids two dashes in a comment, and the comments have the name.
#[test]
fn no_name_ends_a_comment() {
    for platform in [Platform::Opnsense, Platform::Pfsense] {
        for name in ["wan--", "opt-1", "igb0.100", "opt", "eth0"] {
            let wan = Line { wan: name.to_owned(), ..line(platform, 9_500_000, 47_000_000) };
            assert!(matches!(export(platform, &wan), Err(Refusal::Name { .. })), "{platform}: {name:?}");
        }
    }
    for name in ["ge-0/0/0*/", "ge-0/0/0.x", "ge-0/0/0.", "irb.20", "vlan.3"] {
        let wan = Line { wan: name.to_owned(), ..line(Platform::Junos, 9_500_000, 47_000_000) };
        assert!(matches!(export(Platform::Junos, &wan), Err(Refusal::Name { .. })), "{name:?}");
    }
}

/// A refusal shows a name in one line, whatever it is.
#[test]
fn a_refusal_has_no_control_characters() {
    let wan = Line { wan: "a\n\u{1b}[2J".to_owned(), ..line(Platform::Vyos, 9_500_000, 47_000_000) };
    let text = export(Platform::Vyos, &wan).expect_err("a bad name").to_string();
    assert!(text.lines().count() == 1 && text.chars().all(|c| !c.is_control()), "{text:?}");
}

/// Highest rate in bit/s of those platforms that have one.
const HIGHEST: [(Platform, u64); 4] = [
    (Platform::Opnsense, 4_294_967_295),
    (Platform::Pfsense, 4_294_967_295),
    (Platform::Cisco, 10_000_000_000),
    (Platform::Junos, 160_000_000_000),
];

/// Platforms whose unit is more than 7 bit/s.
const COARSE: [Platform; 4] =
    [Platform::OpenwrtSqm, Platform::Cisco, Platform::Junos, Platform::NetworkManager];

#[test]
fn a_rate_beyond_the_limits_is_refused_with_them() {
    for (platform, max) in HIGHEST {
        assert!(export(platform, &line(platform, max, max)).is_ok(), "{platform}");
        let above = [line(platform, max + 8_000, 1_000_000), line(platform, 1_000_000, max + 8_000)];
        for line in above {
            let refusal = export(platform, &line).expect_err("above the limit");
            let Refusal::Rate { limits: [_, found], .. } = &refusal else { panic!("{refusal:?}") };
            assert!(found.as_bits_per_second() == max && refusal.to_string().contains("try: "), "{refusal}");
        }
    }
    for platform in Platform::ALL {
        for (up, down) in [(0, 1_000_000), (7, 7)] {
            let zero = line(platform, up, down);
            let refused = export(platform, &zero);
            let is_coarse = COARSE.contains(&platform);
            assert_eq!(
                matches!(refused, Err(Refusal::Rate { .. })),
                up == 0 || is_coarse,
                "{platform}: {refused:?}"
            );
        }
    }
    // 0 would not shape at all.
    assert!(export(Platform::OpenwrtSqm, &line(Platform::OpenwrtSqm, 999, 1_000)).is_err());
    assert!(export(Platform::OpenwrtSqm, &line(Platform::OpenwrtSqm, 1_000, 1_999)).is_ok());
}

#[test]
fn a_download_needs_a_place() {
    let mut both = line(Platform::NetworkManager, 9_500_000, 0);
    both.rates.down = Some(Rate::from_bits_per_second(47_000_000));
    assert_eq!(export(Platform::NetworkManager, &both), Err(Refusal::Download(Platform::NetworkManager)));
    for platform in Platform::ALL {
        let mut line = line(platform, 9_500_000, 47_000_000);
        line.lan = None;
        let needs = matches!(platform, Platform::Mikrotik | Platform::Cisco | Platform::Junos);
        assert_eq!(export(platform, &line) == Err(Refusal::NoLan(platform)), needs, "{platform}");
        line.lan = Some(line.wan.clone());
        assert_eq!(
            export(platform, &line) == Err(Refusal::NoLan(platform)),
            needs,
            "{platform}: the same twice"
        );
        line.lan = None;
        line.rates.down = None;
        assert!(export(platform, &line).is_ok(), "{platform}");
    }
}

#[test]
fn a_queue_that_a_platform_lacks_is_refused() {
    let kinds = [QueueKind::Cake, QueueKind::FqCodel, QueueKind::Fair, QueueKind::Short];
    let has = |platform| {
        kinds.map(|queue| {
            export(platform, &Line { queue: Some(queue), ..line(platform, 9_500_000, 47_000_000) }).is_ok()
        })
    };
    for platform in Platform::ALL {
        let expected = match platform {
            Platform::OpenwrtSqm | Platform::Mikrotik => [true, true, false, false],
            Platform::Vyos | Platform::LinuxTc | Platform::SystemdNetworkd => [true, false, false, false],
            Platform::Opnsense | Platform::Pfsense | Platform::Edgeos | Platform::NetworkManager => {
                [false, true, false, false]
            }
            Platform::Cisco => [false, false, true, false],
            Platform::Junos => [false, false, false, true],
        };
        assert_eq!(has(platform), expected, "{platform}");
    }
}

#[test]
fn platforms_have_names() {
    for platform in Platform::ALL {
        assert_eq!(platform.name().parse(), Ok(platform));
    }
    let error = "openwrt".parse::<Platform>().expect_err("no such platform");
    assert!(Platform::ALL.iter().all(|platform| error.contains(platform.name())), "{error}");
}
