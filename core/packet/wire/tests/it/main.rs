//! Compares views, checksums and super-packets with a straightforward implementation.
mod garbage;
mod headers;
mod icmp;
mod packet_bytes;
mod reference;
mod superpacket;
mod tcp_option;
mod tcp_option_bytes;
