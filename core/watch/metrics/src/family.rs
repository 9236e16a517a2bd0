//! What is told: the names, which `/metrics` has too.

/// What a family holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// It counts values in buckets, and only grows.
    Histogram,
}

/// All series of one name.
#[derive(PartialEq, Eq, Debug)]
pub struct Family {
    /// Without the `_total` of a counter.
    pub name: &'static str,
    /// For people.
    pub help: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// The base unit; empty for counts.
    pub unit: &'static str,
}

impl Family {
    /// Round trips.
    pub const RTT: Family = Family {
        name: "fathom_rtt_seconds",
        help: "Time from sending a probe to its answer, late answers included.",
        kind: Kind::Histogram,
        unit: "seconds",
    };
    /// The newest round trip, for `/metrics` alone: pushed points are of all probes since the point before.
    pub const LAST_RTT: Family = gauge(
        "fathom_last_rtt_seconds",
        "The newest round-trip time; left out while the newest probe is not answered.",
        "seconds",
    );
    /// Outcomes of probes.
    pub const PROBES: Family = counter(
        "fathom_probes",
        "Probes by outcome: answered in time, answered late, lost, or failed to be sent.",
    );
    /// Answers that came twice.
    pub const DUPLICATES: Family = counter("fathom_duplicate_answers", "Answers that came again.");
    /// Answers that were not in order.
    pub const REORDERED: Family =
        counter("fathom_reordered_answers", "Answers that overtook one of an earlier probe.");
    /// Alerts, for `/metrics` alone.
    pub const ALERT_ACTIVE: Family = gauge(
        "fathom_alert_active",
        "1 for each alert that is raised or flapping; left out while it is not.",
        "",
    );
    /// What this host receives.
    pub const RECEIVED: Family = gauge(
        "fathom_host_received_bits_per_second",
        "What an interface of the probing host received: the mean since the point before, or of the last 15 s.",
        "bits_per_second",
    );
    /// What this host sends.
    pub const SENT: Family = gauge(
        "fathom_host_sent_bits_per_second",
        "What an interface of the probing host sent: the mean since the point before, or of the last 15 s.",
        "bits_per_second",
    );
    /// What waits in this host.
    pub const BACKLOG: Family = gauge(
        "fathom_host_backlog_bytes",
        "The most that waited in the queue of an interface of the probing host since the point before, or in the last 15 s.",
        "bytes",
    );
    /// How late this host woke.
    pub const LATENESS: Family = gauge(
        "fathom_host_lateness_seconds",
        "The most that a probing thread woke too late since the point before, or in the last 15 s: a busy host is no bloated line.",
        "seconds",
    );
    /// The name of its series where a counter's ends in `_total`.
    pub const fn suffix(&self) -> &'static str {
        match self.kind {
            Kind::Counter => "_total",
            Kind::Gauge | Kind::Histogram => "",
        }
    }
}

const fn counter(name: &'static str, help: &'static str) -> Family {
    Family { name, help, kind: Kind::Counter, unit: "" }
}

const fn gauge(name: &'static str, help: &'static str, unit: &'static str) -> Family {
    Family { name, help, kind: Kind::Gauge, unit }
}
