//! A socket of ICMP echo with its room for batches. Targets of one family, source address and DSCP share one.
use fathom_os::mmsg::{Inbox, Letter, Notice, Outbox};
use fathom_os::poll::PollFd;
use fathom_os::socket::{echo_socket, set_dscp, set_receive_buffer};
use fathom_os::timestamp::enable_with_packets;
use fathom_watch::{Echo, EchoForm, HEADER_BYTES, MIN_SIZE};
use socket2::{SockAddr, Socket};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

/// Packets of a batch. More save little, and their answers and stamps must fit the receive buffer.
const BATCH: usize = 64;
/// Room for two seconds of 1,000 packets each way and their stamps: an entry takes about a kilobyte.
const RECEIVE_BUFFER_BYTES: u32 = 4 << 20;
/// The largest payload that a plan may ask for, and its header.
const LARGEST: usize = 1_452 + HEADER_BYTES;
/// Of what is received only this much is looked at: Ethernet, IPv6 and ICMP headers, and what names a probe.
const LOOKED_AT: usize = 14 + 40 + HEADER_BYTES + MIN_SIZE as usize + 40;

/// What targets of one socket have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LaneKey {
    pub(crate) v6: bool,
    pub(crate) source: Option<IpAddr>,
    pub(crate) dscp: u8,
}

pub(crate) struct Lane {
    pub(crate) key: LaneKey,
    pub(crate) form: EchoForm,
    socket: Socket,
    outbox: Outbox,
    /// What is in the outbox.
    waiting: Vec<(u32, Echo)>,
    inbox: Inbox,
}

impl Lane {
    pub(crate) fn open(key: LaneKey, token: u64) -> Result<Self, String> {
        let opened = echo_socket(key.v6).map_err(|e| e.to_string())?;
        let socket = opened.socket;
        let wrong = |what: &str, e: std::io::Error| format!("ICMP socket: {what}: {e}");
        if let Some(source) = key.source {
            let own = SocketAddr::new(source, 0).into();
            socket.bind(&own).map_err(|e| wrong(&format!("source address {source}"), e))?;
        }
        enable_with_packets(socket.as_fd()).map_err(|e| wrong("timestamps", e))?;
        set_receive_buffer(&socket, RECEIVE_BUFFER_BYTES).map_err(|e| wrong("receive buffer", e))?;
        set_dscp(&socket, key.v6, key.dscp).map_err(|e| wrong("DSCP", e))?;
        let form = EchoForm {
            v6: key.v6,
            token,
            identifier: token as u16,
            checksum: !opened.kernel_matches && !key.v6,
        };
        let (outbox, inbox) = (Outbox::new(BATCH, LARGEST), Inbox::new(BATCH, LOOKED_AT));
        Ok(Lane { key, form, socket, outbox, waiting: Vec::with_capacity(BATCH), inbox })
    }
    pub(crate) fn interest(&self) -> PollFd<'_> {
        PollFd::readable(self.socket.as_fd())
    }
    pub(crate) fn is_full(&self) -> bool {
        self.outbox.is_full()
    }
    pub(crate) fn has_mail(&self) -> bool {
        !self.outbox.is_empty()
    }
    pub(crate) fn put(&mut self, to: &SockAddr, size: u16, target: u32, echo: Echo) {
        if let Some(bytes) = self.outbox.add(to, HEADER_BYTES + usize::from(size)) {
            self.form.write(bytes, target, &echo);
            self.waiting.push((target, echo));
        }
    }
    /// Sends what waits. Returns what could not be sent, and why.
    pub(crate) fn send(&mut self) -> Vec<(u32, Echo, String)> {
        let (waiting, mut refused) = (&self.waiting, Vec::new());
        self.outbox.send(self.socket.as_fd(), |place, error| {
            if let Some((target, echo)) = waiting.get(place) {
                refused.push((*target, *echo, without_code(&error)));
            }
        });
        self.waiting.clear();
        refused
    }
    /// Gives `take` each packet that left, with the moment in its stamp.
    pub(crate) fn departures(&mut self, mut take: impl FnMut(&Letter<'_>)) {
        while self.inbox.receive_errors(self.socket.as_fd()).is_ok_and(|count| count > 0) {
            self.inbox.iter().filter(|l| l.notice == Some(Notice::Queued)).for_each(|l| take(&l));
            if !self.inbox.was_full() {
                break;
            }
        }
    }
    /// Gives `take` each packet that arrived.
    pub(crate) fn arrivals(&mut self, mut take: impl FnMut(&Letter<'_>)) {
        while self.inbox.receive(self.socket.as_fd()).is_ok_and(|count| count > 0) {
            self.inbox.iter().for_each(|l| take(&l));
            if !self.inbox.was_full() {
                break;
            }
        }
    }
}

/// An error's words without `(os error 113)`.
pub(crate) fn without_code(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
