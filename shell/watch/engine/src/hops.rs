//! The routers of a path, each as a series, found with echo requests with increasing hop limits.
//!
//! All requests of a path have the same checksum and identifier, so that load-balancing routers
//! keep them on one path (Augustin et al., Avoiding traceroute anomalies with Paris traceroute, IMC
//! 2006). A router that has never answered has no series: many never do, and that is not a loss on
//! the path.
use crate::history::Event;
use crate::report::{Report, Reporter, SeriesSlot};
use crate::target::ProbedTarget;
use fathom_os::clock::Clock;
use fathom_os::error::without_code;
use fathom_os::mmsg::{Inbox, Notice, ReceivedMessage};
use fathom_os::poll::PollFd;
use fathom_os::socket::{echo_socket, queue_errors, set_dscp, set_hop_limit};
use fathom_os::timestamp::{Stamping, both_clocks, enable};
use fathom_probe::{RETENTION, StampConverter};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_samples::{Outcome, Sample};
use fathom_wire::checksum;
use socket2::{SockAddr, Socket};
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

/// Interval between requests of a round: routers limit the rate of ICMP errors.
const GAP: Duration = Duration::from_millis(20);
/// A different router counts as a path change after this many consecutive answers. Single answers
/// from elsewhere are common.
const SURE_AFTER: u32 = 3;
/// While the destination does not answer, this many hops are tried beyond the last router that did
/// ...
const BEYOND: u8 = 2;
/// ... and all hops once per this many rounds.
const ALL_EVERY: u32 = 20;
const REQUEST_BYTES: usize = 64;
const BATCH: usize = 32;

#[derive(Clone, Copy, Default)]
struct Router {
    address: Option<IpAddr>,
    /// A different router that answered at this hop, and the number of consecutive answers.
    other: Option<(IpAddr, u32)>,
}

struct Probe {
    sequence: u16,
    hops: u8,
    at: WallTime,
    sent: Time,
    is_overdue: bool,
    is_answered: bool,
}

/// A probed path.
pub(crate) struct HopProber {
    pub(crate) number: u32,
    slot: SeriesSlot,
    timeout: Duration,
    socket: Socket,
    to: SockAddr,
    end: IpAddr,
    v6: bool,
    identifier: u16,
    /// Whether the kernel delivers only our packets.
    kernel_matches: bool,
    token: u64,
    next: u16,
    probes: VecDeque<Probe>,
    routers: Vec<Router>,
    /// Hop count of the destination.
    length: Option<u8>,
    rounds: u32,
    /// Time of the current round, the next and last hop limit to send, and the time of the next
    /// request.
    round: Option<(WallTime, u8, u8, Time)>,
    inbox: Inbox,
}

impl HopProber {
    pub(crate) fn open(probed: &ProbedTarget, token: u64) -> Result<Self, String> {
        let end = probed.resolved.address()?;
        let (form, v6) = (&probed.target.options, end.is_ipv6());
        let opened = echo_socket(v6).map_err(|e| e.to_string())?;
        let socket = opened.socket;
        let wrong = |what: &str, e: std::io::Error| format!("{what}: {}", without_code(&e));
        if let Some(source) = form.source {
            let own = SocketAddr::new(source, 0).into();
            socket.bind(&own).map_err(|e| wrong(&format!("source address {source}"), e))?;
        }
        queue_errors(&socket, v6).map_err(|e| wrong("ICMP errors", e))?;
        set_dscp(&socket, v6, form.dscp).map_err(|e| wrong("DSCP", e))?;
        enable(socket.as_fd(), Stamping::Arrivals).map_err(|e| wrong("timestamps", e))?;
        Ok(HopProber {
            number: probed.number,
            slot: probed.slot,
            timeout: probed.target.timeout,
            socket,
            to: SocketAddr::new(end, 0).into(),
            end,
            v6,
            identifier: (token as u16).wrapping_add(probed.number as u16),
            kernel_matches: opened.kernel_matches,
            token,
            next: 0,
            probes: VecDeque::new(),
            routers: vec![Router::default(); usize::from(form.max_hops)],
            length: None,
            rounds: 0,
            round: None,
            inbox: Inbox::new(BATCH, 256),
        })
    }
    pub(crate) fn interest(&self) -> PollFd<'_> {
        PollFd::readable(self.socket.as_fd())
    }
    /// Time of the next request.
    pub(crate) fn next_at(&self) -> Option<Time> {
        self.round.map(|(.., at)| at)
    }
    /// Starts a round.
    pub(crate) fn begin(&mut self, at: WallTime, now: Time) {
        self.rounds += 1;
        let all = self.routers.len() as u8;
        let known =
            self.routers.iter().rposition(|r| r.address.is_some()).map_or(all, |n| n as u8 + 1 + BEYOND);
        let tries_all = self.rounds % ALL_EVERY == 1;
        let last = self.length.unwrap_or(if tries_all { all } else { known.min(all) });
        self.round = Some((at, 1, last, now));
    }
    /// Sends the requests that are due.
    pub(crate) fn send_due(&mut self, clock: Clock, reporter: &mut Reporter) {
        while let Some((at, hops, last, due)) = self.round {
            let now = clock.now();
            if due > now {
                return;
            }
            // The destination may have answered since the round started.
            let last = self.length.unwrap_or(last);
            self.round = (hops < last).then_some((at, hops + 1, last, now + GAP));
            if let Err(reason) = self.send(hops, at, now) {
                if self.routers.get(usize::from(hops) - 1).is_some_and(|r| r.address.is_some()) || hops == 1 {
                    reporter.failed(self.slot_of(hops), at, &reason);
                }
                self.round = None;
            }
        }
    }
    fn send(&mut self, hops: u8, at: WallTime, now: Time) -> Result<(), String> {
        set_hop_limit(&self.socket, self.v6, hops).map_err(|e| without_code(&e))?;
        let sequence = self.next;
        self.next = self.next.wrapping_add(1);
        let request = request(self.v6, self.identifier, sequence, self.token);
        // The next call reports an ICMP error about an earlier request and then sends nothing.
        let sent =
            self.socket.send_to(&request, &self.to).or_else(|_| self.socket.send_to(&request, &self.to));
        sent.map_err(|e| without_code(&e))?;
        self.probes.push_back(Probe { sequence, hops, at, sent: now, is_overdue: false, is_answered: false });
        Ok(())
    }
    /// Processes answers of routers and of the destination.
    pub(crate) fn receive(&mut self, clock: Clock, stamps: &mut StampConverter, reporter: &mut Reporter) {
        let mut answers: Vec<(u16, IpAddr, bool, Option<WallTime>)> = Vec::new();
        while self.inbox.receive_errors(self.socket.as_fd()).is_ok_and(|count| count > 0) {
            answers.extend(self.inbox.iter().filter_map(|message| self.refused(&message)));
        }
        while self.inbox.receive(self.socket.as_fd()).is_ok_and(|count| count > 0) {
            answers.extend(self.inbox.iter().filter_map(|message| self.replied(&message)));
        }
        for (sequence, from, is_end, stamp) in answers {
            let (wall, now) = both_clocks(clock);
            let received = stamps.convert(stamp, wall, now).unwrap_or(now);
            self.answered(sequence, from, is_end, received, reporter);
        }
    }
    /// Parses an error queue entry: the request as quoted by the router, from its ICMP header on.
    fn refused(&self, message: &ReceivedMessage<'_>) -> Option<(u16, IpAddr, bool, Option<WallTime>)> {
        let Some(Notice::Refused { by: Some(by), icmp_type, .. }) = message.notice else { return None };
        // Time exceeded (RFC 792, RFC 4443); everything else is the end of the path, or of the
        // reachable part.
        let is_end = icmp_type != if self.v6 { 3 } else { 11 };
        let ours = self.kernel_matches || word(message.bytes, 4)? == self.identifier;
        ours.then_some((word(message.bytes, 6)?, by, is_end, message.stamp))
    }
    fn replied(&self, message: &ReceivedMessage<'_>) -> Option<(u16, IpAddr, bool, Option<WallTime>)> {
        let from = message.from?.ip();
        let first = *message.bytes.first()?;
        let header = if !self.v6 && first >> 4 == 4 { usize::from(first & 0xf) * 4 } else { 0 };
        let icmp = message.bytes.get(header..)?;
        let is_reply = *icmp.first()? == if self.v6 { 129 } else { 0 };
        let ours = icmp.get(8..16)? == self.token.to_be_bytes() && from == self.end;
        (is_reply && ours).then_some((word(icmp, 6)?, from, true, message.stamp))
    }
    fn answered(
        &mut self,
        sequence: u16,
        from: IpAddr,
        is_end: bool,
        received: Time,
        reporter: &mut Reporter,
    ) {
        let Some(probed) = self.probes.iter().rev().find(|p| p.sequence == sequence) else { return };
        let (hops, at, was_overdue) = (probed.hops, probed.at, probed.is_overdue);
        let delay = received.saturating_since(probed.sent);
        let slot = self.slot + SeriesSlot::from(hops) - 1;
        let is_placed = !is_end || self.is_the_end(hops);
        self.learn_length(hops, is_end);
        let Some(probe) = self.probes.iter_mut().rev().find(|p| p.sequence == sequence && is_placed) else {
            return;
        };
        if std::mem::replace(&mut probe.is_answered, true) {
            reporter.report(Report::Count { slot, at, duplicates: 1, reordered: 0 });
            return;
        }
        match (was_overdue, delay > self.timeout) {
            (true, _) => reporter.report(Report::Amend(slot, Sample { at, outcome: Outcome::Late(delay) })),
            (false, true) => reporter.sample(slot, at, Outcome::Late(delay)),
            (false, false) => reporter.sample(slot, at, Outcome::Answered(delay)),
        }
        self.learn_router(hops, from, at, reporter);
    }
    /// Whether the destination is at this hop. It answers all requests that reach it; the first of
    /// them is its hop: the one after a known router, or the one found in an earlier round.
    fn is_the_end(&self, hops: u8) -> bool {
        let after_router = usize::from(hops).checked_sub(2).and_then(|n| self.routers.get(n));
        let is_near = hops == 1 || after_router.is_some_and(|r| r.address.is_some_and(|a| a != self.end));
        self.length.map_or(is_near, |length| hops == length || (hops < length && is_near))
    }
    fn learn_length(&mut self, hops: u8, is_end: bool) {
        self.length = match self.length {
            Some(length) if !is_end && hops >= length => None,
            Some(length) if is_end => Some(length.min(hops)),
            None if is_end => Some(hops),
            other => other,
        };
    }
    fn learn_router(&mut self, hops: u8, from: IpAddr, at: WallTime, reporter: &mut Reporter) {
        let slot = self.slot_of(hops);
        let Some(router) = self.routers.get_mut(usize::from(hops) - 1) else { return };
        let Some(before) = router.address else {
            router.address = Some(from);
            reporter.report(Report::Address(slot, from));
            return;
        };
        if before == from {
            router.other = None;
            return;
        }
        let times = router.other.filter(|(other, _)| *other == from).map_or(1, |(_, times)| times + 1);
        router.other = Some((from, times));
        if times >= SURE_AFTER {
            *router = Router { address: Some(from), other: None };
            reporter.report(Report::Address(slot, from));
            let text = format!("path to {}: hop {hops} changed from {before} to {from}", self.end);
            reporter.report(Report::Event(Event { at, kind: "path", text }, Some(slot)));
        }
    }
    /// Reports timed-out requests, and removes old ones.
    pub(crate) fn time_out(&mut self, now: Time, reporter: &mut Reporter) {
        for probe in &mut self.probes {
            let is_late = now.saturating_since(probe.sent) > self.timeout;
            if is_late && !probe.is_overdue && !probe.is_answered {
                let router = self.routers.get(usize::from(probe.hops) - 1);
                // Also for the first hop, which always exists: otherwise an unknown path would have
                // no series at all.
                if router.is_some_and(|r| r.address.is_some()) || probe.hops == 1 {
                    probe.is_overdue = true;
                    reporter.sample(self.slot + SeriesSlot::from(probe.hops) - 1, probe.at, Outcome::Lost);
                }
            }
        }
        while self.probes.front().is_some_and(|p| now.saturating_since(p.sent) > RETENTION) {
            self.probes.pop_front();
        }
    }
    fn slot_of(&self, hops: u8) -> SeriesSlot {
        self.slot + SeriesSlot::from(hops.max(1)) - 1
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// The payload contains the complement of the sequence number, so that the checksum is constant.
fn request(v6: bool, identifier: u16, sequence: u16, token: u64) -> [u8; REQUEST_BYTES] {
    let mut bytes = [0; REQUEST_BYTES];
    bytes[0] = if v6 { 128 } else { 8 };
    bytes[4..6].copy_from_slice(&identifier.to_be_bytes());
    bytes[6..8].copy_from_slice(&sequence.to_be_bytes());
    bytes[8..16].copy_from_slice(&token.to_be_bytes());
    bytes[16..18].copy_from_slice(&(!sequence).to_be_bytes());
    // The kernel sets the checksum for ICMPv6 and for unprivileged IPv4 sockets.
    if !v6 {
        let sum = checksum::of(&bytes);
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_requests_of_a_path_have_one_checksum() {
        let sum = |sequence| request(false, 77, sequence, 0x0123_4567_89ab_cdef)[2..4].to_vec();
        let first = sum(0);
        assert!((0..=u16::MAX).step_by(997).all(|n| sum(n) == first));
        assert_ne!(first, [0, 0]);
    }
}
