//! A sender that only counts: packets go out as the window allows and come back when the test says. No loss, no real TCP.
use fathom_tcp::{
    AckEvent, AnyControl, Cause, Control, ControlConfig, ControlKind, Recovery, Window, WindowEvent,
};
use fathom_units::{Duration, Time};
use std::collections::VecDeque;

/// Initial window, RFC 6928.
const INITIAL_WINDOW: u32 = 10;

pub(crate) struct Path {
    pub(crate) control: AnyControl,
    pub(crate) window: Window,
    pub(crate) now: Time,
    pub(crate) recovery: Recovery,
    sent: VecDeque<Time>,
    acked: u64,
    next: u64,
    written: u64,
    last_sent: Option<Time>,
    srtt: Option<Duration>,
    min_rtt: Duration,
    most_in_flight: u32,
    limit_checked: u64,
    is_limited: bool,
    delivered_ce: u64,
}

impl Path {
    pub(crate) fn new(kind: ControlKind, config: &ControlConfig) -> Self {
        Path {
            control: AnyControl::new(kind, config),
            window: Window { cwnd: INITIAL_WINDOW, ssthresh: u32::MAX, pacing: None },
            now: Time::ZERO,
            recovery: Recovery::Open,
            sent: VecDeque::new(),
            acked: 0,
            next: 0,
            written: 0,
            last_sent: None,
            srtt: None,
            min_rtt: Duration::MAX,
            most_in_flight: 0,
            limit_checked: 0,
            is_limited: false,
            delivered_ce: 0,
        }
    }
    /// A path of this kind with default parameters and no end of data.
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
        while self.next < self.written && self.in_flight() < self.window.cwnd {
            self.sent.push_back(self.now);
            self.next += 1;
            self.last_sent = Some(self.now);
        }
        let is_full = self.in_flight() >= self.window.cwnd;
        if self.next > before || is_full {
            self.check_limit(is_full);
        }
    }
    /// Limited if the window was full at any time in the last round in which something was sent.
    fn check_limit(&mut self, is_full: bool) {
        if self.acked >= self.limit_checked || is_full || self.in_flight() > self.most_in_flight {
            self.most_in_flight = self.in_flight();
            self.is_limited = is_full;
            self.limit_checked = self.next;
        }
    }
    /// One cumulative ACK for `packets`, with the RTT of the newest, or `rtt` instead of it.
    pub(crate) fn ack(&mut self, packets: u32, rtt: Option<Duration>, is_marked: bool) {
        let newest = self.sent[packets as usize - 1];
        let rtt = rtt.unwrap_or(self.now - newest);
        self.srtt = Some(self.srtt.map_or(rtt, |srtt| (srtt * 7 + rtt) / 8));
        self.min_rtt = self.min_rtt.min(rtt);
        let in_flight_before = self.in_flight();
        self.sent.drain(..packets as usize);
        self.acked += u64::from(packets);
        self.delivered_ce += if is_marked { u64::from(packets) } else { 0 };
        let opens = self.window.in_slow_start() && self.window.cwnd < 2 * self.most_in_flight;
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
            delivered_ce: self.delivered_ce,
            next_packet: self.next,
            acked_packet: self.acked,
            recovery: self.recovery,
            is_cwnd_limited: self.is_limited || opens,
            rate: None,
        };
        self.control.on_ack(&ack, &mut self.window);
        self.send();
    }
    /// All that is in flight comes back one by one, evenly over `rtt`, as from a line whose rate is just the window.
    pub(crate) fn round(&mut self, rtt: Duration) {
        let (start, packets) = (self.now, u64::from(self.in_flight()));
        for n in 1..=packets {
            self.now = start + rtt * n / packets;
            self.ack(1, Some(rtt), false);
        }
    }
    /// Fast recovery, over at once: the window falls to the threshold.
    pub(crate) fn lose(&mut self) {
        self.window.ssthresh = self.control.reduce(Cause::Loss, self.now, &self.window);
        self.window.cwnd = self.window.ssthresh;
        self.control.on_event(WindowEvent::Recovered, self.now, &mut self.window);
        // What is above the new window has been lost or is not counted any more.
        while self.in_flight() > self.window.cwnd {
            self.sent.pop_back();
            self.next -= 1;
        }
    }
    /// Retransmission timeout: all in flight is lost and sent again, one packet first.
    pub(crate) fn time_out(&mut self) {
        self.window.ssthresh = self.control.reduce(Cause::Timeout, self.now, &self.window);
        self.window.cwnd = 1;
        self.next = self.acked;
        self.sent.clear();
        self.recovery = Recovery::Loss;
        self.send();
    }
}
