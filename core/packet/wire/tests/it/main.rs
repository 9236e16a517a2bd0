//! Views, checksums and super-packets against straightforward code of the test's own.
mod garbage;
mod headers;
mod icmp;
mod packet_bytes;
mod reference;
mod superpacket;
mod tcp_option;
mod tcp_option_bytes;
