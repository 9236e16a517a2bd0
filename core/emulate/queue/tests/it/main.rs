//! Queue disciplines of users, and the checks that find what is wrong with them.
use fathom_queue::{Actions, Plugin, PluginParams, QueuePlugin, QueuedPacket, conformance};
use fathom_units::{Duration, Time};
use std::collections::VecDeque;

/// A FIFO of 20 packets, and what is wrong with it.
struct Fifo {
    fault: Fault,
    waiting: VecDeque<QueuedPacket>,
    seed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// It holds packets for a millisecond, which `next_ready` reports.
    Waits,
    Hoards,
    Reorders,
    DropsTwice,
    SendsTwice,
    MarksAll,
    IsRandom,
    CallsAtOnce,
}

impl QueuePlugin for Fifo {
    fn enqueue(&mut self, packet: QueuedPacket, _: Time, actions: &mut Actions) {
        use fathom_queue::{DropReason, MarkReason};
        if self.waiting.len() == 20 {
            actions.drop(packet.number, DropReason::Overlimit);
            if self.fault == Fault::DropsTwice {
                actions.drop(packet.number, DropReason::Overlimit);
            }
            return;
        }
        if self.fault == Fault::MarksAll {
            actions.mark(packet.number, MarkReason::Aqm);
        }
        self.waiting.push_back(packet);
        if self.fault == Fault::Reorders {
            self.waiting.rotate_right(1);
        }
    }
    fn dequeue(&mut self, now: Time, _: &mut Actions) -> Option<u64> {
        match self.fault {
            Fault::Hoards | Fault::CallsAtOnce => None,
            Fault::Waits if !now.as_nanos().is_multiple_of(1_000_000) => None,
            Fault::SendsTwice => self.waiting.front().map(|packet| packet.number),
            Fault::IsRandom if self.seed.is_multiple_of(2) => {
                self.waiting.pop_back().map(|packet| packet.number)
            }
            _ => self.waiting.pop_front().map(|packet| packet.number),
        }
    }
    fn next_ready(&self, now: Time) -> Option<Time> {
        match self.fault {
            Fault::Waits => {
                let rest = 1_000_000 - now.as_nanos() % 1_000_000;
                (!self.waiting.is_empty()).then(|| now + Duration::from_nanos(rest))
            }
            Fault::CallsAtOnce => Some(now),
            _ => None,
        }
    }
}

fn check(fault: Fault) -> Result<(), String> {
    // Not from the seed: two queues with the same seed differ.
    let made = std::sync::atomic::AtomicU64::new(0);
    let params = PluginParams::new("fifo", move |_| {
        let seed = made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Box::new(Fifo { fault, waiting: VecDeque::new(), seed })
    });
    conformance::check(0..10, |seed| Plugin::new(params.clone(), seed))
}

#[test]
fn a_right_queue_conforms() {
    assert_eq!(check(Fault::None), Ok(()));
    assert_eq!(check(Fault::Waits), Ok(()));
}

#[test]
fn a_rule_that_is_broken_is_named_with_its_seed() {
    for (fault, expected) in [
        (Fault::Hoards, "packets wait, and next_ready is not later"),
        (Fault::Reorders, "was overtaken"),
        (Fault::IsRandom, "the same calls had another effect"),
    ] {
        let error = check(fault).unwrap_err();
        assert!(error.starts_with("seed ") && error.contains(expected), "{fault:?}: {error}");
    }
}

#[test]
#[should_panic(expected = "was dropped, but is not in the queue")]
fn a_packet_is_not_dropped_twice() {
    drop(check(Fault::DropsTwice));
}

#[test]
#[should_panic(expected = "packet 0 was dequeued, but is not in the queue")]
fn a_packet_is_not_sent_twice() {
    drop(check(Fault::SendsTwice));
}

#[test]
#[should_panic(expected = "is not ECN-capable: drop it")]
fn what_cannot_carry_ce_is_not_marked() {
    drop(check(Fault::MarksAll));
}

#[test]
#[should_panic(expected = "ns (expected None or a later time)")]
fn a_queue_is_not_called_again_at_once() {
    drop(check(Fault::CallsAtOnce));
}
