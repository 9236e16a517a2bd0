//! The rtnetlink(7) requests that an emulated line needs, in the namespace of the thread that opens
//! the socket.
//!
//! Written by hand: six similar requests need no model of rtnetlink.
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netdevice, recv, send, socket_with,
};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Index of the loopback interface in every namespace: the kernel registers it first
/// (`LOOPBACK_IFINDEX`).
pub const LOOPBACK: u32 = 1;

/// An rtnetlink socket.
#[derive(Debug)]
pub struct Netlink {
    fd: OwnedFd,
    sequence: u32,
}

/// A route through an interface, without a gateway.
#[derive(Clone, Copy, Debug)]
pub struct Route<'a> {
    /// First address of the destination.
    pub destination: IpAddr,
    /// Prefix length in bits; 0 is the default route.
    pub prefix: u8,
    /// The interface.
    pub interface: u32,
    /// Congestion control of TCP connections on this route. Unprivileged users may select any
    /// loaded algorithm this way; the sysctl is more restrictive.
    pub congestion_control: Option<&'a str>,
}

impl Netlink {
    /// Opens a socket in the network namespace of the calling thread.
    ///
    /// # Errors
    /// See `socket(2)`.
    pub fn open() -> io::Result<Netlink> {
        Ok(Netlink { fd: route_socket()?, sequence: 0 })
    }
    /// Brings an interface up, and sets `mtu` and `queue_packets` (`txqueuelen`) if given.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn set_up(&mut self, interface: u32, mtu: Option<u32>, queue_packets: Option<u32>) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWLINK, 0);
        message.bytes(&[libc::AF_UNSPEC as u8, 0]).bytes(&0_u16.to_ne_bytes());
        message.bytes(&interface.to_ne_bytes());
        // Flags, then the mask of flags to change.
        message.bytes(&(libc::IFF_UP as u32).to_ne_bytes()).bytes(&(libc::IFF_UP as u32).to_ne_bytes());
        if let Some(mtu) = mtu {
            message.attribute(libc::IFLA_MTU, &mtu.to_ne_bytes());
        }
        if let Some(packets) = queue_packets {
            message.attribute(libc::IFLA_TXQLEN, &packets.to_ne_bytes());
        }
        self.request(message)
    }
    /// Adds an address to an interface, usable at once (no duplicate address detection).
    ///
    /// # Errors
    /// The kernel's error; for IPv6 `EOPNOTSUPP` or `EACCES` if IPv6 is missing or disabled.
    pub fn add_address(&mut self, interface: u32, address: IpAddr, prefix: u8) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWADDR, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        message.bytes(&[family(address), prefix, libc::IFA_F_NODAD as u8, libc::RT_SCOPE_UNIVERSE]);
        message.bytes(&interface.to_ne_bytes());
        let octets = octets(address);
        message.attribute(libc::IFA_LOCAL, &octets).attribute(libc::IFA_ADDRESS, &octets);
        self.request(message)
    }
    /// Brings an interface down.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn set_down(&mut self, interface: u32) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWLINK, 0);
        message.bytes(&[libc::AF_UNSPEC as u8, 0]).bytes(&0_u16.to_ne_bytes());
        message.bytes(&interface.to_ne_bytes());
        message.bytes(&0_u32.to_ne_bytes()).bytes(&(libc::IFF_UP as u32).to_ne_bytes());
        self.request(message)
    }
    /// Creates a macvlan interface `name` in `namespace`, which receives and sends all frames of
    /// `lower` with its address (mode passthru). It vanishes with its namespace, and `lower` stays
    /// where it is.
    ///
    /// # Errors
    /// The kernel's error: `EOPNOTSUPP` without macvlan, `EBUSY` or `EINVAL` if `lower` already
    /// belongs to a bridge, a bond, or another macvlan.
    pub fn add_passthru(&mut self, lower: u32, name: &str, namespace: BorrowedFd<'_>) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWLINK, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        message.bytes(&[libc::AF_UNSPEC as u8, 0]).bytes(&[0; 14]);
        message.attribute(libc::IFLA_IFNAME, &[name.as_bytes(), b"\0"].concat());
        message.attribute(libc::IFLA_LINK, &lower.to_ne_bytes());
        message.attribute(libc::IFLA_NET_NS_FD, &namespace.as_raw_fd().to_ne_bytes());
        let mut mode = Message::nested();
        mode.attribute(IFLA_MACVLAN_MODE, &MACVLAN_MODE_PASSTHRU.to_ne_bytes());
        let mut kind = Message::nested();
        kind.attribute(libc::IFLA_INFO_KIND, b"macvlan\0").attribute(libc::IFLA_INFO_DATA, &mode.0);
        message.attribute(libc::IFLA_LINKINFO, &kind.0);
        self.request(message)
    }
    /// Adds a permanent neighbor: no ARP is sent for it.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_neighbor(&mut self, interface: u32, address: IpAddr, mac: [u8; 6]) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWNEIGH, libc::NLM_F_CREATE | libc::NLM_F_REPLACE);
        message.bytes(&[family(address), 0, 0, 0]).bytes(&interface.to_ne_bytes());
        message.bytes(&libc::NUD_PERMANENT.to_ne_bytes()).bytes(&[0, 0]);
        message.attribute(libc::NDA_DST, &octets(address)).attribute(libc::NDA_LLADDR, &mac);
        self.request(message)
    }
    /// Adds a route to the main table.
    ///
    /// # Errors
    /// The kernel's error; `EINVAL` for an unknown congestion control.
    pub fn add_route(&mut self, route: &Route<'_>) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWROUTE, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        let scope = if route.destination.is_ipv4() { libc::RT_SCOPE_LINK } else { libc::RT_SCOPE_UNIVERSE };
        message.bytes(&[family(route.destination), route.prefix, 0, 0]);
        message.bytes(&[libc::RT_TABLE_MAIN, libc::RTPROT_STATIC, scope, libc::RTN_UNICAST]);
        message.bytes(&0_u32.to_ne_bytes());
        if route.prefix > 0 {
            message.attribute(libc::RTA_DST, &octets(route.destination));
        }
        message.attribute(libc::RTA_OIF, &route.interface.to_ne_bytes());
        if let Some(name) = route.congestion_control {
            let mut metric = Message::nested();
            metric.attribute(RTAX_CC_ALGO, &[name.as_bytes(), b"\0"].concat());
            message.attribute(libc::RTA_METRICS, &metric.0);
        }
        self.request(message)
    }

    /// The gateway of the route to `destination`, if it has one, and the interface that leads
    /// there.
    ///
    /// # Errors
    /// The kernel's error; `ENETUNREACH` without a route.
    pub fn route_to(&mut self, destination: IpAddr) -> io::Result<(Option<IpAddr>, u32)> {
        let octets = octets(destination);
        let mut message = Message::new(libc::RTM_GETROUTE, 0);
        message.bytes(&[family(destination), 8 * octets.len() as u8, 0, 0, 0, 0, 0, 0]);
        message.bytes(&0_u32.to_ne_bytes()).attribute(libc::RTA_DST, &octets);
        self.sequence += 1;
        send(&self.fd, &message.finish(self.sequence), SendFlags::empty())?;
        let mut answer = [0_u8; 4096];
        let (got, _) = recv(&self.fd, &mut answer, RecvFlags::empty())?;
        route(&answer[..got])
    }

    fn request(&mut self, message: Message) -> io::Result<()> {
        self.sequence += 1;
        let bytes = message.finish(self.sequence);
        send(&self.fd, &bytes, SendFlags::empty())?;
        self.acknowledgement()
    }
    /// Waits for the answer to a request with NLM_F_ACK: one NLMSG_ERROR whose first int is 0 or a
    /// negated errno.
    fn acknowledgement(&self) -> io::Result<()> {
        let mut answer = [0_u8; 4096];
        let (got, _) = recv(&self.fd, &mut answer, RecvFlags::empty())?;
        error_of(&answer[..got])
    }
}

/// The error in an NLMSG_ERROR, whose first int is 0 or a negated errno.
fn error_of(answer: &[u8]) -> io::Result<()> {
    match answer.get(HEADER_BYTES..HEADER_BYTES + 4).and_then(|b| b.try_into().ok()) {
        Some(code) if i32::from_ne_bytes(code) == 0 => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-i32::from_ne_bytes(code))),
        None => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
    }
}

/// The gateway and the interface in an RTM_NEWROUTE.
fn route(answer: &[u8]) -> io::Result<(Option<IpAddr>, u32)> {
    let of_kind = |kind: u16| answer.get(4..6) == Some(&kind.to_ne_bytes());
    if !of_kind(libc::RTM_NEWROUTE) {
        return error_of(answer).map(|()| (None, 0));
    }
    let length = answer.get(..4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_ne_bytes) as usize;
    let mut rest = answer.get(HEADER_BYTES + ROUTE_BYTES..length).unwrap_or_default();
    let (mut gateway, mut interface) = (None, 0);
    while let Some((size, kind)) = attribute_header(rest) {
        let value = rest.get(4..size).unwrap_or_default();
        match kind {
            libc::RTA_GATEWAY => {
                let v4 = <[u8; 4]>::try_from(value).map(IpAddr::from);
                gateway = v4.or_else(|_| <[u8; 16]>::try_from(value).map(IpAddr::from)).ok();
            }
            libc::RTA_OIF => interface = value.try_into().map_or(0, u32::from_ne_bytes),
            _ => {}
        }
        rest = rest.get(size.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok((gateway, interface))
}

/// Length, at least that of the header, and kind of the attribute at the start.
fn attribute_header(bytes: &[u8]) -> Option<(usize, u16)> {
    let half = |at| Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    Some((usize::from(half(0)?), half(2)?)).filter(|(length, _)| *length >= 4)
}

/// Index of interface `name` in the network namespace of the calling thread.
///
/// # Errors
/// `ENODEV` if there is none.
pub fn interface_index(name: &str) -> io::Result<u32> {
    let any = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    Ok(netdevice::name_to_index(any, name)?)
}

/// Opens an rtnetlink(7) socket in the network namespace of the calling thread.
///
/// # Errors
/// See `socket(2)`.
pub(crate) fn route_socket() -> io::Result<OwnedFd> {
    // Protocol 0 is NETLINK_ROUTE.
    Ok(socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?)
}

/// Bytes of `struct nlmsghdr`.
const HEADER_BYTES: usize = 16;
/// Bytes of `struct rtmsg`.
const ROUTE_BYTES: usize = 12;
/// Source: linux/if_link.h.
const IFLA_MACVLAN_MODE: u16 = 1;
const MACVLAN_MODE_PASSTHRU: u32 = 8;
/// Attribute type of the congestion control's name in RTA_METRICS. Source: linux/rtnetlink.h.
const RTAX_CC_ALGO: u16 = 16;

fn family(address: IpAddr) -> u8 {
    (if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 }) as u8
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

/// A request under construction: header, fixed part, attributes.
struct Message(Vec<u8>);

impl Message {
    fn new(kind: u16, flags: libc::c_int) -> Self {
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
        // `finish` sets the length and sequence number; port 0 is the kernel.
        let mut header = vec![0; HEADER_BYTES];
        header[4..6].copy_from_slice(&kind.to_ne_bytes());
        header[6..8].copy_from_slice(&flags.to_ne_bytes());
        Message(header)
    }
    const fn nested() -> Self {
        Message(Vec::new())
    }
    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }
    /// Length (without padding), type, value, then padding to a multiple of four bytes.
    fn attribute(&mut self, kind: u16, value: &[u8]) -> &mut Self {
        let length = (4 + value.len()) as u16;
        self.bytes(&length.to_ne_bytes()).bytes(&kind.to_ne_bytes()).bytes(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }
    fn finish(mut self, sequence: u32) -> Vec<u8> {
        let length = self.0.len() as u32;
        self.0[0..4].copy_from_slice(&length.to_ne_bytes());
        self.0[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_padded_but_their_length_is_not() {
        let mut message = Message::nested();
        message.attribute(RTAX_CC_ALGO, b"cubic\0").attribute(libc::RTA_OIF, &7_u32.to_ne_bytes());
        assert_eq!(message.0.len(), 12 + 8);
        assert_eq!(message.0[0..2], 10_u16.to_ne_bytes());
        assert_eq!(&message.0[4..12], b"cubic\0\0\0");
    }
    #[test]
    fn the_gateway_of_a_route_is_read_and_nothing_else() {
        let mut message = Message::new(libc::RTM_NEWROUTE, 0);
        message.bytes(&[0; ROUTE_BYTES]).attribute(libc::RTA_DST, &[192, 0, 2, 1]);
        message.attribute(libc::RTA_OIF, &7_u32.to_ne_bytes());
        let direct = Message(message.0.clone()).finish(1);
        assert_eq!(route(&direct).unwrap(), (None, 7));
        message.attribute(libc::RTA_GATEWAY, &[198, 51, 100, 1]);
        let routed = message.finish(1);
        assert_eq!(route(&routed).unwrap(), (Some(IpAddr::from([198, 51, 100, 1])), 7));
        for length in 0..routed.len() {
            // What is cut off is missing, or an error.
            let _ = route(&routed[..length]);
        }
        let mut refused = vec![0; HEADER_BYTES];
        refused[4..6].copy_from_slice(&(libc::NLMSG_ERROR as u16).to_ne_bytes());
        refused.extend((-libc::ENETUNREACH).to_ne_bytes());
        assert_eq!(route(&refused).unwrap_err().raw_os_error(), Some(libc::ENETUNREACH));
    }
    #[test]
    fn length_and_sequence_are_in_the_header() {
        let mut message = Message::new(libc::RTM_NEWLINK, libc::NLM_F_CREATE);
        message.bytes(&[1, 2, 3, 4]);
        let bytes = message.finish(9);
        assert_eq!(bytes[0..4], 20_u32.to_ne_bytes());
        assert_eq!(bytes[8..12], 9_u32.to_ne_bytes());
        assert_eq!(
            bytes[6..8],
            ((libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE) as u16).to_ne_bytes()
        );
    }
}
