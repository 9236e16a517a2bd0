//! Interfaces of this host that are connected to a switch.
use crate::DutError;
use crate::error::{LEAST_MTU, system};
use fathom_os::link::{Link, links};
use fathom_os::netlink::{Netlink, interface_index};
use fathom_os::netns::NetNs;
use fathom_os::{ethtool, userns};
use fathom_units::{Duration, Rate};
use std::net::Ipv4Addr;
use std::thread;
use std::time::Instant;

/// Name of the interface in each namespace.
const INTERFACE: &str = "port0";
/// Time that an interface has to get a carrier: autonegotiation takes some seconds. An earlier
/// macvlan is gone within the same time.
const CARRIER: Duration = Duration::from_secs(10);
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(50);
/// Errors of an interface that has a macvlan. Source: asm-generic/errno-base.h.
const EINVAL: i32 = 22;
const EBUSY: i32 = 16;
/// Prefix of the network of all ports.
const PREFIX: u8 = 24;

/// An end of the switch: a network namespace and its address.
#[derive(Debug)]
pub struct Port {
    /// Name of the interface.
    pub name: String,
    /// Its rate, if the driver reports one.
    pub rate: Option<Rate>,
    pub(crate) namespace: NetNs,
    pub(crate) address: Ipv4Addr,
    /// The interface itself; `None` in an emulated line.
    lower: Option<Lower>,
}

/// An interface of the host. It is taken down again if it was.
#[derive(Debug)]
struct Lower {
    netlink: Netlink,
    link: Link,
}

impl Drop for Lower {
    fn drop(&mut self) {
        if !self.link.is_up {
            // It may have been removed.
            let _ = self.netlink.set_down(self.link.index);
        }
    }
}

impl Port {
    /// An end of an emulated line, whose namespace has a route to the other end.
    #[must_use]
    pub const fn emulated(name: String, namespace: NetNs, address: Ipv4Addr) -> Port {
        Port { name, rate: None, namespace, address, lower: None }
    }
    /// What the driver counts.
    pub(crate) fn statistics(&self) -> Vec<(String, u64)> {
        self.lower.as_ref().map_or_else(Vec::new, |lower| ethtool::statistics(&lower.link.name))
    }
    /// Runs `work` in a thread inside the namespace.
    pub(crate) fn within<R: Send>(
        &self,
        work: impl FnOnce() -> Result<R, DutError> + Send,
    ) -> Result<R, DutError> {
        thread::scope(|scope| {
            let entered = || {
                self.namespace.enter().map_err(system("enter a network namespace"))?;
                work()
            };
            scope.spawn(entered).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

/// Opens interfaces of this host. None of them may be in use.
///
/// # Errors
/// Names the interface, and what to try.
pub fn open(names: &[String]) -> Result<Vec<Port>, DutError> {
    let all = links().map_err(system("list the interfaces"))?;
    let chosen = names.iter().map(|name| usable(name, &all)).collect::<Result<Vec<Link>, DutError>>()?;
    if !userns::is_privileged() {
        return Err(DutError::NotPermitted);
    }
    let lowers = chosen.into_iter().map(bring_up).collect::<Result<Vec<Lower>, DutError>>()?;
    wait_for_carriers(&lowers)?;
    let macs: Vec<Option<[u8; 6]>> = lowers.iter().map(|lower| lower.link.mac).collect();
    (0..).zip(lowers).map(|(number, lower)| port(number, lower, &macs)).collect()
}

/// The interface, if nobody uses it.
fn usable(name: &str, all: &[Link]) -> Result<Link, DutError> {
    let known = || all.iter().map(|link| link.name.clone()).filter(|known| known != "lo").collect();
    let Some(link) = all.iter().find(|link| link.name == name) else {
        return Err(DutError::NoInterface { name: name.to_owned(), known: known() });
    };
    let name = name.to_owned();
    let unusable = |by: String| Err(DutError::Unusable { name: name.clone(), by });
    if let Some(address) = link.addresses.first() {
        return unusable(format!("the address {address}"));
    }
    if let Some(master) = link.master {
        let master = all.iter().find(|one| one.index == master);
        return unusable(
            master.map_or_else(|| "a master".to_owned(), |master| format!("the master {}", master.name)),
        );
    }
    if has_route(&name) {
        return unusable("a route".to_owned());
    }
    match link.mac {
        None | Some([0, 0, 0, 0, 0, 0]) => unusable("no Ethernet address".to_owned()),
        Some(_) if link.mtu < LEAST_MTU => Err(DutError::SmallMtu { name, mtu: link.mtu }),
        Some(_) => Ok(link.clone()),
    }
}

/// Whether an IPv4 route leads through the interface.
fn has_route(name: &str) -> bool {
    let table = std::fs::read_to_string("/proc/thread-self/net/route").unwrap_or_default();
    table.lines().skip(1).any(|line| line.split_whitespace().next() == Some(name))
}

fn bring_up(link: Link) -> Result<Lower, DutError> {
    let doing = format!("bring up interface {}", link.name);
    let mut netlink = Netlink::open().map_err(system("open an rtnetlink socket"))?;
    netlink.set_up(link.index, None, None).map_err(system(doing))?;
    Ok(Lower { netlink, link })
}

fn wait_for_carriers(lowers: &[Lower]) -> Result<(), DutError> {
    let start = Instant::now();
    loop {
        let now = links().map_err(system("list the interfaces"))?;
        let has_carrier =
            |lower: &&Lower| now.iter().any(|link| link.index == lower.link.index && link.has_carrier);
        let Some(down) = lowers.iter().find(|lower| !has_carrier(lower)) else { return Ok(()) };
        if start.elapsed().as_secs_f64() > CARRIER.as_secs_f64() {
            return Err(DutError::NoCarrier { name: down.link.name.clone(), waited: CARRIER });
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Address of a port. The range is for benchmarks: RFC 2544 appendix C.2.2.
const fn address(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(198, 18, 0, number + 1)
}

/// Creates the namespace of a port, with a macvlan on its interface and the addresses of all ports.
fn port(number: u8, mut lower: Lower, macs: &[Option<[u8; 6]>]) -> Result<Port, DutError> {
    let namespace = NetNs::create().map_err(|error| DutError::Namespace(userns::explain(error)))?;
    let name = lower.link.name.clone();
    add_macvlan(&mut lower, &namespace)?;
    let rate = ethtool::speed_mbit(&name).map(|mbit| Rate::from_bits_per_second(u64::from(mbit) * 1_000_000));
    let port = Port { name, rate, namespace, address: address(number), lower: Some(lower) };
    port.within(|| configure(number, macs))?;
    Ok(port)
}

/// Creates the macvlan. That of an earlier test may still be there: the kernel removes a namespace
/// some time after its last process has ended.
fn add_macvlan(lower: &mut Lower, namespace: &NetNs) -> Result<(), DutError> {
    let (name, start) = (lower.link.name.clone(), Instant::now());
    loop {
        match lower.netlink.add_passthru(lower.link.index, INTERFACE, namespace.as_fd()) {
            Ok(()) => return Ok(()),
            Err(error) if !matches!(error.raw_os_error(), Some(EINVAL | EBUSY)) => {
                return Err(DutError::NoMacvlan { name, source: error });
            }
            Err(_) if start.elapsed().as_secs_f64() > CARRIER.as_secs_f64() => {
                return Err(DutError::Unusable { name, by: "a macvlan of another program".to_owned() });
            }
            Err(_) => thread::sleep(LOOK_EVERY),
        }
    }
}

/// Sets addresses, in the namespace. Neighbors are permanent: ARP would be lost in a full buffer.
fn configure(number: u8, macs: &[Option<[u8; 6]>]) -> Result<(), DutError> {
    let mut netlink = Netlink::open().map_err(system("open an rtnetlink socket"))?;
    let interface = interface_index(INTERFACE).map_err(system("find the macvlan interface"))?;
    // It would send frames by itself.
    let _ = std::fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
    netlink.set_up(interface, None, None).map_err(system("bring up the macvlan interface"))?;
    netlink.add_address(interface, address(number).into(), PREFIX).map_err(system("set an address"))?;
    for (other, mac) in (0..).zip(macs).filter(|(other, _)| *other != number) {
        let Some(mac) = mac else { continue };
        netlink.add_neighbor(interface, address(other).into(), *mac).map_err(system("set a neighbor"))?;
    }
    Ok(())
}
