//! How long CPUs worked.

/// Time of all CPUs since boot, in ticks: on Linux `USER_HZ`, usually 10 ms; on Windows 100 ns.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CpuTimes {
    /// Total time.
    pub total: u64,
    /// Idle, or waiting for I/O.
    pub idle: u64,
    /// Stolen by the hypervisor.
    pub steal: u64,
}
