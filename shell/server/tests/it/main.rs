//! The server, over real sockets on loopback.
mod client;
mod flows;
mod hostile;
mod http;
mod limits;
mod places;
mod sessions;
mod udp;
