//! Names of hosts, directions and ends as the tools write them.
use alloc::string::String;
use core::fmt;
use fathom_capture::Address;
use fathom_flow::{End, FlowId};

/// An address and a port, with a colon between them.
pub(crate) struct Endpoint(pub(crate) (Address, u16));

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (address, port) = self.0;
        write!(f, "{address}:{port}")
    }
}

/// tcptrace's letters of an end: a to z, then aa, ab and on.
pub(crate) struct ConnectionName(u64);

impl ConnectionName {
    /// Each flow has the next two.
    pub(crate) fn of(flow: FlowId, end: End) -> ConnectionName {
        ConnectionName(2 * u64::from(flow.0) + u64::from(end == End::B))
    }
}

impl fmt::Display for ConnectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(before) = (self.0 / 26).checked_sub(1) {
            ConnectionName(before).fmt(f)?;
        }
        write!(f, "{}", char::from(b'a' + (self.0 % 26) as u8))
    }
}

/// A file of one direction: `a2b`, and what follows.
pub(crate) fn file_of(flow: FlowId, end: End, suffix: &str) -> String {
    alloc::format!("{}2{}{suffix}", ConnectionName::of(flow, end), ConnectionName::of(flow, end.other()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn letters_go_on_after_z() {
        for (number, letters) in
            [(0, "a"), (25, "z"), (26, "aa"), (51, "az"), (52, "ba"), (701, "zz"), (702, "aaa")]
        {
            assert_eq!(ConnectionName(number).to_string(), letters);
        }
        assert_eq!(file_of(FlowId(1), End::B, "_tsg.xpl"), "d2c_tsg.xpl");
    }
}
