//! One burst of datagrams to or from `fathom serve`.
use super::FathomPeer;
use crate::error::CLOSED;
use crate::peer::{FlowPlan, Peer};
use crate::resolve::{LOOK_EVERY, Limits};
use fathom_burst::{BurstPlan, Sent, Tail};
use fathom_os::clock::both_clocks;
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::pace::Pacer;
use fathom_os::poll::{self, PollFd, set_precise_timers};
use fathom_os::prompt::PromptReader;
use fathom_os::socket::{SETS_CLASS, set_class};
use fathom_os::timestamp::{Batch, Stamping, enable};
use fathom_probe::StampConverter;
use fathom_probe::protocol::{
    AFTER_BURST, BurstArrival, BurstSender, FlowLoad, LoadHeader, MOST_BURST_PAYLOAD_BYTES,
};
use fathom_run::Burst;
use fathom_units::{Direction, Duration, Ecn, Time};
use socket2::Socket;
use std::io::Read;
use std::sync::atomic::Ordering;

/// Datagrams received per call.
const BATCH: usize = 64;
/// Headers of IP, and those of UDP or ICMP, which are as long.
const IPV4_HEADER_BYTES: u32 = 28;
const IPV6_HEADER_BYTES: u32 = 48;

/// Sends or receives a burst.
///
/// # Errors
/// The reason why there is none.
pub(crate) fn run(
    peer: &FathomPeer,
    (plan, direction): (BurstPlan, Direction),
    (number, class): (u32, u8),
    limits: &Limits<'_>,
) -> Result<Burst, String> {
    let (congestion_control, segment_bytes) = ("-".to_owned(), None);
    let load = Some(FlowLoad::Burst(plan));
    // Where this host cannot set it, nothing is marked.
    let class = if SETS_CLASS { plan.ecn.in_class(class) } else { class };
    let reply_class = if peer.marks() { plan.ecn.bits() } else { 0 };
    let flow = FlowPlan { number, direction, congestion_control, segment_bytes, class, reply_class, load };
    let (tcp, udp) = peer.open_datagrams(&flow, limits)?;
    let is_ipv6 = udp.local_addr().is_ok_and(|address| address.is_ipv6());
    let mut seen = Seen::new(plan, direction, is_ipv6);
    match direction {
        Direction::Up => send((&tcp, &udp), &mut seen, (class, is_ipv6), limits)?,
        Direction::Down => receive(&tcp, &udp, &mut seen, limits)?,
    }
    Ok(seen.into_burst())
}

/// What was sent and what arrived so far.
pub(crate) struct Seen {
    plan: BurstPlan,
    burst: Burst,
    tail: Tail,
    heard: Option<Time>,
}

impl Seen {
    pub(crate) fn new(plan: BurstPlan, direction: Direction, is_ipv6: bool) -> Self {
        let BurstPlan { payload_bytes, before, count, echo_every, ecn, .. } = plan;
        let header_bytes = if is_ipv6 { IPV6_HEADER_BYTES } else { IPV4_HEADER_BYTES };
        let (sent_ns, received_ns, is_complete) = (Vec::new(), Vec::new(), false);
        let burst = Burst {
            direction,
            payload_bytes,
            header_bytes,
            before,
            count,
            sent_ns,
            received_ns,
            is_complete,
            echo_every,
            ecn: ecn.bits().into(),
            ce: Vec::new(),
        };
        Seen { plan, burst, tail: Tail::default(), heard: None }
    }
    pub(crate) const fn plan(&self) -> BurstPlan {
        self.plan
    }
    /// Grows the record to hold a datagram; false if no such datagram was asked for.
    fn holds(&mut self, number: u32) -> bool {
        let (at, most) = (number as usize, self.longest());
        if at >= most {
            return false;
        }
        let length = self.burst.sent_ns.len().max(at + 1);
        self.burst.sent_ns.resize(length, 0);
        self.burst.received_ns.resize(length, None);
        true
    }
    /// Number of all datagrams.
    fn longest(&self) -> usize {
        let after = AFTER_BURST.as_nanos() / self.plan.apart.as_nanos();
        (self.plan.before + self.plan.count) as usize + after as usize
    }
    pub(crate) fn sent(&mut self, number: u32, at: Time) {
        if self.holds(number) {
            self.burst.sent_ns[number as usize] = at.as_nanos();
        }
    }
    /// A datagram arrived; its send time is known.
    pub(crate) fn arrived(&mut self, number: u32, (received_ns, is_ce): (u64, bool), now: Time) {
        let at = number as usize;
        let Some(received) = self.burst.received_ns.get_mut(at).filter(|received| received.is_none()) else {
            return;
        };
        *received = Some(received_ns);
        self.burst.ce.extend(is_ce.then_some(number));
        let delay_ns = i128::from(received_ns) - i128::from(self.burst.sent_ns[at]);
        let sent = match number.checked_sub(self.plan.before) {
            None => Sent::Apart,
            Some(in_burst) if in_burst < self.plan.count => Sent::AtOnce,
            Some(_) => Sent::After,
        };
        self.tail.arrived(delay_ns, sent);
        self.heard = Some(now);
        self.burst.is_complete = self.tail.is_empty();
    }
    /// Whether the burst is over: the queue is empty, or nothing arrives any more.
    pub(crate) fn is_over(&self, since: Time, limits: &Limits<'_>) -> bool {
        let last = self.heard.unwrap_or(since).max(since);
        self.burst.is_complete || limits.clock.now().saturating_since(last) > limits.patience
    }
    /// The record. Those of which no time is known left when planned, relative to the one before.
    pub(crate) fn into_burst(mut self) -> Burst {
        let mut shift: Option<(u32, u64)> = None;
        for (number, sent) in (0..).zip(&mut self.burst.sent_ns) {
            if *sent == 0 {
                let apart = |from: u32| self.plan.offset(number) - self.plan.offset(from);
                *sent = shift.map_or(0, |(from, at)| at + apart(from).as_nanos());
            } else {
                shift = Some((number, *sent));
            }
        }
        self.burst
    }
}

fn send(
    (tcp, udp): (&Socket, &Socket),
    seen: &mut Seen,
    (mut class, is_ipv6): (u8, bool),
    limits: &Limits<'_>,
) -> Result<(), String> {
    // Without it, datagrams leave 50 us later.
    drop(set_precise_timers());
    let clock = limits.clock;
    let mut sender = BurstSender::new(seen.plan, clock.now());
    let (mut pacer, mut records) = (Pacer::new(clock), Vec::new());
    let end = seen.plan.before + seen.plan.count;
    let mut sent_all = Time::MAX;
    while let Some(due) = sender.due() {
        if let Some(wait) = pacer.next_wait(due) {
            let found = poll::wait(&mut [PollFd::readable(tcp.as_fd())], Some(wait.min(LOOK_EVERY)));
            if found.map_err(|e| without_code(&e))? > 0 {
                read_records(tcp, &mut records)?;
                let now = clock.now();
                for arrival in BurstArrival::take_all(&mut records) {
                    seen.arrived(arrival.number, (arrival.received_ns, arrival.is_ce), now);
                }
            }
            if limits.stop.load(Ordering::Relaxed)
                || (sender.next_number() >= end && seen.is_over(sent_all, limits))
            {
                return Ok(());
            }
            if wait > Duration::ZERO {
                continue;
            }
        }
        let number = sender.next_number();
        let wanted = seen.plan.ecn_of(number).in_class(class);
        if SETS_CLASS && wanted != class {
            set_class(udp, is_ipv6, wanted).map_err(|e| without_code(&e))?;
            class = wanted;
        }
        let _ = udp.send(sender.take(pacer.spin_until(due)));
        // After a call that waited for room in this host's queue.
        let now = clock.now();
        seen.sent(number, now);
        sent_all = if number + 1 == end { now } else { sent_all };
    }
    Ok(())
}

fn read_records(mut tcp: &Socket, records: &mut Vec<u8>) -> Result<(), String> {
    let mut buffer = [0; 16 << 10];
    match tcp.read(&mut buffer) {
        Ok(0) => Err(CLOSED.to_owned()),
        Ok(length) => {
            records.extend(&buffer[..length]);
            Ok(())
        }
        Err(error) => Err(without_code(&error)),
    }
}

fn receive(tcp: &Socket, udp: &Socket, seen: &mut Seen, limits: &Limits<'_>) -> Result<(), String> {
    // Without timestamps, the time of reading counts.
    drop(enable(udp.as_fd(), Stamping::Arrivals));
    let mut batch = Batch::new(BATCH, MOST_BURST_PAYLOAD_BYTES as usize);
    let (mut stamps, mut reader) = (StampConverter::default(), PromptReader::default());
    let start = limits.clock.now();
    while !limits.stop.load(Ordering::Relaxed) && !seen.is_over(start, limits) {
        let mut fds = [PollFd::readable(tcp.as_fd()), PollFd::readable(udp.as_fd())];
        reader.check(udp.as_fd(), limits.clock.now()).map_err(|e| without_code(&e))?;
        poll::wait(&mut fds, Some(LOOK_EVERY)).map_err(|e| without_code(&e))?;
        // An error belongs to an earlier datagram; reading it clears it.
        if fds[1].is_ready() && batch.receive(udp.as_fd()).is_ok() {
            let (wall, now) = both_clocks(limits.clock);
            for (bytes, received) in batch.iter() {
                let Some(header) = LoadHeader::decode(bytes) else { continue };
                let at = stamps.convert(received.stamp, wall, now).unwrap_or(now);
                let Ok(number) = u32::try_from(header.sequence) else { continue };
                if seen.holds(number) {
                    seen.sent(number, Time::from_nanos(header.sent_ns));
                    let is_ce = received.class.map(Ecn::of_class) == Some(Ecn::Ce);
                    seen.arrived(number, (at.as_nanos(), is_ce), now);
                }
            }
        }
        if fds[0].is_ready() {
            return if seen.heard.is_some() { Ok(()) } else { Err(CLOSED.to_owned()) };
        }
    }
    Ok(())
}
