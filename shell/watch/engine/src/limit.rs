//! Measures how many packets per second this machine can send and time.
use crate::probe_socket::{ProbeSocket, SocketKey};
use fathom_os::clock::{Clock, wall_now};
use fathom_os::cpu::thread_time;
use fathom_probe::{Book, EchoPayload, LossPolicy};
use fathom_units::Duration;
use fathom_watch_plan::Plan;
use std::net::SocketAddr;

/// Rounds of one batch each: a few milliseconds of work, after a warm-up for the caches.
const ROUNDS: u32 = 12;
const WARM_UP: u32 = 4;
/// The limit if no ICMP socket can be opened: that of a small router.
const UNTRIED: u64 = 2_000;

/// Maximum packets per second of `plan`, and the source of the limit: the plan, or one CPU of this
/// machine, measured on loopback.
#[must_use]
pub fn packet_limit(plan: &Plan) -> (u64, String) {
    if let Some(limit) = plan.max_packets_per_second {
        return (limit, "max_packets_per_second under [watch]".to_owned());
    }
    cost().map_or_else(
        || (UNTRIED, "default for a machine that could not be measured".to_owned()),
        |cost| {
            let limit = Duration::from_secs(1).as_nanos() / cost.as_nanos().max(1);
            (limit, format!("one CPU of this machine, at {cost} per packet"))
        },
    )
}

/// CPU time of one echo on loopback, including the kernel's reply.
fn cost() -> Option<Duration> {
    let clock = Clock::start();
    let key = SocketKey { v6: false, source: None, dscp: 0, is_small: true };
    let mut socket = ProbeSocket::open(key, wall_now().0).ok()?;
    let to = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut book = Book::new(LossPolicy::NEVER);
    let (mut sent, mut began) = (0_u64, thread_time());
    for round in 0..WARM_UP + ROUNDS {
        if round == WARM_UP {
            (sent, began) = (0, thread_time());
        }
        while !socket.is_full() {
            let probe = book.send(wall_now(), clock.now());
            socket.send((to, 56), &EchoPayload { target: 0, probe }, false).ok()?;
            sent += 1;
        }
        socket.arrivals(|_| {});
    }
    (sent > 0).then(|| Duration::from_nanos((thread_time() - began).as_nanos() / sent))
}
