use super::*;

#[track_caller]
fn close(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance, "{got} is not {want} +- {tolerance}");
}

#[test]
fn rpm_of_the_draft() {
    // Examples from the draft: 200 ms is 300, 60 ms is 1000, 10 ms is 6000 per minute.
    for (ms, per_minute) in [(200.0, 300.0), (60.0, 1000.0), (10.0, 6000.0)] {
        let delays = [ms / 1e3; 10];
        let rpm = Rpm::new([&delays, &[], &delays], &[], &delays).unwrap();
        close(rpm.per_minute, per_minute, 1e-9);
    }
    // Foreign part 60 / 0.2 = 300; loaded part 60 / 0.6 = 100. Their mean, not 60 / mean delay.
    let rpm = Rpm::new([&[0.1], &[], &[0.3]], &[], &[0.6]).unwrap();
    close(rpm.per_minute, 200.0, 1e-9);
    assert_eq!((rpm.foreign_per_minute, rpm.band()), (Some(300.0), "poor"));
    // With TLS, whose handshake follows that of TCP: three parts of 0.1, 0.1 and 0.4 s.
    let encrypted = Rpm::new([&[0.1], &[0.2], &[0.4]], &[], &[]).unwrap();
    close(encrypted.per_minute, 300.0, 1e-9);
    assert!(encrypted.method.contains("tls_f"), "{}", encrypted.method);
    // One outlier among 20 values is trimmed.
    let mut delays = [0.06; 20];
    delays[3] = 9.0;
    close(Rpm::new([&delays, &[], &delays], &[], &delays).unwrap().per_minute, 1000.0, 1e-9);
}

#[test]
fn rpm_names_its_parts() {
    assert_eq!(Rpm::new([&[], &[], &[]], &[], &[]), None);
    assert_eq!(Rpm::new([&[0.1], &[], &[]], &[], &[]), None, "foreign needs both of its terms");
    let loaded = Rpm::new([&[0.1], &[], &[]], &[], &[0.06]).unwrap();
    assert_eq!((loaded.per_minute, loaded.foreign_per_minute), (1000.0, None));
    assert!(loaded.method.contains("loaded part alone"));
    // Requests on the loaded connection take precedence over TCP's round trips.
    let multiplexed = Rpm::new([&[], &[], &[]], &[0.2], &[0.06]).unwrap();
    assert_eq!(multiplexed.per_minute, 300.0);
    assert!(multiplexed.method.ends_with("loaded part alone with http_l"), "{}", multiplexed.method);
}

#[test]
fn grades_of_dslreports() {
    let table = [
        (-3.0, "A+"),
        (4.9, "A+"),
        (5.0, "A"),
        (29.9, "A"),
        (30.0, "B"),
        (60.0, "C"),
        (200.0, "D"),
        (400.0, "F"),
    ];
    for (ms, letter) in table {
        assert_eq!(Grade::of_increase(ms / 1e3).letter(), letter, "{ms} ms");
    }
}

#[test]
fn mos_of_g107() {
    // R factors and mean opinion scores of ITU-T G.107 annex B and G.109.
    for (r, mos) in
        [(0.0, 1.0), (50.0, 2.58), (60.0, 3.10), (70.0, 3.60), (80.0, 4.03), (90.0, 4.34), (93.2, 4.41)]
    {
        close(mos_of(r), mos, 0.007);
    }
}

#[test]
fn delay_impairment_of_cole_and_rosenbluth() {
    // Id = 0.024 d below 177.3 ms; at 300 ms it is 7.2 + 0.11 * 122.7.
    for (ms, id) in [(100.0, 2.4), (177.3, 4.2552), (300.0, 20.697), (400.0, 34.097)] {
        close(93.2 - Call::new((ms - 20.0) / 1e3, 0.0).r_factor, id, 1e-9);
    }
    // ITU-T G.113: 25.1 % loss of G.711 with loss concealment costs half of 95.
    close(93.2 - 0.024 * 20.0 - Call::new(0.0, 0.251).r_factor, 47.5, 1e-9);
    let bloated = Call::new(1.0, 0.0);
    assert_eq!((bloated.mos, bloated.words()), (1.0, "unusable"));
    assert_eq!(Call::new(0.025, 0.0).words(), "good");
}

#[test]
fn games_and_pages() {
    for (ms, game) in
        [(100.0, Game::All), (101.0, Game::ThirdPerson), (1000.0, Game::FromAbove), (1001.0, Game::ByTurns)]
    {
        assert_eq!(Game::at(ms / 1e3), game, "{ms} ms");
    }
    // Ten round trips of 50 ms, and 16 Mbit at 16 Mbit/s.
    close(page_load_s(0.05, 16e6), 1.5, 1e-9);
}

#[test]
fn quality_of_outcome_of_the_draft() {
    // Section "Example" of draft-ietf-ippm-qoo-11: latency 50, loss 75, rate 100.
    let requirement = Requirement {
        name: "example",
        latency_s: &[(0.99, 0.2, 0.5), (0.999, 0.3, 0.6)],
        loss_ratio: Some((0.01, 0.05)),
        bits_per_second: 4e6,
        definition: "",
    };
    let latency_s = |share: f64| if share < 0.995 { 0.350 } else { 0.375 };
    close(requirement.percent(latency_s, 0.02, 28e6), 50.0, 1e-9);
    close(requirement.percent(|_| 0.1, 0.02, 28e6), 75.0, 1e-9);
    close(requirement.percent(|_| 0.1, 0.0, 28e6), 100.0, 0.0);
    close(requirement.percent(|_| 0.1, 0.0, 3.9e6), 0.0, 0.0);
    close(requirement.percent(|_| 0.7, 0.02, 28e6), 0.0, 0.0);
}

#[test]
fn percentages_of_rfc_6349() {
    // Its own examples: 25 and 32 ms; 2,000 of 102,000 bytes.
    close(buffer_delay_percent(0.032, 0.025), 28.0, 1e-9);
    close(tcp_efficiency_percent(102_000.0, 2_000.0), 98.039_215_686, 1e-6);
}

#[test]
fn aim_of_a_real_test() {
    // What @cloudflare/speedtest 1.14.1 said of testdata/import/cloudflare-raw.json.gz.
    let aim = Aim {
        latency_s: 0.020_1,
        jitter_s: 0.000_17,
        increase_s: 0.279_95 - 0.020_1,
        loss_ratio: None,
        down_bits_per_second: 93.332e6,
    };
    let want = [
        ("aim_streaming_points", 15.0, "poor"),
        ("aim_gaming_points", 0.0, "bad"),
        ("aim_rtc_points", 5.0, "poor"),
    ];
    assert_eq!(aim.scores(), want);
    // A limit belongs to the range above it.
    let best = Aim {
        latency_s: 0.0099,
        jitter_s: 0.0,
        increase_s: 0.010,
        loss_ratio: Some(0.0),
        down_bits_per_second: 1e8,
    };
    assert_eq!(
        best.scores().map(|(_, points, class)| (points, class)),
        [(70.0, "great"), (40.0, "great"), (50.0, "great")]
    );
}
