//! Views, checksums and super-packets against straightforward code of the test's own.
mod garbage;
mod headers;
mod icmp;
mod reference;
mod superpacket;
