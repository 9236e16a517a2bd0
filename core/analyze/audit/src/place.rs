//! What an audit finds.
use crate::Sum;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration};

/// One of the places where a Linux host hides packets. The numbers are those of the reports and of the documentation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "each has its name in words below")]
pub enum Spot {
    Unsent = 1,
    SendBuffer,
    ReceiveBuffer,
    SmallQueues,
    CongestionControl,
    Qdisc,
    TxQueueLen,
    QdiscLimit,
    ByteQueueLimits,
    NoByteQueueLimits,
    Ring,
    Offloads,
    RxBacklog,
    WifiQueues,
    WifiFirmware,
    Tunnel,
    WireGuard,
    Pppoe,
    Stacked,
    Ifb,
    Modem,
    Guest,
    Containers,
    FlowOffload,
    Beyond,
    Managers,
}

impl Spot {
    /// All of them, by number.
    pub const ALL: [Spot; 26] = [
        Spot::Unsent,
        Spot::SendBuffer,
        Spot::ReceiveBuffer,
        Spot::SmallQueues,
        Spot::CongestionControl,
        Spot::Qdisc,
        Spot::TxQueueLen,
        Spot::QdiscLimit,
        Spot::ByteQueueLimits,
        Spot::NoByteQueueLimits,
        Spot::Ring,
        Spot::Offloads,
        Spot::RxBacklog,
        Spot::WifiQueues,
        Spot::WifiFirmware,
        Spot::Tunnel,
        Spot::WireGuard,
        Spot::Pppoe,
        Spot::Stacked,
        Spot::Ifb,
        Spot::Modem,
        Spot::Guest,
        Spot::Containers,
        Spot::FlowOffload,
        Spot::Beyond,
        Spot::Managers,
    ];
    /// Its number, from 1 to 26.
    pub const fn number(self) -> u8 {
        self as u8
    }
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Spot::Unsent => "unsent data of programs",
            Spot::SendBuffer => "TCP's send buffer",
            Spot::ReceiveBuffer => "TCP's receive buffer",
            Spot::SmallQueues => "TCP small queues",
            Spot::CongestionControl => "congestion control and pacing",
            Spot::Qdisc => "queue discipline",
            Spot::TxQueueLen => "txqueuelen",
            Spot::QdiscLimit => "limit of the queue discipline",
            Spot::ByteQueueLimits => "byte queue limits of the driver",
            Spot::NoByteQueueLimits => "driver without byte queue limits",
            Spot::Ring => "ring of the network card",
            Spot::Offloads => "super-packets and coalescing",
            Spot::RxBacklog => "receive backlog",
            Spot::WifiQueues => "Wi-Fi queues",
            Spot::WifiFirmware => "Wi-Fi firmware",
            Spot::Tunnel => "tunnel of a program",
            Spot::WireGuard => "WireGuard",
            Spot::Pppoe => "PPP",
            Spot::Stacked => "stacked interfaces",
            Spot::Ifb => "ifb",
            Spot::Modem => "USB or mobile modem",
            Spot::Guest => "virtual machine",
            Spot::Containers => "containers",
            Spot::FlowOffload => "flow offload",
            Spot::Beyond => "modem or access point beyond",
            Spot::Managers => "programs that set queues",
        }
    }
}

/// How much it matters, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// No problem.
    Quiet,
    /// Long, but not in front of the slowest link: it shows when that changes.
    Dark,
    /// Nothing can be read about it: to be measured.
    Unknown,
    /// In front of a slow link, and long enough to be felt.
    Bad,
}

/// What a place holds at worst.
#[derive(Clone, PartialEq, Debug)]
pub struct Worst {
    /// Of full packets, or of bytes.
    pub sum: Sum,
    /// The same places filled with super-packets of 64 KiB.
    pub super_packets: Option<Sum>,
}

impl Worst {
    pub(crate) fn times(self, count: u64) -> Worst {
        Worst { sum: self.sum.times(count), super_packets: self.super_packets.map(|sum| sum.times(count)) }
    }
}

/// One place of one object.
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    /// Which place.
    pub spot: Spot,
    /// Interface, or none for the host as a whole.
    pub object: Option<String>,
    /// What there is, in words: kind, limits.
    pub what: String,
    /// What it holds at worst; none if it holds nothing or nobody knows.
    pub worst: Option<Worst>,
    /// What a packet waits without any bytes: timers, pacing.
    pub timer: Option<Duration>,
    /// Most bytes seen in it while the host was watched; none if it was not, or cannot be seen.
    pub seen: Option<Bytes>,
    /// The same as time, at the rate of the worst case.
    pub seen_delay: Option<Duration>,
    /// How many times faster packets can come than go; none where that is not the question.
    pub mismatch: Option<f64>,
    /// How much it matters.
    pub level: Level,
    /// Why, or who would feel it.
    pub why: String,
    /// What to do about it: commands of which each is safe to run again, or words.
    pub fix: Vec<String>,
    /// What takes the commands back.
    pub undo: Vec<String>,
}

impl Place {
    pub(crate) fn new(spot: Spot, object: Option<&str>, what: impl Into<String>) -> Place {
        Place {
            spot,
            object: object.map(Into::into),
            what: what.into(),
            worst: None,
            timer: None,
            seen: None,
            seen_delay: None,
            mismatch: None,
            level: Level::Quiet,
            why: String::new(),
            fix: Vec::new(),
            undo: Vec::new(),
        }
    }
    pub(crate) fn level(self, level: Level) -> Place {
        Place { level, ..self }
    }
    pub(crate) fn why(self, why: impl Into<String>) -> Place {
        Place { why: why.into(), ..self }
    }
    pub(crate) fn holds(self, worst: Option<Worst>) -> Place {
        Place { worst, ..self }
    }
    pub(crate) fn fix(mut self, fix: impl Into<String>, undo: impl Into<String>) -> Place {
        let (fix, undo) = (fix.into(), undo.into());
        self.fix.extend((!fix.is_empty()).then_some(fix));
        self.undo.extend((!undo.is_empty()).then_some(undo));
        self
    }
    /// Adds what was seen.
    pub(crate) fn seen(mut self, bytes: Option<Bytes>) -> Place {
        self.seen = bytes;
        let rate = self.worst.as_ref().map(|worst| worst.sum.rate());
        self.seen_delay = bytes.zip(rate).map(|(bytes, rate)| rate.serialization_time(bytes));
        self
    }
    /// The delay by which it is ranked: the worst case of full packets, or its timer.
    pub fn delay(&self) -> Duration {
        let worst = self.worst.as_ref().map(|worst| worst.sum.delay());
        worst.max(self.timer).unwrap_or(Duration::ZERO)
    }
}
