//! UDP probe messages.
use super::SessionId;
use core::fmt;

/// Size of a UDP probe in bytes, both request and reply.
pub const UDP_PROBE_BYTES: usize = 64;

/// Maximum size of a datagram of an application: what Ethernet carries with IPv4.
pub const APPLICATION_LIMIT_BYTES: usize = 1472;

const MAGIC: [u8; 4] = *b"FTH1";

/// Type of a UDP probe message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UdpKind {
    /// Sent by the client.
    Request,
    /// Sent by the server.
    Reply,
    /// Sent by the client from the UDP address of a flow of datagrams.
    Proof,
    /// Sent by the client: a request of an application, which any bytes may follow. The reply is as
    /// long, and counts these requests only.
    Application,
}

/// A UDP probe message. In a request the last three fields are 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UdpProbe {
    /// Type of the message.
    pub kind: UdpKind,
    /// Session of the probe.
    pub session: SessionId,
    /// Sequence number chosen by the client.
    pub sequence: u64,
    /// Send time of the request, in ns on the client's clock.
    pub client_send_ns: u64,
    /// Arrival of the request, in ns on the server's monotonic clock.
    pub server_receive_ns: u64,
    /// Send time of the reply, in ns on the server's monotonic clock.
    pub server_send_ns: u64,
    /// Number of requests of the session that the server has received, including this one.
    pub received: u64,
    /// Traffic class (DSCP and ECN field): of a request, that of the reply which is asked for; of a
    /// reply, that with which the request arrived.
    pub class: Option<u8>,
}

/// Why a datagram is not a UDP probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UdpProbeError {
    /// Wrong size in bytes.
    Length(usize),
    /// Wrong magic number.
    Magic,
    /// Unknown message type.
    Kind(u8),
}

impl fmt::Display for UdpProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UdpProbeError::Length(bytes) => {
                write!(f, "UDP probe of {bytes} bytes (expected {UDP_PROBE_BYTES})")
            }
            UdpProbeError::Magic => write!(f, "UDP probe without FTH1"),
            UdpProbeError::Kind(kind) => {
                write!(f, "UDP probe of kind {kind}")
            }
        }
    }
}
impl core::error::Error for UdpProbeError {}

impl UdpProbe {
    /// Creates a request.
    #[must_use]
    pub const fn request(session: SessionId, sequence: u64, client_send_ns: u64) -> Self {
        UdpProbe {
            kind: UdpKind::Request,
            session,
            sequence,
            client_send_ns,
            server_receive_ns: 0,
            server_send_ns: 0,
            received: 0,
            class: None,
        }
    }
    /// Creates a request of an application.
    #[must_use]
    pub const fn application(session: SessionId, sequence: u64, client_send_ns: u64) -> Self {
        UdpProbe { kind: UdpKind::Application, ..UdpProbe::request(session, sequence, client_send_ns) }
    }
    /// Creates the proof that a UDP address is that of a flow: the number of the flow is the
    /// sequence number, and the last field the token.
    #[must_use]
    pub const fn proof(session: SessionId, number: u32, token: u64) -> Self {
        let proof = UdpProbe::request(session, number as u64, 0);
        UdpProbe { kind: UdpKind::Proof, received: token, ..proof }
    }
    /// Encodes the message as a datagram.
    #[must_use]
    pub fn encode(&self) -> [u8; UDP_PROBE_BYTES] {
        let mut bytes = [0; UDP_PROBE_BYTES];
        bytes[0..4].copy_from_slice(&MAGIC);
        bytes[4] = match self.kind {
            UdpKind::Request => 1,
            UdpKind::Reply => 2,
            UdpKind::Proof => 3,
            UdpKind::Application => 4,
        };
        (bytes[5], bytes[6]) = (u8::from(self.class.is_some()), self.class.unwrap_or(0));
        bytes[8..24].copy_from_slice(&self.session.0);
        let numbers =
            [self.sequence, self.client_send_ns, self.server_receive_ns, self.server_send_ns, self.received];
        for (field, number) in bytes[24..].chunks_exact_mut(8).zip(numbers) {
            field.copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }
    /// Decodes a datagram. Reserved bytes are ignored.
    ///
    /// # Errors
    /// If it is not a UDP probe.
    pub fn decode(datagram: &[u8]) -> Result<UdpProbe, UdpProbeError> {
        let bytes: &[u8; UDP_PROBE_BYTES] =
            datagram.try_into().map_err(|_| UdpProbeError::Length(datagram.len()))?;
        if bytes[0..4] != MAGIC {
            return Err(UdpProbeError::Magic);
        }
        let kind = match bytes[4] {
            1 => UdpKind::Request,
            2 => UdpKind::Reply,
            3 => UdpKind::Proof,
            4 => UdpKind::Application,
            other => return Err(UdpProbeError::Kind(other)),
        };
        let number = |at: usize| u64::from_be_bytes(core::array::from_fn(|i| bytes[at + i]));
        Ok(UdpProbe {
            kind,
            session: SessionId(core::array::from_fn(|i| bytes[8 + i])),
            sequence: number(24),
            client_send_ns: number(32),
            server_receive_ns: number(40),
            server_send_ns: number(48),
            received: number(56),
            class: (bytes[5] & 1 == 1).then_some(bytes[6]),
        })
    }
}
