//! How fast each interface sends, and how much faster packets can come.
use crate::facts::{Facts, Interface, Kind};
use crate::seen::Seen;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::{Bytes, Rate};

/// What one core hands to the network, in bit/s: as much as a program can make arrive. Order of magnitude.
const OWN_PROGRAMS: Rate = Rate::from_bits_per_second(10_000_000_000);

/// What the user knows and no file says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Asked {
    /// The line behind the way out.
    pub line: Option<Rate>,
    /// Rates of interfaces.
    pub own: BTreeMap<String, Rate>,
}

/// Where a rate is from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateSource {
    /// The user says so.
    Given,
    /// A shaper on the interface.
    Shaped,
    /// The speed of the link.
    Speed,
    /// Wi-Fi: what is left of the bitrate when the waiting for the air is taken off.
    Air,
    /// What lies under the interface.
    Below,
    /// A virtual link has no rate of its own; it is taken to be as fast as the fastest card.
    Virtual,
    /// What it sent while packets waited.
    Seen,
}

impl RateSource {
    /// In words, after a rate.
    pub const fn name(self) -> &'static str {
        match self {
            RateSource::Given => "as you say",
            RateSource::Shaped => "its shaper",
            RateSource::Speed => "its link",
            RateSource::Air => "0.6 of its bitrate",
            RateSource::Below => "the line below it",
            RateSource::Virtual => "virtual: as the fastest card here",
            RateSource::Seen => "what it sent while packets waited",
        }
    }
}

/// Rates of all interfaces.
pub(crate) struct Rates<'a> {
    facts: &'a Facts,
    asked: &'a Asked,
    seen: Option<&'a Seen>,
}

impl<'a> Rates<'a> {
    pub(crate) const fn new(facts: &'a Facts, asked: &'a Asked, seen: Option<&'a Seen>) -> Self {
        Rates { facts, asked, seen }
    }
    pub(crate) fn line(&self) -> Option<Rate> {
        self.asked.line
    }
    /// How fast it sends, and who says so.
    pub(crate) fn of(&self, interface: &Interface) -> Option<(Rate, RateSource)> {
        let given = self.asked.own.get(&interface.name).map(|rate| (*rate, RateSource::Given));
        let shaped =
            || interface.qdiscs.iter().find(|q| q.is_root())?.rate.map(|rate| (rate, RateSource::Shaped));
        given
            .or_else(shaped)
            .or_else(|| self.below(interface))
            .or_else(|| self.of_driver(interface))
            .or_else(|| self.line().filter(|_| interface.is_way_out).map(|rate| (rate, RateSource::Given)))
            .or_else(|| self.while_packets_waited(interface))
            .filter(|(rate, _)| rate.as_bits_per_second() > 0)
    }
    /// The speeds of tap and veth are made up by their drivers.
    fn of_driver(&self, interface: &Interface) -> Option<(Rate, RateSource)> {
        if let Some(bitrate) = interface.bitrate {
            // Preambles, acknowledgements and contention take the rest. Order of magnitude.
            let left = Rate::from_bits_per_second(bitrate.as_bits_per_second() / 10 * 6);
            return Some((left, RateSource::Air));
        }
        if !matches!(interface.kind, Kind::Tap | Kind::Veth) {
            return interface.speed.map(|rate| (rate, RateSource::Speed));
        }
        let cards = self.facts.up().filter(|other| other.kind.has_ring());
        let fastest = cards.filter_map(|card| self.asked.own.get(&card.name).copied().or(card.speed)).max();
        fastest.map(|rate| (rate, RateSource::Virtual))
    }
    /// A tunnel is as fast as the line that it goes through; the speed that its driver tells is made up.
    fn below(&self, interface: &Interface) -> Option<(Rate, RateSource)> {
        if !matches!(interface.kind, Kind::Tun | Kind::WireGuard | Kind::Ppp) {
            return None;
        }
        let is_under = |other: &&Interface| other.is_way_out && other.name != interface.name;
        let under = self.facts.up().find(is_under).and_then(|other| self.of_link(other));
        self.line().or(under).map(|rate| (rate, RateSource::Below))
    }
    fn of_link(&self, interface: &Interface) -> Option<Rate> {
        let own = self.asked.own.get(&interface.name).copied();
        own.or_else(|| {
            self.of_driver(interface)
                .filter(|(_, source)| *source != RateSource::Virtual)
                .map(|(rate, _)| rate)
        })
    }
    fn while_packets_waited(&self, interface: &Interface) -> Option<(Rate, RateSource)> {
        let seen = self.seen?.interface(&interface.name)?;
        let waited = seen.backlog.is_some_and(|bytes| bytes > Bytes(0));
        waited.then_some((seen.rate, RateSource::Seen))
    }
    /// What arrives at most, over what it sends: above 1 its queue is the one that fills.
    pub(crate) fn mismatch(&self, interface: &Interface) -> Option<f64> {
        let (rate, _) = self.of(interface)?;
        if self.is_line_alone(interface) {
            return Some(1.0);
        }
        let arriving = self.arriving(interface);
        let limited = match self.line() {
            // TCP sends no faster than the slowest link lets its acknowledgements come back.
            Some(line) if interface.is_way_out && line < rate => line,
            _ => arriving,
        };
        Some(limited.as_bits_per_second() as f64 / rate.as_bits_per_second() as f64)
    }
    /// A card of unknown speed, before a line of which the user told: one of both is slower, and no file tells which.
    fn is_line_alone(&self, interface: &Interface) -> bool {
        let is_told =
            self.asked.own.contains_key(&interface.name) || interface.qdiscs.iter().any(|q| q.rate.is_some());
        interface.is_way_out
            && interface.kind.has_ring()
            && interface.speed.is_none()
            && !is_told
            && self.line().is_some()
    }
    /// A router's packets come from its other links, a host's from its programs.
    fn arriving(&self, interface: &Interface) -> Rate {
        if !self.facts.host.is_forwarding {
            return OWN_PROGRAMS;
        }
        let others = self.facts.up().filter(|other| other.name != interface.name && other.has_queue());
        others.filter_map(|other| self.inward(other)).max().unwrap_or(OWN_PROGRAMS)
    }
    /// What comes in through an interface: no more than the line behind it has.
    fn inward(&self, interface: &Interface) -> Option<Rate> {
        let (rate, _) = self.of(interface)?;
        let line = self.line().filter(|_| interface.is_way_out);
        Some(line.map_or(rate, |line| line.min(rate)))
    }
    /// Its queue stands where packets are sent one by one: on a card, or behind a shaper. What hands packets to a program or to a
    /// link below fills only if that is slow.
    pub(crate) fn is_bottleneck(&self, interface: &Interface) -> bool {
        use RateSource::{Given, Shaped};
        let hands_on =
            matches!(interface.kind, Kind::Tun | Kind::Tap | Kind::WireGuard | Kind::Ppp | Kind::Veth);
        let is_told = matches!(self.of(interface), Some((_, Given | Shaped)));
        (is_told || !hands_on) && self.mismatch(interface).is_some_and(|ratio| ratio > 1.0)
    }
    /// The fastest of those that are up.
    pub(crate) fn fastest(&self) -> Option<Rate> {
        self.facts
            .up()
            .filter(|i| !i.kind.is_without_queue())
            .filter_map(|i| self.of(i))
            .map(|(rate, _)| rate)
            .max()
    }
    /// What leaves the host at last: the line, or the link of the way out.
    pub(crate) fn way_out(&self) -> Option<Rate> {
        let link = || self.facts.way_out().and_then(|interface| self.of(interface)).map(|(rate, _)| rate);
        self.line().or_else(link)
    }
}

/// An interface that carries packets, and how fast.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkRate {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// It has the default route.
    pub is_way_out: bool,
    /// Its rate, and who says so.
    pub rate: Option<(Rate, RateSource)>,
    /// How many times faster packets can come than they go.
    pub mismatch: Option<f64>,
}

/// Interfaces that carry packets and have a queue.
pub fn links(facts: &Facts, asked: &Asked, seen: Option<&Seen>) -> Vec<LinkRate> {
    let rates = Rates::new(facts, asked, seen);
    let link = |interface: &Interface| LinkRate {
        name: interface.name.clone(),
        kind: interface.kind,
        is_way_out: interface.is_way_out,
        rate: rates.of(interface),
        mismatch: rates.mismatch(interface),
    };
    facts.up().filter(|interface| interface.has_queue() || interface.is_way_out).map(link).collect()
}
