//! What Windows and macOS have in common.
pub(crate) mod batch;
pub(crate) mod common_socket;
pub mod confine;
pub mod mmsg;
pub mod raw;
