//! Answers irtt clients: sessions without a connection, which the first probe opens.
use crate::echo::{Request, Responder};
use crate::host_rate::HostRate;
use crate::limited::{End, Limited, OpenSession, report_end};
use crate::shared::Shared;
use crate::stats::Refusal;
use fathom_os::clock::both_clocks;
use fathom_protocol::irtt::{self, Layout, Params, Stamps, Tokens, Window};
use fathom_units::{Duration, Time};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Requests to open a session that a host may send in a second.
const OPENS_PER_SECOND: u32 = 10;
/// Shortest interval of probes, well below the rate limit of a session.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);
/// Most bytes by which the reply to a request to open a session is longer: the token, which irtt's
/// protocol demands, and an interval that the server restricts.
const OPEN_MARGIN_BYTES: usize = 16;

/// The sessions.
pub(crate) struct Irtt {
    tokens: Tokens,
    opens: HostRate,
    open: HashMap<u64, Client>,
    /// Tokens of sessions that ended or were refused, and when their validity ends.
    ended: HashMap<u64, Time>,
}

struct Client {
    address: SocketAddr,
    layout: Layout,
    window: Window,
    limits: Limited,
    session: OpenSession,
}

impl Irtt {
    pub(crate) fn new(tokens: Tokens) -> Irtt {
        let opens = HostRate::new(OPENS_PER_SECOND);
        Irtt { tokens, opens, open: HashMap::new(), ended: HashMap::new() }
    }
    /// Takes no memory: the token of the reply proves the client's address.
    fn offer(
        &mut self,
        shared: &Shared,
        request: &Request<'_>,
        asked: &Params,
        is_trial: bool,
    ) -> Result<(), Refusal> {
        if !self.opens.admit(request.from.ip(), request.at) {
            return Err(Refusal::DatagramRate);
        }
        let granted = Params {
            duration: asked.duration.min(shared.config.max_time),
            interval: asked.interval.clamp(SHORTEST_INTERVAL, shared.config.max_idle / 4),
            length_bytes: asked.length_bytes.min(Irtt::LONGEST_BYTES as u64),
            ..asked.clone()
        };
        let is_other_version = asked.version != irtt::VERSION;
        let token = self.tokens.make(request.from, granted.layout, request.at);
        let reply = irtt::open_reply(token, &granted, is_trial || is_other_version);
        if reply.len() > request.bytes.len() + OPEN_MARGIN_BYTES {
            return Err(Refusal::DatagramForm);
        }
        request.reply(&reply)
    }
    /// Opens the session of a probe whose token is valid. The reason of a refusal is counted.
    fn enter(
        &mut self,
        shared: &Arc<Shared>,
        request: &Request<'_>,
        token: u64,
        layout: Layout,
    ) -> Option<()> {
        // Each reply has the address of its request.
        let local = request.to.unwrap_or(request.from);
        let refused = match OpenSession::begin(shared, local, (request.from.ip(), None)) {
            Ok(session) => {
                let limits = Limited::new(shared, &session.session);
                let client =
                    Client { address: request.from, layout, window: Window::default(), limits, session };
                self.open.insert(token, client);
                return Some(());
            }
            Err((reason, ..)) => reason,
        };
        shared.counters.refuse(refused, Some(request.from.ip()));
        self.ended.insert(token, request.at + Tokens::VALID);
        None
    }
    fn echo(
        &mut self,
        shared: &Arc<Shared>,
        request: &Request<'_>,
        (token, sequence): (u64, u32),
    ) -> Result<(), Refusal> {
        if !self.open.contains_key(&token) {
            let layout = self.tokens.check(token, request.from, request.at);
            let layout = layout.ok_or(Refusal::DatagramSession)?;
            let may_enter = !self.ended.contains_key(&token);
            if !may_enter || self.enter(shared, request, token, layout).is_none() {
                let closed = irtt::echo_reply(request.bytes, layout, (0, 0), Default::default(), true);
                return request.reply(&closed.map_err(|_| Refusal::DatagramForm)?);
            }
        }
        let client = self.open.get_mut(&token).ok_or(Refusal::DatagramSession)?;
        let session = &client.session.session;
        if client.address != request.from {
            session.udp_refused.fetch_add(1, Relaxed);
            return Err(Refusal::DatagramAddress);
        }
        if !session.probes.admit(request.at) {
            return Err(Refusal::DatagramRate);
        }
        // The protocol counts in 32 bits.
        let count = (session.udp_received.fetch_add(1, Relaxed) + 1) as u32;
        let received = (count, client.window.add(sequence));
        let (wall, now) = both_clocks(shared.clock);
        let held = now.saturating_since(request.at).as_nanos();
        let departure = Stamps { wall_ns: wall.0, monotonic_ns: now.as_nanos() };
        let arrival = Stamps { wall_ns: wall.0.saturating_sub(held), monotonic_ns: request.at.as_nanos() };
        let reply = irtt::echo_reply(request.bytes, client.layout, received, [arrival, departure], false);
        request.reply(&reply.map_err(|_| Refusal::DatagramForm)?)?;
        shared.counters.udp_answered.fetch_add(1, Relaxed);
        Ok(())
    }
    fn close(&mut self, request: &Request<'_>, token: u64) -> Result<(), Refusal> {
        match self.open.get(&token) {
            Some(client) if client.address == request.from => {}
            Some(_) => return Err(Refusal::DatagramAddress),
            // Sent by a client whose session the server ended.
            None if self.ended.contains_key(&token) => return Ok(()),
            None => return Err(Refusal::DatagramSession),
        }
        self.end(token, &End::Bye, request.at);
        Ok(())
    }
    fn end(&mut self, token: u64, end: &End, now: Time) {
        let Some(client) = self.open.remove(&token) else { return };
        report_end(&client.session.shared, &client.session.session, end);
        self.ended.insert(token, now + Tokens::VALID);
    }
}

impl Responder for Irtt {
    /// A frame of Ethernet.
    const LONGEST_BYTES: usize = 1_500;

    fn answer(&mut self, shared: &Arc<Shared>, request: &Request<'_>) -> Result<(), Refusal> {
        match irtt::request(request.bytes).map_err(|_| Refusal::DatagramForm)? {
            irtt::Request::Open { params, is_trial } => self.offer(shared, request, &params, is_trial),
            irtt::Request::Echo { token, sequence } => self.echo(shared, request, (token, sequence)),
            irtt::Request::Close { token } => self.close(request, token),
        }
    }
    fn has_sessions(&self) -> bool {
        !self.open.is_empty()
    }
    fn tick(&mut self, now: Time) {
        let ends = self.open.iter_mut().map(|(token, client)| (*token, client.limits.keep(now)));
        let ends: Vec<_> = ends.filter_map(|(token, kept)| Some((token, kept.err()?))).collect();
        ends.iter().for_each(|(token, end)| self.end(*token, end, now));
        self.ended.retain(|_, valid_until| *valid_until > now);
    }
}
