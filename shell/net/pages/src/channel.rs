//! The data channel of a page: ICE, DTLS and SCTP, without sockets.
use crate::offer::{Answer, Offer};
use fathom_browser::{ECHO_BYTES, PROBE_BYTES};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use str0m::channel::ChannelId;
use str0m::config::{CryptoProvider, DtlsCert, Fingerprint};
use str0m::net::{Protocol, Receive};
use str0m::{Candidate, Event, IceCreds, Input, Output, Rtc, RtcConfig};

/// Shortest datagram with a message: at least 20 bytes of DTLS 1.3 (RFC 9147, section 4), 28 of
/// SCTP, and the message.
const SHORTEST_BYTES: usize = 20 + 28 + PROBE_BYTES;

/// What all channels of a server share.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    provider: Arc<CryptoProvider>,
    certificate: DtlsCert,
}

impl Identity {
    /// A new certificate, which each page learns from the answer to its offer.
    pub(crate) fn new() -> Option<Self> {
        let provider = Arc::new(str0m::crypto::from_feature_flags());
        let certificate = provider.dtls_provider.generate_certificate()?;
        Some(Identity { provider, certificate })
    }
}

/// The channel of one page.
pub(crate) struct Channel {
    rtc: Rtc,
    id: Option<ChannelId>,
    /// The last message is not among the datagrams yet, because the congestion window is full.
    is_waiting: bool,
    /// Length of a datagram with a message. Those with acknowledgments alone are shorter.
    message_bytes: usize,
    /// The address of the server that the offer was answered with.
    local: SocketAddr,
}

/// What a channel wants after an input.
#[derive(Default)]
pub(crate) struct ChannelOutput {
    /// Datagrams to send, and to whom.
    pub(crate) datagrams: Vec<(Vec<u8>, SocketAddr)>,
    /// Whether the last message is among them.
    pub(crate) has_message_left: bool,
    /// Messages that arrived.
    pub(crate) messages: Vec<[u8; ECHO_BYTES]>,
    /// When it must be called again.
    pub(crate) wake: Option<Instant>,
}

impl Channel {
    /// Answers an offer.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn answer(
        identity: &Identity,
        offer: &str,
        reachable: &[SocketAddr],
        now: Instant,
    ) -> Result<(Channel, String), String> {
        let local = *reachable.first().ok_or("no address")?;
        let Offer { section, user, password, hash } = Offer::parse(offer).ok_or("incomplete offer")?;
        let mut rtc = RtcConfig::new()
            .set_crypto_provider(Arc::clone(&identity.provider))
            .set_dtls_cert(identity.certificate.clone())
            .set_ice_lite(true)
            .build(now);
        let mut candidates = Vec::new();
        for address in reachable {
            let candidate = Candidate::host(*address, "udp").map_err(|e| e.to_string())?;
            candidates.push(candidate.to_sdp_string());
            rtc.add_local_candidate(candidate);
        }
        // The page connects: it controls ICE, and is the client of DTLS and SCTP.
        let mut api = rtc.direct_api();
        api.set_ice_controlling(false);
        api.set_remote_ice_credentials(IceCreds { ufrag: user, pass: password });
        api.set_remote_fingerprint(Fingerprint { hash_func: hash.0, bytes: hash.1 });
        api.start_dtls(false).map_err(|e| e.to_string())?;
        api.start_sctp(false);
        let (own, fingerprint) = (api.local_ice_credentials(), api.local_dtls_fingerprint().to_string());
        let answer = Answer {
            section: &section,
            user: &own.ufrag,
            password: &own.pass,
            fingerprint: &fingerprint,
            candidates: &candidates,
        };
        let answer = answer.to_string();
        Ok((Channel { rtc, id: None, is_waiting: false, message_bytes: 0, local }, answer))
    }
    /// Whether a datagram is of this page.
    pub(crate) fn accepts(&self, bytes: &[u8], from: SocketAddr, now: Instant) -> bool {
        receive(bytes, from, self.local)
            .is_some_and(|received| self.rtc.accepts(&Input::Receive(now, received)))
    }
    /// Takes a datagram of this page.
    pub(crate) fn take(&mut self, bytes: &[u8], from: SocketAddr, now: Instant) -> ChannelOutput {
        if let Some(received) = receive(bytes, from, self.local) {
            // Nonsense of a client ends its own channel at most.
            let _ = self.rtc.handle_input(Input::Receive(now, received));
        }
        self.drain()
    }
    /// Handles timeouts.
    pub(crate) fn tick(&mut self, now: Instant) -> ChannelOutput {
        let _ = self.rtc.handle_input(Input::Timeout(now));
        self.drain()
    }
    /// Whether all messages have left. Of those that SCTP holds back, the last may still wait.
    pub(crate) const fn is_ready(&self) -> bool {
        !self.is_waiting
    }
    /// Whether the channel has opened.
    pub(crate) const fn is_open(&self) -> bool {
        self.id.is_some()
    }
    /// Whether it has failed.
    pub(crate) fn has_ended(&self) -> bool {
        !self.rtc.is_alive()
    }
    /// Sends a message, when all earlier ones have left.
    pub(crate) fn write(&mut self, message: &[u8]) -> ChannelOutput {
        if let Some(mut channel) = self.id.and_then(|id| self.rtc.channel(id)) {
            self.is_waiting = channel.write(true, message).is_ok_and(|is_taken| is_taken);
        }
        let output = self.drain();
        if self.message_bytes == 0 {
            // The congestion window has room for the first.
            let longest = output.datagrams.iter().map(|(bytes, _)| bytes.len()).max();
            self.message_bytes = longest.unwrap_or(0);
        }
        output
    }
    fn drain(&mut self) -> ChannelOutput {
        let mut output = ChannelOutput::default();
        // An error is the end of the channel: see `has_ended`.
        while let Ok(next) = self.rtc.poll_output() {
            match next {
                Output::Timeout(at) => {
                    output.wake = Some(at);
                    break;
                }
                Output::Transmit(datagram) => {
                    if self.is_waiting && datagram.contents.len() >= self.message_bytes.max(SHORTEST_BYTES) {
                        (self.is_waiting, output.has_message_left) = (false, true);
                    }
                    output.datagrams.push((datagram.contents.to_vec(), datagram.destination));
                }
                Output::Event(Event::ChannelOpen(id, _)) => self.id = self.id.or(Some(id)),
                Output::Event(Event::ChannelClose(id)) if self.id == Some(id) => self.rtc.disconnect(),
                Output::Event(Event::ChannelData(data)) => {
                    output.messages.extend(<[u8; ECHO_BYTES]>::try_from(data.data));
                }
                Output::Event(_) => {}
            }
        }
        output
    }
}

fn receive(bytes: &[u8], source: SocketAddr, destination: SocketAddr) -> Option<Receive<'_>> {
    let contents = bytes.try_into().ok()?;
    Some(Receive { proto: Protocol::Udp, source, destination, contents })
}
