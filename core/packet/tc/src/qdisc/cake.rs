//! CAKE's options. A change affects only the options that are set.
use super::fq_codel::{from_micros, micros};
use crate::attribute::{Writer, find, find_u32, find_u64};
use core::fmt;
use fathom_units::{Duration, Rate};

macro_rules! choices {
    ($(#[$about:meta])* $type:ident { $($variant:ident = $number:literal $word:literal $definition:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $type { $(#[doc = $definition] $variant = $number,)* }
        impl $type {
            /// All values.
            pub const ALL: &'static [$type] = &[$($type::$variant,)*];
            /// The keyword of `tc`.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $($type::$variant => $word,)* }
            }
            const fn from_number(number: u32) -> Option<Self> {
                match number { $($number => Some($type::$variant),)* _ => None }
            }
        }
    };
}

choices! {
    /// Number of priority tins, and the bits that select them.
    Diffserv {
        Diffserv3 = 0 "diffserv3" "Three tins by DSCP.",
        Diffserv4 = 1 "diffserv4" "Four tins by DSCP.",
        Diffserv8 = 2 "diffserv8" "Eight tins by DSCP.",
        BestEffort = 3 "besteffort" "One tin.",
        Precedence = 4 "precedence" "Eight tins by IP precedence (RFC 791).",
    }
}
choices! {
    /// Framing on the line.
    Cells {
        None = 0 "noatm" "No cells.",
        Atm = 1 "atm" "ATM: 53 bytes for 48 bytes of payload.",
        Ptm = 2 "ptm" "PTM: 65 bytes for 64 bytes of payload.",
    }
}
choices! {
    /// What the rate is shared between.
    FlowMode {
        Blind = 0 "flowblind" "One queue.",
        SourceHost = 1 "srchost" "Source hosts.",
        DestinationHost = 2 "dsthost" "Destination hosts.",
        Hosts = 3 "hosts" "Pairs of hosts.",
        Flows = 4 "flows" "Flows.",
        DualSource = 5 "dual-srchost" "Source hosts, then flows.",
        DualDestination = 6 "dual-dsthost" "Destination hosts, then flows.",
        Triple = 7 "triple-isolate" "Hosts on both sides, then flows.",
    }
}
choices! {
    /// Which redundant ACKs are dropped.
    AckFilter {
        Off = 0 "no-ack-filter" "None.",
        On = 1 "ack-filter" "Redundant ACKs, except one.",
        Aggressive = 2 "ack-filter-aggressive" "All redundant ACKs.",
    }
}

/// CAKE's options.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Cake {
    /// Shaper rate; 0 disables the shaper.
    pub rate: Option<Rate>,
    /// Priority tins.
    pub diffserv: Option<Diffserv>,
    /// Fairness.
    pub flow_mode: Option<FlowMode>,
    /// Use addresses before NAT to identify flows.
    pub nat: Option<bool>,
    /// Clear the DSCP of sent packets.
    pub wash: Option<bool>,
    /// Count dropped packets too: for a queue after the bottleneck.
    pub ingress: Option<bool>,
    /// ACK filter.
    pub ack_filter: Option<AckFilter>,
    /// Split super-packets.
    pub split_gso: Option<bool>,
    /// Round-trip time that the AQM is tuned for. Whole microseconds.
    pub rtt: Option<Duration>,
    /// Acceptable standing delay. Whole microseconds.
    pub target: Option<Duration>,
    /// Estimate the rate of the upstream link.
    pub autorate: Option<bool>,
    /// Framing.
    pub cells: Option<Cells>,
    /// Bytes on the line in addition to the IP packet.
    pub overhead: Option<i32>,
    /// Minimum packet size, in bytes.
    pub mpu: Option<u32>,
    /// Use the packet size seen by the interface, without compensation.
    pub raw: bool,
    /// Memory limit in bytes.
    pub memory: Option<u32>,
    /// Bits of the firewall mark that select the tin.
    pub mark: Option<u32>,
}

mod number {
    pub(super) const RATE: u16 = 2;
    pub(super) const DIFFSERV: u16 = 3;
    pub(super) const CELLS: u16 = 4;
    pub(super) const FLOW_MODE: u16 = 5;
    pub(super) const OVERHEAD: u16 = 6;
    pub(super) const RTT: u16 = 7;
    pub(super) const TARGET: u16 = 8;
    pub(super) const AUTORATE: u16 = 9;
    pub(super) const MEMORY: u16 = 10;
    pub(super) const NAT: u16 = 11;
    pub(super) const RAW: u16 = 12;
    pub(super) const WASH: u16 = 13;
    pub(super) const MPU: u16 = 14;
    pub(super) const INGRESS: u16 = 15;
    pub(super) const ACK_FILTER: u16 = 16;
    pub(super) const SPLIT_GSO: u16 = 17;
    pub(super) const MARK: u16 = 18;
}

impl Cake {
    pub(crate) fn read(options: &[u8]) -> Cake {
        let word = |kind| find_u32(options, kind);
        let flag = |kind| word(kind).map(|on| on != 0);
        let bytes_per_second = find_u64(options, number::RATE);
        Cake {
            rate: bytes_per_second.map(|bytes| Rate::from_bits_per_second(bytes.saturating_mul(8))),
            diffserv: word(number::DIFFSERV).and_then(Diffserv::from_number),
            flow_mode: word(number::FLOW_MODE).and_then(FlowMode::from_number),
            nat: flag(number::NAT),
            wash: flag(number::WASH),
            ingress: flag(number::INGRESS),
            ack_filter: word(number::ACK_FILTER).and_then(AckFilter::from_number),
            split_gso: flag(number::SPLIT_GSO),
            rtt: word(number::RTT).map(from_micros),
            target: word(number::TARGET).map(from_micros),
            autorate: flag(number::AUTORATE),
            cells: word(number::CELLS).and_then(Cells::from_number),
            overhead: word(number::OVERHEAD).map(u32::cast_signed),
            mpu: word(number::MPU),
            raw: find(options, number::RAW).is_some(),
            memory: word(number::MEMORY),
            mark: word(number::MARK),
        }
    }
    pub(crate) fn write(&self, to: &mut Writer) {
        to.u64(number::RATE, self.rate.map(|rate| rate.as_bits_per_second() / 8));
        to.u32(number::DIFFSERV, self.diffserv.map(|d| d as u32));
        to.u32(number::CELLS, self.cells.map(|c| c as u32));
        to.u32(number::FLOW_MODE, self.flow_mode.map(|m| m as u32));
        to.u32(number::OVERHEAD, self.overhead.map(i32::cast_unsigned)).u32(number::MPU, self.mpu);
        to.u32(number::RAW, self.raw.then_some(0));
        to.u32(number::RTT, self.rtt.map(micros)).u32(number::TARGET, self.target.map(micros));
        to.flag(number::AUTORATE, self.autorate).u32(number::MEMORY, self.memory);
        to.u32(number::MARK, self.mark).flag(number::NAT, self.nat).flag(number::WASH, self.wash);
        to.flag(number::SPLIT_GSO, self.split_gso).flag(number::INGRESS, self.ingress);
        to.u32(number::ACK_FILTER, self.ack_filter.map(|a| a as u32));
    }
    pub(crate) fn write_words(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rate {
            Some(rate) if rate == Rate::default() => f.write_str(" unlimited")?,
            Some(rate) => write!(f, " bandwidth {rate}")?,
            None => {}
        }
        let either = |on: Option<bool>, yes, no| on.map(|on| if on { yes } else { no });
        let words = [
            self.autorate.filter(|on| *on).map(|_| "autorate-ingress"),
            self.diffserv.map(Diffserv::word),
            self.flow_mode.map(FlowMode::word),
            either(self.nat, "nat", "nonat"),
            either(self.wash, "wash", "nowash"),
            either(self.ingress, "ingress", "egress"),
            self.ack_filter.map(AckFilter::word),
            either(self.split_gso, "split-gso", "no-split-gso"),
            self.raw.then_some("raw"),
            self.cells.map(Cells::word),
        ];
        for word in words.into_iter().flatten() {
            write!(f, " {word}")?;
        }
        let rtt = self.rtt.map(micros);
        if let Some(rtt) = rtt {
            write!(f, " rtt {rtt}us")?;
        }
        let numbers = [(" mpu ", self.mpu, ""), (" memlimit ", self.memory, "b")];
        if let Some(overhead) = self.overhead {
            write!(f, " overhead {overhead}")?;
        }
        for (name, value, unit) in numbers {
            if let Some(value) = value {
                write!(f, "{name}{value}{unit}")?;
            }
        }
        self.mark.map_or(Ok(()), |mark| write!(f, " fwmark {mark:#x}"))
    }
}
