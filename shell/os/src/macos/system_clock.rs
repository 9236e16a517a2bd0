//! Readings of the clocks of macOS.
use fathom_units::{Time, WallTime};
use libc::{CLOCK_MONOTONIC_RAW, CLOCK_REALTIME, CLOCK_UPTIME_RAW, clockid_t};

/// CLOCK_UPTIME_RAW now. CLOCK_MONOTONIC has microseconds alone.
pub(crate) fn monotonic_ns() -> u64 {
    read(CLOCK_UPTIME_RAW)
}

/// CLOCK_MONOTONIC_RAW now: never set, and not stopped while the host sleeps.
#[must_use]
pub fn boot_now() -> Time {
    Time::from_nanos(read(CLOCK_MONOTONIC_RAW))
}

/// CLOCK_REALTIME now, to a microsecond.
#[must_use]
pub fn wall_now() -> WallTime {
    WallTime(read(CLOCK_REALTIME))
}

/// UTC offset of this host's local time at `at`, in seconds, positive east. Uses `TZ` or
/// /etc/localtime, including daylight saving time.
#[must_use]
pub fn utc_offset_s(at: WallTime) -> i64 {
    let Ok(seconds) = libc::time_t::try_from(at.0 / 1_000_000_000) else { return 0 };
    // SAFETY: an all-zero `tm` is valid: its only pointer may be null.
    let mut local: libc::tm = unsafe { core::mem::zeroed() };
    // SAFETY: both pointers are valid for the call, and nothing else accesses the values.
    let done = unsafe { libc::localtime_r(&raw const seconds, &raw mut local) };
    if done.is_null() { 0 } else { local.tm_gmtoff }
}

/// A clock, in nanoseconds.
fn read(clock: clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for the call. It does not fail: macOS has these clocks since
    // version 10.12.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}
