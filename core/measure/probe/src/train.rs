//! A first estimate of a line's rates, from probes sent at once before the test: they leave each
//! link one after the other, at its rate.
use crate::{FourStamps, ProbeKind};
use fathom_units::{Bytes, Duration, PerDirection, Rate};

/// Number of probes in the train: enough for a rate, and 80 ms of a line of 100 kbit/s.
pub const TRAIN_PROBES: usize = 8;

/// The responses to a train of UDP probes.
///
/// The rates are lower bounds: cross traffic between the probes and timers of the hosts only spread
/// them further.
#[derive(Clone, Copy, Default, Debug)]
pub struct Train {
    count: usize,
    /// First and last arrival in ns, each on the clock of its receiver.
    arrivals: PerDirection<Option<(u64, u64)>>,
}

impl Train {
    /// Adds the response to one probe.
    pub fn add(&mut self, stamps: &FourStamps) {
        self.count += 1;
        let at = PerDirection { up: stamps.server_received_ns, down: stamps.received.as_nanos() };
        for (direction, ns) in at {
            let (first, last) = self.arrivals[direction].unwrap_or((ns, ns));
            self.arrivals[direction] = Some((first.min(ns), last.max(ns)));
        }
    }
    /// Whether all probes were answered.
    pub const fn is_complete(&self) -> bool {
        self.count >= TRAIN_PROBES
    }
    /// Rate of each direction on the wire; `None` if fewer than two probes were answered.
    pub fn rates(&self) -> PerDirection<Option<Rate>> {
        let spec = ProbeKind::Udp.spec();
        let bytes = PerDirection { up: spec.up, down: spec.down };
        PerDirection::from_fn(|direction| {
            let (first, last) = self.arrivals[direction]?;
            let passed =
                Bytes(bytes[direction].get() * (self.count as u64).checked_sub(1).filter(|n| *n > 0)?);
            let span = Duration::from_nanos(last.saturating_sub(first).max(1));
            Some(Rate::from_bytes_per(passed, span))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Time;

    /// A train over links of these rates in bit/s with 10 ms of delay each.
    fn train(up: f64, down: f64, answered: usize) -> Train {
        let mut train = Train::default();
        let (mut at_server, mut at_client) = (0.0_f64, 0.0_f64);
        for _ in 0..answered {
            at_server += 126.0 * 8.0 / up;
            at_client = (at_server).max(at_client) + 126.0 * 8.0 / down;
            let ns = |s: f64| ((0.01 + s) * 1e9) as u64;
            train.add(&FourStamps {
                sent: Time::ZERO,
                server_received_ns: 77 + ns(at_server),
                server_sent_ns: 77 + ns(at_server),
                received: Time::from_nanos(ns(at_client + 0.01)),
            });
        }
        train
    }

    #[test]
    fn the_slower_link_spreads_the_train() {
        for (up, down) in [(1e5, 1e6), (1e6, 1e5), (2e6, 2e6), (1e5, 1e9)] {
            let rates = train(up, down, TRAIN_PROBES).rates();
            let of = |rate: Option<Rate>| rate.unwrap().as_bits_per_second() as f64;
            assert!((of(rates.up) / up - 1.0).abs() < 0.01, "{up} {down}: {rates:?}");
            // A response cannot come faster than its probe.
            assert!((of(rates.down) / down.min(up) - 1.0).abs() < 0.16, "{up} {down}: {rates:?}");
        }
    }

    #[test]
    fn too_few_responses_give_no_rate() {
        assert_eq!(train(1e6, 1e6, 0).rates(), PerDirection::default());
        assert_eq!(train(1e6, 1e6, 1).rates(), PerDirection::default());
        assert!(!train(1e6, 1e6, 7).is_complete() && train(1e6, 1e6, 8).is_complete());
    }
}
