//! UDP probes with four timestamps.
use super::departures::Departures;
use super::{Context, ProbeEvent, ProbeMachine, series_of};
use fathom_os::error::without_code;
use fathom_os::poll::PollFd;
use fathom_os::timestamp::{Stamping, enable, receive};
use fathom_probe::protocol::{AUTHENTIC_PROBE_BYTES, Ticket, UdpKind, UdpProbe};
use fathom_probe::{FourStamps, ProbeKind, ProbeSeries, UdpAnswer, UdpRecord};
use fathom_run::{Metric, NotSent};
use fathom_units::Time;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

pub(crate) struct UdpProber {
    socket: UdpSocket,
    session: Ticket,
    series: [ProbeSeries; 1],
    departures: Departures,
    answers: Vec<UdpAnswer>,
}

impl UdpProber {
    pub(crate) fn open(to: SocketAddr, session: Ticket) -> Result<Self, String> {
        let any: SocketAddr = if to.is_ipv6() { ([0_u16; 8], 0).into() } else { ([0_u8; 4], 0).into() };
        let open = || {
            let socket = UdpSocket::bind(any)?;
            socket.connect(to)?;
            socket.set_nonblocking(true)?;
            enable(socket.as_fd(), Stamping::Both)?;
            Ok(socket)
        };
        let socket = open().map_err(|e: std::io::Error| without_code(&e))?;
        let (series, departures) = (series_of(ProbeKind::Udp), Departures::default());
        Ok(UdpProber { socket, session, series, departures, answers: Vec::new() })
    }
    fn take(&mut self, probe: &UdpProbe, received: Time, context: &Context) {
        let Ok(sequence) = u32::try_from(probe.sequence) else { return };
        let [series] = &mut self.series;
        let stamps = FourStamps {
            // A duplicate reply whose departure is no longer known is only counted.
            sent: series.departure_of(sequence).unwrap_or(received),
            server_received_ns: probe.server_receive_ns,
            server_sent_ns: probe.server_send_ns,
            received,
        };
        // The time that the server held the probe is not part of the path.
        if let Some(observation) = series.reply(sequence, received.saturating_sub(stamps.held())) {
            self.answers.push(UdpAnswer { sequence, stamps, received: probe.received });
            (context.report)(ProbeEvent::Stamps(stamps));
            context.answered(ProbeKind::Udp, Metric::UdpRtt, observation);
        }
    }
}

impl ProbeMachine for UdpProber {
    fn series(&mut self) -> &mut [ProbeSeries] {
        &mut self.series
    }
    fn add_interests<'m>(&'m self, fds: &mut Vec<PollFd<'m>>) {
        fds.push(PollFd::readable(self.socket.as_fd()));
    }
    fn send(&mut self, context: &mut Context) -> Result<Time, NotSent> {
        let [series] = &mut self.series;
        let now = context.now();
        let sequence = u64::from(series.next_sequence());
        let request = self.session.seal(&UdpProbe::request(self.session.id, sequence, now.as_nanos()));
        // The next call reports an ICMP error about an earlier probe and then sends nothing.
        let sent = self.socket.send(request.bytes()).or_else(|_| self.socket.send(request.bytes()));
        if let Err(error) = sent {
            self.departures.failed();
            return Err(NotSent::System(without_code(&error)));
        }
        series.sent(now);
        Ok(now)
    }
    fn receive(&mut self, context: &mut Context) {
        let [series] = &mut self.series;
        self.departures.collect(self.socket.as_fd(), series, context);
        let mut buffer = [0; AUTHENTIC_PROBE_BYTES + 1];
        while let Ok(got) = receive(self.socket.as_fd(), &mut buffer) {
            let probe = self.session.open(&buffer[..got.length.min(buffer.len())]);
            if let Some(probe) = probe.filter(|probe| probe.kind == UdpKind::Reply) {
                let arrival = context.arrival(got.stamp);
                self.take(&probe, arrival, context);
            }
        }
    }
    fn take_record(&mut self, end: Time) -> Option<UdpRecord> {
        let [series] = &self.series;
        let sent = series.sent_times().map(|at| (at, end.saturating_since(at))).collect();
        Some(UdpRecord { sent, answers: std::mem::take(&mut self.answers) })
    }
}
