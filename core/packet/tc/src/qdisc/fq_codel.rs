//! Fair queueing with CoDel.
use crate::attribute::{Writer, find_u32};
use core::fmt;
use fathom_units::Duration;

/// Options of `fq_codel`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FqCodel {
    /// Limit in packets.
    pub limit: Option<u32>,
    /// Number of queues; only settable at creation.
    pub flows: Option<u32>,
    /// DRR quantum in bytes.
    pub quantum: Option<u32>,
    /// Acceptable standing delay. Whole microseconds.
    pub target: Option<Duration>,
    /// How long a longer delay is tolerated. Whole microseconds.
    pub interval: Option<Duration>,
    /// Memory limit in bytes.
    pub memory: Option<u32>,
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: Option<bool>,
    /// Mark all ECN-capable packets above this delay. Whole microseconds.
    pub ce_threshold: Option<Duration>,
    /// Packets dropped per overflow.
    pub drop_batch: Option<u32>,
}

const TARGET: u16 = 1;
const LIMIT: u16 = 2;
const INTERVAL: u16 = 3;
const ECN: u16 = 4;
const FLOWS: u16 = 5;
const QUANTUM: u16 = 6;
const CE_THRESHOLD: u16 = 7;
const DROP_BATCH: u16 = 8;
const MEMORY: u16 = 9;

pub(super) fn micros(duration: Duration) -> u32 {
    u32::try_from(duration.as_nanos() / 1_000).unwrap_or(u32::MAX)
}
pub(super) fn from_micros(micros: u32) -> Duration {
    Duration::from_micros(u64::from(micros))
}

impl FqCodel {
    pub(crate) fn read(options: &[u8]) -> FqCodel {
        let number = |kind| find_u32(options, kind);
        let time = |kind| number(kind).map(from_micros);
        FqCodel {
            limit: number(LIMIT),
            flows: number(FLOWS),
            quantum: number(QUANTUM),
            target: time(TARGET),
            interval: time(INTERVAL),
            memory: number(MEMORY),
            ecn: number(ECN).map(|on| on != 0),
            ce_threshold: time(CE_THRESHOLD),
            drop_batch: number(DROP_BATCH),
        }
    }
    pub(crate) fn write(&self, to: &mut Writer) {
        to.u32(LIMIT, self.limit).u32(FLOWS, self.flows).u32(QUANTUM, self.quantum);
        to.u32(INTERVAL, self.interval.map(micros)).u32(TARGET, self.target.map(micros));
        to.flag(ECN, self.ecn).u32(CE_THRESHOLD, self.ce_threshold.map(micros));
        to.u32(MEMORY, self.memory).u32(DROP_BATCH, self.drop_batch);
    }
    pub(crate) fn write_words(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |duration: Option<Duration>| duration.map(micros);
        let words = [
            (" limit ", self.limit, ""),
            (" flows ", self.flows, ""),
            (" quantum ", self.quantum, ""),
            (" target ", time(self.target), "us"),
            (" interval ", time(self.interval), "us"),
            (" memory_limit ", self.memory, "b"),
            (" ce_threshold ", time(self.ce_threshold), "us"),
            (" drop_batch ", self.drop_batch, ""),
        ];
        for (name, value, unit) in words {
            if let Some(value) = value {
                write!(f, "{name}{value}{unit}")?;
            }
        }
        match self.ecn {
            Some(true) => f.write_str(" ecn"),
            Some(false) => f.write_str(" noecn"),
            None => Ok(()),
        }
    }
}
