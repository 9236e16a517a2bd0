//! The protocol from outside.
mod protocol;
mod protocol_bytes;
