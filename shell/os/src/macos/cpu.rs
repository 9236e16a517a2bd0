//! CPU usage.
pub use crate::cpu_times::CpuTimes;
use std::io;
use std::sync::OnceLock;

// mach/mach_host.h. libc declares the first as deprecated.
unsafe extern "C" {
    fn mach_host_self() -> u32;
    fn host_statistics(host: u32, flavor: i32, info: *mut u32, count: *mut u32) -> i32;
}

/// mach/host_info.h.
const HOST_CPU_LOAD_INFO: i32 = 3;
/// mach/machine.h: ticks of user, system, idle and nice.
const STATES: usize = 4;
const IDLE: usize = 2;

/// Times of all CPUs. macOS does not know what a hypervisor took.
///
/// # Errors
/// See `host_statistics`.
pub fn cpu_times() -> io::Result<CpuTimes> {
    // Each call would count one more reference to the host.
    static HOST: OnceLock<u32> = OnceLock::new();
    // SAFETY: it only returns the name of a port.
    let host = *HOST.get_or_init(|| unsafe { mach_host_self() });
    let (mut ticks, mut count) = ([0_u32; STATES], STATES as u32);
    // SAFETY: the buffer has as many integers as said.
    let code = unsafe { host_statistics(host, HOST_CPU_LOAD_INFO, ticks.as_mut_ptr(), &raw mut count) };
    if code != 0 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let total = ticks.iter().map(|ticks| u64::from(*ticks)).sum();
    Ok(CpuTimes { total, idle: ticks[IDLE].into(), steal: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_been_running() {
        let times = cpu_times().unwrap();
        assert!(times.total > times.idle && times.idle > 0, "{times:?}");
    }
}
