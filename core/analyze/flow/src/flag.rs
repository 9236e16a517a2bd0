//! Flags of a TCP header (RFC 9293 section 3.1).

pub(crate) const FIN: u16 = 0x01;
pub(crate) const SYN: u16 = 0x02;
pub(crate) const RST: u16 = 0x04;
pub(crate) const PSH: u16 = 0x08;
pub(crate) const ACK: u16 = 0x10;
pub(crate) const URG: u16 = 0x20;
pub(crate) const ECE: u16 = 0x40;
pub(crate) const CWR: u16 = 0x80;
