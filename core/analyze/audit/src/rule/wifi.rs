//! Wi-Fi: places 14 and 15.
use super::{Context, FULL_PACKET};
use crate::facts::{Interface, Kind};
use crate::place::{Level, Place, Spot, Worst};
use crate::sum::Sum;
use alloc::format;
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration};

pub(super) fn places(context: &Context<'_>, interface: &Interface) -> Vec<Place> {
    if interface.kind != Kind::Wifi {
        return Vec::new();
    }
    let phy = interface.phy.unwrap_or(0);
    let known = context.facts.host.wifi.iter().find(|wifi| wifi.phy == phy);
    // A driver with these queues tells their limits, by nl80211 or in debugfs.
    let told = || {
        interface.air_limit.map(|limit| crate::facts::Wifi {
            phy,
            limit_packets: Some(limit),
            ..Default::default()
        })
    };
    let wifi = known.cloned().or_else(told);
    Vec::from([wifi.map_or_else(|| firmware(context, interface), |wifi| queues(context, interface, &wifi))])
}

/// mac80211 keeps flows apart and their delay near 20 ms; what the firmware has is limited as airtime.
fn queues(context: &Context<'_>, interface: &Interface, wifi: &crate::facts::Wifi) -> Place {
    let limit = wifi.limit_packets.unwrap_or(0);
    let airtime = Duration::from_micros(wifi.airtime_us.unwrap_or(0).min(1_000_000_000));
    let in_firmware = match wifi.airtime_us {
        Some(_) => format!("{} ms of airtime in the firmware", airtime.as_nanos() / 1_000_000),
        None if context.facts.host.has_debugfs => "no limit of airtime".into(),
        None => "whether its firmware has a limit of airtime cannot be read".into(),
    };
    let what = format!("fq_codel of mac80211, {limit} packets, {in_firmware}");
    let memory = wifi.memory_limit.or(interface.air_memory);
    let sum = context.rate(interface).map(|rate| by_memory(limit, memory, rate));
    let seen = context.seen.and_then(|seen| seen.interface(&interface.name)).and_then(|seen| seen.air);
    let place = Place::new(Spot::WifiQueues, Some(&interface.name), what)
        .holds(sum.map(|sum| Worst { sum, super_packets: None }))
        .seen(seen);
    let place = Place { timer: wifi.airtime_us.map(|_| airtime), ..place };
    if wifi.airtime_us.is_some() {
        return place.why("it keeps the delay of each flow near 20 ms; only a flood fills it");
    }
    place.level(Level::Unknown).why("what the firmware takes is out of its reach: measure it under load")
}

/// The memory that packets take is at least their bytes.
fn by_memory(packets: u64, memory: Option<u64>, rate: fathom_units::Rate) -> Sum {
    match memory {
        Some(bytes) if bytes < packets.saturating_mul(FULL_PACKET.0) => Sum::bytes(Bytes(bytes), rate),
        _ => Sum::packets(packets, FULL_PACKET, rate),
    }
}

fn firmware(context: &Context<'_>, interface: &Interface) -> Place {
    let driver = interface.driver.as_deref().unwrap_or("its driver");
    let what = if context.facts.host.has_debugfs {
        format!("{driver} queues in its firmware")
    } else {
        format!("{driver}; whether it uses the queues of mac80211 stands in debugfs, which cannot be read")
    };
    Place::new(Spot::WifiFirmware, Some(&interface.name), what)
        .level(Level::Unknown)
        .why("no file tells how much: measure it under load, with fathom test to a host in the same building")
        .fix("shape below the rate of the air (0.6 of the bitrate), or use a card with mac80211 queues", "")
}
