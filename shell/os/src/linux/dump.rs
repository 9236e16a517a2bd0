//! Netlink dumps (netlink(7)): one request, answered by any number of datagrams.
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read};
use std::time::Duration;

/// Longer than any datagram of a dump. Source: `NLMSG_GOODSIZE` and `netlink_dump`, 32 KiB.
const DATAGRAM_BYTES: usize = 64 << 10;

/// Timeout for a kernel that does not answer; normally it answers at once.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum total size of a dump.
const MAX_BYTES: usize = 64 << 20;

/// A netlink subsystem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// rtnetlink(7): interfaces, queue disciplines.
    Route,
    /// sock_diag(7): sockets.
    Sockets,
    /// Generic netlink, for example Wi-Fi.
    Generic,
    /// nfnetlink: packet filter rules.
    Netfilter,
}

impl Part {
    const fn protocol(self) -> i32 {
        match self {
            Part::Route => libc::NETLINK_ROUTE,
            Part::Sockets => libc::NETLINK_SOCK_DIAG,
            Part::Generic => libc::NETLINK_GENERIC,
            Part::Netfilter => libc::NETLINK_NETFILTER,
        }
    }
}

/// Sends `request` and passes each datagram of the answer to `take`, until that returns true for
/// the last one.
///
/// # Errors
/// See `socket(2)`, `send(2)` and `recv(2)`; also if the answer exceeds the maximum size.
pub fn list(part: Part, request: &[u8], mut take: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut socket =
        Socket::new(Domain::from(libc::AF_NETLINK), Type::RAW, Some(Protocol::from(part.protocol())))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.send(request)?;
    let mut buffer = vec![0; DATAGRAM_BYTES];
    let mut total = 0;
    loop {
        let length = socket.read(&mut buffer)?;
        total += length;
        if take(&buffer[..length]) {
            return Ok(());
        }
        if length == 0 || total > MAX_BYTES {
            return Err(io::Error::other("the kernel's answer is too long or incomplete"));
        }
    }
}
