//! Where packets to a host leave this one.
use crate::netlink::Netlink;
use std::io;
use std::net::IpAddr;

/// The gateway of the route to `destination`, if it has one, and the number of the interface.
///
/// # Errors
/// See [`Netlink::route_to`].
pub fn next_hop(destination: IpAddr) -> io::Result<(Option<IpAddr>, u32)> {
    Netlink::open()?.route_to(destination)
}
