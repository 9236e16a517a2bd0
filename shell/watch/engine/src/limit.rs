//! How many packets a second this machine can send and time, by trying.
use crate::probe_socket::{ProbeSocket, SocketKey};
use fathom_os::clock::{Clock, wall_now};
use fathom_os::cpu::thread_time;
use fathom_probe::{Book, EchoPayload, LossPolicy};
use fathom_units::Duration;
use fathom_watch_plan::Plan;
use std::net::SocketAddr;

/// Rounds of a batch each: some milliseconds of work, after some for the caches.
const ROUNDS: u32 = 12;
const WARM_UP: u32 = 4;
/// Where no ICMP socket may be opened nothing can be tried: a small router's rate.
const UNTRIED: u64 = 2_000;

/// The most packets that `plan` may send in a second, and where that limit comes from: the plan itself, or one CPU of this
/// machine, of which loopback shows what a packet and its answer cost.
#[must_use]
pub fn packet_limit(plan: &Plan) -> (u64, String) {
    if let Some(limit) = plan.max_packets_per_second {
        return (limit, "max_packets_per_second under [watch]".to_owned());
    }
    cost().map_or_else(
        || (UNTRIED, "of a machine on which nothing could be tried".to_owned()),
        |cost| {
            let limit = Duration::from_secs(1).as_nanos() / cost.as_nanos().max(1);
            (limit, format!("all of one CPU of this machine, at {cost} a packet"))
        },
    )
}

/// CPU time of one echo on loopback, its answer by the kernel included.
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
