//! The sender.
mod ack;
mod batch;
mod config;
mod flight;
mod pace;
mod probe;
mod rack;
mod rate;
mod recovery;
mod rtt;
mod timer;
mod transmit;
mod undo;
mod usage;

pub use config::SenderConfig;

use crate::{AnyControl, Recovery, Window};
use batch::Batch;
use fathom_units::{Duration, Time};
use flight::Flight;
use pace::Pacer;
use probe::Probe;
use rack::Rack;
use rate::Rate;
use recovery::Repair;
use rtt::Rtt;
use timer::Timers;
use usage::Usage;

/// A TCP sender. The host provides bytes, ACKs and the time, and takes segments.
///
/// Call [`Sender::poll_transmit`] until it returns `None` after each [`Sender::write`],
/// [`Sender::on_ack`] and [`Sender::on_timer`], and at [`Sender::next_timer`].
#[derive(Clone, Debug)]
pub struct Sender {
    config: SenderConfig,
    control: AnyControl,
    window: Window,
    flight: Flight,
    /// First byte not ACKed, and first byte never sent.
    acked: u64,
    next: u64,
    /// Bytes written.
    written: u64,
    /// Receive window, from `acked`.
    receive_window: u64,
    established: bool,
    syn_sent: Option<Time>,
    rtt: Rtt,
    rack: Rack,
    rate: Rate,
    repair: Repair,
    probe: Option<Probe>,
    timers: Timers,
    usage: Usage,
    pacer: Pacer,
    batch: Batch,
    /// ECN: set CWR on the next new segment.
    cwr: bool,
    delivered_ce: u64,
    /// SACK ranges of the last ACK as absolute bytes, to skip what is known.
    sacked: [(u64, u64); 3],
    last_sent: Option<Time>,
    /// Packets were sent since timers were armed, or an ACK advanced (`is_stale`).
    has_sent: bool,
    is_stale: bool,
    /// Segments sent in total, and retransmissions.
    sent: u64,
    retransmits: u64,
}

impl Sender {
    /// Creates a connection that begins at `now`, with nothing to send yet.
    #[must_use]
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
            rate: Rate::new(now),
            repair: Repair::default(),
            probe: None,
            timers: Timers::new(),
            usage: Usage::default(),
            pacer: Pacer::new(now),
            batch: Batch::default(),
            cwr: false,
            delivered_ce: 0,
            sacked: [(0, 0); 3],
            last_sent: None,
            has_sent: false,
            is_stale: false,
            sent: 0,
            retransmits: 0,
            config,
        }
    }
    /// Adds `bytes` to send.
    pub fn write(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
    }
    /// Makes the data unlimited: 9 exabytes.
    pub fn write_unlimited(&mut self) {
        self.written = u64::MAX / 2;
    }
    /// True if everything written has been ACKed.
    pub fn is_done(&self) -> bool {
        self.established && self.acked == self.written
    }
    /// True if the SYN was answered.
    pub fn is_established(&self) -> bool {
        self.established
    }
    /// Bytes ACKed.
    pub fn acked(&self) -> u64 {
        self.acked
    }
    /// Bytes written and never sent.
    pub fn unsent(&self) -> u64 {
        self.written - self.next
    }
    /// Packets delivered, cumulatively or selectively.
    pub fn delivered(&self) -> u64 {
        self.rate.delivered
    }
    /// Smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.is_known().then(|| self.rtt.smoothed())
    }
    /// Congestion window and slow-start threshold, in packets, and pacing rate.
    pub fn window(&self) -> &Window {
        &self.window
    }
    /// Packets in the network, as estimated.
    pub fn in_flight(&self) -> u32 {
        self.flight.in_network()
    }
    /// Packets considered lost and not retransmitted yet.
    pub fn lost(&self) -> u32 {
        self.flight.lost()
    }
    /// Number of retransmitted segments.
    pub fn retransmits(&self) -> u64 {
        self.retransmits
    }
    /// Recovery state.
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
    /// When to call [`Sender::on_timer`] and [`Sender::poll_transmit`] next.
    pub fn next_timer(&self) -> Option<Time> {
        let timer = self.timers.next();
        if !self.awaits_pacing() {
            return timer;
        }
        let paced = self.pacer.next();
        Some(timer.map_or(paced, |timer| timer.min(paced)))
    }
}
