//! Requests that wait in memory until a receiver takes them.
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use fathom_units::{Bytes, Duration, Time};
use fathom_watch_metrics::{Backoff, Reply};

/// A request, ready to be sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packed {
    /// Its body.
    pub body: Vec<u8>,
    /// Number of points in it.
    pub points: u64,
}

/// What a person should know of the receiver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    /// It takes no requests.
    Unreachable {
        /// Why.
        why: String,
        /// How much waits in memory at most.
        limit: Bytes,
    },
    /// It takes requests again.
    Reachable {
        /// Points that were dropped meanwhile.
        dropped: u64,
    },
    /// The queue is full. From now on, the oldest points are dropped.
    Full {
        /// Its limit.
        limit: Bytes,
    },
    /// It rejected points, which are not sent again.
    Rejected {
        /// Number of points.
        points: u64,
        /// Why.
        why: String,
    },
    /// It accepts points again.
    Accepted {
        /// Points that were rejected before.
        rejected: u64,
    },
}

impl fmt::Display for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            News::Unreachable { why, limit } => {
                write!(f, "not accepting data: {why}. Will retry; up to {limit} of data wait in memory")
            }
            News::Reachable { dropped: 0 } => f.write_str("reachable again; nothing was lost"),
            News::Reachable { dropped } => write!(f, "reachable again; {dropped} points were dropped"),
            News::Full { limit } => {
                write!(f, "{limit} of data wait in memory, so the oldest are dropped now")
            }
            News::Rejected { points, why } => write!(f, "rejected {points} points, which are skipped: {why}"),
            News::Accepted { rejected } => {
                write!(f, "accepts points again; {rejected} were rejected and will not be sent again")
            }
        }
    }
}

/// The queue of one receiver. Requests are sent in order, each until it has a reply that settles
/// it.
#[derive(Clone, Debug)]
pub struct Outbox {
    waiting: VecDeque<Packed>,
    bytes: usize,
    limit_bytes: usize,
    backoff: Backoff,
    not_before: Time,
    is_unreachable: bool,
    /// Points that were dropped since the receiver became unreachable.
    dropped: u64,
    /// Points that were rejected since the last accepted ones.
    rejected: u64,
}

impl Outbox {
    /// An empty queue for at most this many bytes.
    #[must_use]
    pub fn new(limit_bytes: usize, seed: u64) -> Self {
        Outbox {
            waiting: VecDeque::new(),
            bytes: 0,
            limit_bytes,
            backoff: Backoff::new(seed),
            not_before: Time::ZERO,
            is_unreachable: false,
            dropped: 0,
            rejected: 0,
        }
    }
    /// Adds a request. If the queue is full, the oldest ones are dropped.
    pub fn push(&mut self, packed: Packed) -> Option<News> {
        self.bytes += packed.body.len();
        self.waiting.push_back(packed);
        let before = self.dropped;
        while self.bytes > self.limit_bytes {
            let Some(oldest) = self.take() else { break };
            self.dropped += oldest.points;
        }
        (before == 0 && self.dropped > 0).then(|| News::Full { limit: self.limit() })
    }
    /// The next request.
    #[must_use]
    pub fn next(&self) -> Option<&Packed> {
        self.waiting.front()
    }
    /// The wait until the next request may be sent; `None` if there is none.
    #[must_use]
    pub fn wait(&self, now: Time) -> Option<Duration> {
        self.next().map(|_| self.not_before.saturating_since(now))
    }
    /// Takes the reply to the next request.
    pub fn replied(&mut self, reply: Reply, now: Time) -> Vec<News> {
        match reply {
            Reply::Accepted => self.settled(None),
            Reply::PartlyAccepted(rejected, why) => self.settled(Some((rejected, why))),
            Reply::UnknownFormat(why) | Reply::Rejected(why) => {
                let points = self.next().map_or(0, |packed| packed.points);
                self.settled(Some((points, why)))
            }
            Reply::Retry { why, after } => {
                self.not_before = now + self.backoff.pause(after);
                let is_known = core::mem::replace(&mut self.is_unreachable, true);
                let limit = self.limit();
                (!is_known).then_some(News::Unreachable { why, limit }).into_iter().collect()
            }
        }
    }
    /// The request needs no further attempt.
    fn settled(&mut self, rejected: Option<(u64, String)>) -> Vec<News> {
        self.take();
        self.backoff.reset();
        self.not_before = Time::ZERO;
        let mut news = Vec::new();
        if core::mem::take(&mut self.is_unreachable) {
            news.push(News::Reachable { dropped: core::mem::take(&mut self.dropped) });
        }
        match rejected {
            Some((points, why)) => {
                if self.rejected == 0 {
                    news.push(News::Rejected { points, why });
                }
                self.rejected += points;
            }
            None if self.rejected > 0 => {
                news.push(News::Accepted { rejected: core::mem::take(&mut self.rejected) });
            }
            None => {}
        }
        news
    }
    fn take(&mut self) -> Option<Packed> {
        let oldest = self.waiting.pop_front()?;
        self.bytes -= oldest.body.len();
        Some(oldest)
    }
    const fn limit(&self) -> Bytes {
        Bytes(self.limit_bytes as u64)
    }
}
