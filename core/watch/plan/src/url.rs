//! The parts of a URL that a probe or a push needs (RFC 3986, section 3).
//!
//! Not the crate `url`: it normalizes hosts and paths (WHATWG), and a probe sends them as written.
use crate::target::Protocol;
use alloc::format;
use alloc::string::{String, ToString};

/// `https://host:port/path?query`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Url {
    /// HTTP or HTTPS.
    pub protocol: Protocol,
    /// The name or address, without brackets.
    pub host: String,
    /// The port, or that of the protocol.
    pub port: u16,
    /// The path with the query.
    pub path: String,
}

impl Url {
    /// Parses a URL.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Url, String> {
        let wrong = |why: &str| {
            format!("\"{}\": {why} (for example \"https://example.net/path\")", text.escape_debug())
        };
        let (protocol, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
            (Some(rest), _) => (Protocol::Https, rest),
            (None, Some(rest)) => (Protocol::Http, rest),
            (None, None) => return Err(wrong("must start with http:// or https://")),
        };
        let rest = rest.split('#').next().unwrap_or(rest);
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err(wrong("user names and passwords are not supported"));
        }
        let (host, port) = split(authority).ok_or_else(|| wrong("invalid host or port"))?;
        let path = if path.starts_with('/') { path.to_string() } else { format!("/{path}") };
        if host.is_empty() || !path.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(wrong("needs a host, and visible ASCII characters only"));
        }
        let port = port.or(protocol.default_port()).unwrap_or(0);
        Ok(Url { protocol, host, port, path })
    }
}

/// Splits the authority into the host, without brackets, and the optional port.
fn split(authority: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            (host, if after.is_empty() { None } else { Some(after.strip_prefix(':')?) })
        }
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let port = match port {
        None => None,
        Some(digits) => Some(digits.parse::<u16>().ok().filter(|p| *p > 0)?),
    };
    Some((host.to_string(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_url() {
        let cases = [
            ("https://example.net", Protocol::Https, "example.net", 443, "/"),
            ("http://example.net:81/a?b=c#d", Protocol::Http, "example.net", 81, "/a?b=c"),
            ("https://[2001:db8::1]:8443?x", Protocol::Https, "2001:db8::1", 8443, "/?x"),
            ("http://[::1]/", Protocol::Http, "::1", 80, "/"),
        ];
        for (text, protocol, host, port, path) in cases {
            let want = Url { protocol, host: host.to_string(), port, path: path.to_string() };
            assert_eq!(Url::parse(text), Ok(want), "{text}");
        }
        for bad in [
            "",
            "ftp://a/",
            "https://",
            "http://a:0/",
            "http://a:b/",
            "http://u@a/",
            "http://[::1/",
            "http://a/ b",
            "http://[::1]x/",
        ] {
            assert!(Url::parse(bad).is_err(), "{bad}");
        }
    }
}
