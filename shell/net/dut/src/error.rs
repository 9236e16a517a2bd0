//! Why a switch cannot be tested.
use fathom_os::error::without_code;
use fathom_os::userns::Refusal;
use fathom_units::{Duration, Rate};
use std::fmt;
use std::io;

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
    /// Others use an interface, or it sends no Ethernet frames.
    Unusable {
        /// Its name.
        name: String,
        /// What shows it: an address, a route, a bridge.
        by: String,
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
            DutError::NotPermitted => f.write_str("testing a switch needs root (CAP_NET_ADMIN)"),
            DutError::Namespace(refusal) => refusal.fmt(f),
            DutError::NoInterface { name, known } => {
                write!(f, "no interface {name:?} (known: {})", known.join(", "))
            }
            DutError::Unusable { name, by } => {
                write!(f, "interface {name} cannot be tested: it has {by}")
            }
            DutError::SmallMtu { name, mtu } => {
                write!(
                    f,
                    "interface {name}: MTU {mtu}, at least {LEAST_MTU} (ip link set {name} mtu {LEAST_MTU})"
                )
            }
            DutError::NoCarrier { name, waited } => {
                write!(f, "interface {name}: no carrier within {waited} (check its cable)")
            }
            DutError::NoMacvlan { name, source } => {
                write!(f, "interface {name}: no macvlan: {} (modprobe macvlan)", without_code(source))
            }
            DutError::NotConnected { from, to, waited } => {
                write!(f, "no frame from {from} to {to} within {waited} (are both in one VLAN?)")
            }
            DutError::CannotOverload { port, senders, sent_bits_per_second } => write!(
                f,
                "{port}: nothing waits at {}, the most that {senders} can send (slow down its port, or add another --in)",
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
