//! Load with a netserver of netperf: one of its tests for each flow.
use crate::{Connector, load_of};
use fathom_client::{FlowPlan, Limits, OpenFlow, Peer, TestConfig, TestError, payload_bytes};
use fathom_os::error::without_code;
use fathom_probe::ProbeKind;
use fathom_protocol::netperf::{
    DEFAULT_PORT, MESSAGE_BYTES, Message, Plan, data_port, greeted, greeting, omni, passphrase,
};
use fathom_units::Direction;
use socket2::Socket;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use url::Url;

const CLOSED: &str = "the server closed the connection";

pub(crate) struct NetperfPeer {
    address: SocketAddr,
    passphrase: Option<Message>,
    /// A load that is not ended earlier.
    longest_s: u32,
    payload: Arc<Vec<u8>>,
}

/// Finds the server, without a test. The token of the test is its passphrase.
pub(crate) fn connect(
    url: &Url,
    config: &TestConfig,
    connector: &Connector<'_>,
) -> Result<NetperfPeer, TestError> {
    let (address, socket) = connector.reach_host(url, DEFAULT_PORT, "netserver")?;
    let longest_s = config.longest().as_secs_f64().ceil() as u32;
    let payload = Arc::new(payload_bytes());
    let passphrase = config.token.as_deref().map(passphrase);
    let peer = NetperfPeer { address, passphrase, longest_s, payload };
    let answer = peer.ask(&socket, &greeting(), &connector.limits);
    let greeted = answer.and_then(|response| match response {
        Some(response) => greeted(&response).map_err(|e| e.to_string()),
        None => Err(format!("{CLOSED} (with -Z: --token-file FILE)")),
    });
    match greeted {
        Ok(()) => Ok(peer),
        Err(_) if connector.limits.stop.load(Ordering::Relaxed) => Err(TestError::Stopped),
        Err(problem) => Err(TestError::Server { server: url.to_string(), problem }),
    }
}

impl NetperfPeer {
    /// Sends the first request of a control connection and reads the response; `None` if the server
    /// closes it instead.
    fn ask(
        &self,
        mut socket: &Socket,
        request: &Message,
        limits: &Limits<'_>,
    ) -> Result<Option<Message>, String> {
        for message in self.passphrase.iter().chain([request]) {
            socket.write_all(message).map_err(|e| without_code(&e))?;
        }
        let (mut response, mut length) = ([0; MESSAGE_BYTES], 0);
        while length < MESSAGE_BYTES {
            let ready = limits.readable(socket, self.address, "response");
            ready.map_err(|error| match length {
                0 => error.to_string(),
                _ => format!("{length} bytes (netserver 2.6: {MESSAGE_BYTES})"),
            })?;
            match socket.read(&mut response[length..]) {
                Ok(0) => return Ok(None),
                Ok(more) => length += more,
                // It did not read the request after a wrong passphrase.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(without_code(&error)),
            }
        }
        Ok(Some(response))
    }
}

impl Peer for NetperfPeer {
    fn protocol(&self) -> &'static str {
        "netperf"
    }
    fn address(&self) -> SocketAddr {
        self.address
    }
    fn carries(&self, _direction: Direction) -> bool {
        true
    }
    fn probes(&self) -> Vec<ProbeKind> {
        vec![ProbeKind::Icmp, ProbeKind::Connect]
    }
    fn open(&self, flow: &FlowPlan, limits: &Limits<'_>) -> Result<OpenFlow, String> {
        let control = limits.connect(self.address, |s| s.set_tcp_nodelay(true)).map_err(|e| e.to_string())?;
        let request = omni(&Plan {
            direction: flow.direction,
            is_v6: self.address.is_ipv6(),
            seconds: self.longest_s,
            congestion_control: Some(flow.congestion_control.as_str()).filter(|name| *name != "-"),
        });
        let response = self.ask(&control, &request, limits)?.ok_or(CLOSED)?;
        let port = data_port(&response).map_err(|e| e.to_string())?;
        let mut address = self.address;
        address.set_port(port);
        let socket = limits.connect(address, |s| flow.prepare(s)).map_err(|e| e.to_string())?;
        let OpenFlow { socket, congestion_control, transfer } =
            load_of(flow.direction, socket, &self.payload, None);
        let transfer = Box::new(move |meter: &_| {
            let ended = transfer(meter);
            // Its end would end the test.
            drop(control);
            ended
        });
        Ok(OpenFlow { socket, congestion_control, transfer })
    }
}
