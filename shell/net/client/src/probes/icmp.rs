//! ICMP echo.
use super::channel::Target;
use super::departures::Departures;
use super::{Context, ProbeEvent, ProbeMachine, series_of};
use fathom_os::clock::both_clocks;
use fathom_os::echo::{EchoSocket, echo_socket};
use fathom_os::error::without_code;
use fathom_os::mmsg::IcmpRefusal;
use fathom_os::next_hop::next_hop;
use fathom_os::poll::PollFd;
use fathom_os::timestamp::Stamping;
use fathom_probe::protocol::SessionId;
use fathom_probe::{EchoCodec, EchoPayload, IcmpError, IcmpVersion, Probe, ProbeKind, ProbeSeries};
use fathom_run::{NotSent, Series};
use fathom_units::Time;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};

pub(crate) struct IcmpProber {
    socket: EchoSocket,
    codec: EchoCodec,
    kind: ProbeKind,
    series: [ProbeSeries; 1],
    departures: Departures,
}

impl IcmpProber {
    /// The port of the target does not matter.
    pub(crate) fn open(kind: ProbeKind, target: Target, session: SessionId) -> Result<Self, String> {
        let Target { address: to, dscp } = target;
        let version = if to.is_ipv6() { IcmpVersion::V6 } else { IcmpVersion::V4 };
        let socket = echo_socket(to.is_ipv6()).map_err(|e| e.to_string())?;
        // Connected, so that only packets from this address arrive.
        let ready = socket.connect(to).and_then(|()| socket.set_dscp(dscp));
        ready.and_then(|()| socket.enable(Stamping::Both)).map_err(|e| without_code(&e))?;
        // The probes of the gateway have another token than those of the server.
        let first = kind as usize;
        let token = session.0[first..first + 8].iter().fold(0, |token, byte| token << 8 | u64::from(*byte));
        let (codec, series) = (EchoCodec::new(version, token), series_of(kind));
        Ok(IcmpProber { socket, codec, kind, series, departures: Departures::default() })
    }
}

/// The gateway of the route to `server`.
pub(crate) fn gateway(server: IpAddr) -> Result<SocketAddr, String> {
    let (gateway, interface) = next_hop(server).map_err(|error| without_code(&error))?;
    match gateway.ok_or("none")? {
        // A link-local address needs its interface.
        IpAddr::V6(address) => Ok(SocketAddrV6::new(address, 0, 0, interface).into()),
        address => Ok((address, 0).into()),
    }
}

impl IcmpProber {
    /// Reports ICMP errors about its requests.
    pub(crate) fn with_errors(self) -> Result<Self, String> {
        self.socket.queue_errors().map_err(|e| without_code(&e))?;
        Ok(self)
    }
}

impl ProbeMachine for IcmpProber {
    fn series(&mut self) -> &mut [ProbeSeries] {
        &mut self.series
    }
    fn add_interests<'m>(&'m self, fds: &mut Vec<PollFd<'m>>) {
        fds.push(PollFd::readable(self.socket.as_fd()));
    }
    fn send(&mut self, context: &mut Context) -> Result<Time, NotSent> {
        let [series] = &mut self.series;
        let (wall, now) = both_clocks(context.clock);
        let probe = Probe { sequence: series.next_sequence(), at: wall, sent: now };
        let request = self.codec.request(&EchoPayload { target: 0, probe });
        // The first call may only report an ICMP error about an earlier request.
        let send = || self.socket.send(&request);
        if let Err(error) = send().or_else(|_| send()) {
            self.departures.failed();
            return Err(NotSent::System(without_code(&error)));
        }
        series.sent(now);
        Ok(now)
    }
    fn take_waits(&mut self) -> Option<Series> {
        Some(self.departures.take_waits())
    }
    fn receive(&mut self, context: &mut Context) {
        let [series] = &mut self.series;
        let mut refusals = Vec::new();
        let entries = |packet: &mut [u8]| self.socket.queue_entry(packet);
        self.departures.collect(&entries, series, context, &mut |refusal, packet| {
            refusals.extend(self.codec.read_request(packet).map(|request| (request.probe.sequence, refusal)));
        });
        for (sequence, IcmpRefusal { by, icmp_type, code }) in refusals {
            let error = IcmpError { version: self.codec.version, icmp_type, code };
            (context.report)(ProbeEvent::Refused { sequence, by, error });
        }
        let mut buffer = [0; 256];
        while let Ok(got) = self.socket.receive(&mut buffer) {
            let Some(payload) = self.codec.read_reply(&buffer[..got.length.min(buffer.len())]) else {
                continue;
            };
            let arrival = context.arrival(got.stamp);
            if let Some(observation) = series.reply_with(payload.probe.sequence, arrival, got.hop_limit) {
                context.answered(self.kind, self.kind.spec().series[0], observation);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_gateway_is_that_of_the_route_to_the_server() {
        fathom_test_support::in_new_namespace(|| {
            let ip = |arguments: &str| {
                let ran = Command::new("ip").args(arguments.split(' ')).status();
                assert!(ran.expect("ip is not installed: run ./setup test").success(), "ip {arguments}");
            };
            let of = |server: &str| gateway(server.parse().unwrap());
            assert!(of("203.0.113.1").unwrap_err().contains("unreachable"));
            ip("link add v0 type veth peer name v1");
            ip("address add 192.0.2.2/24 dev v0");
            ip("link set v1 up");
            ip("link set v0 up");
            ip("route add default via 192.0.2.1");
            ip("-6 route add default via fe80::1 dev v0");
            assert_eq!(of("203.0.113.1").unwrap().to_string(), "192.0.2.1:0");
            assert_eq!(of("192.0.2.9").unwrap_err(), "none");
            let SocketAddr::V6(v6) = of("2001:db8::1").unwrap() else { panic!("not IPv6") };
            assert!(v6.ip().to_string() == "fe80::1" && v6.scope_id() > 1, "{v6}");
        });
    }
}
