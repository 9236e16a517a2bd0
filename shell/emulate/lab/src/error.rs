//! Why a lab did not start.
use fathom_os::tun::TunError;
use fathom_os::userns::Refusal;
use std::{fmt, io};

/// Why a lab did not start or could not do what was asked.
#[derive(Debug)]
pub enum LabError {
    /// Network namespaces cannot be made; names the setting that forbids it.
    Namespace(Refusal),
    /// No TUN interface can be made.
    Tun(TunError),
    /// The kernel does not have this congestion control.
    CongestionControl {
        /// As asked for.
        name: String,
        /// Those that it has, separated by spaces.
        available: String,
    },
    /// A call to the system failed.
    System {
        /// What was being done, to complete "cannot ...".
        doing: String,
        /// The system's answer.
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
                "this kernel does not have congestion control \"{name}\" (it has: {available}); \
                 choose one of those, or load it: sudo modprobe tcp_{name}"
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
