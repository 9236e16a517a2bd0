//! A test of ECN with raw sockets of this host.
//!
//! The connection of the test is none of the kernel, which would reset it: its port belongs to a
//! listening socket, whose filter drops all that arrives.
#![forbid(unsafe_code)]

mod error;
mod sockets;

pub use error::EcnError;
use fathom_ecn::{Action, EcnTest, FromHost, Report, judge};
use fathom_os::clock::Clock;
use sockets::Sockets;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, Ordering};

/// How much of a path is tested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// All hops: [`EcnTest::new`].
    Path,
    /// The host alone: [`EcnTest::of_host`].
    Host,
}

/// The result of a test.
#[derive(Clone, Debug)]
pub struct Tested {
    /// The address of this computer.
    pub own: Ipv4Addr,
    /// What was found.
    pub report: Report,
    /// What the segments of the host showed.
    pub from_host: FromHost,
}

/// Tests the path to a host, with connections to this port. Setting `stop` ends it early, with what
/// was observed until then. `on_hops` gets the number of hops whenever it grows.
///
/// # Errors
/// If the sockets cannot be opened, or the host has no route.
pub fn test(
    host: SocketAddrV4,
    extent: Extent,
    clock: Clock,
    stop: &AtomicBool,
    on_hops: &mut dyn FnMut(usize),
) -> Result<Tested, EcnError> {
    let mut sockets = Sockets::open(host)?;
    let route = sockets.route();
    let mut test = match extent {
        Extent::Path => EcnTest::new(route),
        Extent::Host => EcnTest::of_host(route),
    };
    let mut hops = 0;
    while !stop.load(Ordering::Relaxed) {
        match test.poll(clock.now()) {
            Action::Done => break,
            Action::Send(packet, to) => sockets.send(&packet, to)?,
            Action::Wait(until) => {
                let wait = until.saturating_since(clock.now());
                sockets.receive(wait, |packet| test.receive(packet))?;
            }
        }
        let known = test.evidence().points.len();
        if known > hops {
            hops = known;
            on_hops(hops);
        }
    }
    let evidence = test.evidence();
    Ok(Tested { own: route.own, report: judge(evidence), from_host: evidence.from_host })
}
