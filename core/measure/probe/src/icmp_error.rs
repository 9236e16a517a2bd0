//! ICMP errors in the words of ping(8), which scripts read.
use crate::IcmpVersion;
use core::fmt;

/// Type and code of an ICMP error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IcmpError {
    /// ICMP version.
    pub version: IcmpVersion,
    /// Type of the message.
    pub icmp_type: u8,
    /// Code of the message.
    pub code: u8,
}

/// Destination unreachable by code, RFC 792, RFC 1122 section 3.2.2.1 and RFC 1812 section 5.2.7.1.
const UNREACHABLE_V4: [&str; 16] = [
    "Destination Net Unreachable",
    "Destination Host Unreachable",
    "Destination Protocol Unreachable",
    "Destination Port Unreachable",
    "Frag needed and DF set",
    "Source Route Failed",
    "Destination Net Unknown",
    "Destination Host Unknown",
    "Source Host Isolated",
    "Destination Net Prohibited",
    "Destination Host Prohibited",
    "Destination Net Unreachable for Type of Service",
    "Destination Host Unreachable for Type of Service",
    "Packet filtered",
    "Precedence Violation",
    "Precedence Cutoff",
];
/// Likewise of RFC 4443 section 3.1.
const UNREACHABLE_V6: [&str; 5] = [
    "Destination unreachable: No route",
    "Destination unreachable: Administratively prohibited",
    "Destination unreachable: Beyond scope of source address",
    "Destination unreachable: Address unreachable",
    "Destination unreachable: Port unreachable",
];

impl fmt::Display for IcmpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = usize::from(self.code);
        let known = match (self.version, self.icmp_type, self.code) {
            (IcmpVersion::V4, 3, _) => UNREACHABLE_V4.get(code).copied(),
            (IcmpVersion::V4, 5, _) => Some("Redirect"),
            (IcmpVersion::V4, 11, 0) => Some("Time to live exceeded"),
            (IcmpVersion::V4, 11, 1) => Some("Frag reassembly time exceeded"),
            (IcmpVersion::V6, 1, _) => UNREACHABLE_V6.get(code).copied(),
            (IcmpVersion::V6, 2, _) => Some("Packet Too Big"),
            (IcmpVersion::V6, 3, 0) => Some("Time exceeded: Hop limit"),
            (IcmpVersion::V6, 3, 1) => Some("Time exceeded: Defragmentation failure"),
            _ => None,
        };
        match known {
            Some(text) => f.write_str(text),
            None => write!(f, "ICMP type {} code {}", self.icmp_type, self.code),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn errors_have_the_words_of_ping() {
        let text = |version, icmp_type, code| IcmpError { version, icmp_type, code }.to_string();
        let (v4, v6) = (IcmpVersion::V4, IcmpVersion::V6);
        assert_eq!(text(v4, 3, 1), "Destination Host Unreachable");
        assert_eq!(text(v4, 3, 13), "Packet filtered");
        assert_eq!(text(v4, 11, 0), "Time to live exceeded");
        assert_eq!(text(v6, 1, 1), "Destination unreachable: Administratively prohibited");
        assert_eq!(text(v6, 3, 0), "Time exceeded: Hop limit");
        assert_eq!([text(v4, 3, 99), text(v6, 11, 0)], ["ICMP type 3 code 99", "ICMP type 11 code 0"]);
    }
}
