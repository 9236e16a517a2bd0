//! Observations under load: the maximum of each queue over many samples.
use crate::Tree;
use crate::facts::{Reply, qdiscs, softnet, tcp_queues, unsent};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use fathom_units::{Bytes, Duration, Rate, Time};

/// Over a shorter time, counter differences are too coarse for a rate.
const MIN_SPAN: Duration = Duration::from_millis(200);

/// Maximum backlog of each queue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Observed {
    interfaces: BTreeMap<String, ObservedInterface>,
    /// Maximum of a TCP socket: unacknowledged or unsent bytes.
    pub(crate) unacknowledged: Bytes,
    /// Maximum of a TCP socket: written but unsent bytes; `None` if not reported by the kernel.
    pub(crate) unsent: Option<Bytes>,
    /// Maximum of a TCP socket: bytes received but not read by the program.
    pub(crate) unread: Bytes,
    /// Packets dropped from the receive backlog during the observation.
    pub(crate) backlog_drops: u64,
    first_drops: Option<u64>,
    /// Number of samples.
    pub samples: u64,
    /// Time from the first to the last sample.
    pub span: Duration,
    first: Option<Time>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ObservedInterface {
    /// In the driver and the card, sum of all transmit queues.
    pub(crate) inflight: Option<Bytes>,
    /// In all queue disciplines of the interface.
    pub(crate) backlog: Option<Bytes>,
    /// In the mac80211 queues.
    pub(crate) wifi_backlog: Option<Bytes>,
    /// Maximum transmit rate.
    pub(crate) rate: Rate,
    last: Option<(Time, u64)>,
}

impl Observed {
    /// Adds a sample.
    pub fn add(&mut self, tree: &Tree, now: Time) {
        self.samples += 1;
        let first = *self.first.get_or_insert(now);
        self.span = now.saturating_since(first);
        for name in tree.entries("sys/class/net") {
            self.interfaces.entry(name.to_string()).or_default().add(tree, name, now);
        }
        let mut backlogs: BTreeMap<String, u64> = BTreeMap::new();
        for qdisc in qdiscs(tree) {
            let sum = backlogs.entry(qdisc.interface.clone()).or_default();
            *sum = sum.saturating_add(if qdisc.has_children { 0 } else { qdisc.backlog.0 });
        }
        for (name, backlog) in backlogs {
            let maximum = &mut self.interfaces.entry(name).or_default().backlog;
            *maximum = (*maximum).max(Some(Bytes(backlog)));
        }
        let (unacknowledged, unread) = tcp_queues(tree);
        self.unacknowledged = self.unacknowledged.max(unacknowledged);
        self.unread = self.unread.max(unread);
        self.unsent = self.unsent.max(unsent(tree));
        let drops = softnet(tree).drops;
        self.backlog_drops = drops.saturating_sub(*self.first_drops.get_or_insert(drops));
    }
    pub(crate) fn interface(&self, name: &str) -> Option<&ObservedInterface> {
        self.interfaces.get(name).filter(|_| self.samples > 0)
    }
}

impl ObservedInterface {
    fn add(&mut self, tree: &Tree, name: &str, now: Time) {
        let queues = ["sys/class/net/", name, "/queues"].concat();
        let inflight = tree
            .entries(&queues)
            .iter()
            .filter_map(|queue| tree.number(&[&queues, "/", queue, "/byte_queue_limits/inflight"].concat()))
            .reduce(u64::saturating_add);
        let wifi_backlog = Reply::of(tree, "wifi", name).number("backlog_bytes").map(Bytes);
        self.wifi_backlog = self.wifi_backlog.max(wifi_backlog);
        self.inflight = self.inflight.max(inflight.map(Bytes));
        if let Some(sent) = tree.number(&["sys/class/net/", name, "/statistics/tx_bytes"].concat()) {
            self.count(sent, now);
        }
    }
    fn count(&mut self, sent: u64, now: Time) {
        let (since, before) = *self.last.get_or_insert((now, sent));
        let elapsed = now.saturating_since(since);
        if elapsed >= MIN_SPAN {
            self.rate = self.rate.max(Rate::from_bytes_per(Bytes(sent.saturating_sub(before)), elapsed));
            self.last = Some((now, sent));
        }
    }
}
