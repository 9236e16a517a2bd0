//! Tins: which packets they take and what share of the rate they get. Source: `tc-cake(8)`, code
//! points from RFC 2474, RFC 2597, RFC 3246, RFC 5865 and RFC 8622.
use super::cobalt::CobaltParams;
use super::shaper::Pace;
use super::{FULL_PACKET, MAX_TINS};
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Rate};

/// How the DSCP selects a packet's tin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Diffserv {
    /// One tin.
    BestEffort,
    /// Eight tins, selected by the three precedence bits of RFC 791.
    Precedence,
    /// Three tins: best effort, bulk and voice.
    #[default]
    Diffserv3,
    /// Four tins: best effort, bulk, video and voice.
    Diffserv4,
    /// Eight tins, from lower effort to network control.
    Diffserv8,
}

/// The parameters of one tin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TinParams {
    /// Up to this rate the tin has priority over lower numbers; `None` without a shaper.
    pub rate: Option<Rate>,
    /// COBALT's target.
    pub target: Duration,
    /// COBALT's interval.
    pub interval: Duration,
    /// DRR quantum of a flow, in bytes per round.
    pub quantum: Bytes,
    /// DRR quantum of the tin without a shaper, in bytes per round.
    pub weight: u64,
}

mod dscp {
    pub(super) const LE: u8 = 1;
    /// RFC 1349 types of service: "throughput" and "delay".
    pub(super) const TOS_THROUGHPUT: u8 = 2;
    pub(super) const TOS_DELAY: u8 = 4;
    pub(super) const CS1: u8 = 8;
    pub(super) const AF11: u8 = 10;
    pub(super) const AF12: u8 = 12;
    pub(super) const AF13: u8 = 14;
    pub(super) const CS2: u8 = 16;
    pub(super) const AF21: u8 = 18;
    pub(super) const AF22: u8 = 20;
    pub(super) const AF23: u8 = 22;
    pub(super) const CS3: u8 = 24;
    pub(super) const AF31: u8 = 26;
    pub(super) const AF32: u8 = 28;
    pub(super) const AF33: u8 = 30;
    pub(super) const CS4: u8 = 32;
    pub(super) const AF41: u8 = 34;
    pub(super) const AF42: u8 = 36;
    pub(super) const AF43: u8 = 38;
    pub(super) const CS5: u8 = 40;
    pub(super) const VA: u8 = 44;
    pub(super) const EF: u8 = 46;
    pub(super) const CS6: u8 = 48;
    pub(super) const CS7: u8 = 56;
}

impl Diffserv {
    /// The tin for `dscp`. Within its rate, a tin has priority over those with a lower number.
    #[must_use]
    pub const fn tin(self, dscp: u8) -> usize {
        match self {
            Diffserv::BestEffort => 0,
            Diffserv::Precedence => (dscp >> 3) as usize % MAX_TINS,
            Diffserv::Diffserv3 => tin_of_3(dscp),
            Diffserv::Diffserv4 => tin_of_4(dscp),
            Diffserv::Diffserv8 => tin_of_8(dscp),
        }
    }

    /// The parameters of all tins at `rate` for paths with round-trip time `rtt`.
    #[must_use]
    pub fn tins(self, rate: Option<Rate>, rtt: Duration) -> Vec<TinParams> {
        let shares: Vec<(Option<Rate>, u64)> = match self {
            Diffserv::BestEffort => [(rate, 65_535)].into(),
            Diffserv::Diffserv3 => [0, 4, 2].map(|shift| (shifted(rate, shift), 1024 >> shift)).into(),
            Diffserv::Diffserv4 => [0, 4, 1, 2].map(|shift| (shifted(rate, shift), 1024 >> shift)).into(),
            Diffserv::Precedence | Diffserv::Diffserv8 => {
                let next =
                    |share: &(Option<Rate>, u64)| Some((share.0.map(less_by_an_eighth), share.1 * 7 / 8));
                core::iter::successors(Some((rate, 256)), next).take(MAX_TINS).collect()
            }
        };
        shares.into_iter().map(|(share, weight)| TinParams::new(share, weight, rtt)).collect()
    }
}

fn shifted(rate: Option<Rate>, shift: u32) -> Option<Rate> {
    rate.map(|rate| Rate::from_bits_per_second(rate.as_bits_per_second() >> shift))
}

fn less_by_an_eighth(rate: Rate) -> Rate {
    let bits = rate.as_bits_per_second();
    Rate::from_bits_per_second(bits - bits.div_ceil(8))
}

const fn tin_of_3(code: u8) -> usize {
    match code {
        dscp::LE | dscp::CS1 => 1,
        dscp::TOS_DELAY | dscp::VA | dscp::EF | dscp::CS6 | dscp::CS7 => 2,
        _ => 0,
    }
}

const fn tin_of_4(code: u8) -> usize {
    match code {
        dscp::LE | dscp::CS1 => 1,
        dscp::TOS_DELAY | dscp::CS2 | dscp::AF21 | dscp::AF22 | dscp::AF23 => 2,
        dscp::CS3 | dscp::AF31 | dscp::AF32 | dscp::AF33 | dscp::AF41 | dscp::AF42 | dscp::AF43 => 2,
        dscp::CS4 | dscp::CS5 | dscp::VA | dscp::EF | dscp::CS6 | dscp::CS7 => 3,
        _ => 0,
    }
}

const fn tin_of_8(code: u8) -> usize {
    match code {
        dscp::LE => 0,
        dscp::CS1 | dscp::TOS_THROUGHPUT | dscp::AF11 | dscp::AF12 | dscp::AF13 => 1,
        dscp::CS3 | dscp::AF31 | dscp::AF32 | dscp::AF33 | dscp::AF41 | dscp::AF42 | dscp::AF43 => 3,
        dscp::TOS_DELAY | dscp::AF21 | dscp::AF22 | dscp::AF23 => 4,
        dscp::CS2 => 5,
        dscp::CS4 | dscp::CS5 | dscp::VA | dscp::EF => 6,
        dscp::CS6 | dscp::CS7 => 7,
        _ => 2,
    }
}

/// Bounds of a quantum, and the part of a second's bytes used between them. Source: `sch_cake`.
const MIN_QUANTUM: u64 = 300;
const QUANTUM_SHIFT: u32 = 12;
/// The target is the RTT divided by this. Source: `tc-cake(8)`, RFC 8289 section 4.3.
const TARGETS_IN_RTT: u64 = 20;

impl TinParams {
    fn new(rate: Option<Rate>, weight: u64, rtt: Duration) -> Self {
        let usual = rtt / TARGETS_IN_RTT;
        let packet_time = Pace::of(rate).time(FULL_PACKET);
        let target = (packet_time * 3 / 2).max(usual);
        let interval = (rtt + target - usual).max(target * 2);
        let full = FULL_PACKET.get();
        let quantum = rate
            .map_or(full, |rate| ((rate.as_bits_per_second() / 8) >> QUANTUM_SHIFT).clamp(MIN_QUANTUM, full));
        TinParams { rate, target, interval, quantum: Bytes(quantum), weight }
    }
    pub(super) fn cobalt(&self) -> CobaltParams {
        let packet_time = Pace::of(self.rate).time(FULL_PACKET);
        CobaltParams { target: self.target, interval: self.interval, packet_time }
    }
}
