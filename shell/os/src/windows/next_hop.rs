//! Where packets to a host leave this one.
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use windows_sys::Win32::NetworkManagement::IpHelper::{
    GetBestRoute, GetBestRoute2, MIB_IPFORWARD_ROW2, MIB_IPFORWARDROW,
};
use windows_sys::Win32::Networking::WinSock::{AF_INET6, IN6_ADDR, IN6_ADDR_0, SOCKADDR_IN6, SOCKADDR_INET};

/// The gateway of the route to `destination`, if it has one, and the number of the interface.
///
/// # Errors
/// See `GetBestRoute` and `GetBestRoute2`.
pub fn next_hop(destination: IpAddr) -> io::Result<(Option<IpAddr>, u32)> {
    let (gateway, interface) = match destination {
        IpAddr::V4(to) => next_hop_v4(to)?,
        IpAddr::V6(to) => next_hop_v6(to)?,
    };
    // A host of the same network is its own gateway.
    Ok((Some(gateway).filter(|gateway| !gateway.is_unspecified() && *gateway != destination), interface))
}

fn next_hop_v4(to: Ipv4Addr) -> io::Result<(IpAddr, u32)> {
    let mut row = MIB_IPFORWARDROW::default();
    // SAFETY: the pointer is valid for the call.
    check(unsafe { GetBestRoute(u32::from_ne_bytes(to.octets()), 0, &raw mut row) })?;
    Ok((Ipv4Addr::from(row.dwForwardNextHop.to_ne_bytes()).into(), row.dwForwardIfIndex))
}

fn next_hop_v6(destination: Ipv6Addr) -> io::Result<(IpAddr, u32)> {
    let address = IN6_ADDR { u: IN6_ADDR_0 { Byte: destination.octets() } };
    let to = SOCKADDR_INET {
        Ipv6: SOCKADDR_IN6 { sin6_family: AF_INET6, sin6_addr: address, ..Default::default() },
    };
    let (mut row, mut source) = (MIB_IPFORWARD_ROW2::default(), SOCKADDR_INET::default());
    let none = core::ptr::null();
    // SAFETY: the pointers that are not null are valid for the call.
    check(unsafe { GetBestRoute2(none, 0, none.cast(), &raw const to, 0, &raw mut row, &raw mut source) })?;
    // SAFETY: the route is of the family of the destination; any bits are an address.
    let octets = unsafe { row.NextHop.Ipv6.sin6_addr.u.Byte };
    Ok((Ipv6Addr::from(octets).into(), row.InterfaceIndex))
}

fn check(code: u32) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code.cast_signed())) }
}
