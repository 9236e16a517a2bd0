//! Tests of the configurations: golden files, rates read back, refusals.
mod golden;
mod properties;
mod reader;
mod recorded;
mod refusals;

use fathom_shape::Framing;
use fathom_shaper_export::{Line, Platform};
use fathom_units::{PerDirection, Rate};

/// An interface of each platform to the line, and one to the local network.
const fn interfaces(platform: Platform) -> [&'static str; 2] {
    match platform {
        Platform::Mikrotik => ["ether1", "bridge"],
        Platform::Opnsense | Platform::Pfsense => ["wan", "lan"],
        Platform::Cisco => ["GigabitEthernet0/0/0", "Vlan10"],
        Platform::Junos => ["ge-0/0/0", "ge-0/0/1.20"],
        Platform::OpenwrtSqm
        | Platform::Vyos
        | Platform::Edgeos
        | Platform::LinuxTc
        | Platform::SystemdNetworkd
        | Platform::NetworkManager => ["eth0", "eth1"],
    }
}

/// A line with these rates in bit/s; NetworkManager shapes only its upload.
fn line(platform: Platform, up: u64, down: u64) -> Line {
    let [wan, lan] = interfaces(platform);
    let down = (platform != Platform::NetworkManager).then(|| Rate::from_bits_per_second(down));
    Line {
        wan: wan.to_owned(),
        lan: Some(lan.to_owned()),
        rates: PerDirection { up: Some(Rate::from_bits_per_second(up)), down },
        framing: Framing::default(),
        round_trip: None,
        queue: None,
    }
}
