//! One side of a lab: a network namespace whose only route leads through a TUN interface.
use crate::address::{Router, V4_NETWORK, V6_NETWORK};
use crate::{Addresses, LabError, LabOptions};
use fathom_os::netlink::{LOOPBACK, Netlink, Route, interface_index};
use fathom_os::netns::NetNs;
use fathom_os::tun::Tun;
use fathom_os::userns;
use fathom_run::Note;
use std::net::IpAddr;
use std::{fs, io, thread};

/// Name of the interface on both sides.
const INTERFACE: &str = "line0";

/// MTU of Ethernet (RFC 894).
const MTU_BYTES: u32 = 1500;

/// Packets that wait in the kernel until the line's thread reads them. More than a burst of all
/// senders, so that losses occur only in the line's own queues.
const READ_QUEUE_PACKETS: u32 = 10_000;

/// Maximum socket buffer. The host's own limit of a few megabytes would hide larger buffers on the
/// line.
const SOCKET_BUFFER_BYTES: u64 = 64 << 20;

/// A configured side.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) namespace: NetNs,
    pub(crate) tun: Tun,
    pub(crate) addresses: Addresses,
    /// Minor features that could not be set up.
    pub(crate) notes: Vec<Note>,
}

/// Creates a namespace with the addresses of `own`.
pub(crate) fn make(own: Router, options: &LabOptions) -> Result<End, LabError> {
    let namespace = NetNs::create().map_err(|e| LabError::Namespace(userns::explain(e)))?;
    let configured = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            namespace.enter().map_err(system("enter a network namespace"))?;
            configure(own, options)
        });
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let (tun, addresses, notes) = configured?;
    Ok(End { namespace, tun, addresses, notes })
}

/// Configures the side; called inside its namespace.
fn configure(own: Router, options: &LabOptions) -> Result<(Tun, Addresses, Vec<Note>), LabError> {
    let tun = Tun::create(INTERFACE).map_err(LabError::Tun)?;
    let mut netlink = Netlink::open().map_err(system("open an rtnetlink socket"))?;
    let interface = interface_index(INTERFACE).map_err(system("find the TUN interface"))?;
    netlink.set_up(LOOPBACK, None, None).map_err(system("bring up the loopback interface"))?;
    netlink
        .set_up(interface, Some(MTU_BYTES), Some(READ_QUEUE_PACKETS))
        .map_err(system("bring up the TUN interface"))?;
    let mut notes = set_up_tcp();
    let network = Network { netlink, interface, congestion_control: &options.congestion_control };
    let v6 = network.give(own, options.ipv6, &mut notes)?;
    Ok((tun, Addresses { v4: own.v4, v6: v6.then_some(own.v6) }, notes))
}

struct Network<'a> {
    netlink: Netlink,
    interface: u32,
    congestion_control: &'a str,
}

impl Network<'_> {
    /// Adds addresses and routes. Returns whether IPv6 works.
    fn give(mut self, own: Router, want_v6: bool, notes: &mut Vec<Note>) -> Result<bool, LabError> {
        self.netlink
            .add_address(self.interface, own.v4.into(), 32)
            .map_err(system("set the IPv4 address of the TUN interface"))?;
        self.route(V4_NETWORK.0.into(), V4_NETWORK.1)?;
        if !want_v6 {
            return Ok(false);
        }
        if let Err(e) = self.netlink.add_address(self.interface, own.v6.into(), 128) {
            notes.push(Note::NoIpv6 { message: e.to_string() });
            return Ok(false);
        }
        self.route(V6_NETWORK.0.into(), V6_NETWORK.1)?;
        Ok(true)
    }
    fn route(&mut self, destination: IpAddr, prefix: u8) -> Result<(), LabError> {
        let (interface, name) = (self.interface, self.congestion_control);
        let route = Route { destination, prefix, interface, congestion_control: Some(name) };
        self.netlink.add_route(&route).map_err(|e| match e.raw_os_error() {
            Some(libc_einval) if libc_einval == EINVAL => unknown_congestion_control(name),
            _ => system("add a route into the line")(e),
        })
    }
}

/// The kernel's error for a route with an unknown congestion control.
const EINVAL: i32 = 22;

fn unknown_congestion_control(name: &str) -> LabError {
    let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let available = available.unwrap_or_default().trim().to_owned();
    LabError::CongestionControl { name: name.to_owned(), available }
}

/// Sets up TCP in this namespace with ample memory and no cached metrics. Returns notes on what the
/// system refused.
fn set_up_tcp() -> Vec<Note> {
    let settings = [
        // Otherwise a connection starts with what the previous one learned, and runs are not
        // repeatable.
        ("net/ipv4/tcp_no_metrics_save", "1".to_owned()),
        ("net/ipv4/tcp_rmem", format!("4096 131072 {SOCKET_BUFFER_BYTES}")),
        ("net/ipv4/tcp_wmem", format!("4096 16384 {SOCKET_BUFFER_BYTES}")),
    ];
    let refused = settings.iter().filter_map(|(name, value)| {
        let error = fs::write(format!("/proc/sys/{name}"), value).err()?;
        let (setting, value) = (name.replace('/', "."), value.clone());
        Some(Note::SettingRefused { setting, value, message: error.to_string() })
    });
    // ICMP sockets without privilege; a user namespace has only one group.
    if fs::write("/proc/sys/net/ipv4/ping_group_range", "0 2147483647").is_err() {
        let _ = fs::write("/proc/sys/net/ipv4/ping_group_range", "0 0");
    }
    refused.collect()
}

/// Packets that the kernel dropped because the line's thread did not read them in time. Call it in
/// the namespace, while the interface exists.
pub(crate) fn dropped_before_line() -> u64 {
    fs::read_to_string("/proc/thread-self/net/dev").map_or(0, |table| tx_dropped(&table))
}

/// The drop column of /proc/net/dev: eight columns of reception, then transmitted bytes, packets,
/// errors and drops.
fn tx_dropped(table: &str) -> u64 {
    let row = table.lines().find_map(|line| line.trim().strip_prefix(INTERFACE)?.strip_prefix(':'));
    row.and_then(|row| row.split_whitespace().nth(11)?.parse().ok()).unwrap_or(0)
}

/// Converts an I/O error of the operation `doing`.
pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> LabError {
    move |source| LabError::System { doing: doing.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_drops_of_transmission() {
        let table = "Inter-|   Receive  |  Transmit\n face |bytes ...\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n \
                     line0: 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36\n";
        assert_eq!(tx_dropped(table), 32);
        assert_eq!(tx_dropped("garbage"), 0);
    }
}
