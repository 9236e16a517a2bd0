//! What a page offers, and where it is answered.
use std::net::{IpAddr, SocketAddr};

/// Longest offer. Those of browsers have less than 3 kB.
pub(crate) const MAX_OFFER_BYTES: usize = 16 * 1024;

/// The offer without the addresses that the page wants to be reached at: the server answers those
/// that prove to know the password of the session, and nobody else.
pub(crate) fn without_candidates(offer: &str) -> String {
    let is_kept = |line: &&str| !line.starts_with("a=candidate") && !line.starts_with("a=end-of-candidates");
    offer.lines().filter(is_kept).map(|line| format!("{line}\r\n")).collect()
}

/// Addresses at which the page may reach the server: the one to which it has connected, and the one
/// in the address of the page, which differs behind NAT.
pub(crate) fn reachable(local: SocketAddr, host: &str, port: u16) -> Vec<SocketAddr> {
    let local = SocketAddr::new(local.ip().to_canonical(), port);
    let named: Option<SocketAddr> = host.parse().ok().or_else(|| {
        let address: IpAddr = host.trim_start_matches('[').trim_end_matches(']').parse().ok()?;
        Some(SocketAddr::new(address, port))
    });
    let mut all = vec![local];
    all.extend(named.filter(|named| *named != local && !named.ip().is_unspecified()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_names_no_addresses_of_others() {
        let offer =
            "v=0\r\na=candidate:1 1 udp 1 192.0.2.1 53 typ host\r\na=mid:0\r\na=end-of-candidates\r\n";
        assert_eq!(without_candidates(offer), "v=0\r\na=mid:0\r\n");
    }

    #[test]
    fn the_address_of_the_page_counts_too() {
        let local: SocketAddr = "10.0.0.1:4000".parse().expect("an address");
        let of = |host| reachable(local, host, 4000).iter().map(SocketAddr::to_string).collect::<Vec<_>>();
        assert_eq!(of("10.0.0.1:4000"), ["10.0.0.1:4000"]);
        assert_eq!(of("10.0.0.1"), ["10.0.0.1:4000"]);
        assert_eq!(of("192.0.2.7:80"), ["10.0.0.1:4000", "192.0.2.7:80"]);
        assert_eq!(of("[2001:db8::1]"), ["10.0.0.1:4000", "[2001:db8::1]:4000"]);
        assert_eq!(of("speed.example:4000"), ["10.0.0.1:4000"]);
        assert_eq!(of("0.0.0.0:4000"), ["10.0.0.1:4000"]);
    }
}
