//! Captures on an interface, which need Linux.
use crate::error::InterfaceError;
use crate::{InputEnd, SourceError};
use fathom_capture::Frame;
use std::ops::ControlFlow;

/// There is none.
#[derive(Debug)]
pub enum Live {}

impl Live {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub const fn open(_interface: &str, _snaplen: u32) -> Result<Live, SourceError> {
        Err(SourceError::Interface(InterfaceError))
    }
    /// As on Linux.
    pub fn for_each(
        &mut self,
        _stop: impl Fn() -> bool,
        _visit: impl FnMut(u64, &Frame<'_>) -> ControlFlow<()>,
    ) -> InputEnd {
        match *self {}
    }
}
