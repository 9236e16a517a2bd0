//! Probes of the hops to a client, which its session's thread sends.
use crate::session::Session;
use crate::shared::Shared;
use fathom_os::poll::PollFd;
use fathom_os::raw::FlowSockets;
use fathom_os::timestamp::both_clocks;
use fathom_probe::protocol::HopReport;
use fathom_probe::{Ports, ReturnHops, StampConverter};
use fathom_units::{Duration, Time};
use std::net::{IpAddr, Ipv4Addr};

/// Interval of the lines to the client. The client acknowledges them, and so shows the numbers for
/// probes in the control connection.
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// Most replies in a line: of all hops, twice.
const MOST_REPLIES: usize = 60;

/// Whether this process may probe hops.
pub(crate) fn is_permitted() -> bool {
    FlowSockets::open(Ipv4Addr::LOCALHOST).is_ok()
}

pub(crate) struct HopProber {
    sockets: FlowSockets,
    hops: ReturnHops,
    stamps: StampConverter,
    replies: Vec<HopReport>,
    due: Time,
}

impl HopProber {
    /// `None` without the permission, and for IPv6.
    pub(crate) fn open(session: &Session, control: Option<Ports>) -> Option<HopProber> {
        let IpAddr::V4(client) = session.client else { return None };
        Some(HopProber {
            sockets: FlowSockets::open(client).ok()?,
            hops: ReturnHops::new(client, control?),
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
        self.sockets.read_acknowledgments(|packet| self.hops.received(packet, now));
        self.sockets.read_errors(|packet, stamp| {
            let at = self.stamps.convert(stamp, wall, now).unwrap_or(now);
            let reply = self.hops.expired(packet, at);
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
