//! Authentication with a shared token. The token is never sent.
//!
//! The client proves in its first line that it knows the token, so that a server can be silent
//! towards everyone else. A challenge then shows that this is not a repetition, and both derive a
//! key for this session, which authenticates its flows and UDP probes. `docs/protocol.md` has the
//! messages.
use super::{FlowRequest, Mac, Nonce, SessionId, Token, UDP_PROBE_BYTES, UdpProbe};
use alloc::string::ToString;
use core::fmt;
use hmac::{Hmac, KeyInit, Mac as _};
use sha2::Sha256;

/// Bytes of a UDP probe in an authenticated session.
pub const AUTHENTIC_PROBE_BYTES: usize = UDP_PROBE_BYTES + 16;

/// Proof in a first line that a client knows the token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ControlProof {
    /// Chosen by the client.
    pub nonce: Nonce,
    /// Shows knowledge of the token.
    pub mac: Mac,
}

/// The key of one session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SessionKey([u8; 32]);

/// A session, as its flows and UDP probes name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    /// The session.
    pub id: SessionId,
    /// Its key; `None` if the server requires no token.
    pub key: Option<SessionKey>,
}

/// A UDP probe as it is sent.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    bytes: [u8; AUTHENTIC_PROBE_BYTES],
    length: usize,
}

impl fmt::Debug for SessionKey {
    /// Hides the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey(..)")
    }
}

/// HMAC over a label, which separates uses of a key, and parts of fixed lengths, or a last part of
/// any length.
fn hmac(key: &[u8], label: &str, parts: &[&[u8]]) -> [u8; 32] {
    // Cannot fail: HMAC takes keys of any length.
    let Ok(mut hmac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; 32] };
    hmac.update(label.as_bytes());
    hmac.update(&[0]);
    parts.iter().for_each(|part| hmac.update(part));
    hmac.finalize().into_bytes().into()
}

fn mac(key: &[u8], label: &str, parts: &[&[u8]]) -> Mac {
    let whole = hmac(key, label, parts);
    Mac(core::array::from_fn(|at| whole[at]))
}

impl Token {
    /// The proof for a first line.
    #[must_use]
    pub fn prove(&self, nonce: Nonce) -> ControlProof {
        ControlProof { nonce, mac: mac(self.as_str().as_bytes(), "control", &[&nonce.0]) }
    }
    /// Whether a proof was made with this token.
    #[must_use]
    pub fn accepts(&self, proof: &ControlProof) -> bool {
        self.prove(proof.nonce).mac.is(&proof.mac)
    }
    /// The key of a session between a client and a server that chose these nonces.
    #[must_use]
    pub fn session_key(&self, client: Nonce, server: Nonce) -> SessionKey {
        SessionKey(hmac(self.as_str().as_bytes(), "session", &[&client.0, &server.0]))
    }
    /// Derives nonces from a random one.
    #[must_use]
    pub fn nonce(&self, seed: Nonce, number: u64) -> Nonce {
        Nonce(mac(self.as_str().as_bytes(), "nonce", &[&seed.0, &number.to_be_bytes()]).0)
    }
}

impl SessionKey {
    /// The client's response to the challenge.
    #[must_use]
    pub fn of_client(&self) -> Mac {
        mac(&self.0, "client", &[])
    }
    /// The server's proof, in Hello.
    #[must_use]
    pub fn of_server(&self, session: SessionId) -> Mac {
        mac(&self.0, "server", &[&session.0])
    }
    /// The code of a load flow: covers the first line before it.
    #[must_use]
    pub fn of_flow(&self, request: &FlowRequest) -> Mac {
        let line = FlowRequest { mac: None, ..request.clone() }.to_string();
        mac(&self.0, "flow", &[line.as_bytes()])
    }
    fn of_probe(&self, probe: &[u8]) -> Mac {
        mac(&self.0, "udp", &[probe])
    }
}

impl Ticket {
    /// The bytes of a probe, with its code if the session has a key.
    #[must_use]
    pub fn seal(&self, probe: &UdpProbe) -> Datagram {
        let mut datagram = Datagram { bytes: [0; AUTHENTIC_PROBE_BYTES], length: UDP_PROBE_BYTES };
        datagram.bytes[..UDP_PROBE_BYTES].copy_from_slice(&probe.encode());
        if let Some(key) = &self.key {
            let mac = key.of_probe(&datagram.bytes[..UDP_PROBE_BYTES]);
            datagram.bytes[UDP_PROBE_BYTES..].copy_from_slice(&mac.0);
            datagram.length = AUTHENTIC_PROBE_BYTES;
        }
        datagram
    }
    /// The probe in a datagram, if it is of this session and authentic.
    #[must_use]
    pub fn open(&self, datagram: &[u8]) -> Option<UdpProbe> {
        let (probe, code) = datagram.split_at_checked(UDP_PROBE_BYTES)?;
        let is_authentic = match &self.key {
            Some(key) => Mac(code.try_into().ok()?).is(&key.of_probe(probe)),
            None => code.is_empty(),
        };
        UdpProbe::decode(probe).ok().filter(|probe| is_authentic && probe.session == self.id)
    }
    /// Bytes of a probe of this session.
    #[must_use]
    pub const fn probe_bytes(&self) -> usize {
        if self.key.is_some() { AUTHENTIC_PROBE_BYTES } else { UDP_PROBE_BYTES }
    }
}

impl Datagram {
    /// The bytes to send.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}
