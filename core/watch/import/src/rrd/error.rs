//! Errors while reading a database.
use crate::rrd::layout::Layout;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Why a database cannot be read. `Display` gives one line without the file name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RrdError {
    /// The file does not begin like an RRD database.
    NotRrd,
    /// An unknown version.
    Version(String),
    /// The float cookie, which identifies the machine, is at none of its possible offsets.
    Machine,
    /// A machine with an unsupported number format.
    Foreign(&'static str),
    /// The file size matches none of the layouts that the header allows. Lists the size that each
    /// layout requires.
    Size {
        /// The file size in bytes.
        bytes: usize,
        /// The possible layouts with their sizes.
        wanted: Vec<(Layout, u64)>,
    },
    /// The newest row of an archive is beyond its end.
    Row {
        /// Index of the archive, from 0.
        archive: usize,
        /// The newest row.
        row: u64,
        /// Number of rows.
        rows: u64,
    },
}

const WAY_OUT: &str =
    "convert it with `rrdtool dump` on the machine that wrote it and `rrdtool restore` on this one";

impl fmt::Display for RrdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RrdError::NotRrd => write!(f, "is not a round-robin database (the header RRD is missing)"),
            RrdError::Version(version) => {
                write!(
                    f,
                    "has version {}, but this program supports 0001, 0003, 0004 and 0005: {WAY_OUT}",
                    version.escape_debug()
                )
            }
            RrdError::Machine => {
                write!(f, "was written by a machine with an unknown layout, or is damaged: {WAY_OUT}")
            }
            RrdError::Foreign(name) => {
                write!(f, "was written by a machine with {name}, which are not supported: {WAY_OUT}")
            }
            RrdError::Size { bytes, wanted } => {
                write!(f, "has {bytes} bytes")?;
                for (place, (layout, size)) in wanted.iter().enumerate() {
                    write!(f, "{} {size} for {layout}", if place == 0 { ", expected" } else { " or" })?;
                }
                write!(f, ": it is truncated or damaged; otherwise {WAY_OUT}")
            }
            RrdError::Row { archive, row, rows } => {
                write!(f, "is damaged: the newest row of archive {archive} is {row} of {rows}")
            }
        }
    }
}
impl core::error::Error for RrdError {}
