//! A route socket (rtnetlink(7)) for requests built elsewhere: sends bytes and returns datagrams.
//! Asks the kernel for error messages in words.
use crate::netlink::route_socket;
use crate::option;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Source: linux/netlink.h.
const NETLINK_CAP_ACK: libc::c_int = 10;
const NETLINK_EXT_ACK: libc::c_int = 11;
/// Acknowledgments of a batch wait here until they are read, each with about 1 kB of kernel
/// overhead.
const RECEIVE_BUFFER_BYTES: libc::c_int = 1 << 20;

/// A route socket in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct RouteSocket {
    fd: OwnedFd,
}

impl RouteSocket {
    /// Opens a socket. `receive` fails if no answer arrives within `patience`.
    ///
    /// # Errors
    /// See `socket(2)` and `setsockopt(2)`.
    pub fn open(patience: Duration) -> io::Result<RouteSocket> {
        let socket = RouteSocket { fd: route_socket()? };
        // Error texts exist since Linux 4.12; before that there are only numbers.
        for option in [NETLINK_CAP_ACK, NETLINK_EXT_ACK] {
            let _ = socket.set(libc::SOL_NETLINK, option, 1_i32);
        }
        // Root may exceed the system's limit; other users are limited to it.
        let _ = socket
            .set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES)
            .or_else(|_| socket.set(libc::SOL_SOCKET, libc::SO_RCVBUF, RECEIVE_BUFFER_BYTES));
        set_socket_timeout(&socket.fd, Timeout::Recv, Some(patience))?;
        Ok(socket)
    }
    fn set<T: Copy>(&self, level: libc::c_int, name: libc::c_int, value: T) -> io::Result<()> {
        option::set(&self.fd, level, name, value)
    }
    /// Sends one or more requests. When this returns, the kernel has processed all of them and the
    /// answers are queued.
    ///
    /// # Errors
    /// See `send(2)`.
    pub fn send(&self, requests: &[u8]) -> io::Result<()> {
        send(&self.fd, requests, SendFlags::empty())?;
        Ok(())
    }
    /// Receives one whole datagram.
    ///
    /// # Errors
    /// See `recv(2)`: `ENOBUFS` if answers were lost, `WouldBlock` on timeout.
    pub fn receive(&self) -> io::Result<Vec<u8>> {
        let waiting = self.receive_into(&mut [], RecvFlags::PEEK | RecvFlags::TRUNC)?;
        let mut datagram = vec![0; waiting];
        let got = self.receive_into(&mut datagram, RecvFlags::empty())?;
        datagram.truncate(got);
        Ok(datagram)
    }
    fn receive_into(&self, buffer: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
        // A signal to this thread is not an answer, and not its absence.
        Ok(rustix::io::retry_on_intr(|| recv(&self.fd, &mut *buffer, flags))?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_comes_with_words() {
        let socket = RouteSocket::open(Duration::from_secs(5)).unwrap();
        // RTM_GETLINK with an acknowledgment, for the invalid interface -1.
        let mut request = vec![32, 0, 0, 0, 18, 0, 5, 0, 7, 0, 0, 0, 0, 0, 0, 0];
        request.extend([0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0]);
        socket.send(&request).unwrap();
        let answer = socket.receive().unwrap();
        assert_eq!((answer[4], answer[8]), (2, 7), "an error to request 7");
        assert!(i32::from_ne_bytes(answer[16..20].try_into().unwrap()) < 0);
    }
    #[test]
    fn silence_ends() {
        let socket = RouteSocket::open(Duration::from_millis(20)).unwrap();
        assert_eq!(socket.receive().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
