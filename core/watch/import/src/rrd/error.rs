//! Why a database cannot be read.
use crate::rrd::layout::Layout;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Why a database cannot be read. `Display` gives one line, without the name of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RrdError {
    /// It does not begin as one.
    NotRrd,
    /// A version that is not known here.
    Version(String),
    /// The number that tells the machine is nowhere it could be.
    Machine,
    /// A machine whose numbers are not read here.
    Foreign(&'static str),
    /// The size is that of none of the layouts that its beginning allows; each with the size that it asks for.
    Size {
        /// Bytes there are.
        bytes: usize,
        /// What could have been meant.
        wanted: Vec<(Layout, u64)>,
    },
    /// An archive's newest row is one that it does not have.
    Row {
        /// Number of the archive, from 0.
        archive: usize,
        /// The row.
        row: u64,
        /// Rows there are.
        rows: u64,
    },
}

const WAY_OUT: &str = "write it as text with `rrdtool dump` on the machine that made it, and back with `rrdtool restore` on this one";

impl fmt::Display for RrdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RrdError::NotRrd => write!(f, "is no round robin database (those begin with RRD)"),
            RrdError::Version(version) => {
                write!(
                    f,
                    "is of version {}, known are 0001, 0003, 0004 and 0005: {WAY_OUT}",
                    version.escape_debug()
                )
            }
            RrdError::Machine => {
                write!(f, "was written by a machine whose layout is not known, or is damaged: {WAY_OUT}")
            }
            RrdError::Foreign(name) => {
                write!(f, "was written by a machine with {name}, which are not read here: {WAY_OUT}")
            }
            RrdError::Size { bytes, wanted } => {
                write!(f, "has {bytes} bytes")?;
                for (place, (layout, size)) in wanted.iter().enumerate() {
                    write!(f, "{} {size} for {layout}", if place == 0 { ", and needs" } else { " or" })?;
                }
                write!(f, ": it is cut short or damaged, or {WAY_OUT}")
            }
            RrdError::Row { archive, row, rows } => {
                write!(f, "is damaged: the newest row of archive {archive} is {row} of {rows}")
            }
        }
    }
}
impl core::error::Error for RrdError {}
