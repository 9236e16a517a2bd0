//! What bursts of echo requests show in addition to the queue: whether requests waited or their
//! replies, and whether the receiver limits its replies.
use crate::Response;
use crate::response::{POLICED, WAITED, arrivals, responses};
use alloc::vec::Vec;
use fathom_run::Burst;

/// Least number of pairs of replies that show which packets the link carried between them.
const MIN_PAIRS: usize = 3;
/// The datagrams between two echo requests take this share of the time that as many requests take,
/// if they pass the same link: a download that is 10 % slower than the upload is in the error of
/// its rate.
const SAME_LINK: f64 = 0.9;
/// In a fair queue, one of the others is between two echo requests, however many were sent.
/// Relative error of the time of these two packets.
const FAIR_PACKETS: f64 = 2.0;
const FAIR_ERROR: f64 = 0.2;
/// Each so many datagrams of a burst are one echo request: with two, a fair queue looks like any
/// other. The second number distinguishes it from a download that is slower than the upload.
pub(crate) const ECHO_EVERY: [u32; 2] = [3, 6];

/// The path of echo requests and their replies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EchoPath {
    /// Requests waited, not their replies: datagrams without a reply took the time of the link.
    pub is_upload: bool,
    /// Requests did not wait behind all datagrams of another flow: each flow has a queue.
    pub is_per_flow: bool,
    /// The receiver does not answer all of many requests. Without a queue, this may be a policer.
    pub is_limited: bool,
}

/// The path of bursts of echo requests; `None` of other bursts.
#[must_use]
pub fn echo_path(bursts: &[&Burst]) -> Option<EchoPath> {
    let echoed = || bursts.iter().filter(|burst| burst.echo_every == 1);
    echoed().next()?;
    let responses = responses(echoed().copied());
    let has_queue = responses.iter().any(Response::has_queue);
    let is_limited = responses.iter().any(|response| response.is_limited);
    let carried = ECHO_EVERY.map(|every| {
        let mixed = bursts.iter().find(|burst| burst.echo_every == every)?;
        Some(packets_between(mixed, &responses)? / f64::from(every))
    });
    let is_one_queue = carried.iter().flatten().any(|share| *share >= SAME_LINK);
    let is_fair = |(share, every): (Option<f64>, u32)| share.is_some_and(|share| is_fair(share, every));
    let is_per_flow = !is_one_queue && carried.into_iter().zip(ECHO_EVERY).all(is_fair);
    Some(EchoPath {
        is_upload: is_one_queue || is_per_flow,
        is_per_flow,
        is_limited: is_limited || !has_queue && echoed().any(|burst| loses_many(burst)),
    })
}

/// Whether a burst cannot distinguish a fair queue from a slower download.
pub(crate) fn is_ambiguous(mixed: &Burst, responses: &[Response]) -> bool {
    let every = mixed.echo_every;
    let share = packets_between(mixed, responses).map(|packets| packets / f64::from(every));
    every == ECHO_EVERY[0] && share.is_some_and(|share| is_fair(share, every))
}

fn is_fair(share: f64, every: u32) -> bool {
    libm::fabs(share * f64::from(every) / FAIR_PACKETS - 1.0) <= FAIR_ERROR
}

/// Whether many requests of a burst were lost.
fn loses_many(burst: &Burst) -> bool {
    let lost = burst.arrivals().filter(Option::is_none).count();
    lost as f64 >= POLICED * f64::from(burst.count)
}

/// Packets that the link carried from one echo request of a burst to the next, where neither was
/// lost: then a queue hardly lost others between them.
fn packets_between(mixed: &Burst, responses: &[Response]) -> Option<f64> {
    let ip_bytes = f64::from(mixed.payload_bytes + mixed.header_bytes);
    let known = responses.iter().find(|of| of.has_queue() && of.ip_bytes == ip_bytes)?;
    let arrived = arrivals(mixed)?;
    let longest_s = arrived.iter().map(|p| p.wait_s).fold(0.0, f64::max);
    let pairs = arrived.windows(2).filter(|pair| {
        let is_next = pair[1].index == pair[0].index + mixed.echo_every as usize;
        is_next && pair[0].wait_s >= WAITED * longest_s
    });
    let times: Vec<f64> = pairs.map(|pair| pair[1].at_s - pair[0].at_s).collect();
    let packets = times.iter().sum::<f64>() / times.len() as f64 / known.packet_s;
    (times.len() >= MIN_PAIRS).then_some(packets)
}
