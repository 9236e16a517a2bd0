//! The order in which the objects of a web page are requested, for the simulator, the lab and
//! tests.
use crate::PagePlan;
use alloc::vec::Vec;

/// One load of a page: on each connection, one object after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageLoad {
    /// Objects that each connection has yet to fetch, including the current one.
    left: Vec<u32>,
}

/// What follows an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageStep {
    /// The next request on its connection.
    Request,
    /// Nothing: other connections still fetch.
    Wait,
    /// The page is complete.
    Complete,
}

impl PageLoad {
    /// A load of which each connection requests its first object as soon as it can.
    #[must_use]
    pub fn new(plan: &PagePlan) -> Self {
        PageLoad { left: alloc::vec![plan.objects; plan.connections as usize * plan.shards as usize] }
    }
    /// Takes the arrival of an object on a connection, numbered from 0.
    pub fn arrived(&mut self, connection: usize) -> PageStep {
        let Some(left) = self.left.get_mut(connection).filter(|left| **left > 0) else {
            return PageStep::Wait;
        };
        *left -= 1;
        if *left > 0 {
            PageStep::Request
        } else if self.left.iter().all(|other| *other == 0) {
            PageStep::Complete
        } else {
            PageStep::Wait
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BinaryHeap;
    use core::cmp::Reverse;
    use fathom_units::Bytes;

    /// Time of the last object in ms, if connection `n` needs `each_ms[n]` for its handshake and
    /// for each object.
    fn loaded_after_ms(objects: u32, each_ms: &[u64]) -> (u64, u32) {
        let connections = each_ms.len() as u32;
        let plan = PagePlan { connections, shards: 1, objects, bytes: Bytes(1), interval: None };
        let mut load = PageLoad::new(&plan);
        let first = each_ms.iter().enumerate().map(|(n, each)| Reverse((each * 2, n)));
        let (mut arrivals, mut requests) = (first.collect::<BinaryHeap<_>>(), connections);
        while let Some(Reverse((at, n))) = arrivals.pop() {
            match load.arrived(n) {
                PageStep::Request => {
                    requests += 1;
                    arrivals.push(Reverse((at + each_ms[n], n)));
                }
                PageStep::Wait => {}
                PageStep::Complete => return (at, requests),
            }
        }
        panic!("the page was not completed");
    }

    #[test]
    fn sixty_objects_on_six_connections_take_eleven_round_trips() {
        assert_eq!(loaded_after_ms(10, &[100; 6]), (1_100, 60));
        // A queue of 300 ms adds itself to each round trip.
        assert_eq!(loaded_after_ms(10, &[400; 6]), (4_400, 60));
    }

    #[test]
    fn the_slowest_connection_completes_the_page() {
        assert_eq!(loaded_after_ms(2, &[10, 500, 20]), (1_500, 6));
    }

    #[test]
    fn what_was_not_requested_is_ignored() {
        let plan = PagePlan { connections: 1, shards: 1, objects: 1, bytes: Bytes(1), interval: None };
        let mut load = PageLoad::new(&plan);
        assert_eq!(
            [load.arrived(7), load.arrived(0), load.arrived(0)],
            [PageStep::Wait, PageStep::Complete, PageStep::Wait]
        );
    }
}
