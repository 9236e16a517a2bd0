//! Probes of the hops to a client, which its session's thread sends.
use crate::flow::ports;
use crate::session::Session;
use crate::shared::Shared;
use fathom_os::clock::both_clocks;
use fathom_os::poll::PollFd;
use fathom_os::raw::FlowSockets;
use fathom_probe::protocol::HopReport;
use fathom_probe::{ReturnHops, StampConverter};
use fathom_units::{Duration, Time};
use socket2::Socket;
use std::net::Ipv4Addr;

/// Interval of the lines to the client. The client acknowledges them, and so shows the numbers for
/// probes in the control connection.
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// Most replies in a line: of all hops, twice.
const MOST_REPLIES: usize = 60;

/// Whether this process may probe hops.
pub(crate) fn is_permitted() -> bool {
    FlowSockets::open(None, Ipv4Addr::LOCALHOST.into()).is_ok()
}

pub(crate) struct HopProber {
    sockets: FlowSockets,
    hops: ReturnHops,
    stamps: StampConverter,
    replies: Vec<HopReport>,
    due: Time,
}

impl HopProber {
    /// `None` without the permission.
    pub(crate) fn open(session: &Session, control: &Socket) -> Option<HopProber> {
        let host = control.local_addr().ok()?.as_socket()?.ip();
        Some(HopProber {
            sockets: FlowSockets::open(Some(host), session.client).ok()?,
            hops: ReturnHops::new(host, session.client, ports(control)?),
            stamps: StampConverter::default(),
            replies: Vec::new(),
            due: Time::ZERO,
        })
    }
    pub(crate) fn interest(&self) -> PollFd<'_> {
        PollFd::readable(self.sockets.errors())
    }
    /// Takes what has arrived and sends what is due.
    pub(crate) fn turn(&mut self, shared: &Shared, session: &Session) {
        let (wall, now) = both_clocks(shared.clock);
        self.sockets.read_acknowledgments(|segment| self.hops.received(segment, now));
        self.sockets.read_errors(|error| {
            let at = self.stamps.convert(error.stamp, wall, now).unwrap_or(now);
            let reply = self.hops.expired(error.router, error.message, at);
            self.replies.extend(reply.filter(|_| self.replies.len() < MOST_REPLIES));
        });
        self.hops.set_downloads(&session.downloads());
        while let Some(packet) = self.hops.next(shared.clock.now()) {
            // One that cannot be sent has no reply, like one that the path loses.
            let _ = self.sockets.send(&packet);
        }
    }
    /// The replies since the last call, if it is time to report them.
    pub(crate) fn report(&mut self, now: Time) -> Option<Vec<HopReport>> {
        (now >= self.due).then(|| {
            self.due = now + REPORT_EVERY;
            std::mem::take(&mut self.replies)
        })
    }
}
