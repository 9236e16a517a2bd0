//! The thread that sends.
use crate::Destination;
use crate::http::post;
use fathom_os::clock::{Clock, wall_now};
use fathom_watch_metrics::Reply;
use fathom_watch_minimal::{News, Outbox, Packed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum time for a request.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);
/// Maximum time for the last requests at a stop.
const STOP_LIMIT: Duration = Duration::from_secs(3);
/// Maximum wait at a stop for the thread, which may be waiting for a request or a name server.
const JOIN_LIMIT: Duration = Duration::from_secs(4);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Sends requests in order, and repeats them until the receiver has taken them.
#[derive(Debug)]
pub struct Poster {
    requests: Sender<Packed>,
    news: Receiver<News>,
    thread: JoinHandle<()>,
}

impl Poster {
    /// Starts the thread. Up to `limit_bytes` of requests wait in memory.
    #[must_use]
    pub fn start(to: Destination, limit_bytes: usize) -> Poster {
        let (requests, inbox) = channel();
        let (told, news) = channel();
        let clock = Clock::start();
        let outbox = Outbox::new(limit_bytes, wall_now().0);
        let worker = Worker { to, clock, outbox, inbox, told };
        Poster { requests, news, thread: std::thread::spawn(move || worker.run()) }
    }
    /// Queues a request.
    pub fn send(&self, packed: Packed) {
        // The thread runs until this sender is dropped.
        let _ = self.requests.send(packed);
    }
    /// News since the last call.
    #[must_use]
    pub fn news(&self) -> Vec<News> {
        self.news.try_iter().collect()
    }
    /// Tries once more to send what waits, within a few seconds. Returns the last news.
    #[must_use]
    pub fn stop(self) -> Vec<News> {
        drop(self.requests);
        let began = Instant::now();
        while began.elapsed() < JOIN_LIMIT && !self.thread.is_finished() {
            std::thread::sleep(LOOK_EVERY);
        }
        self.news.try_iter().collect()
    }
}

struct Worker {
    to: Destination,
    clock: Clock,
    outbox: Outbox,
    /// Its end is the order to stop.
    inbox: Receiver<Packed>,
    told: Sender<News>,
}

impl Worker {
    fn run(mut self) {
        while self.receive() {
            if self.outbox.wait(self.clock.now()) == Some(fathom_units::Duration::ZERO) {
                self.attempt(REQUEST_LIMIT);
            }
        }
        let deadline = Instant::now() + STOP_LIMIT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.outbox.next().is_none() || !self.attempt(left) {
                return;
            }
        }
    }
    /// Waits for requests until the next attempt is due. Returns false at a stop.
    fn receive(&mut self) -> bool {
        let mut wait = self.outbox.wait(self.clock.now()).map(|wait| Duration::from_nanos(wait.as_nanos()));
        loop {
            let received = match wait {
                Some(wait) => self.inbox.recv_timeout(wait),
                None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match received {
                Ok(packed) => {
                    let news = self.outbox.push(packed);
                    self.tell(news);
                    // All that were queued come before the next attempt.
                    wait = Some(Duration::ZERO);
                }
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }
    /// Sends the next request. Returns whether the receiver took or rejected it.
    fn attempt(&mut self, limit: Duration) -> bool {
        let Some(packed) = self.outbox.next() else { return false };
        let reply = post(&self.to, &packed.body, limit);
        let is_settled = !matches!(reply, Reply::Retry { .. });
        let news = self.outbox.replied(reply, self.clock.now());
        self.tell(news);
        is_settled
    }
    /// If nobody listens, the news are dropped.
    fn tell(&self, news: impl IntoIterator<Item = News>) {
        news.into_iter().for_each(|one| drop(self.told.send(one)));
    }
}
