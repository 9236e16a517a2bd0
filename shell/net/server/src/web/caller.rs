//! Who makes a request: the other end of the connection, or whom a trusted proxy names.
use super::Connection;
use super::client::Transfer;
use crate::stats::Refusal;
use fathom_units::Direction;
use hyper::header::{HeaderMap, HeaderName};
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

/// Each proxy adds the address from which it got the request.
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// Whether the client speaks TLS with the proxy.
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Who makes a request, and its connection.
#[derive(Clone)]
pub(super) struct Caller {
    connection: Arc<Connection>,
    /// Address of the client.
    pub(super) address: IpAddr,
    /// Whether the client speaks TLS.
    pub(super) is_secure: bool,
}

impl Deref for Caller {
    type Target = Arc<Connection>;
    fn deref(&self) -> &Arc<Connection> {
        &self.connection
    }
}

impl Caller {
    /// Who makes a request with these headers. Headers of anyone but a proxy that the server trusts
    /// are ignored.
    pub(super) fn of(headers: &HeaderMap, connection: Arc<Connection>) -> Caller {
        let proxies = connection.common.shared.proxies();
        let peer = connection.client.ip().to_canonical();
        if !proxies.contains(&peer) {
            let is_secure = connection.is_secure;
            return Caller { address: connection.client.ip(), is_secure, connection };
        }
        let address = named(headers, proxies).unwrap_or(peer);
        let is_secure = headers.get(FORWARDED_PROTO).map_or(connection.is_secure, |value| value == "https");
        Caller { connection, address, is_secure }
    }
    /// Starts a transfer, and the session of the client if it is the first.
    ///
    /// # Errors
    /// Why the client may make none now.
    pub(super) fn transfer(&self, direction: Direction) -> Result<Transfer, (Refusal, String)> {
        self.common.clients.transfer((self.address, self.local), direction)
    }
}

/// The last address that no trusted proxy has: what is before it, the client may have invented.
fn named(headers: &HeaderMap, proxies: &[IpAddr]) -> Option<IpAddr> {
    let values = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
    let all: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
    let addresses = all.iter().rev().map_while(|text| text.parse::<IpAddr>().ok());
    addresses.map(|address| address.to_canonical()).find(|address| !proxies.contains(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_trusted_proxies_add_counts() {
        let proxies: [IpAddr; 2] = ["192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap()];
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(FORWARDED_FOR, value.parse().unwrap());
            }
            named(&headers, &proxies).map(|address| address.to_string())
        };
        assert_eq!(of(&["198.51.100.7"]).as_deref(), Some("198.51.100.7"));
        // The client pretends to be another.
        assert_eq!(of(&["203.0.113.9, 198.51.100.7"]).as_deref(), Some("198.51.100.7"));
        assert_eq!(of(&["203.0.113.9", "198.51.100.7, 192.0.2.2"]).as_deref(), Some("198.51.100.7"));
        assert_eq!(of(&["::ffff:198.51.100.7"]).as_deref(), Some("198.51.100.7"));
        for none in [&[][..], &["unknown"], &["198.51.100.7, x"], &["192.0.2.1"]] {
            assert_eq!(of(none), None, "{none:?}");
        }
    }
}
