//! Self-monitoring of the measurement.
use fathom_run::Instrument;
use fathom_stats::DelayHistogram;
use fathom_units::Duration;

/// Lateness of the probing thread.
#[derive(Clone, Default, Debug)]
pub struct SelfWatch {
    timer: DelayHistogram,
    send: DelayHistogram,
}

impl SelfWatch {
    /// Records how late the timer woke.
    pub fn woke(&mut self, late: Duration) {
        self.timer.record(late);
    }
    /// Records how late a probe was sent.
    pub fn sent(&mut self, late: Duration) {
        self.send.record(late);
    }
    /// Converts to the record in a run.
    pub fn into_instrument(self) -> Instrument {
        Instrument { timer_lateness: self.timer, send_lateness: self.send, ..Instrument::default() }
    }
}

/// CPU time of all CPUs since boot, in any unit.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CpuReading {
    /// Total time.
    pub total: u64,
    /// Idle time.
    pub idle: u64,
    /// Steal time: given to other guests by the hypervisor.
    pub steal: u64,
}

/// Shares of CPU time between two readings.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CpuShare {
    /// Not idle, including steal time.
    pub busy: f64,
    /// Steal time.
    pub steal: f64,
}

impl CpuReading {
    /// Usage since `earlier`; `None` if no time has passed.
    pub fn since(&self, earlier: &CpuReading) -> Option<CpuShare> {
        let total = self.total.checked_sub(earlier.total).filter(|t| *t > 0)? as f64;
        // On some hosts idle time can decrease, see proc_stat(5).
        let share = |now: u64, then: u64| (now.saturating_sub(then) as f64 / total).min(1.0);
        Some(CpuShare { busy: 1.0 - share(self.idle, earlier.idle), steal: share(self.steal, earlier.steal) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_relative_to_the_interval() {
        let first = CpuReading { total: 1_000, idle: 900, steal: 10 };
        let second = CpuReading { total: 1_200, idle: 950, steal: 30 };
        assert_eq!(second.since(&first), Some(CpuShare { busy: 0.75, steal: 0.1 }));
        assert_eq!(first.since(&first), None);
        let backwards = CpuReading { total: 1_100, idle: 890, steal: 10 };
        assert_eq!(backwards.since(&first), Some(CpuShare { busy: 1.0, steal: 0.0 }));
    }

    #[test]
    fn lateness_is_recorded() {
        let mut watch = SelfWatch::default();
        watch.woke(Duration::from_micros(60));
        watch.sent(Duration::from_micros(90));
        let instrument = watch.into_instrument();
        assert_eq!(instrument.timer_lateness.max(), Duration::from_micros(60));
        assert_eq!(instrument.send_lateness.count(), 1);
    }
}
