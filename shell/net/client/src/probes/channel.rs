//! A connection without blocking, encrypted or not.
use crate::peer::Encrypted;
use crate::resolve::tcp_socket;
use fathom_os::fd::AsFd;
use fathom_os::socket::{set_dscp, start_connect};
use fathom_os::timestamp::{Stamping, enable};
use socket2::Socket;
use std::io::{self, ErrorKind, Write};
use std::net::SocketAddr;

/// Where connections of probes lead.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    /// DSCP of what is sent.
    pub(crate) dscp: u8,
}

pub(super) struct Channel {
    pub(super) socket: Socket,
    encrypted: Option<Box<dyn Encrypted>>,
    /// What the kernel did not accept yet.
    unsent: Vec<u8>,
}

impl Channel {
    /// Starts to connect.
    pub(super) fn start(target: Target, encrypted: Option<Box<dyn Encrypted>>) -> io::Result<Self> {
        Ok(Channel { socket: start(target)?, encrypted, unsent: Vec::new() })
    }
    /// Whether a handshake of the encryption is complete or not needed.
    pub(super) fn is_ready(&self) -> bool {
        self.encrypted.as_ref().is_none_or(|encrypted| encrypted.is_ready())
    }
    /// Whether bytes wait for the kernel.
    pub(super) fn is_blocked(&self) -> bool {
        !self.unsent.is_empty()
    }
    /// Appends a request to the bytes to send.
    pub(super) fn queue(&mut self, request: &[u8]) -> Result<(), String> {
        match &mut self.encrypted {
            Some(encrypted) => encrypted.encrypt(request),
            None => {
                self.unsent.extend_from_slice(request);
                Ok(())
            }
        }
    }
    /// The content of received bytes.
    pub(super) fn open(&mut self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        match &mut self.encrypted {
            Some(encrypted) => encrypted.receive(bytes),
            None => Ok(bytes.to_vec()),
        }
    }
    /// Sends what the kernel accepts.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if let Some(encrypted) = &mut self.encrypted {
            self.unsent.extend(encrypted.take_output());
        }
        while !self.unsent.is_empty() {
            match (&self.socket).write(&self.unsent) {
                Ok(length) => drop(self.unsent.drain(..length)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Starts a connection of a probe.
pub(crate) fn start(Target { address, dscp }: Target) -> io::Result<Socket> {
    let socket = tcp_socket(address)?;
    set_dscp(&socket, address.is_ipv6(), dscp)?;
    socket.set_tcp_nodelay(true)?;
    enable(socket.as_fd(), Stamping::Arrivals)?;
    start_connect(&socket, address)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_marked_from_the_first_packet_on() {
        let listener = std::net::TcpListener::bind("[::1]:0").unwrap();
        let target = Target { address: listener.local_addr().unwrap(), dscp: 46 };
        assert_eq!(Channel::start(target, None).unwrap().socket.tclass_v6().unwrap(), 46 << 2);
        let v4 = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let other = Target { address: v4.local_addr().unwrap(), dscp: 8 };
        assert_eq!(Channel::start(other, None).unwrap().socket.tos_v4().unwrap(), 8 << 2);
    }
}
