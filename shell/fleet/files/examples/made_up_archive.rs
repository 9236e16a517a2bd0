//! Writes the archive of a made-up fleet, to try `fathom fleet` and to measure it:
//! `made_up_archive FOLDER SITES DAYS`, which end with the current hour.
//!
//! Each tenth line has a buffer of seconds. The lines of region `north` share a router that is full
//! each evening. Those of provider `Beta` have been fixed in the middle of the period.
use fathom_units::{Rng, WallTime};
use fathom_watch_store::export::{Cell, Parquet, ROLLUPS, Table};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const HOUR_MS: u64 = 3_600_000;
const WINDOW_MS: u64 = 600_000;
/// A test each six hours.
const TEST_EVERY_MS: u64 = 6 * HOUR_MS;
/// The target of tests.
const LINE: &str = "line";
const PROVIDERS: [&str; 4] = ["Alpha", "Beta", "Gamma", "Delta"];
const REGIONS: [&str; 3] = ["north", "south", "east"];

struct Site {
    name: String,
    provider: &'static str,
    region: &'static str,
    /// Rates in bit/s.
    rates: [f64; 2],
    /// Delay of the full buffer upwards, in seconds.
    depth_s: f64,
    idle_s: f64,
}

fn site(number: u64, rng: &mut Rng) -> Site {
    let rate = 1e6 * 2f64.powf(1.0 + 6.0 * rng.next_f64());
    let depth_s = match number % 10 {
        0 => 1.0 + 3.0 * rng.next_f64(),
        1..=4 => 0.15 + 0.4 * rng.next_f64(),
        _ => 0.005 + 0.04 * rng.next_f64(),
    };
    Site {
        name: format!("home-{number}"),
        provider: PROVIDERS[rng.below(4) as usize],
        region: REGIONS[rng.below(3) as usize],
        rates: [rate, rate * 5.0],
        depth_s,
        idle_s: 0.005 + 0.03 * rng.next_f64(),
    }
}

/// The values of a window: delays are in `rtt_mean_s`, rates and sizes in `level_mean_*`.
fn row(
    table: &mut Parquet<File>,
    (target, probe): (&str, &str),
    from_ms: u64,
    value: f64,
    unit: &str,
) -> io::Result<()> {
    let cells: Vec<Cell<'_>> = ROLLUPS
        .iter()
        .map(|field| match field.name {
            "target" => Cell::Text(target),
            "probe" => Cell::Text(probe),
            "from_ms" => Cell::Whole(from_ms),
            "to_ms" => Cell::Whole(from_ms + WINDOW_MS),
            "sent_probes" | "answered_probes" => Cell::Whole(1),
            name if name.ends_with("_s") && unit == "s" => Cell::Number(Some(value)),
            "level_mean_bits_per_second" if unit == "bit/s" => Cell::Number(Some(value)),
            "level_mean_bytes" if unit == "B" => Cell::Number(Some(value)),
            name if name.ends_with("probes") || name.ends_with("answers") => Cell::Whole(0),
            _ => Cell::Number(None),
        })
        .collect();
    table.row(&cells)
}

fn hour(to: &Path, site: &Site, from_ms: u64, half_ms: u64, rng: &mut Rng) -> io::Result<()> {
    let at = WallTime(from_ms * 1_000_000);
    let folder = to.join(format!("windows/site={}/date={}", site.name, at.date()));
    fs::create_dir_all(&folder)?;
    let of_day = from_ms / HOUR_MS % 24;
    let file = File::create(folder.join(format!("{of_day:02}.parquet")))?;
    let mut table = Box::new(Parquet::new(file, &ROLLUPS)?);
    let is_evening = (19..22).contains(&of_day) && site.region == "north";
    for window in 0..6 {
        let queue = if is_evening { 0.04 + 0.03 * rng.next_f64() } else { 0.004 * rng.next_f64() };
        row(&mut table, ("server", "icmp"), from_ms + window * WINDOW_MS, site.idle_s + queue, "s")?;
    }
    let number: u64 = site.name.trim_start_matches("home-").parse().unwrap_or_default();
    let phase = number * 977 % (TEST_EVERY_MS / HOUR_MS);
    if from_ms / HOUR_MS % (TEST_EVERY_MS / HOUR_MS) == phase {
        let is_fixed = site.provider == "Beta" && from_ms >= half_ms;
        let depth =
            if is_fixed { site.depth_s.min(0.012) } else { site.depth_s } * (0.9 + 0.2 * rng.next_f64());
        let tested = from_ms + 2 * WINDOW_MS;
        row(&mut table, (LINE, "lag up"), tested, depth, "s")?;
        row(&mut table, (LINE, "lag down"), tested, 0.01 + depth / 8.0, "s")?;
        row(&mut table, (LINE, "idle"), tested, site.idle_s, "s")?;
        for (name, rate) in [("up", site.rates[0]), ("down", site.rates[1])] {
            let rate = rate * (0.95 + 0.05 * rng.next_f64());
            let delay = if name == "up" { depth } else { depth / 8.0 };
            row(&mut table, (LINE, &format!("rate {name}")), tested, rate, "bit/s")?;
            row(&mut table, (LINE, &format!("buffer {name}")), tested, rate * delay / 8.0, "B")?;
        }
    }
    table.finish()
}

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, folder, sites, days] = args.as_slice() else {
        return Err(io::Error::other("made_up_archive FOLDER SITES DAYS"));
    };
    let number = |text: &str| text.parse::<u64>().map_err(io::Error::other);
    let (sites, hours) = (number(sites)?, 24 * number(days)?);
    let to = Path::new(folder);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
    let end_ms = now.as_millis() as u64 / HOUR_MS * HOUR_MS;
    let start_ms = end_ms - hours * HOUR_MS;
    let mut rng = Rng::new(1);
    for count in 0..sites {
        let own = site(count, &mut rng);
        let about = serde_json::json!({
            "site": own.name,
            "labels": { "provider": own.provider, "region": own.region },
            "hops": [if own.region == "north" { "192.0.2.1" } else { "192.0.2.2" }],
        });
        let described = to.join(format!("sites/site={}", own.name));
        fs::create_dir_all(&described)?;
        fs::write(described.join("site.json"), about.to_string())?;
        for step in 0..hours {
            hour(to, &own, start_ms + step * HOUR_MS, start_ms + hours / 2 * HOUR_MS, &mut rng)?;
        }
    }
    Ok(())
}
