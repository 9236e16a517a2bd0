//! Why nothing can be read, or why reading ended early.
use fathom_capture::{CaptureError, CutRecord};
use fathom_os::ring::RingError;
use std::{fmt, io};

/// Why nothing can be read. Each names what was to be opened.
#[derive(Debug)]
pub enum SourceError {
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

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::Io { name, action, source } => {
                write!(f, "{name}: cannot {action}: {source}")?;
                if source.kind() == io::ErrorKind::PermissionDenied {
                    write!(f, " (run as a user who may, or pipe it in: sudo cat FILE | fathom trace -)")?;
                }
                Ok(())
            }
            SourceError::Directory(name) => write!(f, "{name}: is a directory: name a capture file in it"),
            SourceError::Terminal => {
                write!(
                    f,
                    "standard input is a terminal: pipe a capture in (ssh HOST tcpdump -w - | fathom trace -)"
                )
            }
            SourceError::Empty(name) => {
                write!(f, "{name}: is empty: not even the header of a capture is in it")
            }
            SourceError::Short { name, bytes } => {
                write!(f, "{name}: holds {bytes} of the 24 bytes or more that the header of a capture has")
            }
            SourceError::Text(name) => write!(
                f,
                "{name}: is text, not a capture: save packets with tcpdump -w FILE, or as pcapng in Wireshark"
            ),
            SourceError::Packed { name, kind } => write!(
                f,
                "{name}: is {kind}, which is not read here: unpack it (gzip, zstd, lz4 and xz are unpacked on the way)"
            ),
            SourceError::Interface(error) => error.fmt(f),
            SourceError::NotACapture { name, source } => write!(f, "{name}: {source}"),
        }
    }
}
impl std::error::Error for SourceError {}

/// Why reading ended before the end. What was read until then counts.
#[derive(Debug)]
pub enum ReadFault {
    /// The last record is cut.
    Cut(CutRecord),
    /// The file is damaged from some place on.
    Damaged(CaptureError),
    /// It could not be read or unpacked further.
    Read(io::Error),
}

impl fmt::Display for ReadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadFault::Cut(cut) => cut.fmt(f),
            ReadFault::Damaged(error) => error.fmt(f),
            ReadFault::Read(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                write!(f, "what it is packed in ends too early: the file is cut")
            }
            ReadFault::Read(error) => write!(f, "cannot be read further: {error}"),
        }
    }
}
