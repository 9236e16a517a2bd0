//! CPU usage.
pub use crate::cpu_times::CpuTimes;
use crate::system_clock;
use fathom_units::Duration;
use std::io;

/// Reads `/proc/stat`.
///
/// # Errors
/// If it cannot be read, or if its first line does not match proc_stat(5).
pub fn cpu_times() -> io::Result<CpuTimes> {
    let text = std::fs::read_to_string("/proc/stat")?;
    parse(&text).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/stat: no line \"cpu\""))
}

/// Parses `cpu user nice system idle iowait irq softirq steal guest guest_nice`; user includes
/// guest.
fn parse(text: &str) -> Option<CpuTimes> {
    let line = text.lines().find_map(|l| l.strip_prefix("cpu "))?;
    let fields: Vec<u64> = line.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    let field = |n: usize| fields.get(n).copied().unwrap_or(0);
    (fields.len() >= 4).then(|| CpuTimes {
        total: fields.iter().sum(),
        idle: field(3) + field(4),
        steal: field(7),
    })
}

/// Time of one CPU since boot, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PacketTimes {
    /// Total time.
    pub total: u64,
    /// Time in interrupts and softirqs, where packets are received, shaped and sent.
    pub packets: u64,
}

/// Reads `/proc/stat`, one entry per CPU.
///
/// # Errors
/// If it cannot be read.
pub fn packet_times() -> io::Result<Vec<PacketTimes>> {
    Ok(parse_each(&std::fs::read_to_string("/proc/stat")?))
}

fn parse_each(text: &str) -> Vec<PacketTimes> {
    let each = |line: &str| {
        let mut words = line.split_whitespace();
        words.next().filter(|name| name.len() > 3 && name.starts_with("cpu"))?;
        let fields: Vec<u64> = words.take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
        let field = |n: usize| fields.get(n).copied().unwrap_or(0);
        Some(PacketTimes { total: fields.iter().sum(), packets: field(5) + field(6) })
    };
    text.lines().filter_map(each).collect()
}

/// CPU time of the calling thread.
#[must_use]
pub fn thread_time() -> Duration {
    Duration::from_nanos(system_clock::read(libc::CLOCK_THREAD_CPUTIME_ID))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_first_line() {
        let text = "cpu  100 1 20 700 30 4 5 60 50 0\ncpu0 1 2 3 4\nintr 5\n";
        assert_eq!(parse(text), Some(CpuTimes { total: 920, idle: 730, steal: 60 }));
        // Linux 2.4 had four fields.
        let each = parse_each("cpu  100 1 20 700\ncpu0 1 2 3 4 5 6 7 8 9 9\ncpu1 x\ncpu2 1 1 1 1\nintr 5\n");
        assert_eq!(each, [PacketTimes { total: 36, packets: 13 }, PacketTimes { total: 4, packets: 0 }]);
        assert_eq!(parse("cpu  1 2 3 4\n"), Some(CpuTimes { total: 10, idle: 4, steal: 0 }));
        for bad in ["", "cpu  1 2 x 4", "cpu  1 2", "cpu0 1 2 3 4"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_thread_that_works_uses_time() {
        let before = thread_time();
        let mut sum = 0_u64;
        while thread_time() == before {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(thread_time() - before < Duration::from_secs(5), "{sum}");
    }

    #[test]
    fn this_host_has_been_running() {
        let times = cpu_times().unwrap();
        assert!(times.total > times.idle && times.total > 0);
    }
}
