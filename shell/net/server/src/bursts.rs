//! Flows of a burst of datagrams: one that this server sends, or one whose arrivals it records.
use crate::datagrams::{LONGEST_BYTES, has_ended};
use crate::flow::Flow;
use crate::session::Session;
use crate::shared::Shared;
use fathom_burst::BurstPlan;
use fathom_os::clock::both_clocks;
use fathom_os::fd::AsFd;
use fathom_os::pace::Pacer;
use fathom_os::poll::{self, PollFd, set_precise_timers};
use fathom_os::prompt::PromptReader;
use fathom_os::socket::set_class;
use fathom_os::timestamp::{Batch, Stamping, enable};
use fathom_probe::StampConverter;
use fathom_probe::protocol::{BurstArrival, BurstSender, LoadHeader};
use fathom_units::{Duration, Ecn};
use socket2::Socket;
use std::io::{self, Write};
use std::sync::atomic::Ordering::Relaxed;

/// Datagrams received per call.
const BATCH: usize = 64;
/// Interval of records on the connection: its acknowledgments are in the queue that is measured.
const RECORDS_EVERY: Duration = Duration::from_millis(50);

pub(crate) fn send(
    shared: &Shared,
    session: &Session,
    flow: &Flow,
    (udp, mut class): (&Socket, u8),
    plan: BurstPlan,
) -> io::Result<()> {
    // The first line has the codepoint in the class.
    let plan = BurstPlan { ecn: Ecn::of_class(class), ..plan };
    // Without it, datagrams leave 50 us later.
    let _ = set_precise_timers();
    let mut sender = BurstSender::new(plan, shared.clock.now());
    let mut pacer = Pacer::new(shared.clock);
    while let Some(due) = sender.due() {
        if let Some(wait) = pacer.next_wait(due)
            && has_ended(flow, wait)?
        {
            return Ok(());
        }
        let wanted = plan.ecn_of(sender.next_number()).in_class(class);
        if wanted != class {
            set_class(udp, session.local.is_ipv6(), wanted)?;
            class = wanted;
        }
        let datagram = sender.take(pacer.spin_until(due));
        flow.received.fetch_add(datagram.len() as u64, Relaxed);
        // An error belongs to an earlier datagram, or the queue of this host is full: it is lost.
        let _ = udp.send(datagram);
        if !session.count(datagram.len()) {
            return Ok(());
        }
    }
    Ok(())
}

/// Sends a record of each arrival on the connection of the flow.
pub(crate) fn receive(shared: &Shared, session: &Session, flow: &Flow, udp: &Socket) -> io::Result<()> {
    // Without timestamps, the time of reading counts.
    let _ = enable(udp.as_fd(), Stamping::Arrivals);
    let (mut batch, mut stamps) = (Batch::new(BATCH, LONGEST_BYTES), StampConverter::default());
    let (mut records, mut due) = (Vec::new(), shared.clock.now());
    let mut reader = PromptReader::default();
    loop {
        let mut fds = [PollFd::readable(flow.socket.as_fd()), PollFd::readable(udp.as_fd())];
        let wait = due.saturating_since(shared.clock.now());
        reader.check(udp.as_fd(), shared.clock.now())?;
        poll::wait(&mut fds, (!records.is_empty()).then_some(wait))?;
        // An error belongs to an earlier datagram; reading it clears it.
        if fds[1].is_ready() && batch.receive(udp.as_fd()).is_ok() {
            let (wall, now) = both_clocks(shared.clock);
            for (bytes, received) in batch.iter() {
                let Some(header) = LoadHeader::decode(bytes) else { continue };
                let at = stamps.convert(received.stamp, wall, now).unwrap_or(now);
                let number = header.sequence as u32;
                let is_ce = received.class.map(Ecn::of_class) == Some(Ecn::Ce);
                records.extend(BurstArrival { number, received_ns: at.as_nanos(), is_ce }.encode());
                flow.received.fetch_add(bytes.len() as u64, Relaxed);
                if !session.count(bytes.len()) {
                    return Ok(());
                }
            }
        }
        if !records.is_empty() && shared.clock.now() >= due {
            (&flow.socket).write_all(&records)?;
            records.clear();
            due = shared.clock.now() + RECORDS_EVERY;
        }
        if fds[0].is_ready() || flow.interrupted.load(Relaxed) {
            return Ok(());
        }
    }
}
