//! The routers of a path, each as a series, found with echo requests with increasing hop limits.
//!
//! A router that has never answered has no series: many never do, and that is not a loss on the
//! path.
use crate::history::Event;
use crate::report::{Report, Reporter, SeriesSlot};
use crate::target::ProbedTarget;
use fathom_os::clock::{Clock, both_clocks};
use fathom_os::echo::echo_socket;
use fathom_os::error::without_code;
use fathom_os::mmsg::{IcmpRefusal, Inbox, Notice, ReceivedMessage};
use fathom_os::poll::PollFd;
use fathom_os::socket::{queue_errors, set_dscp, set_hop_limit};
use fathom_os::timestamp::{Stamping, enable};
use fathom_probe::{HopCodec, HopReply, IcmpVersion, RETENTION, StampConverter};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_samples::{Outcome, Sample};
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

/// A reply, its sender and the kernel's timestamp.
type Answer = (HopReply, IpAddr, Option<WallTime>);

/// A probed path.
pub(crate) struct HopProber {
    pub(crate) number: u32,
    slot: SeriesSlot,
    timeout: Duration,
    socket: Socket,
    to: SockAddr,
    end: IpAddr,
    v6: bool,
    codec: HopCodec,
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
            codec: HopCodec {
                version: if v6 { IcmpVersion::V6 } else { IcmpVersion::V4 },
                // Other ICMP probes of this watch have the token itself.
                identifier: (token as u16).wrapping_add(probed.number as u16 + 1),
                token,
                kernel_matches: opened.kernel_matches,
            },
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
        let request = self.codec.request(sequence);
        // The next call reports an ICMP error about an earlier request and then sends nothing.
        let sent =
            self.socket.send_to(&request, &self.to).or_else(|_| self.socket.send_to(&request, &self.to));
        sent.map_err(|e| without_code(&e))?;
        self.probes.push_back(Probe { sequence, hops, at, sent: now, is_overdue: false, is_answered: false });
        Ok(())
    }
    /// Processes answers of routers and of the destination.
    pub(crate) fn receive(&mut self, clock: Clock, stamps: &mut StampConverter, reporter: &mut Reporter) {
        let mut answers: Vec<Answer> = Vec::new();
        while self.inbox.receive_errors(self.socket.as_fd()).is_ok_and(|count| count > 0) {
            answers.extend(self.inbox.iter().filter_map(|message| self.refused(&message)));
        }
        while self.inbox.receive(self.socket.as_fd()).is_ok_and(|count| count > 0) {
            answers.extend(self.inbox.iter().filter_map(|message| self.replied(&message)));
        }
        for (HopReply { sequence, is_end }, from, stamp) in answers {
            let (wall, now) = both_clocks(clock);
            let received = stamps.convert(stamp, wall, now).unwrap_or(now);
            self.answered(sequence, from, is_end, received, reporter);
        }
    }
    fn refused(&self, message: &ReceivedMessage<'_>) -> Option<Answer> {
        let Some(Notice::Refused(IcmpRefusal { by: Some(by), icmp_type, .. })) = message.notice else {
            return None;
        };
        Some((self.codec.read_error(message.bytes, icmp_type)?, by, message.stamp))
    }
    fn replied(&self, message: &ReceivedMessage<'_>) -> Option<Answer> {
        let from = message.from.map(|from| from.ip()).filter(|from| *from == self.end)?;
        Some((self.codec.read_reply(message.bytes)?, from, message.stamp))
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
