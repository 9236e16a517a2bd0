//! Load flows of the protocol of `fathom serve`.
use super::{datagrams, payload, receive_load};
use crate::error::{CLOSED, UNEXPECTED};
use crate::peer::{FlowPlan, OpenFlow, Peer, UdpEncoding, UdpProbes, UdpReply, WebProbe, udp_socket};
use crate::resolve::{Limits, host_field};
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::socket::{MemoryFile, congestion_control};
use fathom_probe::ProbeKind;
use fathom_probe::protocol::{
    CLASSES, CongestionControl, FIRST_LINE_LIMIT_BYTES, FlowAnswer, FlowLoad, FlowRequest, Ticket, UdpKind,
    UdpProbe, probe_request,
};
use fathom_probe::session::Hello;
use fathom_units::{Direction, Time};
use socket2::Socket;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A session with `fathom serve`.
pub(crate) struct FathomPeer {
    address: SocketAddr,
    sessions: Arc<Mutex<Sessions>>,
    /// Loads at a chosen rate that the server knows, by name.
    loads: Vec<String>,
    /// Payload of up flows.
    payload: Arc<MemoryFile>,
}

impl FathomPeer {
    pub(crate) fn new(address: SocketAddr, hello: &Hello) -> io::Result<Self> {
        let sessions = Arc::new(Mutex::new(Sessions { current: hello.session, previous: None }));
        Ok(FathomPeer { address, sessions, loads: hello.loads.clone(), payload: Arc::new(payload()?) })
    }
    /// From now on, UDP probes are those of another session.
    pub(crate) fn renew(&self, session: Ticket) {
        let mut sessions = lock(&self.sessions);
        *sessions = Sessions { current: session, previous: Some(sessions.current) };
    }
    fn session(&self) -> Ticket {
        lock(&self.sessions).current
    }
}

/// The session, and the one before, to which late replies belong.
struct Sessions {
    current: Ticket,
    previous: Option<Ticket>,
}

fn lock(sessions: &Mutex<Sessions>) -> MutexGuard<'_, Sessions> {
    // No thread panics while it holds the lock.
    sessions.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Peer for FathomPeer {
    fn protocol(&self) -> &'static str {
        "Fathom"
    }
    fn address(&self) -> SocketAddr {
        self.address
    }
    fn carries(&self, _direction: Direction) -> bool {
        true
    }
    fn takes(&self, load: FlowLoad) -> bool {
        self.loads.iter().any(|known| known == load.name())
    }
    fn probes(&self) -> Vec<ProbeKind> {
        let is_answered = |kind: &ProbeKind| !matches!(kind, ProbeKind::Tls | ProbeKind::Http3);
        ProbeKind::ALL.into_iter().filter(is_answered).collect()
    }
    fn web_probe(&self) -> Option<WebProbe> {
        Some(WebProbe { request: Some(probe_request(&host_field(self.address))), ..WebProbe::default() })
    }
    fn marks(&self) -> bool {
        self.loads.iter().any(|known| known == CLASSES)
    }
    fn udp_probes(&self, class: Option<u8>) -> Result<UdpProbes, String> {
        let socket = udp_socket(self.address).map_err(|e| without_code(&e))?;
        Ok(UdpProbes { socket, encoding: Box::new(SessionEncoding(self.sessions.clone(), class)) })
    }
    fn open(&self, flow: &FlowPlan, limits: &Limits<'_>) -> Result<OpenFlow, String> {
        let (socket, answer) = self.request(flow, limits)?;
        let theirs = match (answer, flow.load) {
            (Answer::Tcp(congestion_control), _) => congestion_control,
            (Answer::Udp(token), Some(FlowLoad::Datagrams(rate))) => {
                return datagrams::open(flow, rate, (socket, self.address), (self.session(), token), limits);
            }
            (Answer::Udp(_), _) => return Err(UNEXPECTED.to_owned()),
        };
        let socket = Arc::new(socket);
        let (on, payload) = (socket.clone(), self.payload.clone());
        Ok(match flow.direction {
            Direction::Up => OpenFlow {
                congestion_control: congestion_control(&socket).ok(),
                transfer: Box::new(move |_| send(&on, &payload)),
                socket,
            },
            Direction::Down => OpenFlow {
                congestion_control: Some(theirs.as_str().to_owned()),
                transfer: Box::new(move |meter| receive_load(&on, meter)),
                socket,
            },
        })
    }
}

/// The server's answer to a flow that it accepts.
pub(crate) enum Answer {
    /// The congestion control of its end.
    Tcp(CongestionControl),
    /// What the proof of a UDP address contains.
    Udp(u64),
}

impl FathomPeer {
    /// Requests a flow on a new connection.
    fn request(&self, flow: &FlowPlan, limits: &Limits<'_>) -> Result<(Socket, Answer), String> {
        let socket = limits.connect(self.address, |s| flow.prepare(s)).map_err(|e| e.to_string())?;
        let request = flow_request(flow, self.session())?;
        (&socket).write_all(format!("{request}\n").as_bytes()).map_err(|e| without_code(&e))?;
        let answer = accepted(&read_answer(&socket, self.address, limits)?)?;
        Ok((socket, answer))
    }
    /// Opens the sockets of a flow of datagrams: the connection, and the UDP socket whose address
    /// the server knows.
    pub(crate) fn open_datagrams(
        &self,
        flow: &FlowPlan,
        limits: &Limits<'_>,
    ) -> Result<(Socket, Socket), String> {
        match self.request(flow, limits)? {
            (tcp, Answer::Udp(token)) => {
                let udp = datagrams::prove(flow, (&tcp, self.address), (self.session(), token), limits)?;
                Ok((tcp, udp))
            }
            _ => Err(UNEXPECTED.to_owned()),
        }
    }
}

/// UDP probes of a session, and the traffic class that their replies should have.
struct SessionEncoding(Arc<Mutex<Sessions>>, Option<u8>);

impl UdpEncoding for SessionEncoding {
    fn probe(&self, sequence: u32, now: Time) -> Vec<u8> {
        let session = lock(&self.0).current;
        let request = UdpProbe::request(session.id, sequence.into(), now.as_nanos());
        session.seal(&UdpProbe { class: self.1, ..request }).bytes().to_vec()
    }
    fn reply(&mut self, datagram: &[u8]) -> Option<UdpReply> {
        let Sessions { current, previous } = *lock(&self.0);
        let opened = current.open(datagram).or_else(|| previous?.open(datagram));
        let probe = opened.filter(|probe| probe.kind == UdpKind::Reply)?;
        Some(UdpReply {
            sequence: probe.sequence.try_into().ok()?,
            server_received_ns: probe.server_receive_ns,
            server_sent_ns: probe.server_send_ns,
            received: probe.received,
            class: probe.class,
        })
    }
    fn counts(&self) -> bool {
        // Each session counts from 0.
        lock(&self.0).previous.is_none()
    }
}

/// Parses the server's answer to a flow. An error is why it refused it.
pub(crate) fn accepted(line: &[u8]) -> Result<Answer, String> {
    match FlowAnswer::parse(line) {
        Ok(FlowAnswer::Ok { congestion_control }) => Ok(Answer::Tcp(congestion_control)),
        Ok(FlowAnswer::Udp { token }) => Ok(Answer::Udp(token)),
        Ok(FlowAnswer::Err { code, message }) => {
            Err(format!("the server refused the flow: {code}: {message}"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The first line of a flow.
pub(crate) fn flow_request(flow: &FlowPlan, session: Ticket) -> Result<FlowRequest, String> {
    let wanted = flow.congestion_control.as_str();
    let congestion_control: Option<CongestionControl> = if wanted == "-" {
        None
    } else {
        Some(wanted.parse().map_err(|_| format!("invalid congestion control \"{wanted}\""))?)
    };
    let FlowPlan { number, direction, load, reply_class, .. } = *flow;
    let class = if direction == Direction::Down { reply_class } else { 0 };
    let request =
        FlowRequest { session: session.id, number, direction, congestion_control, load, class, mac: None };
    let mac = session.key.map(|key| key.of_flow(&request));
    Ok(FlowRequest { mac, ..request })
}

/// Reads byte by byte, because the load follows immediately.
pub(super) fn read_answer(
    mut socket: &Socket,
    address: SocketAddr,
    limits: &Limits<'_>,
) -> Result<Vec<u8>, String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < FIRST_LINE_LIMIT_BYTES {
        limits.readable(socket, address, "response to a load flow").map_err(|e| e.to_string())?;
        match socket.read(&mut byte) {
            Ok(0) => return Err(CLOSED.to_owned()),
            Ok(_) if byte[0] == b'\n' => return Ok(line),
            Ok(_) => line.push(byte[0]),
            Err(error) => return Err(without_code(&error)),
        }
    }
    Err(UNEXPECTED.to_owned())
}

fn send(socket: &Socket, payload: &MemoryFile) -> Result<(), String> {
    let mut offset = 0;
    loop {
        let sent = payload.send(socket.as_fd(), offset as u64, super::LOAD_FILE_BYTES - offset);
        offset = (offset + sent.map_err(|e| without_code(&e))?) % super::LOAD_FILE_BYTES;
    }
}
