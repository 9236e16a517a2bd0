//! Counts and delays of the probes to one host, as ping(8) summarizes them, and the wait for the
//! last replies.
use crate::{ProbeSeries, Reply, ReplyKind};
use fathom_units::{Duration, Time};

/// Probes to one host, and the replies to them so far. A late reply counts as every other.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PingTally {
    /// Probes sent.
    pub sent: u64,
    /// Probes that were answered.
    pub received: u64,
    /// Replies to probes that were already answered.
    pub duplicates: u64,
    /// Probes whose reply took longer than the timeout.
    pub late: u64,
    /// Replies that arrived after the reply to a later probe (RFC 4737).
    pub reordered: u64,
    /// Probes that a router or the host refused by an ICMP error.
    pub errors: u64,
    /// Smallest delay.
    pub min: Duration,
    /// Largest delay.
    pub max: Duration,
    mean_s: f64,
    /// Sum of the squared differences from the mean (Welford 1962).
    squares: f64,
}

impl PingTally {
    /// Adds a reply. Returns whether it is late: the first, after more than `timeout`.
    pub fn reply(&mut self, reply: &Reply, timeout: Duration) -> bool {
        self.duplicates += u64::from(reply.kind == ReplyKind::Duplicate);
        if !reply.is_first() {
            return false;
        }
        let is_late = reply.delay > timeout;
        self.min = if self.received == 0 { reply.delay } else { self.min.min(reply.delay) };
        self.max = self.max.max(reply.delay);
        self.received += 1;
        self.late += u64::from(is_late);
        self.reordered += u64::from(reply.is_reordered);
        let difference = reply.delay.as_secs_f64() - self.mean_s;
        self.mean_s += difference / self.received as f64;
        self.squares += difference * (reply.delay.as_secs_f64() - self.mean_s);
        is_late
    }
    /// Mean delay in seconds.
    pub const fn mean_s(&self) -> f64 {
        self.mean_s
    }
    /// Standard deviation of the delay in seconds, which ping(8) calls `mdev`.
    pub fn deviation_s(&self) -> f64 {
        libm::sqrt(self.squares / self.received.max(1) as f64)
    }
    /// Share of the probes without a reply.
    pub fn lost_ratio(&self) -> f64 {
        (self.sent - self.received) as f64 / self.sent.max(1) as f64
    }
}

/// When a ping with a limited number of probes is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PingEnd {
    /// Longest wait after the last probe.
    pub timeout: Duration,
    /// Time between two probes.
    pub interval: Duration,
}

impl PingEnd {
    /// Shortest wait for the last replies of a host that has answered, so that short intervals do
    /// not cut them off.
    const STRAGGLERS: Duration = Duration::from_secs(1);

    /// Until when to wait for the replies to the probes of `series`, the last of which was sent at
    /// `last`: as ping(8), for the timeout if the host never answered, and otherwise for twice its
    /// largest delay, if that is shorter.
    pub fn of(&self, series: &ProbeSeries, last: Time) -> Time {
        if series.outstanding() == 0 {
            return last;
        }
        let usual = series.largest_delay() * 2 + self.interval.max(Self::STRAGGLERS);
        last + if series.has_replies() { usual.min(self.timeout) } else { self.timeout }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_run::{Metric, SeriesKey};

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }
    const fn at(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    /// Four probes a second apart, all of which arrive at once after 4,857 ms, then a duplicate,
    /// and then the fifth and the sixth in reverse order.
    #[test]
    fn replies_that_are_late_twice_or_in_another_order_are_kept() {
        let (mut series, mut tally) =
            (ProbeSeries::new(SeriesKey::of(Metric::IcmpRtt)), PingTally::default());
        series.log_replies();
        for n in 0..6 {
            series.sent(at(n * 1_000));
        }
        for (sequence, received) in
            [(0, 4_857), (1, 4_858), (2, 4_859), (3, 4_860), (3, 4_861), (5, 5_100), (4, 5_200)]
        {
            series.reply(sequence, at(received));
        }
        let replies = series.take_replies();
        let late = replies.iter().map(|one| tally.reply(&one.reply, ms(3_000)));
        assert!(late.eq([true, true, false, false, false, false, false]));
        let delays = replies.iter().map(|one| one.reply.delay.as_nanos() / 1_000_000);
        assert!(delays.eq([4_857, 3_858, 2_859, 1_860, 1_861, 100, 1_200]));
        tally.sent = 8;
        assert_eq!((tally.received, tally.duplicates, tally.late, tally.reordered), (6, 1, 2, 1));
        assert_eq!((tally.min, tally.max, tally.lost_ratio()), (ms(100), ms(4_857), 0.25));
        // 14,734 / 6, and the root of 51,558,094 / 6 - 2,455.67^2.
        assert!((tally.mean_s() - 2.455_667).abs() < 1e-6, "{}", tally.mean_s());
        assert!((tally.deviation_s() - 1.600_849).abs() < 1e-5, "{}", tally.deviation_s());
        assert_eq!(series.take_replies(), []);
    }

    #[test]
    fn the_wait_for_the_last_replies_is_that_of_ping() {
        let end = PingEnd { timeout: ms(10_000), interval: ms(200) };
        let mut series = ProbeSeries::new(SeriesKey::of(Metric::IcmpRtt));
        series.sent(at(0));
        assert_eq!(end.of(&series, at(0)), at(10_000), "never answered");
        series.reply(0, at(700));
        assert_eq!(end.of(&series, at(0)), at(0), "all are answered");
        series.sent(at(1_000));
        assert_eq!(end.of(&series, at(1_000)), at(3_400));
        assert_eq!(PingEnd { timeout: ms(500), ..end }.of(&series, at(1_000)), at(1_500));
    }
}
