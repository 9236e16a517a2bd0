//! Readings of the clocks of Linux.
use fathom_units::{Time, WallTime};
use libc::{CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_REALTIME, clockid_t};

/// CLOCK_MONOTONIC now.
pub(crate) fn monotonic_ns() -> u64 {
    read(CLOCK_MONOTONIC)
}

/// CLOCK_BOOTTIME now: never set, and not stopped while the host sleeps.
#[must_use]
pub fn boot_now() -> Time {
    Time::from_nanos(read(CLOCK_BOOTTIME))
}

/// CLOCK_REALTIME now.
#[must_use]
pub fn wall_now() -> WallTime {
    WallTime(read(CLOCK_REALTIME))
}

/// UTC offset of this host's local time at `at`, in seconds, positive east. Uses `TZ` or
/// /etc/localtime, including daylight saving time.
#[must_use]
pub fn utc_offset_s(at: WallTime) -> i64 {
    let Ok(seconds) = (at.0 / 1_000_000_000).try_into() else { return 0 };
    // SAFETY: an all-zero `tm` is valid: its only pointer may be null.
    let mut local: libc::tm = unsafe { core::mem::zeroed() };
    // SAFETY: both pointers are valid for the call, and nothing else accesses the values.
    let done = unsafe { libc::localtime_r(&raw const seconds, &raw mut local) };
    #[allow(clippy::useless_conversion, reason = "it has 32 bits on other machines")]
    let offset_s = i64::from(local.tm_gmtoff);
    if done.is_null() { 0 } else { offset_s }
}

/// A clock, in nanoseconds. Not by rustix: its time has no padding, which big-endian processors of
/// 32 bits have in front of the nanoseconds.
pub(crate) fn read(clock: clockid_t) -> u64 {
    // SAFETY: an all-zero `timespec` is valid: it has integers alone.
    let mut now: libc::timespec = unsafe { core::mem::zeroed() };
    // SAFETY: the pointer is valid for the call. It does not fail: every kernel has these clocks.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}
