//! Packets in the flows of other sockets, which these systems let no program send.
use crate::fd::BorrowedFd;
use crate::received::FlowError;
use std::io;
use std::net::IpAddr;

/// There is none.
#[derive(Debug)]
pub enum FlowSockets {}

impl FlowSockets {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn open(_host: Option<IpAddr>, _peer: IpAddr) -> io::Result<FlowSockets> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// The address of this host.
    #[must_use]
    pub const fn host(&self) -> IpAddr {
        match *self {}
    }
    /// Sends a packet, with its IP header, to the peer.
    ///
    /// # Errors
    /// None.
    pub const fn send(&self, _packet: &[u8]) -> io::Result<usize> {
        match *self {}
    }
    /// Reads some of the peer's segments.
    pub fn read_acknowledgments(&mut self, _take: impl FnMut(&[u8])) {
        match *self {}
    }
    /// Reads some ICMP errors.
    pub fn read_errors(&mut self, _take: impl FnMut(FlowError<'_>)) {
        match *self {}
    }
    /// Is readable when there are ICMP errors.
    #[must_use]
    pub const fn errors(&self) -> BorrowedFd<'_> {
        match *self {}
    }
}
