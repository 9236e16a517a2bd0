//! Metric families, shared by pushes and `/metrics`.

/// Metric type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Only increases.
    Counter,
    /// Can go up and down.
    Gauge,
    /// Cumulative counts of values in buckets.
    Histogram,
}

/// All series of one metric name.
#[derive(PartialEq, Eq, Debug)]
pub struct Family {
    /// Name without the `_total` of a counter.
    pub name: &'static str,
    /// Help text.
    pub help: &'static str,
    /// Metric type.
    pub kind: Kind,
    /// Base unit; empty for counts.
    pub unit: &'static str,
}

impl Family {
    /// Round-trip time.
    pub const RTT: Family = Family {
        name: "fathom_rtt_seconds",
        help: "Round-trip time of probes, including late answers.",
        kind: Kind::Histogram,
        unit: "seconds",
    };
    /// The latest round-trip time, in `/metrics` only: a pushed point covers all probes since the
    /// previous point.
    pub const LAST_RTT: Family = gauge(
        "fathom_last_rtt_seconds",
        "Latest round-trip time; absent while the latest probe is unanswered.",
        "seconds",
    );
    /// Probes by outcome.
    pub const PROBES: Family =
        counter("fathom_probes", "Probes by outcome: answered, late, lost or failed (not sent).");
    /// Duplicate replies.
    pub const DUPLICATES: Family = counter("fathom_duplicate_answers", "Duplicate answers.");
    /// Reordered replies.
    pub const REORDERED: Family = counter(
        "fathom_reordered_answers",
        "Reordered answers: they overtook the answer to an earlier probe.",
    );
    /// Alert states, in `/metrics` only.
    pub const ALERT_ACTIVE: Family =
        gauge("fathom_alert_active", "1 for each alert that is raised or flapping; absent otherwise.", "");
    /// Problems of the watch itself, in `/metrics` only.
    pub const OWN_TROUBLE: Family = gauge(
        "fathom_watch_trouble",
        "1 while the watch has this problem: it cannot write its history, or the clock of its host was set.",
        "",
    );
    /// Samples that are only in memory, in `/metrics` only.
    pub const UNSAVED: Family = gauge("fathom_watch_unsaved_samples", "Samples that are only in memory.", "");
    /// Dropped samples, in `/metrics` only.
    pub const DROPPED: Family = counter(
        "fathom_watch_dropped_samples",
        "Samples that were lost because the history could not be written for long.",
    );
    /// Clock steps, in `/metrics` only.
    pub const CLOCK_STEPS: Family =
        counter("fathom_watch_clock_steps", "How often the clock of the probing host was set.");
    /// Receive rate of this host.
    pub const RECEIVED: Family = gauge(
        "fathom_host_received_bits_per_second",
        "Mean receive rate of an interface of the probing host since the previous point, or over the last 15 s.",
        "bits_per_second",
    );
    /// Send rate of this host.
    pub const SENT: Family = gauge(
        "fathom_host_sent_bits_per_second",
        "Mean send rate of an interface of the probing host since the previous point, or over the last 15 s.",
        "bits_per_second",
    );
    /// Backlog of this host's queues.
    pub const BACKLOG: Family = gauge(
        "fathom_host_backlog_bytes",
        "Maximum backlog of an interface of the probing host since the previous point, or over the last 15 s.",
        "bytes",
    );
    /// Scheduling delay of this host.
    pub const LATENESS: Family = gauge(
        "fathom_host_lateness_seconds",
        "Maximum scheduling delay of a probing thread since the previous point, or over the last 15 s. High values mean a busy host, not a bloated link.",
        "seconds",
    );
    /// A router on the path to a target, in pushes only.
    pub const HOP: Family =
        gauge("fathom_hop_info", "1 for each router on the path to a target, with its public address.", "");
    /// Lag of the last test.
    pub const TEST_LAG: Family = gauge(
        "fathom_test_lag_seconds",
        "Lag when busy of a test: 90th percentile of the latency under load less the median of the idle latency.",
        "seconds",
    );
    /// Idle latency of the last test.
    pub const TEST_IDLE: Family =
        gauge("fathom_test_idle_latency_seconds", "Median of the idle latency of a test.", "seconds");
    /// Goodput of the last test.
    pub const TEST_RATE: Family =
        gauge("fathom_test_rate_bits_per_second", "Goodput of the load of a test.", "bits_per_second");
    /// Size of the buffer that the last test found.
    pub const TEST_BUFFER: Family = gauge(
        "fathom_test_buffer_bytes",
        "Size of the buffer that a test found, or the largest queue in it.",
        "bytes",
    );
    /// Suffix of the series name: `_total` for counters.
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
