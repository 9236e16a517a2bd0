//! What is sent, and when.
use super::Sender;
use super::flight::Sent;
use crate::{Control, Data};
use fathom_units::{Ecn, Time};

impl Sender {
    /// The next segment that may be sent at `now`. Repeat until `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Data> {
        if !self.established {
            return self.open(now);
        }
        if self.timers.probe_due {
            let probe = self.tail_probe(now);
            if probe.is_some() {
                return probe;
            }
        }
        self.batch.is_deferred = false;
        let sent = self.transmit(now);
        if sent.is_none() {
            self.end_burst(now);
        }
        sent
    }

    /// The SYN, if it was not sent yet.
    fn open(&mut self, now: Time) -> Option<Data> {
        if self.syn_sent.is_some() {
            return None;
        }
        self.syn_sent = Some(now);
        self.arm_opening(now);
        Some(Data { seq: 0, len: 0, sent_at: now, syn: true, cwr: false, push: false, ecn: Ecn::NotEct })
    }

    fn transmit(&mut self, now: Time) -> Option<Data> {
        let room = self.window.cwnd.saturating_sub(self.flight.in_network());
        if room == 0 {
            return None;
        }
        let lost = if self.repair.new_data_first { None } else { self.flight.next_lost() };
        if lost.is_none() && !self.may_send_new() {
            self.repair.new_data_first = false;
            return None;
        }
        if self.batch.left == 0 && !self.begin_batch(room, lost.is_none(), now) {
            return None;
        }
        self.batch.left -= 1;
        let mut data = match lost {
            Some(number) => self.resend(number, now)?,
            None => self.send_new(now),
        };
        data.push = self.batch.left == 0 && self.batch.has_several;
        Some(data)
    }

    /// Nothing more can be sent now.
    fn end_burst(&mut self, now: Time) {
        let is_limited = self.batch.is_deferred || self.flight.in_network() >= self.window.cwnd;
        if self.has_sent || is_limited && self.unsent() > 0 {
            self.judge_usage(is_limited);
        }
        let has_sent = core::mem::take(&mut self.has_sent);
        self.batch.left = 0;
        self.arm(has_sent, now);
        if self.unsent() < u64::from(self.config.mss) && !is_limited && self.flight.lost() == 0 {
            self.rate.limit(self.flight.in_network());
        }
    }

    /// True if only pacing prevents sending.
    pub(super) fn awaits_pacing(&self) -> bool {
        self.window.pacing.is_some()
            && self.established
            && !self.batch.is_deferred
            && self.flight.in_network() < self.window.cwnd
            && (self.flight.lost() > 0 || self.may_send_new())
    }

    /// True if there is new data, and the receive window has room for a segment of it.
    pub(super) fn may_send_new(&self) -> bool {
        let len = self.next_len();
        len > 0 && self.next + len <= self.acked.saturating_add(self.receive_window)
    }
    fn next_len(&self) -> u64 {
        self.unsent().min(u64::from(self.config.mss))
    }

    pub(super) fn send_new(&mut self, now: Time) -> Data {
        if self.flight.out() == 0 {
            self.start_flight(now);
        }
        let (seq, len) = (self.next, u16::try_from(self.next_len()).unwrap_or(u16::MAX));
        self.next += u64::from(len);
        self.flight.push(Sent::new(seq, len, now, self.rate.stamp(now)));
        self.after_sending(now);
        let cwr = core::mem::take(&mut self.cwr);
        Data { seq, len: u32::from(len), sent_at: now, syn: false, cwr, push: false, ecn: self.codepoint() }
    }

    /// Retransmits a lost packet.
    fn resend(&mut self, number: u64, now: Time) -> Option<Data> {
        let data = self.retransmit(number, now)?;
        self.repair.undo.resent(now);
        if number == self.flight.first() {
            self.restart_timeout(now);
        }
        Some(data)
    }
    /// Retransmits a packet, whether lost or not.
    pub(super) fn retransmit(&mut self, number: u64, now: Time) -> Option<Data> {
        let sent = self.flight.resend(number, now, self.rate.stamp(now))?;
        self.rack.resent(number, now);
        self.retransmits += 1;
        self.after_sending(now);
        // RFC 3168 section 6.1.5: a retransmission is not ECN-capable.
        Some(Data {
            seq: sent.seq,
            len: sent.len(),
            sent_at: now,
            syn: false,
            cwr: false,
            push: false,
            ecn: Ecn::NotEct,
        })
    }

    /// The codepoint of new data.
    fn codepoint(&self) -> Ecn {
        match self.config.ecn {
            false => Ecn::NotEct,
            true if self.control.is_l4s() => Ecn::Ect1,
            true => Ecn::Ect0,
        }
    }
    fn after_sending(&mut self, now: Time) {
        self.last_sent = Some(now);
        self.has_sent = true;
        self.sent += 1;
        self.repair.sent();
    }
}
