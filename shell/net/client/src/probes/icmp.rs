//! ICMP echo.
use super::departures::Departures;
use super::{Context, ProbeMachine, series_of};
use fathom_os::error::without_code;
use fathom_os::poll::PollFd;
use fathom_os::socket::{EchoSocket, echo_socket};
use fathom_os::timestamp::{Stamping, both_clocks, enable, receive};
use fathom_probe::protocol::SessionId;
use fathom_probe::{EchoCodec, EchoPayload, IcmpVersion, Probe, ProbeKind, ProbeSeries};
use fathom_run::{Metric, NotSent};
use fathom_units::Time;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

pub(crate) struct IcmpProber {
    socket: EchoSocket,
    codec: EchoCodec,
    series: [ProbeSeries; 1],
    departures: Departures,
}

impl IcmpProber {
    pub(crate) fn open(to: IpAddr, session: SessionId) -> Result<Self, String> {
        let version = if to.is_ipv6() { IcmpVersion::V6 } else { IcmpVersion::V4 };
        let socket = echo_socket(to.is_ipv6()).map_err(|e| e.to_string())?;
        // Connected, so that only packets from this address arrive.
        socket.socket.connect(&SocketAddr::new(to, 0).into()).map_err(|e| without_code(&e))?;
        enable(socket.socket.as_fd(), Stamping::Both).map_err(|e| without_code(&e))?;
        let token = session.0[..8].iter().fold(0, |token, byte| token << 8 | u64::from(*byte));
        let (codec, series) = (EchoCodec::new(version, token), series_of(ProbeKind::Icmp));
        Ok(IcmpProber { socket, codec, series, departures: Departures::default() })
    }
}

impl ProbeMachine for IcmpProber {
    fn series(&mut self) -> &mut [ProbeSeries] {
        &mut self.series
    }
    fn add_interests<'m>(&'m self, fds: &mut Vec<PollFd<'m>>) {
        fds.push(PollFd::readable(self.socket.socket.as_fd()));
    }
    fn send(&mut self, context: &mut Context) -> Result<Time, NotSent> {
        let [series] = &mut self.series;
        let (wall, now) = both_clocks(context.clock);
        let probe = Probe { sequence: series.next_sequence(), at: wall, sent: now };
        let request = self.codec.request(&EchoPayload { target: 0, probe });
        if let Err(error) = self.socket.socket.send(&request) {
            self.departures.failed();
            return Err(NotSent::System(without_code(&error)));
        }
        series.sent(now);
        Ok(now)
    }
    fn receive(&mut self, context: &mut Context) {
        let [series] = &mut self.series;
        self.departures.collect(self.socket.socket.as_fd(), series, context);
        let mut buffer = [0; 256];
        while let Ok(got) = receive(self.socket.socket.as_fd(), &mut buffer) {
            let Some(payload) = self.codec.read_reply(&buffer[..got.length.min(buffer.len())]) else {
                continue;
            };
            let arrival = context.arrival(got.stamp);
            if let Some(observation) = series.reply(payload.probe.sequence, arrival) {
                context.answered(ProbeKind::Icmp, Metric::IcmpRtt, observation);
            }
        }
    }
}
