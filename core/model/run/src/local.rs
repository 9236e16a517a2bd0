//! Addresses of a local network, which an operator of many lines need not know.
use crate::{Hop, Run};
use alloc::string::{String, ToString};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Endings of names in local networks (RFC 6762, RFC 8375, RFC 9476 and common routers).
const LOCAL_NAMES: [&str; 7] = ["local", "lan", "home", "internal", "home.arpa", "localdomain", "box"];

/// The network of a local address: private (RFC 1918), unique local (RFC 4193) or link-local.
/// `None` for others, also for the shared addresses of providers (RFC 6598).
fn network(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            let network = match (a, b) {
                (10, _) => [10, 0, 0, 0],
                (172, 16..=31) => [172, 16, 0, 0],
                (192, 168) => [192, 168, 0, 0],
                (169, 254) => [169, 254, 0, 0],
                _ => return None,
            };
            Some(Ipv4Addr::from(network).into())
        }
        IpAddr::V6(v6) => match v6.segments()[0] {
            first @ 0xfc00..=0xfdff => Some(Ipv6Addr::new(first & 0xff00, 0, 0, 0, 0, 0, 0, 0).into()),
            0xfe80..=0xfebf => Some(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0).into()),
            _ => None,
        },
    }
}

/// Whether an address means nothing outside of a network: that of a household, or of its provider.
/// Many providers use the same shared addresses (RFC 6598), and so do tunnels to devices.
pub fn is_local_address(address: IpAddr) -> bool {
    let is_shared = |v4: Ipv4Addr| matches!(v4.octets(), [100, 64..=127, ..]);
    network(address).is_some() || matches!(address, IpAddr::V4(v4) if is_shared(v4))
}

/// Whether `host` is an address or a name in a local network. A name without a dot is one.
pub fn is_local_host(host: &str) -> bool {
    if let Ok(address) = host.parse::<IpAddr>() {
        return is_local_address(address);
    }
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let ends = |ending: &str| name.strip_suffix(ending).is_some_and(|rest| rest.ends_with('.'));
    !name.is_empty() && (!name.contains('.') || LOCAL_NAMES.iter().any(|ending| ends(ending)))
}

impl Run {
    /// Replaces the addresses of devices in the local network by that of their network, and removes
    /// their names and those of programs. What a diagnosis says of the path stays the same.
    pub fn hide_local_addresses(&mut self) {
        for hop in self.path.iter_mut().flat_map(|path| path.hops.iter_mut().chain(&mut path.return_path)) {
            hide(hop);
        }
        for traffic in &mut self.host_traffic {
            traffic.programs.clear();
        }
        for value in self.facts.values_mut() {
            hide_text(value);
        }
        self.title = self.title.split(' ').map(hidden).collect::<alloc::vec::Vec<_>>().join(" ");
    }
}

fn hide(hop: &mut Hop) {
    if hop.address.parse().is_ok_and(|address| network(address).is_some()) {
        hop.name = None;
    }
    hide_text(&mut hop.address);
    hop.flow_address.iter_mut().chain(&mut hop.other_address).for_each(hide_text);
}

fn hide_text(text: &mut String) {
    *text = hidden(text);
}

/// An address, or one with a port, without the device if it is local. Other text is unchanged.
fn hidden(text: &str) -> String {
    let (open, inner, close) = match text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => ("(", inner, ")"),
        None => ("", text, ""),
    };
    let local = |address: &str| address.parse().ok().and_then(network);
    let changed = match (local(inner), inner.rsplit_once(':')) {
        (Some(network), _) => Some(network.to_string()),
        (None, Some((host, port))) if port.parse::<u16>().is_ok() => {
            let bare = host.trim_start_matches('[').trim_end_matches(']');
            local(bare).map(|network| host.replace(bare, &network.to_string()) + ":" + port)
        }
        _ => None,
    };
    changed.map_or_else(|| text.to_string(), |changed| [open, &changed, close].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn local_hosts_are_known() {
        let local = [
            "192.168.1.7",
            "10.0.0.1",
            "172.31.255.1",
            "169.254.0.9",
            "100.64.0.1",
            "100.127.255.254",
            "fd12:3456::1",
            "fe80::1",
            "printer",
            "nas.local",
            "fritz.box",
            "a.home.arpa",
            "tv.LAN.",
        ];
        let others = [
            "192.0.2.1",
            "172.32.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "127.0.0.1",
            "2001:db8::1",
            "example.net",
            "mybox",
            "box.net",
            "",
        ];
        let missed: Vec<&str> = local.into_iter().filter(|host| !is_local_host(host)).collect();
        assert_eq!(missed, Vec::<&str>::new());
        let seen: Vec<&str> = others.into_iter().filter(|host| is_local_host(host)).collect();
        // A name without a dot is resolved in the local network.
        assert_eq!(seen, ["mybox"]);
    }

    #[test]
    fn devices_are_hidden_and_others_stay() {
        let cases = [
            ("192.168.7.9", "192.168.0.0"),
            ("192.168.7.9:3279", "192.168.0.0:3279"),
            ("(192.168.7.9:3279)", "(192.168.0.0:3279)"),
            ("[fd12:3456::9]:3279", "[fd00::]:3279"),
            ("fe80::1:2", "fe80::"),
            ("192.0.2.1:443", "192.0.2.1:443"),
            ("100.64.3.1", "100.64.3.1"),
            ("example.net", "example.net"),
            ("eth0: 1 Gbit/s", "eth0: 1 Gbit/s"),
        ];
        for (text, expected) in cases {
            assert_eq!(hidden(text), expected, "{text}");
        }
    }
}
