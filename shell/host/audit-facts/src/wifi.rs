//! Wi-Fi facts from nl80211: bitrates, and the queues of mac80211.
use crate::exchange::{list, one};
use fathom_audit::Tree;
use fathom_os::dump::Part;
use fathom_tc::{attributes, find};
use std::fmt::Write;
use std::io;

/// Source: linux/nl80211.h, linux/genetlink.h, linux/netlink.h.
mod number {
    pub(super) const CONTROL: u16 = 16;
    pub(super) const GET_FAMILY: u8 = 3;
    pub(super) const FAMILY_ID: u16 = 1;
    pub(super) const FAMILY_NAME: u16 = 2;
    pub(super) const GET_WIPHY: u8 = 1;
    pub(super) const GET_STATION: u8 = 17;
    pub(super) const IFINDEX: u16 = 3;
    pub(super) const STATION: u16 = 21;
    pub(super) const SIGNAL: u16 = 7;
    pub(super) const TX_BITRATE: u16 = 8;
    pub(super) const TX_PACKETS: u16 = 10;
    pub(super) const TX_RETRIES: u16 = 11;
    pub(super) const RX_BITRATE: u16 = 14;
    pub(super) const BITRATE: u16 = 1;
    pub(super) const BITRATE_32: u16 = 5;
    pub(super) const SPLIT_DUMP: u16 = 174;
    pub(super) const TXQ_STATS: u16 = 265;
    pub(super) const TXQ_LIMIT: u16 = 266;
    pub(super) const TXQ_MEMORY_LIMIT: u16 = 267;
    pub(super) const BACKLOG_BYTES: u16 = 1;
    pub(super) const REQUEST: u16 = 1;
    pub(super) const REQUEST_DUMP: u16 = 0x301;
}

/// Length of the generic netlink header: command, version, two reserved bytes.
const HEADER_BYTES: usize = 4;

/// Bitrates are in units of 100 kbit/s.
const BITRATE_UNIT: u64 = 100_000;

/// What the driver knows of the access point that this host uses; `None` where it does not say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AccessPoint {
    /// Strength of its signal, in dBm.
    pub signal_dbm: Option<i8>,
    /// Bitrate of the last frame to it, in bit/s.
    pub sent_bits_per_second: Option<u64>,
    /// Bitrate of the last frame from it, in bit/s.
    pub received_bits_per_second: Option<u64>,
    /// Frames sent to it, and their retransmissions, since this host joined.
    pub sent_and_retries: Option<(u32, u32)>,
}

/// Reads what the driver of a Wi-Fi interface knows.
#[derive(Clone, Copy, Debug)]
pub struct WifiReader {
    family: u16,
    interface: u32,
}

impl WifiReader {
    /// For the interface with this index.
    ///
    /// # Errors
    /// If this kernel has no Wi-Fi.
    pub fn open(interface: u32) -> io::Result<Self> {
        Ok(WifiReader { family: family()?, interface })
    }
    /// The access point; `None` if the interface has none now.
    #[must_use]
    pub fn read(&self) -> Option<AccessPoint> {
        let of_interface = attribute(number::IFINDEX, &self.interface.to_ne_bytes());
        let question = request(self.family, number::REQUEST_DUMP, number::GET_STATION, &of_interface);
        let stations = list(Part::Generic, &question).ok()?;
        AccessPoint::of(stations.first()?.body.get(HEADER_BYTES..)?)
    }
}

impl AccessPoint {
    fn of(attributes: &[u8]) -> Option<Self> {
        let station = find(attributes, number::STATION)?;
        let signal = find(station, number::SIGNAL).and_then(|value| <[u8; 1]>::try_from(value).ok());
        let count = |number| find(station, number).and_then(u32_of);
        Some(AccessPoint {
            signal_dbm: signal.map(i8::from_ne_bytes),
            sent_bits_per_second: bitrate(station, number::TX_BITRATE),
            received_bits_per_second: bitrate(station, number::RX_BITRATE),
            sent_and_retries: count(number::TX_PACKETS).zip(count(number::TX_RETRIES)),
        })
    }
}

/// A bitrate of a station in bit/s.
fn bitrate(station: &[u8], number: u16) -> Option<u64> {
    let rate = find(station, number)?;
    let wide = find(rate, number::BITRATE_32).and_then(u32_of);
    let narrow = || find(rate, number::BITRATE).and_then(|v| Some(u16::from_ne_bytes(v.try_into().ok()?)));
    let units = wide.or_else(|| narrow().map(u32::from))?;
    Some(u64::from(units) * BITRATE_UNIT).filter(|bits| *bits > 0)
}

/// Reported facts of one interface; `None` where missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct WifiInterface {
    /// Bitrate of the slowest station, in bit/s.
    bitrate: Option<u64>,
    limit: Option<u32>,
    memory_limit: Option<u32>,
    backlog: Option<u32>,
}

/// Adds what the kernel reports of each Wi-Fi interface of the tree, as `replies/wifi/NAME`.
///
/// # Errors
/// If this kernel has no Wi-Fi.
pub fn add_wifi(tree: &mut Tree) -> io::Result<()> {
    let mut interfaces = Vec::new();
    for (path, index) in tree.iter() {
        let Some(name) = path.strip_prefix("sys/class/net/").and_then(|rest| rest.strip_suffix("/ifindex"))
        else {
            continue;
        };
        let is_wifi =
            tree.iter().any(|(other, _)| other.starts_with(&format!("sys/class/net/{name}/phy80211/")));
        if let (true, Ok(index)) = (is_wifi, String::from_utf8_lossy(index).trim().parse::<u32>()) {
            interfaces.push((name.to_owned(), index));
        }
    }
    if interfaces.is_empty() {
        return Ok(());
    }
    let family = family()?;
    for (name, index) in interfaces {
        let wifi = read_interface(family, index);
        tree.insert(format!("replies/wifi/{name}"), words(&wifi).into_bytes());
    }
    Ok(())
}

fn family() -> io::Result<u16> {
    let body = attribute(number::FAMILY_NAME, b"nl80211\0");
    let reply = one(Part::Generic, &request(number::CONTROL, number::REQUEST, number::GET_FAMILY, &body))?;
    let id = reply.and_then(|answer| {
        let value = find(answer.body.get(HEADER_BYTES..)?, number::FAMILY_ID)?;
        Some(u16::from_ne_bytes(value.try_into().ok()?))
    });
    id.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
}

fn read_interface(family: u16, index: u32) -> WifiInterface {
    let of_interface = attribute(number::IFINDEX, &index.to_ne_bytes());
    let ask = |command, body: &[u8]| {
        let replies =
            list(Part::Generic, &request(family, number::REQUEST_DUMP, command, body)).unwrap_or_default();
        replies.into_iter().map(|reply| reply.body).collect::<Vec<_>>()
    };
    let mut wifi = WifiInterface::default();
    for body in ask(number::GET_STATION, &of_interface) {
        wifi.add_station(body.get(HEADER_BYTES..).unwrap_or_default());
    }
    let split = [of_interface.clone(), attribute(number::SPLIT_DUMP, &[])].concat();
    for body in ask(number::GET_WIPHY, &split) {
        wifi.add_phy(body.get(HEADER_BYTES..).unwrap_or_default());
    }
    wifi
}

impl WifiInterface {
    fn add_station(&mut self, attributes: &[u8]) {
        let station = find(attributes, number::STATION);
        let Some(bitrate) = station.and_then(|station| bitrate(station, number::TX_BITRATE)) else { return };
        self.bitrate = Some(self.bitrate.map_or(bitrate, |slowest| slowest.min(bitrate)));
    }
    fn add_phy(&mut self, phy: &[u8]) {
        for found in attributes(phy) {
            match found.number {
                number::TXQ_LIMIT => self.limit = u32_of(found.value),
                number::TXQ_MEMORY_LIMIT => self.memory_limit = u32_of(found.value),
                number::TXQ_STATS => self.backlog = find(found.value, number::BACKLOG_BYTES).and_then(u32_of),
                _ => {}
            }
        }
    }
}

fn u32_of(value: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(value.try_into().ok()?))
}

fn words(wifi: &WifiInterface) -> String {
    let mut text = String::new();
    let pairs = [
        ("bitrate_bits_per_second", wifi.bitrate),
        ("limit_packets", wifi.limit.map(u64::from)),
        ("memory_limit_bytes", wifi.memory_limit.map(u64::from)),
        ("backlog_bytes", wifi.backlog.map(u64::from)),
    ];
    for (name, value) in pairs {
        if let Some(value) = value {
            let _ = writeln!(text, "{name} {value}");
        }
    }
    text
}

fn request(kind: u16, flags: u16, command: u8, body: &[u8]) -> Vec<u8> {
    let length = (16 + HEADER_BYTES + body.len()) as u32;
    let mut bytes = Vec::from(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    // Sequence number and the kernel as receiver; then command, version 1, reserved.
    bytes.extend([0; 8]);
    bytes.extend([command, 1, 0, 0]);
    bytes.extend(body);
    bytes
}

/// Length, number, value, padded with zeros to a multiple of four bytes.
pub(crate) fn attribute(number: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::from(((4 + value.len()) as u16).to_ne_bytes());
    bytes.extend(number.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn station(bitrate: &[u8]) -> Vec<u8> {
        attribute(number::STATION, &attribute(number::TX_BITRATE, bitrate))
    }

    #[test]
    fn the_rate_of_the_slowest_station() {
        let mut wifi = WifiInterface::default();
        // 866.7 Mbit/s in both fields, then 72.2 Mbit/s in the 16-bit one.
        let both = [
            attribute(number::BITRATE, &8_667_u16.to_ne_bytes()),
            attribute(number::BITRATE_32, &8_667_u32.to_ne_bytes()),
        ];
        wifi.add_station(&station(&both.concat()));
        assert_eq!(wifi.bitrate, Some(866_700_000));
        wifi.add_station(&station(&attribute(number::BITRATE, &722_u16.to_ne_bytes())));
        assert_eq!(wifi.bitrate, Some(72_200_000));
        for odd in [station(&attribute(number::BITRATE, &[0, 0])), station(&[]), vec![1], vec![0xff; 64]] {
            wifi.add_station(&odd);
            assert_eq!(wifi.bitrate, Some(72_200_000));
        }
    }

    #[test]
    fn the_access_point() {
        let rate =
            |number, units: u32| attribute(number, &attribute(number::BITRATE_32, &units.to_ne_bytes()));
        let fields = [
            attribute(number::SIGNAL, &(-61_i8).to_ne_bytes()),
            rate(number::TX_BITRATE, 4_333),
            rate(number::RX_BITRATE, 3_900),
            attribute(number::TX_PACKETS, &900_u32.to_ne_bytes()),
            attribute(number::TX_RETRIES, &45_u32.to_ne_bytes()),
        ];
        let whole = attribute(number::STATION, &fields.concat());
        let known = AccessPoint {
            signal_dbm: Some(-61),
            sent_bits_per_second: Some(433_300_000),
            received_bits_per_second: Some(390_000_000),
            sent_and_retries: Some((900, 45)),
        };
        assert_eq!(AccessPoint::of(&whole), Some(known));
        let empty = attribute(number::STATION, &[]);
        assert_eq!(AccessPoint::of(&empty), Some(AccessPoint::default()));
        for length in 0..whole.len() {
            // What is cut off is missing.
            let _ = AccessPoint::of(&whole[..length]);
        }
    }

    #[test]
    fn the_queues_of_a_phy() {
        let mut wifi = WifiInterface::default();
        let stats =
            attribute(number::TXQ_STATS, &attribute(number::BACKLOG_BYTES, &30_000_u32.to_ne_bytes()));
        wifi.add_phy(&[attribute(number::TXQ_LIMIT, &8_192_u32.to_ne_bytes()), stats].concat());
        wifi.add_phy(&attribute(number::TXQ_MEMORY_LIMIT, &4_194_304_u32.to_ne_bytes()));
        let expected = "limit_packets 8192\nmemory_limit_bytes 4194304\nbacklog_bytes 30000\n";
        assert_eq!(words(&wifi), expected);
    }

    /// Without Wi-Fi the controller still exists and reports an unknown family.
    #[test]
    fn a_kernel_without_wifi_refuses() {
        let body = attribute(number::FAMILY_NAME, b"no-such\0");
        let refused =
            one(Part::Generic, &request(number::CONTROL, number::REQUEST, number::GET_FAMILY, &body));
        assert_eq!(refused.err().and_then(|error| error.raw_os_error()), Some(2));
    }

    /// Every kernel has the controller's own family, so this tests that the request is well formed.
    #[test]
    fn the_controller_answers() {
        let body = attribute(number::FAMILY_NAME, b"nlctrl\0");
        let reply = one(Part::Generic, &request(number::CONTROL, number::REQUEST, number::GET_FAMILY, &body))
            .unwrap();
        let id = find(&reply.unwrap().body[HEADER_BYTES..], number::FAMILY_ID).map(<[u8]>::to_vec);
        assert_eq!(id, Some(number::CONTROL.to_ne_bytes().to_vec()));
    }
}
