//! Result of reading a capture.
use crate::ReadFault;
use fathom_capture::Contents;

/// How reading ended, and what else the file contained apart from frames.
#[derive(Debug)]
pub struct InputEnd {
    /// What else the file contained.
    pub contents: Contents,
    /// Why reading ended early, if it did.
    pub trouble: Option<ReadFault>,
}
