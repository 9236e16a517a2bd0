//! Random lines: the rates of a configuration, read back.
use crate::line;
use crate::reader::{Rates, rates};
use fathom_shape::Framing;
use fathom_shaper_export::{Line, Platform, export};
use fathom_units::{Duration, Rate, Rng};

/// Lines for each platform.
const LINES: u64 = 400;
/// Highest rate in bit/s that all platforms have.
const HIGHEST: f64 = 4.2e9;

/// Unit of the rates in bit/s, and whether the line's overhead can be configured.
const fn unit(platform: Platform) -> (u64, bool) {
    match platform {
        Platform::OpenwrtSqm => (1_000, true),
        Platform::Cisco => (8_000, true),
        Platform::Junos => (1_000, false),
        Platform::NetworkManager => (8, false),
        Platform::LinuxTc | Platform::SystemdNetworkd => (1, true),
        Platform::Mikrotik | Platform::Vyos | Platform::Opnsense | Platform::Pfsense | Platform::Edgeos => {
            (1, false)
        }
    }
}

fn below(rng: &mut Rng, n: u64) -> u64 {
    rng.next_u64() % n
}

/// A rate from 64 kbit/s on, with each order of magnitude as likely as another.
fn random_rate(rng: &mut Rng) -> u64 {
    let share = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    (64e3 * (HIGHEST / 64e3).powf(share)) as u64
}

fn random_framing(rng: &mut Rng) -> Framing {
    let overhead = (below(rng, 2) == 0).then(|| below(rng, 60) as u16);
    Framing { overhead, mpu: [0, 64, 84][below(rng, 3) as usize], atm: below(rng, 3) == 0 }
}

/// Bytes that a full packet takes on the line.
fn on_the_line(framing: Framing) -> f64 {
    let overhead = framing.overhead.unwrap_or(if framing.atm { 44 } else { 14 });
    let bytes = 1500.0 + f64::from(overhead);
    if framing.atm { (bytes / 48.0).ceil() * 53.0 } else { bytes }
}

/// The lowest rate that may be in a configuration; the highest is the requested one.
fn lowest(platform: Platform, asked: u64, framing: Framing) -> u64 {
    let (unit, is_counted) = unit(platform);
    let is_as_is = is_counted || framing == Framing::default();
    let share = if is_as_is { 1.0 } else { 1500.0 / on_the_line(framing) };
    // One bit for the arithmetic of floating point.
    ((asked as f64 * share) as u64).saturating_sub(unit)
}

#[test]
fn rates_are_within_a_unit_of_the_request_and_never_above() {
    for (at, platform) in Platform::ALL.into_iter().enumerate() {
        for seed in 0..LINES {
            let mut rng = Rng::new(seed * 100 + at as u64);
            let (up, down) = (random_rate(&mut rng), random_rate(&mut rng));
            let framing = random_framing(&mut rng);
            let round_trip =
                (below(&mut rng, 4) == 0).then(|| Duration::from_millis(1 + below(&mut rng, 60_000)));
            let line = Line { framing, round_trip, ..line(platform, up, down) };
            let export = export(platform, &line).unwrap_or_else(|refusal| panic!("seed {seed}: {refusal}"));
            let Rates { up: read_up, down: read_down } = rates(platform, &export.text);
            let named = export.rates.map(|rate| rate.map(Rate::as_bits_per_second));
            assert_eq!(
                (read_up, read_down),
                (named.up, named.down),
                "{platform}, seed {seed}: {line:?}\n{}",
                export.text
            );
            let requests = [Some(up), (platform != Platform::NetworkManager).then_some(down)];
            for (request, read) in requests.into_iter().zip([read_up, read_down]) {
                let Some(asked) = request else { continue };
                let read =
                    read.unwrap_or_else(|| panic!("{platform}, seed {seed}: no rate\n{}", export.text));
                let lowest = lowest(platform, asked, framing);
                assert!(
                    (lowest..=asked).contains(&read),
                    "{platform}, seed {seed}: {read} of {asked}, at least {lowest}: {framing:?}"
                );
            }
        }
    }
}

/// A full packet at the rate of the configuration takes no more of the line than was requested.
#[test]
fn full_packets_do_not_exceed_the_line() {
    let framing = Framing { overhead: Some(44), mpu: 0, atm: true };
    for platform in Platform::ALL.into_iter().filter(|platform| !unit(*platform).1) {
        let line = Line { framing, ..line(platform, 1_000_000, 8_000_000) };
        let rates = export(platform, &line).expect("ADSL").rates;
        let up = rates.up.expect("a rate").as_bits_per_second() as f64;
        let used = up * on_the_line(framing) / 1500.0;
        assert!((990_000.0..=1_000_000.0).contains(&used), "{platform}: {used}");
    }
}

/// One direction alone has no trace of the other.
#[test]
fn a_direction_that_is_not_shaped_has_no_rate() {
    let read = |platform, line: &Line| rates(platform, &export(platform, line).expect("one direction").text);
    for platform in Platform::ALL {
        let mut alone = line(platform, 9_600_000, 48_000_000);
        alone.rates.down = None;
        alone.lan = None;
        assert_eq!(read(platform, &alone), Rates { up: Some(9_600_000), down: None }, "{platform}");
        if platform != Platform::NetworkManager {
            let mut other = line(platform, 9_600_000, 48_000_000);
            other.rates.up = None;
            assert_eq!(read(platform, &other), Rates { up: None, down: Some(48_000_000) }, "{platform}");
        }
    }
}
