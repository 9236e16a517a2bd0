//! Which frames are sent from port to port, and when.
use alloc::vec::Vec;
use fathom_burst::BurstPlan;
use fathom_run::Spacing;
use fathom_units::{Duration, Rng};

/// Frames of one size from one port to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StreamPlan {
    /// Number of the sending port.
    pub from: usize,
    /// Number of the receiving port.
    pub to: usize,
    /// Size of the datagram in a frame, without the headers of UDP and IP.
    pub payload_bytes: u32,
    /// When they are sent.
    pub pattern: Pattern,
}

/// When the frames of a stream are sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pattern {
    /// Pings until the end of the test. Each is sent at a random time of its interval, so that it
    /// meets an even load at any phase.
    Pings {
        /// Mean time between two.
        interval: Duration,
    },
    /// Every `of`-th datagram of a burst, from number `part` on.
    Burst {
        /// The burst.
        plan: BurstPlan,
        /// Number of the first datagram.
        part: u32,
        /// Number of streams that send the burst together.
        of: u32,
    },
    /// A load.
    Load {
        /// Time of the first frame.
        start: Duration,
        /// Number of frames that fill the buffer at first.
        first: u32,
        /// Time between two of them.
        fast: Duration,
        /// Number of frames after them.
        count: u32,
        /// Mean time between two.
        interval: Duration,
        /// How these follow each other.
        spacing: Spacing,
    },
}

impl StreamPlan {
    /// Whether it has pings rather than load.
    #[must_use]
    pub const fn is_ping(&self) -> bool {
        matches!(self.pattern, Pattern::Pings { .. })
    }
    /// Whether a frame is load, rather than one far apart that finds the queue empty.
    #[must_use]
    pub fn is_load(&self, number: u32) -> bool {
        match self.pattern {
            Pattern::Pings { .. } => false,
            Pattern::Burst { plan, .. } => (plan.before..plan.before + plan.count).contains(&number),
            Pattern::Load { .. } => true,
        }
    }
    /// Whether frames are sent until nothing waits any more.
    #[must_use]
    pub const fn has_tail(&self) -> bool {
        !matches!(self.pattern, Pattern::Load { .. })
    }
}

/// What is sent at the same time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Traffic {
    /// The streams.
    pub streams: Vec<StreamPlan>,
    /// Least duration.
    pub lasts: Duration,
}

/// The frames of one sending port, in time order.
#[derive(Clone, Debug)]
pub struct Schedule(Vec<Departures>);

/// The departures of a stream.
#[derive(Clone, Debug)]
struct Departures {
    stream: usize,
    pattern: Pattern,
    rng: Rng,
    number: u32,
    /// Time of the next one; `None` at the end.
    next: Option<Duration>,
}

impl Schedule {
    /// The frames that port `from` sends.
    #[must_use]
    pub fn new(traffic: &Traffic, from: usize, seed: u64) -> Self {
        let own = traffic.streams.iter().enumerate().filter(|(_, plan)| plan.from == from);
        Schedule(own.map(|(stream, plan)| Departures::new(stream, plan.pattern, seed)).collect())
    }
    /// Time and stream of the next frame; `None` if only tails are left to send, or nothing.
    fn next(&self) -> Option<&Departures> {
        self.0.iter().filter(|one| one.next.is_some()).min_by_key(|one| one.next)
    }
    /// When the next frame is sent; `None` if no stream has one.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        self.next()?.next
    }
    /// Stream and number of the next frame.
    pub fn take(&mut self) -> Option<(usize, u32)> {
        let stream = self.next()?.stream;
        let departures = self.0.iter_mut().find(|one| one.stream == stream)?;
        let number = departures.number;
        departures.advance();
        Some((stream, number))
    }
    /// Whether frames of a load are left.
    #[must_use]
    pub fn has_load(&self) -> bool {
        self.0.iter().any(|one| match one.pattern {
            Pattern::Pings { .. } => false,
            Pattern::Burst { plan, .. } => one.number < plan.before + plan.count,
            Pattern::Load { .. } => one.next.is_some(),
        })
    }
}

impl Departures {
    fn new(stream: usize, pattern: Pattern, seed: u64) -> Self {
        let rng = Rng::new(seed ^ (stream as u64 + 1));
        let number = if let Pattern::Burst { part, .. } = pattern { part } else { 0 };
        let mut new = Departures { stream, pattern, rng, number, next: None };
        new.next = new.time(None);
        new
    }
    fn advance(&mut self) {
        self.number += if let Pattern::Burst { of, .. } = self.pattern { of } else { 1 };
        self.next = self.time(self.next);
    }
    /// Time of the current number, after the one before.
    fn time(&mut self, before: Option<Duration>) -> Option<Duration> {
        let times = |of: Duration, n: u32| Duration::from_nanos(of.as_nanos() * u64::from(n));
        let n = self.number;
        match self.pattern {
            Pattern::Pings { interval } => {
                let within = self.rng.below(interval.as_nanos().max(1));
                Some(times(interval, n) + Duration::from_nanos(within))
            }
            Pattern::Burst { plan, .. } => Some(plan.offset(n)),
            Pattern::Load { first, count, .. } if n >= first + count => None,
            Pattern::Load { start, first, fast, interval, spacing, .. } => match (spacing, before) {
                (Spacing::Random, Some(before)) if n > first => {
                    Some(before + Duration::from_nanos(self.rng.exponential(interval.as_nanos())))
                }
                _ => Some(start + times(fast, n.min(first)) + times(interval, n.saturating_sub(first))),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(spacing: Spacing) -> Pattern {
        Pattern::Load {
            start: Duration::from_millis(5),
            first: 3,
            fast: Duration::from_micros(10),
            count: 1000,
            interval: Duration::from_micros(100),
            spacing,
        }
    }
    fn all(traffic: &Traffic, seed: u64, until: Duration) -> Vec<(Duration, usize, u32)> {
        let mut schedule = Schedule::new(traffic, 0, seed);
        let mut all = Vec::new();
        while let Some(due) = schedule.due().filter(|due| *due < until) {
            let (stream, number) = schedule.take().unwrap();
            all.push((due, stream, number));
        }
        all
    }
    fn stream(from: usize, pattern: Pattern) -> StreamPlan {
        StreamPlan { from, to: 2, payload_bytes: 100, pattern }
    }

    #[test]
    fn frames_of_all_streams_of_a_port_are_in_time_order() {
        let pings = Pattern::Pings { interval: Duration::from_millis(1) };
        let streams = Vec::from([stream(0, load(Spacing::Even)), stream(1, pings), stream(0, pings)]);
        let traffic = Traffic { streams, lasts: Duration::ZERO };
        let sent = all(&traffic, 1, Duration::from_millis(50));
        assert!(sent.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert!(sent.iter().all(|(_, stream, _)| *stream != 1));
        let loads: Vec<_> = sent.iter().filter(|(_, stream, _)| *stream == 0).collect();
        assert_eq!((loads[1].0, loads[4].0), (Duration::from_micros(5_010), Duration::from_micros(5_130)));
        assert_eq!(sent.iter().filter(|(_, stream, _)| *stream == 2).count(), 50);
    }
    #[test]
    fn random_spacing_has_the_same_mean() {
        for seed in 0..20 {
            let traffic =
                Traffic { streams: Vec::from([stream(0, load(Spacing::Random))]), ..Traffic::default() };
            let sent = all(&traffic, seed, Duration::from_secs(9));
            assert_eq!(sent.len(), 1003, "seed {seed}");
            let mean_us = (sent[1002].0.as_nanos() - sent[3].0.as_nanos()) as f64 / 999.0 / 1e3;
            assert!((85.0..115.0).contains(&mean_us), "seed {seed}: {mean_us}");
        }
    }
    #[test]
    fn two_ports_send_a_burst_together() {
        let plan = BurstPlan {
            payload_bytes: 100,
            before: 2,
            count: 4,
            apart: Duration::from_millis(10),
            interval: Duration::from_micros(10),
            ..BurstPlan::default()
        };
        let part = |part| stream(part as usize, Pattern::Burst { plan, part, of: 2 });
        let traffic = Traffic { streams: Vec::from([part(0), part(1)]), ..Traffic::default() };
        let mut schedule = Schedule::new(&traffic, 1, 1);
        assert_eq!((schedule.take(), schedule.due()), (Some((1, 1)), Some(plan.offset(3))));
        assert!(schedule.has_load());
        let _ = (schedule.take(), schedule.take());
        assert!(!schedule.has_load(), "the next one is number 7, after the burst");
    }
}
