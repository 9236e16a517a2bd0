//! DNS queries to the resolver of this host.
use super::{Context, ProbeMachine, series_of};
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::poll::PollFd;
use fathom_os::resolvers::resolvers;
use fathom_os::timestamp::{Stamping, enable, receive};
use fathom_probe::dns::{query, response_code};
use fathom_probe::protocol::SessionId;
use fathom_probe::{ProbeKind, ProbeSeries};
use fathom_run::{Metric, NotSent};
use fathom_units::Time;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::VecDeque;
use std::net::SocketAddr;

const PORT: u16 = 53;
/// The root's name servers, which every resolver knows: no other server is asked, and the query
/// reveals nothing.
const NAME: &str = ".";
const TYPE_NS: u16 = 2;
/// Unanswered queries that are remembered, at two per second.
const MOST_OUTSTANDING: usize = 256;

pub(crate) struct DnsProber {
    socket: Socket,
    /// Name that is asked for.
    name: String,
    series: [ProbeSeries; 1],
    /// Queries without a response, by number.
    outstanding: VecDeque<(u32, Vec<u8>)>,
    /// Makes the IDs of queries unpredictable (RFC 5452).
    secret: u16,
}

impl DnsProber {
    pub(crate) fn open(session: SessionId) -> Result<Self, String> {
        // Not this host.
        let resolver = resolvers().into_iter().find(|address| !address.is_loopback()).ok_or("no resolver")?;
        Self::to(SocketAddr::new(resolver, PORT), NAME, session)
    }
    /// Asks the server at `address` for the name servers of `name`.
    pub(crate) fn to(address: SocketAddr, name: &str, session: SessionId) -> Result<Self, String> {
        let open = || {
            let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
            socket.set_nonblocking(true)?;
            // Only packets from this address arrive.
            socket.connect(&address.into())?;
            enable(socket.as_fd(), Stamping::Arrivals)?;
            Ok(socket)
        };
        let socket = open().map_err(|e: std::io::Error| without_code(&e))?;
        let secret = u16::from_le_bytes([session.0[0], session.0[1]]);
        let (name, series) = (name.to_owned(), series_of(ProbeKind::Dns));
        Ok(DnsProber { socket, name, series, outstanding: VecDeque::new(), secret })
    }
}

impl ProbeMachine for DnsProber {
    fn series(&mut self) -> &mut [ProbeSeries] {
        &mut self.series
    }
    fn add_interests<'m>(&'m self, fds: &mut Vec<PollFd<'m>>) {
        fds.push(PollFd::readable(self.socket.as_fd()));
    }
    fn send(&mut self, context: &mut Context) -> Result<Time, NotSent> {
        let [series] = &mut self.series;
        // Consecutive numbers differ, so that a late response is not mistaken for another.
        let id = self.secret.wrapping_add((series.next_sequence() as u16).wrapping_mul(40_503));
        let bytes = query(id, &self.name, TYPE_NS);
        let now = context.now();
        self.socket.send(&bytes).map_err(|error| NotSent::System(without_code(&error)))?;
        self.outstanding.push_back((series.sent(now), bytes));
        if self.outstanding.len() > MOST_OUTSTANDING {
            self.outstanding.pop_front();
        }
        Ok(now)
    }
    fn receive(&mut self, context: &mut Context) {
        let mut buffer = [0; 2048];
        // An error is an ICMP message: the resolver cannot be reached now.
        while let Ok(got) = receive(self.socket.as_fd(), &mut buffer) {
            let bytes = &buffer[..got.length.min(buffer.len())];
            let arrival = context.arrival(got.stamp);
            let answers = |(_, query): &(u32, Vec<u8>)| response_code(query, bytes).is_some();
            let Some(at) = self.outstanding.iter().position(answers) else { continue };
            let Some((sequence, _)) = self.outstanding.remove(at) else { continue };
            if let Some(observation) = self.series[0].reply(sequence, arrival) {
                context.answered(ProbeKind::Dns, Metric::DnsRtt, observation);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_responses_to_its_queries_count() {
        let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut prober = DnsProber::to(server.local_addr().unwrap(), NAME, SessionId([7; 16])).unwrap();
        let (sent, answered) = std::sync::mpsc::channel();
        let mut context = Context {
            clock: fathom_os::clock::Clock::start(),
            arrivals: Default::default(),
            departures: Default::default(),
            report: Box::new(move |event| drop(sent.send(event))),
        };
        for _ in 0..3 {
            prober.send(&mut context).unwrap();
        }
        let mut queries: Vec<Vec<u8>> = Vec::new();
        for _ in 0..3 {
            let mut buffer = [0; 512];
            let (length, from) = server.recv_from(&mut buffer).unwrap();
            queries.push(buffer[..length].to_vec());
            // A forged ID, and not a response.
            server.send_to(&[0xff, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0], from).unwrap();
            server.send_to(&buffer[..length], from).unwrap();
            if queries.len() == 3 {
                for query in [&queries[2], &queries[0], &queries[0]] {
                    let mut response = query.clone();
                    response[2] |= 0x80;
                    server.send_to(&response, from).unwrap();
                }
            }
        }
        // Loopback delivers in order before `send_to` returns.
        prober.receive(&mut context);
        assert_eq!(answered.try_iter().count(), 2);
        assert_eq!(prober.series[0].outstanding(), 1);
    }
}
