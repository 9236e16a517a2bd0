//! Run to text, HTML, SVG, CSV, Flent
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;
