//! Why a switch cannot be tested.
use fathom_os::error::without_code;
use fathom_os::userns::Refusal;
use fathom_units::{Duration, Rate};
use std::fmt;
use std::io;
use std::net::IpAddr;

/// Why there is no result.
#[derive(Debug)]
pub enum DutError {
    /// This process may not configure interfaces.
    NotPermitted,
    /// The system refuses a network namespace.
    Namespace(Refusal),
    /// There is no such interface.
    NoInterface {
        /// Its name.
        name: String,
        /// Those that exist.
        known: Vec<String>,
    },
    /// An interface has an address: others use it.
    HasAddress {
        /// Its name.
        name: String,
        /// The address.
        address: IpAddr,
    },
    /// A route leads through an interface.
    HasRoute {
        /// Its name.
        name: String,
    },
    /// An interface belongs to a bridge or a bond.
    HasMaster {
        /// Its name.
        name: String,
        /// The bridge or bond.
        master: String,
    },
    /// An interface sends no Ethernet frames.
    NotEthernet {
        /// Its name.
        name: String,
    },
    /// Frames of full size do not fit.
    SmallMtu {
        /// The interface.
        name: String,
        /// Its MTU in bytes.
        mtu: u32,
    },
    /// Nothing is connected to an interface.
    NoCarrier {
        /// Its name.
        name: String,
        /// How long it was up.
        waited: Duration,
    },
    /// The kernel refuses a macvlan on top of an interface.
    NoMacvlan {
        /// The interface.
        name: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// No frame passes between two ports.
    NotConnected {
        /// The sending interface.
        from: String,
        /// The receiving interface.
        to: String,
        /// How long frames were sent.
        waited: Duration,
    },
    /// The ports that send are not faster than the one that receives.
    CannotOverload {
        /// The receiving interface.
        port: String,
        /// The sending interfaces.
        senders: String,
        /// The highest rate that they sent.
        sent_bits_per_second: u64,
    },
    /// The user stopped before anything was measured.
    Stopped,
    /// An operation of the system failed.
    System {
        /// The operation.
        doing: String,
        /// The error.
        source: io::Error,
    },
}

/// Least MTU in bytes: frames of full size.
pub(crate) const LEAST_MTU: u32 = 1_500;

impl fmt::Display for DutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DutError::NotPermitted => write!(
                f,
                "no permission to configure interfaces: CAP_NET_ADMIN and CAP_SYS_ADMIN are missing (run as root, or try --line auerswald-switch)"
            ),
            DutError::Namespace(refusal) => refusal.fmt(f),
            DutError::NoInterface { name, known } => {
                write!(f, "no interface {name:?} (known: {})", known.join(", "))
            }
            DutError::HasAddress { name, address } => {
                write!(f, "interface {name} is in use: it has the address {address} (choose another interface)")
            }
            DutError::HasRoute { name } => {
                write!(f, "interface {name} is in use: a route leads through it (choose another interface)")
            }
            DutError::HasMaster { name, master } => {
                write!(f, "interface {name} is in use: it belongs to {master} (choose another interface)")
            }
            DutError::NotEthernet { name } => {
                write!(f, "interface {name} has no Ethernet address (choose another interface)")
            }
            DutError::SmallMtu { name, mtu } => write!(
                f,
                "interface {name}: MTU of {mtu} bytes, less than {LEAST_MTU} (try: ip link set {name} mtu {LEAST_MTU})"
            ),
            DutError::NoCarrier { name, waited } => {
                write!(f, "interface {name}: no carrier within {waited} (check the cable and the port of the switch)")
            }
            DutError::NoMacvlan { name, source } => write!(
                f,
                "interface {name}: cannot create a macvlan: {} (try: modprobe macvlan)",
                without_code(source)
            ),
            DutError::NotConnected { from, to, waited } => write!(
                f,
                "no frame from {from} reached {to} within {waited} (are both ports in one VLAN? Spanning tree blocks a port for 30s)"
            ),
            DutError::CannotOverload { port, senders, sent_bits_per_second } => write!(
                f,
                "{port}: nothing waits at {}, the most that {senders} can send (lower the rate of that port, or add another --in)",
                Rate::from_bits_per_second(*sent_bits_per_second)
            ),
            DutError::Stopped => f.write_str("stopped before anything was measured"),
            DutError::System { doing, source } => write!(f, "cannot {doing}: {}", without_code(source)),
        }
    }
}

impl std::error::Error for DutError {}

/// Converts an error of the operation `doing`.
pub(crate) fn system(doing: impl Into<String>) -> impl FnOnce(io::Error) -> DutError {
    move |source| DutError::System { doing: doing.into(), source }
}
