//! The sending end.
mod ack;
mod config;
mod flight;
mod rack;
mod rate;
mod recovery;
mod rtt;
mod timer;

pub use config::SenderConfig;

use crate::{AnyControl, Control, Data, Recovery, Window, WindowEvent};
use fathom_units::{Bytes, Duration, Rate, Time};
use flight::{Flight, Sent, State};
use rack::Rack;
use recovery::Repair;
use rtt::Rtt;
use timer::Timers;

/// Segments that a pacing sender may send at once: what a millisecond of its rate holds, at least two. Linux sizes its bursts
/// likewise (`tcp_tso_autosize`).
const PACING_BURST: Duration = Duration::from_millis(1);
const MIN_BURST: u64 = 2;

/// A TCP sender. The host gives it bytes, acknowledgements and the time, and takes segments.
#[derive(Clone, Debug)]
pub struct Sender {
    config: SenderConfig,
    control: AnyControl,
    window: Window,
    flight: Flight,
    /// First byte not acknowledged, and first byte never sent.
    acked: u64,
    next: u64,
    /// Bytes written.
    written: u64,
    /// Bytes beyond `acked` that the receiver has room for.
    receive_window: u64,
    established: bool,
    syn_sent: Option<Time>,
    rtt: Rtt,
    rack: Rack,
    rate: rate::Rate,
    repair: Repair,
    timers: Timers,
    /// Of the window: was it the limit, in the round that ends at this byte?
    usage: Usage,
    /// ECN: the next segment says that the window was reduced.
    cwr: bool,
    delivered_ce: u64,
    /// Ranges of the last ACK, as absolute bytes: what was SACKed before need not be looked at again.
    sacked: [(u64, u64); 3],
    last_sent: Option<Time>,
    /// Pacing: nothing leaves before, and how many more may leave at once.
    pace_at: Time,
    burst: u64,
    retransmits: u64,
}

/// Whether the window is what limits the sender: Linux's `tcp_cwnd_validate`.
#[derive(Clone, Copy, Default, Debug)]
struct Usage {
    limited: bool,
    most_out: u32,
    round_end: u64,
}

impl Sender {
    /// A connection that begins at `now`, with nothing to send yet.
    pub fn new(config: SenderConfig, control: AnyControl, now: Time) -> Self {
        Sender {
            control,
            window: Window { cwnd: config.initial_window, ssthresh: u32::MAX, pacing: None },
            flight: Flight::default(),
            acked: 0,
            next: 0,
            written: 0,
            receive_window: u64::MAX,
            established: !config.handshake,
            syn_sent: None,
            rtt: Rtt::new(config.min_rto),
            rack: Rack::new(),
            rate: rate::Rate::new(now),
            repair: Repair::default(),
            timers: Timers::default(),
            usage: Usage::default(),
            cwr: false,
            delivered_ce: 0,
            sacked: [(0, 0); 3],
            last_sent: None,
            pace_at: now,
            burst: 0,
            retransmits: 0,
            config,
        }
    }
    /// Adds `bytes` to what is to be sent.
    pub fn write(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
    }
    /// All that was written has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.established && self.acked == self.written
    }
    /// Bytes acknowledged.
    pub fn acked(&self) -> u64 {
        self.acked
    }
    /// Bytes written that never left.
    pub fn unsent(&self) -> u64 {
        self.written - self.next
    }
    /// Smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.is_known().then(|| self.rtt.smoothed())
    }
    /// Congestion window and slow-start threshold, in packets, and pacing rate.
    pub fn window(&self) -> &Window {
        &self.window
    }
    /// Packets thought to be in the network.
    pub fn in_flight(&self) -> u32 {
        self.flight.in_network()
    }
    /// Segments sent again since the start.
    pub fn retransmits(&self) -> u64 {
        self.retransmits
    }
    /// Where it stands.
    pub fn recovery(&self) -> Recovery {
        self.repair.state
    }
    /// The congestion control.
    pub fn control(&self) -> &AnyControl {
        &self.control
    }
    /// Payload of a full segment.
    pub fn mss(&self) -> u32 {
        self.config.mss
    }
    /// When [`Sender::on_timer`] or, for a pacing sender, [`Sender::poll_transmit`] next has something to do.
    pub fn next_timer(&self) -> Option<Time> {
        let paced = (self.window.pacing.is_some() && self.wants_to_send()).then_some(self.pace_at);
        [self.timers.next(), paced].into_iter().flatten().min()
    }
    /// Something could leave if pacing let it.
    fn wants_to_send(&self) -> bool {
        let has_room = self.flight.in_network() < self.window.cwnd;
        self.established && self.burst == 0 && has_room && (self.flight.lost() > 0 || self.may_send_new())
    }

    /// The next segment that may leave at `now`. Repeat until `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Data> {
        if !self.established {
            return self.open(now);
        }
        if let Some(probe) = self.tail_probe(now) {
            return Some(probe);
        }
        if self.flight.in_network() >= self.window.cwnd {
            self.judge_usage(true);
            return None;
        }
        if !self.may_pace(now) {
            return None;
        }
        let sent = match self.flight.next_lost() {
            Some(number) => self.resend(number, now),
            None if self.may_send_new() => Some(self.send_new(now)),
            None => None,
        };
        match sent {
            Some(data) => {
                self.after_sending(&data, now);
                self.judge_usage(self.flight.in_network() >= self.window.cwnd);
            }
            None if self.next == self.written && self.flight.lost() == 0 => {
                self.rate.limit(self.flight.in_network());
            }
            None => {}
        }
        sent
    }

    /// The SYN, if it was not sent yet.
    fn open(&mut self, now: Time) -> Option<Data> {
        if self.syn_sent.is_some() {
            return None;
        }
        self.syn_sent = Some(now);
        self.timers.arm_opening(now, self.config.initial_rto);
        Some(Data { seq: 0, len: 0, sent_at: now, syn: true, cwr: false, ect: false })
    }

    /// There is new data, and the receiver has room for a segment of it.
    fn may_send_new(&self) -> bool {
        let len = self.next_len();
        len > 0 && self.next + len <= self.acked.saturating_add(self.receive_window)
    }
    fn next_len(&self) -> u64 {
        self.unsent().min(u64::from(self.config.mss))
    }

    fn send_new(&mut self, now: Time) -> Data {
        if self.flight.out() == 0 {
            self.start_flight(now);
        }
        let (seq, len) = (self.next, self.next_len() as u32);
        self.next += u64::from(len);
        let number = self.flight.push(Sent {
            seq,
            len,
            state: State::Flying,
            retransmitted: false,
            app_limited: self.rate.is_app_limited(),
            at: now,
            delivered: self.rate.delivered,
            delivered_at: self.rate.delivered_at,
            first_sent: self.rate.first_sent,
        });
        self.rack.sent(number, now);
        Data { seq, len, sent_at: now, syn: false, cwr: core::mem::take(&mut self.cwr), ect: self.config.ecn }
    }

    /// Sending begins with nothing in flight.
    fn start_flight(&mut self, now: Time) {
        self.rate.restart(now);
        let idle = self.last_sent.map_or(Duration::ZERO, |last| now.saturating_since(last));
        let timeout = self.rtt.timeout();
        if self.rtt.is_known() && idle > timeout {
            self.shrink_idle(idle, timeout);
        }
        self.control.on_event(WindowEvent::Start { idle }, now, &mut self.window);
    }
    /// RFC 2861 as in Linux: the window halves for each timeout without sending, down to the initial one.
    fn shrink_idle(&mut self, idle: Duration, timeout: Duration) {
        let halvings = (idle.as_nanos() / timeout.as_nanos().max(1)).min(31) as u32;
        let least = self.config.initial_window.min(self.window.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd / 4 * 3);
        self.window.cwnd = (self.window.cwnd >> halvings).max(least);
    }

    fn resend(&mut self, number: u64, now: Time) -> Option<Data> {
        let rate =
            (self.rate.delivered, self.rate.delivered_at, self.rate.first_sent, self.rate.is_app_limited());
        self.flight.resend(number, now, |sent| {
            (sent.delivered, sent.delivered_at, sent.first_sent, sent.app_limited) = rate;
        });
        self.rack.sent(number, now);
        self.repair.resent(now);
        self.retransmits += 1;
        let sent = self.flight.get(number)?;
        // RFC 3168 section 6.1.5: a retransmission is not ECN-capable.
        Some(Data { seq: sent.seq, len: sent.len, sent_at: now, syn: false, cwr: false, ect: false })
    }

    fn after_sending(&mut self, data: &Data, now: Time) {
        self.last_sent = Some(now);
        self.repair.sent();
        self.pace(data.len, now);
        if !self.timers.is_armed() {
            self.arm(now);
        }
    }

    fn may_pace(&self, now: Time) -> bool {
        self.window.pacing.is_none() || self.burst > 0 || self.pace_at <= now
    }
    /// After a burst the sender waits as long as the burst takes at its rate.
    fn pace(&mut self, len: u32, now: Time) {
        let Some(rate) = self.window.pacing else { return };
        if self.burst == 0 {
            self.burst = burst(rate, self.config.mss);
            self.pace_at = self.pace_at.max(now);
        }
        self.burst -= 1;
        self.pace_at += rate.serialization_time(Bytes(u64::from(len)));
    }

    fn judge_usage(&mut self, limited: bool) {
        let out = self.flight.out();
        let usage = &mut self.usage;
        if self.acked >= usage.round_end || limited || (!usage.limited && out > usage.most_out) {
            *usage = Usage { limited, most_out: out, round_end: self.next };
        }
    }
    /// The window held the sender back: only then may it grow. In slow start half the window in use is enough.
    fn is_cwnd_limited(&self) -> bool {
        self.usage.limited || (self.window.in_slow_start() && self.window.cwnd < 2 * self.usage.most_out)
    }
}

fn burst(rate: Rate, mss: u32) -> u64 {
    (rate.bytes_in(PACING_BURST).get() / u64::from(mss)).max(MIN_BURST)
}
