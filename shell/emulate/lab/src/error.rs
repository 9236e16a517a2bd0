//! Errors of a lab.
use fathom_os::tun::TunError;
use fathom_os::userns::Refusal;
use std::{fmt, io};

/// Why a lab did not start or an operation failed.
#[derive(Debug)]
pub enum LabError {
    /// Network namespaces are not permitted; names the setting that forbids them.
    Namespace(Refusal),
    /// No TUN interface can be created.
    Tun(TunError),
    /// The kernel does not have this congestion control.
    CongestionControl {
        /// The requested name.
        name: String,
        /// Available algorithms, separated by spaces.
        available: String,
    },
    /// A system call failed.
    System {
        /// The operation, to complete "cannot ...".
        doing: String,
        /// The system's error.
        source: io::Error,
    },
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabError::Namespace(refusal) => refusal.fmt(f),
            LabError::Tun(error) => error.fmt(f),
            LabError::CongestionControl { name, available } => write!(
                f,
                "this kernel does not support congestion control \"{name}\" (available: {available}); \
                 choose another, or load it: sudo modprobe tcp_{name}"
            ),
            LabError::System { doing, source } => write!(f, "cannot {doing}: {source}"),
        }
    }
}

impl std::error::Error for LabError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LabError::Namespace(refusal) => Some(refusal),
            LabError::Tun(error) => Some(error),
            LabError::CongestionControl { .. } => None,
            LabError::System { source, .. } => Some(source),
        }
    }
}
