//! Measures the buffers of the line to a server that runs `fathom serve`.
use crate::{AppError, CancelToken};
use fathom_client::{TestConfig, measure_buffers};
use fathom_run::{Burst, Run};
use fathom_units::Direction;

/// Measures the buffers in these directions, each with at most `config.max_bytes`. `progress` gets
/// each burst.
///
/// # Errors
/// If nothing could be measured. After a later failure, the run is partial.
pub fn run(
    config: &TestConfig,
    directions: &[Direction],
    cancel: &CancelToken,
    progress: &mut dyn FnMut(&Burst),
) -> Result<Run, AppError> {
    Ok(measure_buffers(config, directions, cancel.flag(), progress)?)
}
