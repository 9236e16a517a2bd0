//! Where packets to a host leave this one, by a route socket (route(4)).
use fathom_bsd::route::{reply, request};
use socket2::{Domain, Socket, Type};
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::time::Duration;

/// Longest message of a route socket.
const MOST_BYTES: usize = 2_048;
/// The kernel answers before the request returns.
const PATIENCE: Duration = Duration::from_secs(1);
/// The socket is asked once.
const NUMBER: u32 = 1;

/// The gateway of the route to `destination`, if it has one, and the number of the interface.
///
/// # Errors
/// See `route(4)`; `NetworkUnreachable` if there is no route.
pub fn next_hop(destination: IpAddr) -> io::Result<(Option<IpAddr>, u32)> {
    let mut socket = Socket::new(Domain::from(libc::PF_ROUTE), Type::RAW, None)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.write_all(&request(destination, NUMBER)).map_err(readable)?;
    let mut buffer = [0; MOST_BYTES];
    loop {
        let length = socket.read(&mut buffer)?;
        // Changes of routes, and what other processes ask, arrive as well.
        let found = reply(&buffer[..length]);
        let ours = |process, number| process == std::process::id() && number == NUMBER;
        if let Some(route) = found.filter(|route| ours(route.process, route.number)) {
            return if route.error == 0 {
                Ok((route.gateway, route.interface))
            } else {
                Err(readable(io::Error::from_raw_os_error(route.error.cast_signed())))
            };
        }
    }
}

/// The kernel says "no such process" if there is no route.
fn readable(error: io::Error) -> io::Error {
    if error.raw_os_error() == Some(libc::ESRCH) { io::ErrorKind::NetworkUnreachable.into() } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_no_gateway() {
        for own in ["127.0.0.1", "::1"] {
            let (gateway, interface) = next_hop(own.parse().unwrap()).unwrap();
            assert!(gateway.is_none() && interface > 0, "{own}: {gateway:?} on {interface}");
        }
    }
}
