//! The routers of the path to a server: which one to probe next, and what the replies show.
//!
//! Each router is probed in up to three ways. An echo request toward the server that expires at the
//! router takes the path of the load, but Linux routers answer at most one a second
//! (`icmp_ratelimit`). During an upload, every second one is replaced by a segment of its flow,
//! which shares a queue that only this flow has. An echo request to the router's own address is
//! answered more often, if at all.
//!
//! A few datagrams of other flows show whether routers divide flows among several paths. Then the
//! load may not pass the router that is known.
use crate::ProbeSeries;
use alloc::collections::VecDeque;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::net::IpAddr;
use fathom_run::{Hop, Metric, Observation, Path, SeriesKey};
use fathom_units::{Duration, Time};

/// Longest path. The diameter of the Internet is below (traceroute(8) has the same limit).
pub(crate) const MAX_HOPS: u8 = 30;
/// Expiring probes are sent so many times less often to a hop that has not answered the first
/// [`TRIES`].
pub(crate) const SILENT_SLOWER: u64 = 5;
pub(crate) const TRIES: u32 = 4;
/// Each so many requests that expire at a hop, one is a datagram of another flow, as long as there
/// are more to send.
const OTHER_FLOW_EVERY: u32 = 3;
/// Hops beyond the last router that answered which are tried while the far end does not answer.
pub(crate) const BEYOND: u8 = 2;
/// A router that answers none of so many echo requests is not sent more.
const ECHO_TRIES: u32 = 20;
/// A different router is a change of the path after so many consecutive answers. Single answers
/// from elsewhere are common: load-balancing, several addresses of one router.
const SURE_AFTER: u32 = 3;
/// Requests whose replies are recognized.
const MOST_OUTSTANDING: usize = 4096;
/// Until a probe is this old, it is not counted as lost while probes are sent: as long as
/// traceroute(8) waits. Its reply counts later, too.
const LOST_AFTER: Duration = Duration::from_secs(5);

/// How often a hop is probed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HopRates {
    /// Interval of the requests that expire at it.
    pub expiring_every: Duration,
    /// Interval of the echo requests to its address.
    pub echo_every: Duration,
    /// Number of datagrams, each of another flow, that expire at it.
    pub other_flows: u8,
}

impl HopRates {
    /// Rates under load: Linux sends one ICMP error a second to a host (`icmp_ratelimit`, icmp(7)),
    /// and a queue of a tenth of a second is seen by the echo requests. Of two paths that are taken
    /// equally often, five other flows show the other one with a probability of 97 %.
    pub const TEST: Self = HopRates {
        expiring_every: Duration::from_secs(1),
        echo_every: Duration::from_millis(60),
        other_flows: 5,
    };
}

/// What is known of a hop while probes are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HopStatus {
    /// Number of the hop, from 1.
    pub number: u8,
    /// Who answered.
    pub address: Option<IpAddr>,
    /// Requests that expire there and were answered or are older than five seconds.
    pub sent: u32,
    /// Those of them without a reply.
    pub lost: u32,
}

/// A probe of a hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HopProbe {
    /// An echo request to the server that expires at this hop, with this sequence number.
    Expiring {
        /// Number of the hop, from 1.
        hop: u8,
        /// Sequence number of the request.
        sequence: u16,
    },
    /// A segment of an upload that expires at this hop, with this identification.
    InFlow {
        /// Number of the hop.
        hop: u8,
        /// Identification of the packet, not 0.
        sequence: u16,
    },
    /// A datagram of another flow that expires at this hop.
    OtherFlow {
        /// Number of the hop.
        hop: u8,
        /// Number of the flow, from 0.
        flow: u8,
    },
    /// An echo request to the address of a router.
    Echo {
        /// Number of the hop.
        hop: u8,
        /// Sequence number within the series of the hop.
        sequence: u32,
        /// Where to send it.
        to: IpAddr,
    },
}

/// A router, and the number of hops from it back to this host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Router {
    address: IpAddr,
    return_hops: Option<u8>,
}

#[derive(Clone, Debug)]
struct State {
    number: u8,
    router: Option<Router>,
    /// The server, if it answered a request that expires here.
    end: Option<IpAddr>,
    /// A different router that answered, and the number of consecutive answers.
    other: Option<(IpAddr, u32)>,
    expiring: ProbeSeries,
    in_flow: ProbeSeries,
    echo: ProbeSeries,
    /// Who answered segments of an upload.
    flow_router: Option<IpAddr>,
    was_in_flow: bool,
    /// Requests that expire, and those of them in other flows, so far.
    slots: u32,
    other_flows: u8,
    /// Who answered the latter.
    other_routers: Vec<IpAddr>,
    expired_at: Option<Time>,
    echoed_at: Option<Time>,
}

/// An outstanding request that expires.
#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u16,
    is_in_flow: bool,
    hop: u8,
    /// Sequence number within its series.
    sequence: u32,
}

/// Probes of all hops of a path.
#[derive(Clone, Debug)]
pub struct Hops {
    rates: HopRates,
    states: Vec<State>,
    /// Number of the hop that is the server.
    length: Option<u8>,
    server_return_hops: Option<u8>,
    next: u16,
    /// Outstanding requests that expire.
    sent: VecDeque<Sent>,
    changed: Vec<Time>,
}

impl Hops {
    /// Creates a path of unknown length, whose hops are probed at these rates.
    #[must_use]
    pub fn new(rates: HopRates) -> Self {
        let series = |metric, hop: u8| {
            ProbeSeries::new(SeriesKey { scope: Some(hop.to_string()), ..SeriesKey::of(metric) })
        };
        let state = |hop| State {
            number: hop,
            router: None,
            end: None,
            other: None,
            expiring: series(Metric::HopRtt, hop),
            in_flow: series(Metric::HopFlowRtt, hop),
            flow_router: None,
            was_in_flow: false,
            slots: 0,
            other_flows: 0,
            other_routers: Vec::new(),
            echo: series(Metric::HopEcho, hop),
            expired_at: None,
            echoed_at: None,
        };
        let states = (1..=MAX_HOPS).map(state).collect();
        let (sent, changed) = (VecDeque::new(), Vec::new());
        Hops { rates, states, length: None, server_return_hops: None, next: 1, sent, changed }
    }
    /// The probe to send now, if any is due. It counts as sent. `is_uploading`: there is a flow to
    /// send it in.
    pub fn next(&mut self, now: Time, is_uploading: bool) -> Option<HopProbe> {
        self.next_expiring(now, is_uploading).or_else(|| self.next_echo(now))
    }
    fn next_expiring(&mut self, now: Time, is_uploading: bool) -> Option<HopProbe> {
        // The server itself too: its answer shows that the path did not become longer.
        let last = usize::from(self.length.unwrap_or_else(|| self.known()));
        let is_due = |state: &&mut State| {
            let interval = self.rates.expiring_every * if state.is_silent() { SILENT_SLOWER } else { 1 };
            state.expired_at.is_none_or(|at| now.saturating_since(at) >= interval)
        };
        // On a slow line more hops are due than can be probed. Those that may not exist, or never
        // answer, come last.
        let near = self.answered() + BEYOND;
        let all = self.states.iter_mut().take(last).filter(is_due);
        let state = all.min_by_key(|state| (state.number > near || state.is_silent(), state.expired_at))?;
        state.expired_at = Some(now);
        if let Some(flow) = state.next_other_flow(self.rates.other_flows) {
            return Some(HopProbe::OtherFlow { hop: state.number, flow });
        }
        state.was_in_flow = is_uploading && state.router.is_some() && !state.was_in_flow;
        let (sequence, hop, is_in_flow) = (self.next, state.number, state.was_in_flow);
        // The kernel replaces the identification 0.
        self.next = self.next.checked_add(1).unwrap_or(1);
        let series = if is_in_flow { &mut state.in_flow } else { &mut state.expiring };
        self.sent.push_back(Sent { number: sequence, is_in_flow, hop, sequence: series.sent(now) });
        if self.sent.len() > MOST_OUTSTANDING {
            self.sent.pop_front();
        }
        Some(match is_in_flow {
            true => HopProbe::InFlow { hop, sequence },
            false => HopProbe::Expiring { hop, sequence },
        })
    }
    /// Number of hops to try while the server does not answer.
    fn known(&self) -> u8 {
        let is_first = self.states.iter().any(|state| state.expired_at.is_none());
        match self.answered() {
            last if last > 0 && !is_first => (last + BEYOND).min(MAX_HOPS),
            _ => MAX_HOPS,
        }
    }
    /// Number of the last router that answered, or 0.
    fn answered(&self) -> u8 {
        self.states.iter().rfind(|state| state.router.is_some()).map_or(0, |state| state.number)
    }
    fn next_echo(&mut self, now: Time) -> Option<HopProbe> {
        let every = self.rates.echo_every;
        let is_due = |state: &&mut State| {
            let echo = &state.echo;
            state.router.is_some()
                && (echo.has_replies() || echo.next_sequence() < ECHO_TRIES)
                && state.echoed_at.is_none_or(|at| now.saturating_since(at) >= every)
        };
        let state = self.states.iter_mut().filter(is_due).min_by_key(|state| state.echoed_at)?;
        let to = state.router?.address;
        state.echoed_at = Some(now);
        Some(HopProbe::Echo { hop: state.number, sequence: state.echo.sent(now), to })
    }
    /// Takes the reply of `from` to an expiring request, which `is_end` if it ended the path. The
    /// reply arrived with `hop_limit`. Returns the observation if it is the first reply.
    pub fn expired(
        &mut self,
        reply: crate::HopReply,
        from: IpAddr,
        hop_limit: Option<u8>,
        at: Time,
    ) -> Option<(&SeriesKey, Observation)> {
        let Sent { hop, sequence, .. } = self.find(reply.sequence, false)?;
        if reply.is_end {
            self.server_return_hops = hop_limit.map(return_hops);
            let length = self.length.map_or(hop, |length| length.min(hop));
            self.length = Some(length);
            // The server as the last hop shows whether these probes share the delay of the load.
            let state = self.states.get_mut(usize::from(hop) - 1).filter(|_| hop == length)?;
            state.end = Some(from);
            return state.expire(sequence, at);
        }
        if self.length.is_some_and(|length| hop >= length) {
            self.length = None;
        }
        let state = self.states.get_mut(usize::from(hop) - 1)?;
        if state.learn(Router { address: from, return_hops: hop_limit.map(return_hops) }) {
            self.changed.push(at);
        }
        state.expire(sequence, at)
    }
    fn find(&self, number: u16, is_in_flow: bool) -> Option<Sent> {
        self.sent.iter().rev().find(|sent| sent.number == number && sent.is_in_flow == is_in_flow).copied()
    }
    /// Takes the reply of `from` to a segment of an upload. Returns the observation if it is the
    /// first reply.
    pub fn expired_in_flow(
        &mut self,
        number: u16,
        from: IpAddr,
        at: Time,
    ) -> Option<(&SeriesKey, Observation)> {
        let Sent { hop, sequence, .. } = self.find(number, true)?;
        let state = self.states.get_mut(usize::from(hop).checked_sub(1)?)?;
        state.flow_router = Some(from);
        let observation = state.in_flow.reply(sequence, at)?;
        Some((state.in_flow.key(), observation))
    }
    /// Takes the reply of `from` to a datagram of another flow.
    pub fn expired_in_other_flow(&mut self, hop: u8, from: IpAddr) {
        let state = usize::from(hop).checked_sub(1).and_then(|hop| self.states.get_mut(hop));
        let Some(state) = state.filter(|state| state.other_flows > 0) else { return };
        if !state.other_routers.contains(&from) && state.other_routers.len() < usize::from(state.other_flows)
        {
            state.other_routers.push(from);
        }
    }
    /// Takes the reply of `from` to an echo request to its own address. Returns the observation if
    /// it is the first reply.
    pub fn echoed(
        &mut self,
        hop: u8,
        sequence: u32,
        from: IpAddr,
        at: Time,
    ) -> Option<(&SeriesKey, Observation)> {
        let state = usize::from(hop).checked_sub(1).and_then(|hop| self.states.get_mut(hop))?;
        if state.router.is_none_or(|router| router.address != from) {
            return None;
        }
        let observation = state.echo.reply(sequence, at)?;
        Some((state.echo.key(), observation))
    }
    /// The hops so far: up to the server, or to the last one that answered.
    #[must_use]
    pub fn status(&self, now: Time) -> Vec<HopStatus> {
        let last = usize::from(self.length.unwrap_or_else(|| self.answered()));
        self.states.iter().take(last).map(|state| state.status(now)).collect()
    }
    /// Whether a reply is outstanding from a hop that has answered before.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        let is_waited_for = |series: &ProbeSeries| series.has_replies() && series.outstanding() > 0;
        let all = self.states.iter().flat_map(|state| [&state.expiring, &state.in_flow, &state.echo]);
        all.into_iter().any(is_waited_for)
    }
    /// The path as far as it is known, without the link to the first router.
    #[must_use]
    pub fn path(&self) -> Path {
        let last = self.length.map_or(self.states.len(), |length| usize::from(length) - 1);
        let hop = |state: &State| {
            let Router { address: known, return_hops } = state.router?;
            let (number, address) = (state.number, known.to_string());
            let is_other = |router: &&IpAddr| **router != known;
            let flow_address = state.flow_router.as_ref().filter(is_other).map(ToString::to_string);
            let other_address = state.other_routers.iter().find(is_other).map(ToString::to_string);
            Some(Hop {
                number,
                address,
                flow_address,
                other_address,
                name: None,
                autonomous_system: None,
                return_hops,
            })
        };
        Path {
            hops: self.states.iter().take(last).filter_map(hop).collect(),
            server_hop: self.length,
            server_return_hops: self.server_return_hops,
            return_path: Vec::new(),
            first_link: None,
            changes_ns: self.changed.iter().map(|at| at.as_nanos()).collect(),
        }
    }
    /// The series of the routers that answered, and of the server. Without replies to echo
    /// requests, a router has only one series.
    pub fn into_series(self) -> impl Iterator<Item = ProbeSeries> {
        let last = self.length.map_or(self.states.len(), usize::from);
        let all = self.states.into_iter().take(last);
        all.flat_map(|state| [state.expiring, state.in_flow, state.echo]).filter(ProbeSeries::has_replies)
    }
}

impl State {
    /// The flow of the next request that expires, if it is another one.
    fn next_other_flow(&mut self, most: u8) -> Option<u8> {
        self.slots = self.slots.saturating_add(1);
        let is_due = self.slots % OTHER_FLOW_EVERY == OTHER_FLOW_EVERY - 1;
        let flow = self.other_flows;
        let is_sent = is_due && flow < most && self.router.is_some();
        self.other_flows += u8::from(is_sent);
        is_sent.then_some(flow)
    }
    /// Whether its first expiring probes have no replies.
    fn is_silent(&self) -> bool {
        !self.expiring.has_replies() && self.expiring.next_sequence() >= TRIES
    }
    fn expire(&mut self, sequence: u32, at: Time) -> Option<(&SeriesKey, Observation)> {
        let observation = self.expiring.reply(sequence, at)?;
        Some((self.expiring.key(), observation))
    }
    fn status(&self, now: Time) -> HopStatus {
        let series = &self.expiring;
        let recent = now.saturating_since(Time::ZERO + LOST_AFTER);
        let waiting = series.outstanding_since(Time::ZERO + recent);
        HopStatus {
            number: self.number,
            address: self.router.map(|router| router.address).or(self.end),
            sent: series.next_sequence() - waiting,
            lost: series.outstanding() as u32 - waiting,
        }
    }
    /// Takes the router of an answer; true if the path changed.
    fn learn(&mut self, found: Router) -> bool {
        let Some(known) = &mut self.router else {
            self.router = Some(found);
            return false;
        };
        if known.address == found.address {
            *known = found;
            self.other = None;
            return false;
        }
        let times = self.other.filter(|(other, _)| *other == found.address).map_or(1, |(_, times)| times + 1);
        self.other = Some((found.address, times));
        let is_sure = times >= SURE_AFTER;
        if is_sure {
            (self.router, self.other) = (Some(found), None);
        }
        is_sure
    }
}

/// Number of hops that a packet took, from the hop limit with which it arrived: hosts and routers
/// send with 64, 128 or 255.
fn return_hops(hop_limit: u8) -> u8 {
    let initial = [64, 128, 255].into_iter().find(|initial| hop_limit <= *initial).unwrap_or(255);
    initial - hop_limit + 1
}
