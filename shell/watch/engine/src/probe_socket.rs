//! An ICMP echo socket with buffers for batches. Targets with the same family, source address and
//! DSCP share one.
use fathom_os::echo::echo_socket;
use fathom_os::mmsg::{Inbox, Notice, ReceivedMessage};
use fathom_os::poll::PollFd;
use fathom_os::socket::{set_dscp, set_receive_buffer, set_unfragmented};
use fathom_os::timestamp::{Stamping, enable, send_stamped};
use fathom_probe::{ECHO_HEADER_BYTES, ECHO_MIN_PAYLOAD_BYTES, EchoCodec, EchoPayload, IcmpVersion};
use fathom_watch_plan::ProbeOptions;
use socket2::Socket;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

/// Replies received per call, and packets sent before replies are read: they must fit into the
/// receive buffer.
const BATCH: usize = 64;
/// Space for the replies of two seconds at 2,000 packets per second; an entry takes about a
/// kilobyte.
const RECEIVE_BUFFER_BYTES: u32 = 4 << 20;
/// The largest payload of a plan, and its header.
const LARGEST: usize = 1_452 + ECHO_HEADER_BYTES;
/// Payload that is never fragmented: 576 bytes (RFC 791) minus the largest IP header and the ICMP
/// header.
const NEVER_BROKEN_UP: u16 = 576 - 60 - ECHO_HEADER_BYTES as u16;
/// Bytes examined of a received packet: Ethernet, IPv6 and ICMP headers, and the probe identifier.
const LOOKED_AT: usize = 14 + 40 + ECHO_HEADER_BYTES + ECHO_MIN_PAYLOAD_BYTES + 40;

/// Properties that targets of one socket share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SocketKey {
    pub(crate) v6: bool,
    pub(crate) source: Option<IpAddr>,
    pub(crate) dscp: u8,
    /// Whether its packets are too small to be fragmented.
    pub(crate) is_small: bool,
}

impl SocketKey {
    pub(crate) fn of(form: &ProbeOptions, v6: bool) -> Self {
        SocketKey { v6, source: form.source, dscp: form.dscp, is_small: form.size <= NEVER_BROKEN_UP }
    }
}

pub(crate) struct ProbeSocket {
    pub(crate) key: SocketKey,
    pub(crate) codec: EchoCodec,
    socket: Socket,
    room: Vec<u8>,
    inbox: Inbox,
    /// Packets sent since replies were last read.
    unlooked: usize,
}

impl ProbeSocket {
    pub(crate) fn open(key: SocketKey, token: u64) -> Result<Self, String> {
        let opened = echo_socket(key.v6).map_err(|e| e.to_string())?;
        let socket = opened.socket;
        let wrong = |what: &str, e: io::Error| format!("ICMP socket: {what}: {e}");
        if let Some(source) = key.source {
            let own = SocketAddr::new(source, 0).into();
            socket.bind(&own).map_err(|e| wrong(&format!("source address {source}"), e))?;
        }
        enable(socket.as_fd(), Stamping::Arrivals).map_err(|e| wrong("timestamps", e))?;
        set_receive_buffer(&socket, RECEIVE_BUFFER_BYTES).map_err(|e| wrong("receive buffer", e))?;
        set_dscp(&socket, key.v6, key.dscp).map_err(|e| wrong("DSCP", e))?;
        if key.is_small && !key.v6 {
            set_unfragmented(&socket).map_err(|e| wrong("no fragmentation", e))?;
        }
        let version = if key.v6 { IcmpVersion::V6 } else { IcmpVersion::V4 };
        let codec =
            EchoCodec { has_checksum: !opened.kernel_matches && !key.v6, ..EchoCodec::new(version, token) };
        Ok(ProbeSocket {
            key,
            codec,
            socket,
            room: vec![0; LARGEST],
            inbox: Inbox::new(BATCH, LOOKED_AT),
            unlooked: 0,
        })
    }
    pub(crate) fn interest(&self) -> PollFd<'_> {
        PollFd::readable(self.socket.as_fd())
    }
    /// Whether replies must be read before more is sent.
    pub(crate) const fn is_full(&self) -> bool {
        self.unlooked >= BATCH
    }
    /// Sends a probe. With `stamped`, the kernel timestamps its departure.
    pub(crate) fn send(
        &mut self,
        (to, size): (SocketAddr, u16),
        payload: &EchoPayload,
        stamped: bool,
    ) -> io::Result<()> {
        let length = (ECHO_HEADER_BYTES + usize::from(size)).min(LARGEST);
        let bytes = self.room.get_mut(..length).unwrap_or_default();
        self.codec.write(bytes, payload);
        self.unlooked += 1;
        if stamped {
            send_stamped(self.socket.as_fd(), bytes, &to.into())
        } else {
            self.socket.send_to(bytes, &to.into()).map(drop)
        }
    }
    /// Passes each departure timestamp to `take`.
    pub(crate) fn departures(&mut self, mut take: impl FnMut(&ReceivedMessage<'_>)) {
        while self.inbox.receive_errors(self.socket.as_fd()).is_ok_and(|count| count > 0) {
            self.inbox.iter().filter(|l| l.notice == Some(Notice::Queued)).for_each(|l| take(&l));
            if !self.inbox.was_full() {
                break;
            }
        }
    }
    /// Passes each received packet to `take`.
    pub(crate) fn arrivals(&mut self, mut take: impl FnMut(&ReceivedMessage<'_>)) {
        self.unlooked = 0;
        while self.inbox.receive(self.socket.as_fd()).is_ok_and(|count| count > 0) {
            self.inbox.iter().for_each(|l| take(&l));
            if !self.inbox.was_full() {
                break;
            }
        }
    }
}
