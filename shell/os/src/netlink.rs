//! The rtnetlink(7) requests that an emulated line needs, in the namespace of the thread that opens
//! the socket.
//!
//! Written by hand: six similar requests need no model of rtnetlink.
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netdevice, recv, send, socket_with,
};
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

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
        match answer[..got].get(HEADER_BYTES..HEADER_BYTES + 4).and_then(|b| b.try_into().ok()) {
            Some(code) if i32::from_ne_bytes(code) == 0 => Ok(()),
            Some(code) => Err(io::Error::from_raw_os_error(-i32::from_ne_bytes(code))),
            None => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
        }
    }
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
