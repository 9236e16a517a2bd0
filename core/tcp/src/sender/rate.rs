//! Delivery rate: draft-ietf-ccwg-bbr section 4.1.
use super::flight::Sent;
use crate::RateSample;
use fathom_units::{Duration, Time};

/// What was delivered, and the sample of the ACK at hand.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    pub(super) delivered: u64,
    pub(super) delivered_at: Time,
    /// When the packet that was delivered last was sent.
    pub(super) first_sent: Time,
    /// Sending is limited by the application until this many are delivered; 0 if it is not.
    limited_until: u64,
    sample: Option<Sample>,
}

/// Of the newest packet that an ACK delivers.
#[derive(Clone, Copy, Debug)]
struct Sample {
    delivered: u64,
    delivered_at: Time,
    app_limited: bool,
    sent_at: Time,
    send_time: Duration,
}

impl Rate {
    pub(super) fn new(now: Time) -> Self {
        Rate { delivered: 0, delivered_at: now, first_sent: now, limited_until: 0, sample: None }
    }
    pub(super) fn is_app_limited(&self) -> bool {
        self.limited_until > 0
    }
    /// Nothing is under way: the next flight begins at `now`.
    pub(super) fn restart(&mut self, now: Time) {
        (self.first_sent, self.delivered_at) = (now, now);
    }
    pub(super) fn limit(&mut self, in_network: u32) {
        self.limited_until = (self.delivered + u64::from(in_network)).max(1);
    }
    /// `sent` is delivered by the ACK at hand.
    pub(super) fn deliver(&mut self, sent: &Sent, now: Time) {
        self.delivered += 1;
        self.delivered_at = now;
        let newer = |sample: &Sample| (sent.delivered, sent.at) > (sample.delivered, sample.sent_at);
        if self.sample.as_ref().is_none_or(newer) {
            self.sample = Some(Sample {
                delivered: sent.delivered,
                delivered_at: sent.delivered_at,
                app_limited: sent.app_limited,
                sent_at: sent.at,
                send_time: sent.at.saturating_since(sent.first_sent),
            });
            self.first_sent = sent.at;
        }
    }
    /// The sample of the ACK at hand, if it is long enough to mean something.
    pub(super) fn take(&mut self, losses: u32, min_rtt: Duration) -> Option<RateSample> {
        if self.limited_until > 0 && self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let sample = self.sample.take()?;
        let ack_time = self.delivered_at.saturating_since(sample.delivered_at);
        let interval = sample.send_time.max(ack_time);
        let long_enough = interval >= min_rtt && interval > Duration::ZERO;
        long_enough.then(|| RateSample {
            delivered: (self.delivered - sample.delivered) as u32,
            interval,
            prior_delivered: sample.delivered,
            is_app_limited: sample.app_limited,
            losses,
        })
    }
}
