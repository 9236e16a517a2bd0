//! Replaces sqm-scripts on OpenWrt, and gives its queues back.
use super::{UndoRequest, UndoneInterface, undo};
use crate::AppError;
use fathom_shaper::{SqmQueue, mark_replaced, sqm_queues};
use std::path::Path;
use std::process::Command;

/// The enabled queues, of one interface or of all. Those without rates shape nothing.
///
/// # Errors
/// If the configuration cannot be read.
pub fn enabled_sqm(root: &Path, interface: Option<&str>) -> Result<Vec<SqmQueue>, AppError> {
    let mut queues = sqm_queues(root)?;
    queues.retain(|queue| queue.is_enabled && (queue.shape.up.is_some() || queue.shape.down.is_some()));
    queues.retain(|queue| interface.is_none_or(|name| queue.shape.device == name));
    Ok(queues)
}

/// Disables a queue in the configuration, stops sqm-scripts on its interface, and calls `shape`. If
/// that fails, sqm-scripts gets the queue back.
///
/// # Errors
/// That of `shape`, or if the configuration cannot be written.
pub fn replace_sqm<T, E: From<AppError>>(
    root: &Path,
    queue: &SqmQueue,
    shape: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let device = &queue.shape.device;
    mark_replaced(root, device, true).map_err(AppError::from)?;
    run(root, "stop", device);
    let shaped = shape();
    if shaped.is_err() {
        mark_replaced(root, device, false).map_err(AppError::from)?;
        run(root, "start", device);
    }
    shaped
}

/// Rolls back the interfaces whose queues were replaced, and enables and starts these queues again.
///
/// # Errors
/// If an interface cannot be restored, or the configuration cannot be written.
pub fn restore_sqm(
    root: &Path,
    state: &Path,
    interface: Option<&str>,
) -> Result<Vec<UndoneInterface>, AppError> {
    let mut restored = Vec::new();
    for queue in sqm_queues(root)?.iter().filter(|queue| queue.is_replaced) {
        let device = queue.shape.device.as_str();
        if interface.is_some_and(|name| name != device) {
            continue;
        }
        let request = UndoRequest { state, interface: Some(device), boot_root: Some(root) };
        restored.extend(undo(&request)?.interfaces);
        mark_replaced(root, device, false)?;
        run(root, "start", device);
    }
    Ok(restored)
}

/// Starts or stops sqm-scripts on an interface. If it is not installed any more, its configuration
/// alone is there.
fn run(root: &Path, action: &str, device: &str) {
    let _ = Command::new(root.join("usr/lib/sqm/run.sh")).args([action, device]).status();
}
