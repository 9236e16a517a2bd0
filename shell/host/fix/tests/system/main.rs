//! The closed loop over an emulated modem with kernel TCP and a real shaper. Needs root.
//!
//! One complete fix, one dry run that measures the packet overhead, and one `--auto` run in real
//! time. All other cases are tested in virtual time, in `core/measure/shape/tests/it`.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
mod auto;
mod fix;
mod modem;
mod watchdog;
