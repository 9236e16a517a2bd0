//! Lists of netlink(7): one request, all datagrams of its answer.
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read};
use std::time::Duration;

/// The kernel writes no datagram of a list that is longer. Source: `NLMSG_GOODSIZE` and `netlink_dump`, 32 KiB.
const DATAGRAM_BYTES: usize = 64 << 10;

/// The kernel answers at once; this is for one that does not answer at all.
const PATIENCE: Duration = Duration::from_secs(2);

/// A list longer than this is none.
const MAX_BYTES: usize = 64 << 20;

/// Which part of the kernel is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// rtnetlink(7): interfaces, queue disciplines.
    Route,
    /// sock_diag(7): sockets.
    Sockets,
    /// Generic netlink: Wi-Fi among others.
    Generic,
    /// nfnetlink: rules of the packet filter.
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

/// Sends `request` and hands each datagram of the answer to `take`, until that says that it was the last.
///
/// # Errors
/// As `socket(2)`, `send(2)` and `recv(2)`; a kernel that goes on for too long.
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
            return Err(io::Error::other("the kernel's list has no end"));
        }
    }
}
