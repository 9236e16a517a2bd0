//! A line as a platform can shape it: checked, with the rates that its configuration has.
use crate::Line;
use crate::platform::{Counts, Download, Limits, Platform, QueueKind};
use crate::refusal::Refusal;
use alloc::borrow::ToOwned;
use alloc::string::String;
use fathom_shape::Framing;
use fathom_units::{Duration, FULL_IP_PACKET, PerDirection, Rate};

/// Header of Ethernet, without its checksum.
const ETHERNET_HEADER: u16 = 14;
/// Overhead of an ADSL line of unknown encapsulation, as in docs/fix.md.
const UNKNOWN_OVERHEAD: u16 = 44;

/// How the configuration counts packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Counted {
    /// As the platform does by itself.
    AsIs,
    /// As the line does.
    AsLine(Framing),
    /// The platform cannot count as this line does, so the rates are lower.
    Lowered(Framing),
}

/// A shaper of a platform.
pub(crate) struct Shaper<'a> {
    pub(crate) platform: Platform,
    pub(crate) wan: &'a str,
    /// Empty where it is not needed.
    pub(crate) lan: &'a str,
    /// The requested rates.
    pub(crate) asked: PerDirection<Option<Rate>>,
    /// The rates of the configuration.
    pub(crate) up: Option<Rate>,
    pub(crate) down: Option<Rate>,
    pub(crate) counted: Counted,
    pub(crate) round_trip: Option<Duration>,
    pub(crate) queue: QueueKind,
}

impl<'a> Shaper<'a> {
    pub(crate) fn new(platform: Platform, line: &'a Line) -> Result<Self, Refusal> {
        let limits = platform.limits();
        let lan = lan(platform, &limits, line)?;
        for name in [line.wan.as_str()].into_iter().chain(lan) {
            if !limits.names.has(name) {
                let expected = limits.names.expected();
                return Err(Refusal::Name { platform, name: name.to_owned(), expected });
            }
        }
        let queue = queue(platform, &limits, line.queue)?;
        let counted = counted(limits.counts, line.framing);
        let rate =
            |asked: Option<Rate>| asked.map(|rate| allowed(platform, &limits, rate, counted)).transpose();
        Ok(Shaper {
            platform,
            wan: &line.wan,
            lan: lan.unwrap_or_default(),
            asked: line.rates,
            up: rate(line.rates.up)?,
            down: rate(line.rates.down)?,
            counted,
            round_trip: line.round_trip,
            queue,
        })
    }
    /// The overhead that the configuration counts, if it does.
    pub(crate) const fn framing(&self) -> Option<Framing> {
        match self.counted {
            Counted::AsLine(framing) => Some(framing),
            Counted::AsIs | Counted::Lowered(_) => None,
        }
    }
    /// The lower of its rates.
    pub(crate) fn slowest(&self) -> Rate {
        self.up.into_iter().chain(self.down).min().unwrap_or_default()
    }
}

/// The interface to the local network, if the download is shaped there.
fn lan<'a>(platform: Platform, limits: &Limits, line: &'a Line) -> Result<Option<&'a str>, Refusal> {
    match limits.download {
        _ if line.rates.down.is_none() => Ok(None),
        Download::AtWan => Ok(None),
        Download::AtLan => {
            let lan = line.lan.as_deref().filter(|lan| *lan != line.wan);
            lan.map(Some).ok_or(Refusal::NoLan(platform))
        }
        Download::Nowhere => Err(Refusal::Download(platform)),
    }
}

fn queue(platform: Platform, limits: &Limits, wanted: Option<QueueKind>) -> Result<QueueKind, Refusal> {
    match (wanted, limits.queues.first()) {
        (Some(wanted), _) if !limits.queues.contains(&wanted) => Err(Refusal::Queue(platform, wanted)),
        (Some(queue), _) | (None, Some(&queue)) => Ok(queue),
        (None, None) => Err(Refusal::Queue(platform, QueueKind::Short)),
    }
}

fn counted(counts: Counts, framing: Framing) -> Counted {
    if framing == Framing::default() {
        return Counted::AsIs;
    }
    // Without an overhead, a packet is what the interface sees of it.
    let usual = if framing.atm { UNKNOWN_OVERHEAD } else { ETHERNET_HEADER };
    let framing = Framing { overhead: Some(framing.overhead.unwrap_or(usual)), ..framing };
    let is_counted = match counts {
        Counts::All => true,
        Counts::UpTo(max) => offset(framing) <= i32::from(max),
        Counts::Nothing => false,
    };
    if is_counted { Counted::AsLine(framing) } else { Counted::Lowered(framing) }
}

/// Overhead in addition to an Ethernet header.
pub(crate) fn offset(framing: Framing) -> i32 {
    i32::from(framing.overhead.unwrap_or(ETHERNET_HEADER)) - i32::from(ETHERNET_HEADER)
}

/// Bytes of a full IP packet on the line.
pub(crate) fn full_packet(framing: Framing) -> u64 {
    let bytes = FULL_IP_PACKET.get() + u64::from(framing.overhead.unwrap_or(0));
    if framing.atm { bytes.div_ceil(48) * 53 } else { bytes }
}

/// The rate in the configuration: never above the requested one.
fn allowed(platform: Platform, limits: &Limits, asked: Rate, counted: Counted) -> Result<Rate, Refusal> {
    let bits = u128::from(asked.as_bits_per_second());
    let lowered = match counted {
        Counted::AsIs | Counted::AsLine(_) => bits,
        // A platform counts at least the IP packet.
        Counted::Lowered(framing) => {
            bits * u128::from(FULL_IP_PACKET.get()) / u128::from(full_packet(framing))
        }
    };
    // It is at most `asked`, so it fits.
    let lowered = u64::try_from(lowered).unwrap_or(0);
    let rate = lowered / limits.unit * limits.unit;
    if (limits.unit..=limits.max).contains(&rate) {
        return Ok(Rate::from_bits_per_second(rate));
    }
    let limits = [limits.unit, limits.max].map(Rate::from_bits_per_second);
    Err(Refusal::Rate { platform, rate: asked, limits })
}

/// `text` in whole milliseconds, rounded up.
pub(crate) const fn whole_milliseconds(time: Duration) -> u64 {
    time.as_nanos().div_ceil(1_000_000)
}

/// The letters of `name` that identifiers may have; others become `_`.
pub(crate) fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
