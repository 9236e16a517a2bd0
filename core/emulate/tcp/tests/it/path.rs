//! A sender that only counts: packets leave as the window allows and return when the test says.
use fathom_tcp::{
    AckEvent, AnyControl, Cause, Control, ControlConfig, ControlKind, RateSample, Recovery, Window,
    WindowEvent,
};
use fathom_units::{Bytes, Duration, Time};
use std::collections::VecDeque;

/// Initial window, RFC 6928.
const INITIAL_WINDOW: u32 = 10;

/// Per-packet state for delivery-rate samples (draft-ietf-ccwg-bbr section 4.1).
#[derive(Clone, Copy)]
struct Sent {
    at: Time,
    delivered: u64,
    delivered_at: Time,
    first_at: Time,
}

pub(crate) struct Path {
    pub(crate) control: AnyControl,
    pub(crate) window: Window,
    pub(crate) now: Time,
    pub(crate) recovery: Recovery,
    /// Sends as ACKs arrive, whatever the control says.
    pub(crate) ignores_pacing: bool,
    sent: VecDeque<Sent>,
    pub(crate) acked: u64,
    pub(crate) next: u64,
    written: u64,
    last_sent: Option<Time>,
    srtt: Option<Duration>,
    min_rtt: Duration,
    max_in_flight: u32,
    limit_checked: u64,
    is_limited: bool,
    delivered_ce: u64,
    delivered_at: Time,
    first_at: Time,
    may_send_at: Time,
    recovery_ends: u64,
    losses: u32,
    lost: u32,
    mss: u64,
}

impl Path {
    pub(crate) fn new(kind: ControlKind, config: &ControlConfig) -> Self {
        Path {
            control: AnyControl::new(kind, config),
            window: Window { cwnd: INITIAL_WINDOW, ssthresh: u32::MAX, pacing: None },
            now: Time::ZERO,
            recovery: Recovery::Open,
            ignores_pacing: false,
            sent: VecDeque::new(),
            acked: 0,
            next: 0,
            written: 0,
            last_sent: None,
            srtt: None,
            min_rtt: Duration::MAX,
            max_in_flight: 0,
            limit_checked: 0,
            is_limited: false,
            delivered_ce: 0,
            delivered_at: Time::ZERO,
            first_at: Time::ZERO,
            may_send_at: Time::ZERO,
            recovery_ends: 0,
            losses: 0,
            lost: 0,
            mss: u64::from(config.mss),
        }
    }
    /// A path of this kind with default parameters and unlimited data.
    pub(crate) fn bulk(kind: ControlKind) -> Self {
        let mut path = Path::new(kind, &ControlConfig::default());
        path.write(1 << 40);
        path
    }
    pub(crate) fn in_flight(&self) -> u32 {
        self.sent.len() as u32
    }
    pub(crate) fn write(&mut self, packets: u64) {
        self.written += packets;
        self.send();
    }
    pub(crate) fn send(&mut self) {
        if self.sent.is_empty() && self.next < self.written {
            let idle = self.last_sent.map_or(Duration::ZERO, |last| self.now - last);
            self.control.on_event(WindowEvent::Start { idle }, self.now, &mut self.window);
        }
        let before = self.next;
        while self.has_room() && self.may_send_at <= self.now {
            self.send_one();
        }
        let is_full = self.in_flight() >= self.window.cwnd;
        if self.next > before || is_full {
            self.check_limit(is_full);
        }
    }
    fn has_room(&self) -> bool {
        self.next < self.written && self.in_flight() < self.window.cwnd
    }
    /// When pacing allows the next packet, if only pacing prevents it.
    pub(crate) fn wakes(&self) -> Option<Time> {
        self.has_room().then_some(self.may_send_at)
    }
    fn send_one(&mut self) {
        if self.sent.is_empty() {
            self.first_at = self.now;
            self.delivered_at = self.now;
        }
        let (delivered, delivered_at, first_at) = (self.acked, self.delivered_at, self.first_at);
        self.sent.push_back(Sent { at: self.now, delivered, delivered_at, first_at });
        self.next += 1;
        self.last_sent = Some(self.now);
        if let Some(rate) = self.window.pacing.filter(|_| !self.ignores_pacing) {
            self.may_send_at = self.may_send_at.max(self.now) + rate.serialization_time(Bytes(self.mss));
        }
    }
    /// Limited if the window was full at any time in the last round with transmissions.
    fn check_limit(&mut self, is_full: bool) {
        if self.acked >= self.limit_checked || is_full || self.in_flight() > self.max_in_flight {
            self.max_in_flight = self.in_flight();
            self.is_limited = is_full;
            self.limit_checked = self.next;
        }
    }
    /// One cumulative ACK for `packets`, with the RTT of the newest, or with `rtt`.
    pub(crate) fn ack(&mut self, packets: u32, rtt: Option<Duration>, is_marked: bool) {
        let newest = self.sent[packets as usize - 1];
        let rtt = rtt.unwrap_or(self.now - newest.at);
        self.srtt = Some(self.srtt.map_or(rtt, |srtt| (srtt * 7 + rtt) / 8));
        self.min_rtt = self.min_rtt.min(rtt);
        let in_flight_before = self.in_flight();
        self.sent.drain(..packets as usize);
        self.acked += u64::from(packets);
        self.delivered_ce += if is_marked { u64::from(packets) } else { 0 };
        self.delivered_at = self.now;
        self.first_at = newest.at;
        let is_reducing = matches!(self.recovery, Recovery::Recovery | Recovery::Cwr);
        if is_reducing && self.acked >= self.recovery_ends {
            self.recovery = Recovery::Open;
            self.control.on_event(WindowEvent::Recovered, self.now, &mut self.window);
        }
        let opens = self.window.in_slow_start() && self.window.cwnd < 2 * self.max_in_flight;
        let ack = AckEvent {
            now: self.now,
            newly_acked: packets,
            cumulative: packets,
            ece: is_marked,
            rtt: Some(rtt),
            srtt: self.srtt.unwrap(),
            min_rtt: self.min_rtt,
            one_way_delay: rtt,
            in_flight_before,
            in_flight: self.in_flight(),
            delivered: self.acked,
            lost: self.lost,
            delivered_ce: self.delivered_ce,
            next_packet: self.next,
            acked_packet: self.acked,
            recovery: self.recovery,
            is_cwnd_limited: self.is_limited || opens,
            paced_until: self.may_send_at,
            rate: Some(self.sample(newest)),
        };
        self.losses = 0;
        self.control.on_ack(&ack, &mut self.window);
        self.send();
    }
    fn sample(&self, newest: Sent) -> RateSample {
        RateSample {
            delivered: (self.acked - newest.delivered) as u32,
            interval: (newest.at - newest.first_at).max(self.now - newest.delivered_at),
            prior_delivered: newest.delivered,
            is_app_limited: false,
            losses: self.losses,
        }
    }
    /// Detects and repairs the loss of one packet. At most one reduction per window of data.
    pub(crate) fn lose_one(&mut self) {
        self.losses += 1;
        self.lost += 1;
        if self.recovery == Recovery::Recovery {
            return;
        }
        self.recovery = Recovery::Recovery;
        self.begin_reduction(Cause::Loss);
    }
    /// An ECN echo: reduces the window once per window of data.
    pub(crate) fn mark(&mut self) {
        if self.recovery == Recovery::Open {
            self.recovery = Recovery::Cwr;
            self.begin_reduction(Cause::Ecn);
        }
    }
    fn begin_reduction(&mut self, cause: Cause) {
        self.recovery_ends = self.next;
        self.window.ssthresh = self.control.reduce(cause, self.now, &self.window);
        if !self.control.owns_window() {
            self.window.cwnd = self.window.ssthresh;
        }
    }
    /// ACKs everything in flight one by one, evenly over `rtt`, as if the window matched the rate.
    pub(crate) fn round(&mut self, rtt: Duration) {
        let (start, packets) = (self.now, u64::from(self.in_flight()));
        for n in 1..=packets {
            self.now = start + rtt * n / packets;
            self.ack(1, Some(rtt), false);
        }
    }
    /// A fast recovery that ends at once: the window falls to the threshold.
    pub(crate) fn lose(&mut self) {
        self.window.ssthresh = self.control.reduce(Cause::Loss, self.now, &self.window);
        self.window.cwnd = self.window.ssthresh;
        self.control.on_event(WindowEvent::Recovered, self.now, &mut self.window);
        // The excess over the new window is lost or no longer counted.
        while self.in_flight() > self.window.cwnd {
            self.sent.pop_back();
            self.next -= 1;
        }
    }
    /// Retransmission timeout: everything in flight is lost and resent, starting with one packet.
    pub(crate) fn time_out(&mut self) {
        self.window.ssthresh = self.control.reduce(Cause::Timeout, self.now, &self.window);
        self.control.on_event(WindowEvent::TimedOut, self.now, &mut self.window);
        self.window.cwnd = 1;
        self.next = self.acked;
        self.sent.clear();
        self.recovery = Recovery::Loss;
        self.send();
    }
}
