//! UDP probes with four timestamps.
use super::departures::Departures;
use super::{Context, ProbeEvent, ProbeMachine, series_of};
use crate::peer::{UdpProbes, UdpReply};
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::poll::PollFd;
use fathom_os::socket::set_class;
use fathom_os::timestamp::{Stamping, enable, enable_class, queue_entry, receive};
use fathom_probe::{FourStamps, ProbeKind, ProbeSeries, UdpAnswer, UdpRecord};
use fathom_run::{NotSent, Series};
use fathom_units::{PerDirection, Time};
use socket2::SockRef;

/// Longer than any reply that is read.
const BUFFER_BYTES: usize = 2_048;

pub(crate) struct UdpProber {
    kind: ProbeKind,
    probes: UdpProbes,
    series: [ProbeSeries; 1],
    departures: Departures,
    answers: Vec<UdpAnswer>,
}

impl UdpProber {
    /// With this traffic class of the probes.
    pub(crate) fn new(kind: ProbeKind, probes: UdpProbes, class: u8) -> Result<Self, String> {
        let socket = &probes.socket;
        let is_v6 = socket.local_addr().is_ok_and(|address| address.is_ipv6());
        set_class(&SockRef::from(socket), is_v6, class).map_err(|e| without_code(&e))?;
        let ready = socket.set_nonblocking(true).and_then(|()| enable(socket.as_fd(), Stamping::Both));
        let ready = ready.and_then(|()| enable_class(socket.as_fd(), is_v6));
        ready.map_err(|e| without_code(&e))?;
        let (series, departures) = (series_of(kind), Departures::default());
        Ok(UdpProber { kind, probes, series, departures, answers: Vec::new() })
    }
    fn take(&mut self, reply: &UdpReply, (received, class): (Time, Option<u8>), context: &Context) {
        let sequence = reply.sequence;
        let [series] = &mut self.series;
        let stamps = FourStamps {
            // A duplicate reply whose departure is no longer known is only counted.
            sent: series.departure_of(sequence).unwrap_or(received),
            server_received_ns: reply.server_received_ns,
            server_sent_ns: reply.server_sent_ns,
            received,
        };
        // The time that the server held the probe is not part of the path.
        if let Some(observation) = series.reply(sequence, received.saturating_sub(stamps.held())) {
            let class = PerDirection { up: reply.class, down: class };
            self.answers.push(UdpAnswer { sequence, stamps, received: Some(reply.received), class });
            if self.kind == ProbeKind::Udp {
                (context.report)(ProbeEvent::Stamps(stamps));
            }
            context.answered(self.kind, series.key().metric, observation);
        }
    }
}

impl ProbeMachine for UdpProber {
    fn series(&mut self) -> &mut [ProbeSeries] {
        &mut self.series
    }
    fn add_interests<'m>(&'m self, fds: &mut Vec<PollFd<'m>>) {
        fds.push(PollFd::readable(self.probes.socket.as_fd()));
    }
    fn send(&mut self, context: &mut Context) -> Result<Time, NotSent> {
        let [series] = &mut self.series;
        let now = context.now();
        let UdpProbes { socket, encoding } = &self.probes;
        let probe = encoding.probe(series.next_sequence(), now);
        // The next call reports an ICMP error about an earlier probe and then sends nothing.
        let sent = socket.send(&probe).or_else(|_| socket.send(&probe));
        if let Err(error) = sent {
            self.departures.failed();
            return Err(NotSent::System(without_code(&error)));
        }
        series.sent(now);
        Ok(now)
    }
    fn receive(&mut self, context: &mut Context) {
        let [series] = &mut self.series;
        let entries = |packet: &mut [u8]| queue_entry(self.probes.socket.as_fd(), packet);
        self.departures.collect(&entries, series, context, &mut |_, _| ());
        let mut buffer = [0; BUFFER_BYTES];
        while let Ok(got) = receive(self.probes.socket.as_fd(), &mut buffer) {
            if let Some(reply) = self.probes.encoding.reply(&buffer[..got.length.min(buffer.len())]) {
                let arrival = context.arrival(got.stamp);
                self.take(&reply, (arrival, got.class), context);
            }
        }
    }
    fn take_waits(&mut self) -> Option<Series> {
        Some(self.departures.take_waits())
    }
    fn take_record(&mut self, end: Time) -> Option<UdpRecord> {
        if self.kind != ProbeKind::Udp {
            return None;
        }
        let [series] = &self.series;
        let sent = series.sent_times().map(|at| (at, end.saturating_since(at))).collect();
        let mut answers = std::mem::take(&mut self.answers);
        if !self.probes.encoding.counts() {
            answers.iter_mut().for_each(|answer| answer.received = None);
        }
        Some(UdpRecord { sent, answers })
    }
}
