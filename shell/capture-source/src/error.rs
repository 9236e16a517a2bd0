//! Errors while opening and reading captures.
use fathom_capture::{CaptureError, CutRecord};
use fathom_os::error::without_code;
#[cfg(target_os = "linux")]
pub use fathom_os::ring::RingError as InterfaceError;
use std::{fmt, io};

/// Why no packets can be captured on an interface: this system is not Linux.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub struct InterfaceError;

#[cfg(not(target_os = "linux"))]
impl fmt::Display for InterfaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "live captures need Linux")
    }
}

/// Why a source cannot be read. Each variant names the source.
#[derive(Debug)]
pub enum SourceError {
    /// It cannot be opened or read.
    Io {
        /// Name of the source.
        name: String,
        /// The operation that failed.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// It is a directory.
    Directory(String),
    /// Standard input is a terminal.
    Terminal,
    /// It is empty.
    Empty(String),
    /// It is text.
    Text(String),
    /// It is an archive or has an unsupported compression.
    Packed {
        /// Name of the source.
        name: String,
        /// Its type.
        kind: &'static str,
    },
    /// No packets can be captured on this interface.
    Interface(InterfaceError),
    /// It has another format.
    NotACapture {
        /// Name of the source.
        name: String,
        /// What is wrong.
        source: CaptureError,
    },
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::Io { name, action, source } => {
                write!(f, "{name}: cannot {action}: {}", without_code(source))?;
                if source.kind() == io::ErrorKind::PermissionDenied {
                    write!(f, " (run as a user with access, or pipe it in: sudo cat FILE | fathom trace -)")?;
                }
                Ok(())
            }
            SourceError::Directory(name) => write!(f, "{name}: is a directory: specify a capture file"),
            SourceError::Terminal => {
                write!(
                    f,
                    "standard input is a terminal: pipe a capture in (ssh HOST tcpdump -w - | fathom trace -)"
                )
            }
            SourceError::Empty(name) => {
                write!(f, "{name}: is empty")
            }
            SourceError::Text(name) => {
                write!(f, "{name}: is text, not a capture: save packets with tcpdump -w FILE")
            }
            SourceError::Packed { name, kind } => {
                write!(f, "{name}: is {kind}: decompress it first (gzip, zstd, lz4 and xz are supported)")
            }
            SourceError::Interface(error) => error.fmt(f),
            SourceError::NotACapture { name, source } => write!(f, "{name}: {source}"),
        }
    }
}
impl std::error::Error for SourceError {}

/// Why reading ended early. What was read before is valid.
#[derive(Debug)]
pub enum ReadFault {
    /// The last record is truncated.
    Cut(CutRecord),
    /// The file is damaged from some position on.
    Damaged(CaptureError),
    /// It could not be read or decompressed further.
    Read(io::Error),
}

impl fmt::Display for ReadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadFault::Cut(cut) => cut.fmt(f),
            ReadFault::Damaged(error) => error.fmt(f),
            ReadFault::Read(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                write!(f, "the compressed data is truncated")
            }
            ReadFault::Read(error) => write!(f, "read error: {}", without_code(error)),
        }
    }
}
