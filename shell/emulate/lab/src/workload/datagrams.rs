//! Calls, games, cameras, and datagrams as background load.
use crate::workload::active_unit::Player;
use crate::workload::life::lock;
use crate::workload::stage::Stage;
use crate::workload::unit::Unit;
use crate::workload::wire::LOOK_EVERY;
use fathom_os::clock::both_clocks;
use fathom_os::poll::{self, PollFd, set_precise_timers};
use fathom_os::sched::raise_priority;
use fathom_os::timestamp::{Batch, Stamping, enable};
use fathom_probe::StampConverter;
use fathom_run::{Metric, Series, SeriesKey};
use fathom_scenario::{Timetable, UDP_HEADERS, WorkloadKind};
use fathom_units::{Direction, Time};
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;

/// Bytes of the numbers of sender and datagram, 32 bits each.
const NUMBERS: usize = 8;
/// Datagrams received per call.
const BATCH: usize = 16;
/// Maximum size of an IP packet.
const LARGEST: usize = 65_536;
/// Space for bursts while the receiver's thread does not run.
const RECEIVE_BUFFER_BYTES: usize = 8 << 20;

impl Player<'_> {
    /// Sends until the lifetime ends.
    pub(crate) fn datagrams(&mut self, kind: WorkloadKind) -> io::Result<()> {
        let Some(mut timetable) = Timetable::new(kind, self.stage.clock.now()) else { return Ok(()) };
        // Without it a datagram leaves 50 us later; its delay counts from when it left.
        drop(set_precise_timers());
        let socket = self.socket()?;
        let mut bytes = vec![0; usize::from(timetable.size().saturating_sub(UDP_HEADERS))];
        if let (Some(source), Some(place)) = (self.unit.source, bytes.get_mut(..4)) {
            place.copy_from_slice(&source.to_be_bytes());
        }
        let mut number = 0_u32;
        while self.unit.life.sleep_until(timetable.due()) {
            // By schedule, not by when this thread ran.
            let departure = timetable.take(timetable.due(), &mut self.rng);
            for _ in 0..departure.key_frame + u64::from(departure.single.is_some()) {
                if let Some(place) = bytes.get_mut(4..NUMBERS) {
                    place.copy_from_slice(&number.to_be_bytes());
                }
                number = number.wrapping_add(1);
                self.log_sent(kind);
                socket.send(&bytes)?;
            }
        }
        Ok(())
    }
    fn socket(&self) -> io::Result<Socket> {
        let way = self.unit.way;
        let place = |side: Direction| self.stage.listeners[side].get().ok_or(io::ErrorKind::NotConnected);
        let (here, there) = (place(way)?.udp, place(way.reverse())?.udp);
        let socket = Socket::new(Domain::for_address(here), Type::DGRAM, None)?;
        socket.set_tos_v4(u32::from(self.stage.plan(self.unit).edge.dscp) << 2)?;
        socket.bind(&SocketAddr::new(here.ip(), 0).into())?;
        socket.connect(&there.into())?;
        Ok(socket)
    }
    fn log_sent(&self, kind: WorkloadKind) {
        let log = self.unit.source.and_then(|source| self.stage.logs.get(source as usize));
        if let Some((_, log)) = log.filter(|_| !matches!(kind, WorkloadKind::Datagrams { .. })) {
            let now = self.stage.clock.now();
            lock(log).sent(now);
        }
    }
}

/// Receives the datagrams sent in direction `way`, until the end.
pub(crate) fn receive(stage: &Stage, socket: &Socket, way: Direction) -> io::Result<()> {
    // Without the privilege, the kernel's timestamps are still exact.
    let _ = raise_priority();
    socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES)?;
    enable(socket.as_fd(), Stamping::Arrivals)?;
    let (mut batch, mut stamps) = (Batch::new(BATCH, LARGEST), StampConverter::default());
    while !stage.life.is_over() {
        let ready = poll::wait(&mut [PollFd::readable(socket.as_fd())], Some(LOOK_EVERY))?;
        // An error belongs to an earlier datagram; reading it clears it.
        if ready == 0 || batch.receive(socket.as_fd()).is_err() {
            continue;
        }
        let (wall, now) = both_clocks(stage.clock);
        for (bytes, datagram) in batch.iter() {
            arrived(stage, bytes, stamps.convert(datagram.stamp, wall, now).unwrap_or(now), way);
        }
    }
    Ok(())
}

fn arrived(stage: &Stage, bytes: &[u8], at: Time, way: Direction) {
    let number = |place: std::ops::Range<usize>| Some(u32::from_be_bytes(bytes.get(place)?.try_into().ok()?));
    let Some((source, datagram)) = number(0..4).zip(number(4..NUMBERS)) else { return };
    let Some((unit, log)) = stage.logs.get(source as usize) else { return };
    stage.count(unit, way, bytes.len() as u64);
    let mut log = lock(log);
    if let Some(sent) = log.sent_at(datagram) {
        log.arrived(datagram, at.saturating_since(sent));
    }
}

/// Series of the delays of all datagrams, and the quality of calls and games.
pub(crate) fn series(stage: &Stage, end: Time) -> Vec<Series> {
    let of = |unit: &Unit, log: &fathom_run::DatagramLog| {
        let workload = stage.plan(unit);
        let key = |metric| SeriesKey {
            flow: Some(unit.flow + 1),
            scope: Some(workload.name.clone()),
            ..SeriesKey::directed(metric, unit.way)
        };
        let more = match workload.kind {
            WorkloadKind::Call => Vec::from([log.quality(key(Metric::CallMos), &[])]),
            WorkloadKind::Game { deadline, .. } => Vec::from([
                log.lateness(key(Metric::UpdateLateness)),
                log.misses(key(Metric::DeadlineMisses), deadline),
            ]),
            _ => Vec::new(),
        };
        [log.delays(key(Metric::PacketDelay), end)].into_iter().chain(more)
    };
    let logs = stage.logs.iter().map(|(unit, log)| (unit, lock(log)));
    logs.filter(|(_, log)| !log.is_empty()).flat_map(|(unit, log)| of(unit, &log)).collect()
}
