//! Rates of interfaces, and rates at which packets can arrive.
use crate::facts::{Facts, Interface};
use crate::observed::Observed;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{AuditedInterface, InterfaceKind, RateSource};
use fathom_units::{Bytes, Rate};

/// Maximum rate of a host's own programs: about what one core can process. Order of magnitude.
const OWN_PROGRAMS: Rate = Rate::from_bits_per_second(10_000_000_000);

/// Rates given by the user, which cannot be read from files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KnownRates {
    /// Rate of the line beyond the interface with the default route.
    pub line: Option<Rate>,
    /// Rates of interfaces by name.
    pub interfaces: BTreeMap<String, Rate>,
}

pub(crate) struct Rates<'a> {
    facts: &'a Facts,
    known: &'a KnownRates,
    observed: Option<&'a Observed>,
}

impl<'a> Rates<'a> {
    pub(crate) const fn new(facts: &'a Facts, known: &'a KnownRates, observed: Option<&'a Observed>) -> Self {
        Rates { facts, known, observed }
    }
    pub(crate) fn line(&self) -> Option<Rate> {
        self.known.line
    }
    pub(crate) fn of(&self, interface: &Interface) -> Option<(Rate, RateSource)> {
        let given = self.known.interfaces.get(&interface.name).map(|rate| (*rate, RateSource::User));
        let shaped =
            || interface.qdiscs.iter().find(|q| q.is_root())?.rate.map(|rate| (rate, RateSource::Shaper));
        given
            .or_else(shaped)
            .or_else(|| self.below(interface))
            .or_else(|| self.of_driver(interface))
            .or_else(|| {
                self.line().filter(|_| interface.has_default_route).map(|rate| (rate, RateSource::User))
            })
            .or_else(|| self.while_packets_waited(interface))
            .filter(|(rate, _)| rate.as_bits_per_second() > 0)
    }
    /// The speeds that the drivers of tap and veth report are nominal.
    fn of_driver(&self, interface: &Interface) -> Option<(Rate, RateSource)> {
        if let Some(bitrate) = interface.bitrate {
            // Preambles, acknowledgments and contention take the rest. Order of magnitude.
            let left = Rate::from_bits_per_second(bitrate.as_bits_per_second() / 10 * 6);
            return Some((left, RateSource::WifiBitrate));
        }
        if !matches!(interface.kind, InterfaceKind::Tap | InterfaceKind::Veth) {
            return interface.speed.map(|rate| (rate, RateSource::Link));
        }
        let cards = self.facts.up().filter(|other| other.has_ring());
        let fastest =
            cards.filter_map(|card| self.known.interfaces.get(&card.name).copied().or(card.speed)).max();
        fastest.map(|rate| (rate, RateSource::FastestCard))
    }
    /// A tunnel is as fast as the line below it; the speed that its driver reports is nominal.
    fn below(&self, interface: &Interface) -> Option<(Rate, RateSource)> {
        if !matches!(interface.kind, InterfaceKind::Tun | InterfaceKind::Wireguard | InterfaceKind::Ppp) {
            return None;
        }
        let is_under = |other: &&Interface| other.has_default_route && other.name != interface.name;
        let under = self.facts.up().find(is_under).and_then(|other| self.of_link(other));
        self.line().or(under).map(|rate| (rate, RateSource::Underlay))
    }
    fn of_link(&self, interface: &Interface) -> Option<Rate> {
        let own = self.known.interfaces.get(&interface.name).copied();
        own.or_else(|| {
            self.of_driver(interface)
                .filter(|(_, source)| *source != RateSource::FastestCard)
                .map(|(rate, _)| rate)
        })
    }
    fn while_packets_waited(&self, interface: &Interface) -> Option<(Rate, RateSource)> {
        let observed = self.observed?.interface(&interface.name)?;
        let waited = observed.backlog.is_some_and(|bytes| bytes > Bytes(0));
        waited.then_some((observed.rate, RateSource::Observed))
    }
    /// Highest arrival rate divided by the interface's rate. Above 1, its queue fills.
    pub(crate) fn arrival_ratio(&self, interface: &Interface) -> Option<f64> {
        let (rate, _) = self.of(interface)?;
        if self.is_line_alone(interface) {
            return Some(1.0);
        }
        let arriving = self.arriving(interface);
        let limited = match self.line() {
            // TCP sends no faster than the slowest link returns acknowledgments.
            Some(line) if interface.has_default_route && line < rate => line,
            _ => arriving,
        };
        Some(limited.as_bits_per_second() as f64 / rate.as_bits_per_second() as f64)
    }
    /// Whether this is a card of unknown speed in front of a line of known rate.
    fn is_line_alone(&self, interface: &Interface) -> bool {
        let is_known = self.known.interfaces.contains_key(&interface.name)
            || interface.qdiscs.iter().any(|q| q.rate.is_some());
        interface.has_default_route
            && interface.has_ring()
            && interface.speed.is_none()
            && !is_known
            && self.line().is_some()
    }
    /// Highest arrival rate: from other links on a router, from its programs on a host.
    fn arriving(&self, interface: &Interface) -> Rate {
        if !self.facts.host.is_forwarding {
            return OWN_PROGRAMS;
        }
        let others = self.facts.up().filter(|other| other.name != interface.name && other.has_queue());
        others.filter_map(|other| self.inward(other)).max().unwrap_or(OWN_PROGRAMS)
    }
    /// Highest rate of incoming packets, limited by the line beyond the interface.
    fn inward(&self, interface: &Interface) -> Option<Rate> {
        let (rate, _) = self.of(interface)?;
        let line = self.line().filter(|_| interface.has_default_route);
        Some(line.map_or(rate, |line| line.min(rate)))
    }
    /// Whether the queue of this interface is the bottleneck. Queues build up where packets are
    /// sent one by one: at a network card or a shaper. An interface that forwards packets to a
    /// program or another interface only builds a queue if that is known to be slow.
    pub(crate) fn is_bottleneck(&self, interface: &Interface) -> bool {
        use RateSource::{Shaper, User};
        let forwards = matches!(
            interface.kind,
            InterfaceKind::Tun
                | InterfaceKind::Tap
                | InterfaceKind::Wireguard
                | InterfaceKind::Ppp
                | InterfaceKind::Veth
        );
        let is_known = matches!(self.of(interface), Some((_, User | Shaper)));
        (is_known || !forwards) && self.arrival_ratio(interface).is_some_and(|ratio| ratio > 1.0)
    }
    pub(crate) fn fastest(&self) -> Option<Rate> {
        self.facts.up().filter(|i| !i.is_queueless()).filter_map(|i| self.of(i)).map(|(rate, _)| rate).max()
    }
    /// Rate at which packets leave the host: that of the line or of the default interface.
    pub(crate) fn default_route(&self) -> Option<Rate> {
        let link =
            || self.facts.on_default_route().and_then(|interface| self.of(interface)).map(|(rate, _)| rate);
        self.line().or_else(link)
    }
    /// Interfaces that are up and can queue packets.
    pub(crate) fn interfaces(&self) -> Vec<AuditedInterface> {
        let audited = |interface: &Interface| {
            let rate = self.of(interface);
            AuditedInterface {
                name: interface.name.clone(),
                kind: interface.kind,
                has_default_route: interface.has_default_route,
                rate_bits_per_second: rate.map(|(rate, _)| rate.as_bits_per_second()),
                rate_source: rate.map(|(_, source)| source),
                arrival_ratio: self.arrival_ratio(interface),
            }
        };
        let is_audited = |interface: &&Interface| interface.has_queue() || interface.has_default_route;
        self.facts.up().filter(is_audited).map(audited).collect()
    }
}
