//! Readings of the clocks of Windows.
use fathom_units::{Time, WallTime};
use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use windows_sys::Win32::Foundation::{FILETIME, SYSTEMTIME};
use windows_sys::Win32::System::Time::{
    FileTimeToSystemTime, SystemTimeToFileTime, SystemTimeToTzSpecificLocalTime,
};

/// From 1601, when the time of Windows begins, to 1970: 369 years with 89 leap days, in 100 ns.
const UNIX_EPOCH_100NS: u64 = 11_644_473_600 * 10_000_000;

/// The performance counter now.
pub(crate) fn monotonic_ns() -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    u64::try_from(ORIGIN.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// The same: it does not stop while the host sleeps.
#[must_use]
pub fn boot_now() -> Time {
    Time::from_nanos(monotonic_ns())
}

/// The wall clock now, to 100 ns.
#[must_use]
pub fn wall_now() -> WallTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    WallTime(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// UTC offset of this host's local time at `at`, in seconds, positive east, including daylight
/// saving time.
#[must_use]
pub fn utc_offset_s(at: WallTime) -> i64 {
    let ticks = at.0 / 100 + UNIX_EPOCH_100NS;
    let time = FILETIME { dwLowDateTime: ticks as u32, dwHighDateTime: (ticks >> 32) as u32 };
    let mut utc = SYSTEMTIME::default();
    let mut local = SYSTEMTIME::default();
    let mut back = FILETIME::default();
    // SAFETY: all pointers are valid for the calls; no zone means that of this host.
    let has_converted = unsafe {
        FileTimeToSystemTime(&raw const time, &raw mut utc) != 0
            && SystemTimeToTzSpecificLocalTime(core::ptr::null(), &raw const utc, &raw mut local) != 0
            && SystemTimeToFileTime(&raw const local, &raw mut back) != 0
    };
    let local_ticks = u64::from(back.dwHighDateTime) << 32 | u64::from(back.dwLowDateTime);
    // A SYSTEMTIME has milliseconds: round to the next second.
    let offset_100ns = local_ticks.cast_signed() - ticks.cast_signed();
    if has_converted { (offset_100ns + 5_000_000).div_euclid(10_000_000) } else { 0 }
}
