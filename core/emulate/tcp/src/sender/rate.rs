//! Delivery rate: draft-ietf-ccwg-bbr section 4.1.
use super::flight::{Sent, Stamp};
use crate::RateSample;
use fathom_units::{Duration, Time};

/// Delivery state, and the sample of the current ACK.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    /// Packets delivered in the connection, and when the last one was.
    pub(super) delivered: u64,
    delivered_at: Time,
    /// When the last delivered packet was sent.
    first_sent: Time,
    /// Sending is application-limited until this many are delivered; 0 if it is not.
    limited_until: u64,
    sample: Option<Sample>,
}

/// The newest packet that the ACK delivers.
#[derive(Clone, Copy, Debug)]
struct Sample {
    sent_at: Time,
    end: u64,
    stamp: Stamp,
}

impl Rate {
    pub(super) fn new(now: Time) -> Self {
        Rate { delivered: 0, delivered_at: now, first_sent: now, limited_until: 0, sample: None }
    }
    /// The stamp of a packet sent `now`.
    pub(super) fn stamp(&self, now: Time) -> Stamp {
        let since_delivered = now.saturating_since(self.delivered_at);
        let since_first = now.saturating_since(self.first_sent);
        Stamp::new(self.delivered, since_delivered, since_first, self.limited_until > 0)
    }
    /// Nothing is in flight: the next flight begins at `now`.
    pub(super) fn restart(&mut self, now: Time) {
        (self.first_sent, self.delivered_at) = (now, now);
    }
    pub(super) fn limit(&mut self, in_network: u32) {
        self.limited_until = (self.delivered + u64::from(in_network)).max(1);
    }
    /// The current ACK delivers `sent`.
    pub(super) fn deliver(&mut self, sent: &Sent, now: Time) {
        self.delivered += 1;
        self.delivered_at = now;
        let key = (sent.at, sent.end());
        if self.sample.is_none_or(|sample| (sample.sent_at, sample.end) < key) {
            self.sample = Some(Sample { sent_at: sent.at, end: sent.end(), stamp: sent.stamp });
            self.first_sent = sent.at;
        }
    }
    /// Packets delivered when the newest packet of the current ACK was sent.
    pub(super) fn round_start(&self) -> Option<u64> {
        self.sample.map(|sample| sample.stamp.delivered(self.delivered))
    }
    /// The sample of the current ACK. Intervals shorter than `min_rtt` are invalid.
    pub(super) fn take(&mut self, losses: u32, min_rtt: Duration) -> Option<RateSample> {
        if self.limited_until > 0 && self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let Sample { sent_at, stamp, .. } = self.sample.take()?;
        let ack_time = self.delivered_at.saturating_since(sent_at) + stamp.since_delivered();
        let interval = stamp.since_first().max(ack_time);
        let prior_delivered = stamp.delivered(self.delivered);
        let is_long_enough = interval >= min_rtt && interval > Duration::ZERO;
        is_long_enough.then(|| RateSample {
            delivered: (self.delivered - prior_delivered) as u32,
            interval,
            prior_delivered,
            is_app_limited: stamp.is_app_limited(),
            losses,
        })
    }
}
