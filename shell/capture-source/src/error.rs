//! Why nothing can be read, or why reading ended early.
use fathom_capture::{CaptureError, CutRecord};
use fathom_os::ring::RingError;
use std::{fmt, io};

/// Why nothing can be read. Each names what was to be opened.
#[derive(Debug)]
pub enum TapError {
    /// It cannot be opened or read.
    Io {
        /// What was to be opened.
        name: String,
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// It is a directory.
    Directory(String),
    /// Standard input is to be read, and is a terminal.
    Terminal,
    /// It has no bytes.
    Empty(String),
    /// It has too few bytes for the header of a capture.
    Short {
        /// What was opened.
        name: String,
        /// Bytes that it has.
        bytes: usize,
    },
    /// It is text.
    Text(String),
    /// It is an archive, or compressed in a way that is not read here.
    Packed {
        /// What was opened.
        name: String,
        /// What it is.
        kind: &'static str,
    },
    /// It is an interface on which nothing can be captured.
    Interface(RingError),
    /// It is something else.
    NotACapture {
        /// What was opened.
        name: String,
        /// What is wrong.
        source: CaptureError,
    },
}

impl fmt::Display for TapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TapError::Io { name, action, source } => {
                write!(f, "{name}: cannot {action}: {source}")?;
                if source.kind() == io::ErrorKind::PermissionDenied {
                    write!(f, " (run as a user who may, or pipe it in: sudo cat FILE | fathom trace -)")?;
                }
                Ok(())
            }
            TapError::Directory(name) => write!(f, "{name}: is a directory: name a capture file in it"),
            TapError::Terminal => {
                write!(
                    f,
                    "standard input is a terminal: pipe a capture in (ssh HOST tcpdump -w - | fathom trace -)"
                )
            }
            TapError::Empty(name) => write!(f, "{name}: is empty: not even the header of a capture is in it"),
            TapError::Short { name, bytes } => {
                write!(f, "{name}: holds {bytes} of the 24 bytes or more that the header of a capture has")
            }
            TapError::Text(name) => write!(
                f,
                "{name}: is text, not a capture: save packets with tcpdump -w FILE, or as pcapng in Wireshark"
            ),
            TapError::Packed { name, kind } => write!(
                f,
                "{name}: is {kind}, which is not read here: unpack it (gzip, zstd, lz4 and xz are unpacked on the way)"
            ),
            TapError::Interface(error) => error.fmt(f),
            TapError::NotACapture { name, source } => write!(f, "{name}: {source}"),
        }
    }
}
impl std::error::Error for TapError {}

/// Why reading ended before the end. What was read until then counts.
#[derive(Debug)]
pub enum Trouble {
    /// The last record is cut.
    Cut(CutRecord),
    /// The file is damaged from some place on.
    Damaged(CaptureError),
    /// It could not be read or unpacked further.
    Read(io::Error),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Cut(cut) => cut.fmt(f),
            Trouble::Damaged(error) => error.fmt(f),
            Trouble::Read(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                write!(f, "what it is packed in ends too early: the file is cut")
            }
            Trouble::Read(error) => write!(f, "cannot be read further: {error}"),
        }
    }
}
