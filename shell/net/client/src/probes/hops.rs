//! ICMP echoes to all routers of the path.
use super::{Context, ProbeMachine};
use fathom_os::clock::both_clocks;
use fathom_os::echo::{EchoSocket, echo_socket};
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::interface::{Medium, medium};
use fathom_os::mmsg::{IcmpRefusal, Inbox, Notice, ReceivedMessage};
use fathom_os::next_hop::next_hop;
use fathom_os::poll::PollFd;
use fathom_os::raw::FlowSockets;
use fathom_os::socket::{queue_errors, set_hop_limit};
use fathom_os::timestamp::Stamping;
use fathom_probe::protocol::SessionId;
use fathom_probe::{
    EchoCodec, EchoPayload, FlowProbes, HopCodec, HopProbe, HopRates, HopReply, Hops, IcmpVersion, Probe,
    ProbeSeries,
};
use fathom_run::{FirstLink, NotSent, Path};
use fathom_units::{Duration, Time, WallTime};
use socket2::{Domain, Socket, Type};
use std::net::{IpAddr, SocketAddr, SocketAddrV6};

const BATCH: usize = 32;
/// Longest message: an ICMP error quotes a request after its IP header.
const MESSAGE_BYTES: usize = 256;
/// Port of the server for datagrams of other flows, as of traceroute(8), and of those of the next
/// flow: each hop has a port in between.
const FIRST_PORT: u16 = 33_434;
const PORTS_PER_FLOW: u16 = 32;
/// Interval of reports of the hops, for a live display.
const REPORT_EVERY: Duration = Duration::from_millis(250);

/// Sends probes in the flow of an upload, where that is permitted.
struct InFlow {
    sockets: FlowSockets,
    flows: FlowProbes,
}

impl InFlow {
    /// `None` without CAP_NET_RAW.
    fn open(server: IpAddr, dscp: u8) -> Option<InFlow> {
        let sockets = FlowSockets::open(None, server).ok()?;
        let flows = FlowProbes::new(sockets.host(), server, dscp);
        Some(InFlow { sockets, flows })
    }
    /// Reads which flows there are, and whether one is an upload.
    fn is_uploading(&mut self, now: Time) -> bool {
        self.sockets.read_acknowledgments(|segment| self.flows.received(segment, now));
        self.flows.busiest(now).is_some()
    }
    fn send(&mut self, hop: u8, sequence: u16, now: Time) -> std::io::Result<usize> {
        let upload = self.flows.busiest(now);
        let Some(request) = upload.and_then(|ports| self.flows.request(ports, hop, sequence)) else {
            return Ok(0);
        };
        self.sockets.send(&request)
    }
    /// The numbers of the requests that expired, who says so, and when it arrived.
    fn replies(&mut self) -> Vec<(u16, IpAddr, Option<WallTime>)> {
        let mut replies = Vec::new();
        self.sockets.read_errors(|error| {
            let number = self.flows.read_error(error.message);
            replies.extend(number.map(|number| (number, error.router, error.stamp)));
        });
        replies
    }
}

pub(crate) struct HopProber {
    server: IpAddr,
    hops: Hops,
    in_flow: Option<InFlow>,
    expiring: EchoSocket,
    expiring_codec: HopCodec,
    /// For datagrams of other flows.
    other_flows: Socket,
    echo: EchoSocket,
    echo_codec: EchoCodec,
    /// Interface of the first router; a link-local address needs it.
    interface: u32,
    first_link: Option<FirstLink>,
    reported: Time,
    inbox: Inbox,
}

impl HopProber {
    /// `load_dscp` is that of the load, if it has one.
    pub(crate) fn open(
        server: IpAddr,
        rates: HopRates,
        load_dscp: Option<u8>,
        session: SessionId,
    ) -> Result<Self, String> {
        let (_, interface) =
            next_hop(server).map_err(|error| format!("route to {server}: {}", without_code(&error)))?;
        let is_ipv6 = server.is_ipv6();
        let version = if is_ipv6 { IcmpVersion::V6 } else { IcmpVersion::V4 };
        let word = |from: usize| u64::from_be_bytes(std::array::from_fn(|n| session.0[from + n]));
        let expiring = open_socket(is_ipv6)?;
        let (token, kernel_matches) = (word(8), expiring.kernel_matches);
        let echo_codec = EchoCodec::new(version, word(0).rotate_left(32));
        Ok(HopProber {
            server,
            hops: Hops::new(rates),
            in_flow: load_dscp.and_then(|dscp| InFlow::open(server, dscp)),
            reported: Time::ZERO,
            expiring,
            expiring_codec: HopCodec { version, identifier: token as u16, token, kernel_matches },
            other_flows: open_datagrams(server)?,
            echo: open_socket(is_ipv6)?,
            echo_codec,
            interface,
            first_link: medium(interface).map(|medium| match medium {
                Medium::Ethernet => FirstLink::Wired,
                Medium::Wifi => FirstLink::Wifi,
            }),
            inbox: Inbox::new(BATCH, MESSAGE_BYTES),
        })
    }
    fn transmit(&mut self, probe: HopProbe, now: Time, wall: WallTime) -> std::io::Result<usize> {
        match probe {
            HopProbe::InFlow { hop, sequence } => {
                self.in_flow.as_mut().map_or(Ok(0), |in_flow| in_flow.send(hop, sequence, now))
            }
            HopProbe::Expiring { hop, sequence } => {
                self.expiring.set_hop_limit(hop)?;
                let request = self.expiring_codec.request(sequence);
                self.expiring.send_to(&request, self.address_of(self.server))
            }
            HopProbe::OtherFlow { hop, flow } => {
                set_hop_limit(&self.other_flows, self.server.is_ipv6(), hop)?;
                let port = FIRST_PORT + u16::from(flow) * PORTS_PER_FLOW + u16::from(hop);
                self.other_flows.send_to(&[], &SocketAddr::new(self.server, port).into())
            }
            HopProbe::Echo { hop, sequence, to } => {
                let (target, sent) = (u32::from(hop), Probe { sequence, at: wall, sent: now });
                let request = self.echo_codec.request(&EchoPayload { target, probe: sent });
                self.echo.send_to(&request, self.address_of(to))
            }
        }
    }
    /// The hops so far.
    pub(crate) const fn hops(&self) -> &Hops {
        &self.hops
    }
    fn address_of(&self, ip: IpAddr) -> SocketAddr {
        match ip {
            IpAddr::V6(v6) if v6.is_unicast_link_local() => {
                SocketAddr::V6(SocketAddrV6::new(v6, 0, 0, self.interface))
            }
            _ => SocketAddr::new(ip, 0),
        }
    }
    fn receive_expired(&mut self, context: &mut Context) {
        let mut replies = Vec::new();
        while self.expiring.receive_errors_into(&mut self.inbox).is_ok_and(|count| count > 0) {
            replies.extend(self.inbox.iter().filter_map(|message| self.error(&message)));
        }
        while self.expiring.receive_into(&mut self.inbox).is_ok_and(|count| count > 0) {
            replies.extend(self.inbox.iter().filter_map(|message| self.answer(&message)));
        }
        for Reply { reply, from, hop_limit, stamp } in replies {
            if let Some((key, observation)) =
                self.hops.expired(reply, from, hop_limit, context.arrival(stamp))
            {
                context.hop_answered(key, observation);
            }
        }
    }
    fn receive_in_flow(&mut self, context: &mut Context) {
        let replies = self.in_flow.as_mut().map(InFlow::replies).unwrap_or_default();
        for (number, from, stamp) in replies {
            let at = context.arrival(stamp);
            if let Some((key, observation)) = self.hops.expired_in_flow(number, from, at) {
                context.hop_answered(key, observation);
            }
        }
    }
    fn receive_other_flows(&mut self) {
        while self.inbox.receive_errors(self.other_flows.as_fd()).is_ok_and(|count| count > 0) {
            for message in self.inbox.iter() {
                if let Some((hop, router)) = self.expired_in_other_flow(&message) {
                    self.hops.expired_in_other_flow(hop, router);
                }
            }
        }
    }
    /// The hop at which a datagram expired, and the router.
    fn expired_in_other_flow(&self, message: &ReceivedMessage<'_>) -> Option<(u8, IpAddr)> {
        let Some(Notice::Refused(IcmpRefusal { by: Some(router), icmp_type, .. })) = message.notice else {
            return None;
        };
        let hop = message.from?.port().checked_sub(FIRST_PORT)? % PORTS_PER_FLOW;
        let has_expired = self.expiring_codec.has_expired(icmp_type) && !router.is_unspecified();
        has_expired.then_some((hop as u8, router))
    }
    fn error(&self, message: &ReceivedMessage<'_>) -> Option<Reply> {
        let Some(Notice::Refused(IcmpRefusal { by: Some(from), icmp_type, .. })) = message.notice else {
            return None;
        };
        // Some routers reply from the unspecified address, which names nothing.
        let reply = self.expiring_codec.read_error(message.bytes, icmp_type)?;
        (!from.is_unspecified()).then_some(Reply::new(reply, from, message))
    }
    fn answer(&self, message: &ReceivedMessage<'_>) -> Option<Reply> {
        let from = message.from?.ip();
        Some(Reply::new(self.expiring_codec.read_reply(message.bytes)?, from, message))
    }
    fn receive_echoes(&mut self, context: &mut Context) {
        while self.echo.receive_into(&mut self.inbox).is_ok_and(|count| count > 0) {
            for message in self.inbox.iter() {
                let Some(payload) = self.echo_codec.read_reply(message.bytes) else { continue };
                let (Some(from), Ok(hop)) = (message.from, u8::try_from(payload.target)) else { continue };
                let at = context.arrival(message.stamp);
                if let Some((key, observation)) = self.hops.echoed(hop, payload.probe.sequence, from.ip(), at)
                {
                    context.hop_answered(key, observation);
                }
            }
        }
        // Errors are discarded: an unreachable router has no replies.
        while self.echo.receive_errors_into(&mut self.inbox).is_ok_and(|count| count > 0) {}
    }
}

/// A reply to an expiring request.
struct Reply {
    reply: HopReply,
    from: IpAddr,
    hop_limit: Option<u8>,
    stamp: Option<WallTime>,
}

impl Reply {
    const fn new(reply: HopReply, from: IpAddr, message: &ReceivedMessage<'_>) -> Self {
        Reply { reply, from, hop_limit: message.hop_limit, stamp: message.stamp }
    }
}

fn open_socket(is_ipv6: bool) -> Result<EchoSocket, String> {
    let opened = echo_socket(is_ipv6).map_err(|error| error.to_string())?;
    let prepared = opened.queue_errors().and_then(|()| opened.enable(Stamping::Arrivals));
    prepared.map(|()| opened).map_err(|error| without_code(&error))
}

fn open_datagrams(server: IpAddr) -> Result<Socket, String> {
    let domain = if server.is_ipv6() { Domain::IPV6 } else { Domain::IPV4 };
    let opened = Socket::new(domain, Type::DGRAM, None);
    let prepared = opened.and_then(|socket| {
        queue_errors(&socket, server.is_ipv6())?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    });
    prepared.map_err(|error| without_code(&error))
}

impl ProbeMachine for HopProber {
    /// None: its probes determine nothing about the phases, and no late reply is waited for.
    fn series(&mut self) -> &mut [ProbeSeries] {
        &mut []
    }
    fn add_interests<'m>(&'m self, fds: &mut Vec<PollFd<'m>>) {
        let sockets = [self.expiring.as_fd(), self.other_flows.as_fd(), self.echo.as_fd()];
        let errors = self.in_flow.as_ref().map(|in_flow| in_flow.sockets.errors());
        fds.extend(sockets.into_iter().chain(errors).map(PollFd::readable));
    }
    fn send(&mut self, context: &mut Context) -> Result<Time, NotSent> {
        let (wall, now) = both_clocks(context.clock);
        let is_uploading = self.in_flow.as_mut().is_some_and(|in_flow| in_flow.is_uploading(now));
        if let Some(probe) = self.hops.next(now, is_uploading) {
            // The first call reports an ICMP error about an earlier request and then sends nothing.
            // A request that cannot be sent has no reply, like one that the path loses.
            let _ = self.transmit(probe, now, wall).or_else(|_| self.transmit(probe, now, wall));
        }
        Ok(now)
    }
    fn receive(&mut self, context: &mut Context) {
        self.receive_expired(context);
        self.receive_in_flow(context);
        self.receive_other_flows();
        self.receive_echoes(context);
        let now = context.now();
        if now.saturating_since(self.reported) >= REPORT_EVERY {
            self.reported = now;
            context.path(self.hops.status(now));
        }
    }
    fn take_hops(&mut self) -> Option<(Path, Vec<ProbeSeries>)> {
        let hops = std::mem::replace(&mut self.hops, Hops::new(HopRates::TEST));
        let path = Path { first_link: self.first_link, ..hops.path() };
        Some((path, hops.into_series().collect()))
    }
}
