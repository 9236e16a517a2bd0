//! What the gateway of a fleet decides, without I/O: which series and objects an agent may send,
//! how many, and which key belongs to which site.
//!
//! Time is an argument in milliseconds since 1970-01-01 UTC, and random bytes are given.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod active;
mod admit;
mod bucket;
mod decode;
mod digest;
mod histogram;
mod names;
mod object_key;
mod registry;
mod series;
mod wire;
mod write1;
mod write2;

pub use admit::{Admitted, Limits, OWN_LABELS, Rejection, Usage, admit};
pub use bucket::Bucket;
pub use decode::{DecodeError, Totals, Version, Why, walk};
pub use digest::{Digest, KEY_PREFIX, TOKEN_PREFIX, secret};
pub use names::{Labels, NameError, SiteName};
pub use object_key::{ObjectKeyError, check_object_key};
pub use registry::{
    Authentication, Change, DEAD_KEYS, Inconsistent, LineError, Registry, RegistryError, Site, Token,
    read_line,
};
pub use series::{Points, Series};
