//! The event queue: a heap with four children per node.
use alloc::vec::Vec;
use fathom_units::Time;

/// What to wake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wake {
    /// A TCP sender, by flow.
    Sender(u32),
    /// A TCP receiver, by flow.
    Receiver(u32),
    /// A unit of a workload.
    Unit(u32),
    /// A unit at the end of its time.
    Stop(u32),
    /// The head of an extra delay.
    Pipe(u32),
    /// The head of an access link.
    Access(u32),
    /// The next probe: 0 is UDP, 1 ICMP.
    Probe(u32),
    /// The next sample.
    Sample,
}

const KIND_SHIFT: u32 = 29;
const NUMBER: u32 = (1 << KIND_SHIFT) - 1;

impl Wake {
    const fn pack(self) -> u32 {
        let (kind, number) = match self {
            Wake::Sender(n) => (0, n),
            Wake::Receiver(n) => (1, n),
            Wake::Unit(n) => (2, n),
            Wake::Stop(n) => (3, n),
            Wake::Pipe(n) => (4, n),
            Wake::Access(n) => (5, n),
            Wake::Probe(n) => (6, n),
            Wake::Sample => (7, 0),
        };
        (kind << KIND_SHIFT) | (number & NUMBER)
    }
    const fn unpack(packed: u32) -> Wake {
        let number = packed & NUMBER;
        match packed >> KIND_SHIFT {
            0 => Wake::Sender(number),
            1 => Wake::Receiver(number),
            2 => Wake::Unit(number),
            3 => Wake::Stop(number),
            4 => Wake::Pipe(number),
            5 => Wake::Access(number),
            6 => Wake::Probe(number),
            _ => Wake::Sample,
        }
    }
}

/// A queue ordered by time, then by insertion. Time, sequence number and target are one number.
#[derive(Default)]
pub(crate) struct Agenda {
    heap: Vec<u128>,
    sequence: u32,
}

const CHILDREN: usize = 4;

impl Agenda {
    pub(crate) fn push(&mut self, at: Time, wake: Wake) {
        let low = (u64::from(self.sequence) << 32) | u64::from(wake.pack());
        self.sequence = self.sequence.wrapping_add(1);
        self.heap.push((u128::from(at.as_nanos()) << 64) | u128::from(low));
        self.rise(self.heap.len() - 1);
    }
    /// When the first entry is due; [`Time::MAX`] if there is none.
    pub(crate) fn next(&self) -> Time {
        self.heap.first().map_or(Time::MAX, |first| Time::from_nanos((first >> 64) as u64))
    }
    pub(crate) fn pop(&mut self) -> Option<Wake> {
        let last = self.heap.pop()?;
        let first = match self.heap.first_mut() {
            None => last,
            Some(first) => core::mem::replace(first, last),
        };
        self.sink();
        Some(Wake::unpack(first as u32))
    }

    fn rise(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while let Some(parent) = at.checked_sub(1).map(|below| below / CHILDREN) {
            if self.heap[parent] <= entry {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = entry;
    }
    fn sink(&mut self) {
        let Some(&entry) = self.heap.first() else { return };
        let mut at = 0;
        loop {
            let from = at * CHILDREN + 1;
            let children = self.heap.iter().enumerate().skip(from).take(CHILDREN);
            let Some((least, &child)) = children.min_by_key(|(_, child)| **child) else { break };
            if entry <= child {
                break;
            }
            self.heap[at] = child;
            at = least;
        }
        self.heap[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    #[test]
    fn entries_come_out_in_order_of_time_and_arrival() {
        for seed in 0..20 {
            let (mut rng, mut agenda, mut expected) = (Rng::new(seed), Agenda::default(), Vec::new());
            for number in 0..500 {
                // Few different times, so that many are equal, with removals in between.
                let at = Time::from_nanos(rng.below(40));
                agenda.push(at, Wake::Unit(number));
                expected.push((at, number));
                if rng.chance(0.3) {
                    expected.sort();
                    let (first, who) = expected.remove(0);
                    assert_eq!((agenda.next(), agenda.pop()), (first, Some(Wake::Unit(who))), "seed {seed}");
                }
            }
            expected.sort();
            for (at, number) in expected {
                assert_eq!((agenda.next(), agenda.pop()), (at, Some(Wake::Unit(number))), "seed {seed}");
            }
            assert_eq!((agenda.next(), agenda.pop()), (Time::MAX, None), "seed {seed}");
        }
    }

    #[test]
    fn a_wake_survives_packing() {
        let all = [
            Wake::Sender(NUMBER),
            Wake::Receiver(1),
            Wake::Unit(2),
            Wake::Stop(3),
            Wake::Pipe(4),
            Wake::Access(5),
            Wake::Probe(1),
            Wake::Sample,
        ];
        assert!(all.iter().all(|wake| Wake::unpack(wake.pack()) == *wake));
    }
}
