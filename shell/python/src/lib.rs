//! The Python package `fathom`: the use cases of `shell/app`, with results as Python objects and
//! Arrow tables. `python/fathom` has what is written in Python, and the types.
//!
//! A function here takes the arguments of its command, and the objects that it returns have the
//! words, findings and documents of the command line.
mod changes;
mod columns;
mod conformance;
mod error;
mod interrupt;
mod json;
mod key;
mod number;
mod plugin;
mod result;
mod score;
mod series;
mod size;
mod sweep;
mod table;
mod tables;
mod usecase;

/// The compiled part of `fathom`.
#[pyo3::pymodule]
mod _fathom {
    #[pymodule_export]
    use crate::conformance::{check_congestion_control, check_queue};
    #[pymodule_export]
    use crate::plugin::{Ack, Packet, QueueActions, Window};
    #[pymodule_export]
    use crate::result::Run;
    #[pymodule_export]
    use crate::score::{Score, score};
    #[pymodule_export]
    use crate::series::Series;
    #[pymodule_export]
    use crate::size::size;
    #[pymodule_export]
    use crate::sweep::{SweepFolder, sweep_part};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::usecase::{read, simulate, trace};
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
