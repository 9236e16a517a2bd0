//! The state of an interface, by rtnetlink(7), in the network namespace of the calling thread.
use crate::dump::{Part, list};
use std::io;
use std::net::IpAddr;

/// `struct nlmsghdr`, `struct ifinfomsg`, `struct ifaddrmsg` and `struct rtmsg`.
const HEADER_BYTES: usize = 16;
const LINK_BYTES: usize = 16;
const ADDRESS_BYTES: usize = 8;

/// An interface.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Link {
    /// Its index.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Its Ethernet address, if it has one.
    pub mac: Option<[u8; 6]>,
    /// Its MTU in bytes.
    pub mtu: u32,
    /// It is up, as the administrator wants it.
    pub is_up: bool,
    /// It has a carrier: a cable, and something at its other end. Only known while it is up.
    pub has_carrier: bool,
    /// Index of the bridge or bond that it belongs to.
    pub master: Option<u32>,
    /// Its addresses, without those of IPv6 that the kernel gives by itself (fe80::/10).
    pub addresses: Vec<IpAddr>,
}

/// All interfaces.
///
/// # Errors
/// See `socket(2)`, `send(2)` and `recv(2)`.
pub fn links() -> io::Result<Vec<Link>> {
    let mut links: Vec<Link> = Vec::new();
    dump(libc::RTM_GETLINK, LINK_BYTES, &mut |body| links.extend(link(body)))?;
    dump(libc::RTM_GETADDR, ADDRESS_BYTES, &mut |body| {
        let Some((index, address)) = address(body) else { return };
        if let Some(link) = links.iter_mut().find(|link| link.index == index) {
            link.addresses.push(address);
        }
    })?;
    Ok(links)
}

/// Passes the body of each message of a dump to `take`.
fn dump(kind: u16, fixed: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let mut request = Vec::new();
    request.extend(((HEADER_BYTES + fixed) as u32).to_ne_bytes());
    request.extend(kind.to_ne_bytes());
    request.extend(((libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16).to_ne_bytes());
    request.resize(HEADER_BYTES + fixed, 0);
    list(Part::Route, &request, |datagram| {
        let mut rest = datagram;
        while let Some(length) = u32_at(rest, 0).map(|length| length as usize) {
            let is_end = u16_at(rest, 4)
                .is_some_and(|of| [libc::NLMSG_DONE, libc::NLMSG_ERROR].contains(&libc::c_int::from(of)));
            match rest.get(HEADER_BYTES..length) {
                Some(body) if !is_end => take(body),
                _ => return true,
            }
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        false
    })
}

fn link(body: &[u8]) -> Option<Link> {
    let (index, flags) = (u32_at(body, 4)?, u32_at(body, 8)?);
    let mut link = Link {
        index,
        is_up: flags & libc::IFF_UP as u32 != 0,
        // linux/if.h: IFF_LOWER_UP.
        has_carrier: flags & 1 << 16 != 0,
        ..Link::default()
    };
    attributes(body.get(LINK_BYTES..)?, &mut |kind, value| match kind {
        libc::IFLA_IFNAME => {
            link.name = String::from_utf8_lossy(value).trim_end_matches('\0').to_owned();
        }
        libc::IFLA_ADDRESS => link.mac = value.try_into().ok(),
        libc::IFLA_MTU => link.mtu = u32_at(value, 0).unwrap_or(0),
        libc::IFLA_MASTER => link.master = u32_at(value, 0),
        _ => {}
    });
    Some(link)
}

/// Index of the interface, and its address if people or programs gave it.
fn address(body: &[u8]) -> Option<(u32, IpAddr)> {
    let (mut local, mut other) = (None, None);
    attributes(body.get(ADDRESS_BYTES..)?, &mut |kind, value| match kind {
        libc::IFA_LOCAL => local = ip(value),
        libc::IFA_ADDRESS => other = ip(value),
        _ => {}
    });
    let address = local.or(other)?;
    let is_automatic = matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local());
    Some((u32_at(body, 4)?, address)).filter(|_| !is_automatic)
}

fn ip(value: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(value).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(value).map(IpAddr::from)).ok()
}

fn attributes(mut rest: &[u8], take: &mut dyn FnMut(u16, &[u8])) {
    while let (Some(length), Some(kind)) = (u16_at(rest, 0), u16_at(rest, 2)) {
        let Some(value) = rest.get(4..usize::from(length)) else { return };
        take(kind, value);
        rest = rest.get(usize::from(length).next_multiple_of(4)..).unwrap_or_default();
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_its_address_and_no_master() {
        let links = links().unwrap();
        let lo = links.iter().find(|link| link.name == "lo").expect("a loopback interface");
        assert_eq!((lo.index, lo.master, lo.mtu), (1, None, 65_536));
        // A new network namespace has it down and without addresses.
        assert_eq!(lo.addresses.iter().any(IpAddr::is_loopback), lo.is_up);
    }
    #[test]
    fn cut_messages_end_quietly() {
        let whole = [1_u8; 40];
        for length in 0..whole.len() {
            let _ = (link(&whole[..length]), address(&whole[..length]));
        }
    }
}
