//! Paths that share an unlimited queue, a link with a fixed rate and a fixed delay. No ACK is lost.
use crate::path::Path;
use fathom_units::{Duration, Time};
use std::collections::VecDeque;

/// An ACK in flight.
#[derive(Clone, Copy)]
struct Pending {
    at: Time,
    path: usize,
    is_lost: bool,
    is_marked: bool,
}

pub(crate) struct Line {
    pub(crate) paths: Vec<Path>,
    pub(crate) now: Time,
    /// Time of one packet on the link; zero for a link that never queues.
    service: Duration,
    rtt: Duration,
    free_at: Time,
    /// ACKs in flight, in order.
    pending: VecDeque<Pending>,
    /// Packets that wait longer are marked.
    marks_from: Duration,
    /// Whether the packet with this number (over all paths) is lost.
    is_lost: Box<dyn FnMut(u64) -> bool>,
    sent: u64,
}

impl Line {
    pub(crate) fn new(service: Duration, rtt: Duration) -> Self {
        Line {
            paths: Vec::new(),
            now: Time::ZERO,
            service,
            rtt,
            free_at: Time::ZERO,
            pending: VecDeque::new(),
            marks_from: Duration::MAX,
            is_lost: Box::new(|_| false),
            sent: 0,
        }
    }
    pub(crate) fn losing(self, is_lost: impl FnMut(u64) -> bool + 'static) -> Self {
        Line { is_lost: Box::new(is_lost), ..self }
    }
    /// A queue that marks all packets that wait longer than `delay`.
    pub(crate) fn marking(self, delay: Duration) -> Self {
        Line { marks_from: delay, ..self }
    }
    /// The link becomes slower or faster.
    pub(crate) fn set_service(&mut self, service: Duration) {
        self.service = service;
    }
    /// Adds a path that begins now.
    pub(crate) fn join(&mut self, path: Path) {
        self.paths.push(path);
        let last = self.paths.len() - 1;
        self.act(last, |joined| joined.write(1 << 40));
    }
    /// Current queueing delay of a packet.
    pub(crate) fn queueing(&self) -> Duration {
        self.free_at.saturating_since(self.now)
    }
    fn act(&mut self, index: usize, action: impl FnOnce(&mut Path)) {
        let path = &mut self.paths[index];
        path.now = self.now;
        let before = path.next;
        action(path);
        for _ in before..path.next {
            self.sent += 1;
            let is_marked = self.queueing() > self.marks_from;
            self.free_at = self.free_at.max(self.now) + self.service;
            let (at, is_lost) = (self.free_at + self.rtt, (self.is_lost)(self.sent));
            self.pending.push_back(Pending { at, path: index, is_lost, is_marked });
        }
    }
    fn next_wake(&self) -> Option<(Time, usize)> {
        let wakes = self.paths.iter().enumerate();
        wakes.filter_map(|(index, path)| path.wakes().map(|at| (at.max(self.now), index))).min()
    }
    /// Runs until `until` inclusive, and calls `watch` after each event.
    pub(crate) fn run(&mut self, until: Time, mut watch: impl FnMut(&Line)) {
        loop {
            let wake = self.next_wake();
            let ack = self.pending.front().copied();
            match (ack, wake) {
                (Some(Pending { at, path, is_lost, is_marked }), wake)
                    if at <= until && wake.is_none_or(|(wake, _)| at <= wake) =>
                {
                    self.pending.pop_front();
                    self.now = at;
                    self.act(path, |path| {
                        if is_lost {
                            path.lose_one();
                        }
                        if is_marked {
                            path.mark();
                        }
                        path.ack(1, None, is_marked);
                    });
                }
                (_, Some((at, index))) if at <= until => {
                    self.now = at;
                    self.act(index, Path::send);
                }
                _ => break,
            }
            watch(self);
        }
        self.now = until;
    }
}
