//! Kinds of links.

/// Kind of the link of an interface, where it is known. That of a tunnel is not: it may be on top
/// of Wi-Fi.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Medium {
    /// A cable.
    Ethernet,
    /// Radio.
    Wifi,
}
