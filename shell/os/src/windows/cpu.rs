//! CPU usage.
pub use crate::cpu_times::CpuTimes;
use std::io;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Threading::GetSystemTimes;

/// Times of all CPUs. Windows does not know what a hypervisor took.
///
/// # Errors
/// See `GetSystemTimes`.
pub fn cpu_times() -> io::Result<CpuTimes> {
    let [mut idle, mut kernel, mut user] = [FILETIME::default(); 3];
    // SAFETY: the pointers are valid for the call.
    let done = unsafe { GetSystemTimes(&raw mut idle, &raw mut kernel, &raw mut user) };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    let ticks = |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    // That of the kernel includes idle time.
    Ok(CpuTimes { total: ticks(kernel) + ticks(user), idle: ticks(idle), steal: 0 })
}
