//! What a page offers, and where it is answered.
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// Longest offer. Those of browsers have less than 3 kB.
pub(crate) const MAX_OFFER_BYTES: usize = 16 * 1024;

/// What an offer of a data channel (SDP, RFC 8841) says. Where the page wants to be reached is not
/// read: the server answers those that prove to know the password of the session, and nobody else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Offer {
    /// Name of the channel's media section.
    pub(crate) section: String,
    /// User and password of the page's ICE agent.
    pub(crate) user: String,
    pub(crate) password: String,
    /// Hash function and hash of its certificate.
    pub(crate) hash: (String, Vec<u8>),
}

impl Offer {
    /// Reads an offer. Browsers put each attribute once, because they offer one section.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let of = |name: &str| {
            let value = text
                .lines()
                .find_map(|line| line.strip_prefix("a=")?.strip_prefix(name)?.strip_prefix(':'))?;
            Some(value.trim_end().to_owned()).filter(|value| !value.is_empty())
        };
        let fingerprint = of("fingerprint")?;
        let (function, bytes) = fingerprint.split_once(' ')?;
        let bytes: Result<Vec<u8>, _> = bytes.split(':').map(|byte| u8::from_str_radix(byte, 16)).collect();
        let hash = (function.to_ascii_lowercase(), bytes.ok()?);
        Some(Offer { section: of("mid")?, user: of("ice-ufrag")?, password: of("ice-pwd")?, hash })
    }
}

/// What the server answers.
pub(crate) struct Answer<'a> {
    /// Name of the section in the offer.
    pub(crate) section: &'a str,
    /// User and password of the server's ICE agent.
    pub(crate) user: &'a str,
    pub(crate) password: &'a str,
    /// Hash function and hash of its certificate.
    pub(crate) fingerprint: &'a str,
    /// Where it can be reached, as attributes.
    pub(crate) candidates: &'a [String],
}

/// Longest message of the channel: those of a test have less than 100 bytes.
const MAX_MESSAGE_BYTES: u32 = 65_536;

impl fmt::Display for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Answer { section, user, password, fingerprint, candidates } = self;
        let mut lines = vec![
            "v=0".to_owned(),
            "o=- 1 1 IN IP4 0.0.0.0".to_owned(),
            "s=-".to_owned(),
            "t=0 0".to_owned(),
            format!("a=group:BUNDLE {section}"),
            "a=ice-lite".to_owned(),
            "m=application 9 UDP/DTLS/SCTP webrtc-datachannel".to_owned(),
            "c=IN IP4 0.0.0.0".to_owned(),
        ];
        lines.extend(candidates.iter().map(|candidate| format!("a={candidate}")));
        lines.extend([
            "a=end-of-candidates".to_owned(),
            format!("a=ice-ufrag:{user}"),
            format!("a=ice-pwd:{password}"),
            format!("a=fingerprint:{fingerprint}"),
            "a=setup:passive".to_owned(),
            format!("a=mid:{section}"),
            "a=sctp-port:5000".to_owned(),
            format!("a=max-message-size:{MAX_MESSAGE_BYTES}"),
        ]);
        lines.iter().try_for_each(|line| write!(f, "{line}\r\n"))
    }
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

    const OFFER: &str = "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n\
        a=candidate:1 1 udp 1 192.0.2.1 53 typ host\r\na=ice-ufrag:user\r\na=ice-pwd:secret\r\n\
        a=fingerprint:sha-256 0A:ff\r\na=setup:actpass\r\na=mid:0\r\na=sctp-port:5000\r\n";

    #[test]
    fn an_offer_of_a_browser_is_read() {
        let expected = Offer {
            section: "0".to_owned(),
            user: "user".to_owned(),
            password: "secret".to_owned(),
            hash: ("sha-256".to_owned(), vec![0x0a, 0xff]),
        };
        assert_eq!(Offer::parse(OFFER), Some(expected));
    }

    #[test]
    fn an_incomplete_offer_is_none() {
        for without in ["a=ice-ufrag", "a=ice-pwd", "a=fingerprint", "a=mid"] {
            let offer: String =
                OFFER.lines().filter(|line| !line.starts_with(without)).collect::<Vec<_>>().join("\n");
            assert_eq!(Offer::parse(&offer), None, "{without}");
        }
        for bad in ["", "a=", "a=mid", "a=mid:", &OFFER.replace("0A:ff", "0A:f\u{e9}")] {
            assert_eq!(Offer::parse(bad), None, "{bad}");
        }
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
