//! All queue disciplines as one enum, dispatched without a virtual call per packet.
use crate::spec::{Text, read};
use crate::{Astar, AstarParams, Blue, BlueParams, Ebdp, EbdpParams, Sfb, SfbParams};
use crate::{
    Backlog, Cake, CakeParams, Codel, CodelParams, DropReason, Fifo, FifoParams, FqCodel, FqCodelParams,
    MarkReason, Packet, Qdisc, Sink, SpecError, Stats,
};
use crate::{Drr, DrrParams, Htb, HtbParams, Rfc970, Rfc970Params, Tbf, TbfParams};
use crate::{DualPi2, DualPi2Params};
use crate::{Fq, FqParams, FqPie, FqPieParams, Sfq, SfqParams};
use crate::{Pie, PieParams, Plugin, PluginParams, Red, RedParams, Switch, SwitchParams};
use core::fmt;
use core::str::{FromStr, SplitWhitespace};
use fathom_units::{Duration, Time};

/// Declares [`Spec`] and [`AnyQdisc`] from parameter types, which know their names and text forms.
macro_rules! disciplines {
    ($($(#[$doc:meta])* $name:ident($params:ty);)*) => {
        /// A queue discipline and its parameters.
        ///
        /// The text is the name, then parameters in any order, as in `fq_codel limit 1000p ecn`.
        /// All are in `docs/queues.md`. Sizes use tc's units (`kb` is 1024 bytes), and a number
        /// without a unit is rejected. `Display` writes every parameter.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Spec {
            $($(#[$doc])* $name($params),)*
            /// A discipline of a user. It has no text form: a program creates it.
            Plugin(PluginParams),
        }

        /// Names of all disciplines, in the order in which error messages list them.
        const NAMES: &[&str] = &[$(<$params>::NAME),*];

        enum Discipline<P> { $($name($name<P>),)* Plugin(Plugin<P>) }

        impl Spec {
            /// Parses the parameters of discipline `name`; `None` if the name is unknown.
            fn read(name: &str, words: SplitWhitespace<'_>) -> Option<Result<Spec, SpecError>> {
                $(if name == <$params>::NAME { return Some(read(words).map(Spec::$name)); })*
                None
            }
        }

        impl fmt::Display for Spec {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Spec::$name(params) => { f.write_str(<$params>::NAME)?; params.write(f) })*
                    Spec::Plugin(params) => f.write_str(params.name()),
                }
            }
        }

        impl<P: Packet> Discipline<P> {
            fn new(spec: &Spec, seed: u64) -> Self {
                match spec {
                    $(Spec::$name(params) => Discipline::$name($name::new(params.clone(), seed)),)*
                    Spec::Plugin(params) => Discipline::Plugin(Plugin::new(params.clone(), seed)),
                }
            }
        }

        /// [`Qdisc`]'s methods, returning also the new backlog, so that a call needs one match.
        impl<P: Packet> Discipline<P> {
            fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) -> Backlog {
                match self {
                    $(Discipline::$name(q) => {
                        q.enqueue(packet, now, sink);
                        q.backlog()
                    })*
                    Discipline::Plugin(q) => {
                        q.enqueue(packet, now, sink);
                        q.backlog()
                    }
                }
            }
            fn dequeue(
                &mut self,
                now: Time,
                sink: &mut impl Sink<P>,
                backlog: &mut Backlog,
            ) -> Option<(P, Duration)> {
                match self {
                    $(Discipline::$name(q) => {
                        let taken = q.dequeue(now, sink);
                        *backlog = q.backlog();
                        taken
                    })*
                    Discipline::Plugin(q) => {
                        let taken = q.dequeue(now, sink);
                        *backlog = q.backlog();
                        taken
                    }
                }
            }
            fn next_ready(&self, now: Time) -> Option<Time> {
                match self {
                    $(Discipline::$name(q) => q.next_ready(now),)*
                    Discipline::Plugin(q) => q.next_ready(now),
                }
            }
        }
    };
}

// Error messages list the names in this order.
disciplines! {
    /// First in, first out.
    Fifo(FifoParams);
    /// CoDel, RFC 8289.
    Codel(CodelParams);
    /// FQ-CoDel, RFC 8290.
    FqCodel(FqCodelParams);
    /// PIE, RFC 8033.
    Pie(PieParams);
    /// RED.
    Red(RedParams);
    /// DualPI2, RFC 9332.
    DualPi2(DualPi2Params);
    /// BLUE.
    Blue(BlueParams);
    /// Stochastic fair BLUE.
    Sfb(SfbParams);
    /// eBDP: a buffer sized by service time.
    Ebdp(EbdpParams);
    /// A*: a buffer sized by service time and idle time.
    Astar(AstarParams);
    /// CAKE.
    Cake(CakeParams);
    /// TBF: token bucket filter.
    Tbf(TbfParams);
    /// HTB: hierarchical token bucket.
    Htb(HtbParams);
    /// DRR: deficit round robin.
    Drr(DrrParams);
    /// Fair queueing by source host, RFC 970.
    Rfc970(Rfc970Params);
    /// SFQ: stochastic fairness queueing.
    Sfq(SfqParams);
    /// FQ-PIE.
    FqPie(FqPieParams);
    /// The scheduler of Linux `fq`.
    Fq(FqParams);
    /// The output ports of a switch with shared memory.
    Switch(SwitchParams);
}

impl Spec {
    /// Creates an empty queue. `seed` seeds random decisions and the salt of hashes.
    pub fn build<P: Packet>(&self, seed: u64) -> AnyQdisc<P> {
        AnyQdisc::new(self, seed)
    }
}

impl FromStr for Spec {
    type Err = SpecError;
    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or("");
        Spec::read(name, words)
            .unwrap_or_else(|| Err(SpecError::Discipline { word: name.into(), known: NAMES }))
    }
}

/// A queue discipline built from a [`Spec`], with its counters.
pub struct AnyQdisc<P> {
    discipline: Discipline<P>,
    /// Cached: it is read more often than it changes.
    backlog: Backlog,
    stats: Stats,
}

impl<P: Packet> AnyQdisc<P> {
    pub(crate) fn new(spec: &Spec, seed: u64) -> Self {
        AnyQdisc {
            discipline: Discipline::new(spec, seed),
            backlog: Backlog::default(),
            stats: Stats::default(),
        }
    }
    pub(crate) fn has_packets(&self) -> bool {
        self.backlog.packets > 0
    }
    /// The counters since the queue was created.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
}

/// Counts events and forwards them to the sink of the host.
struct Counting<'a, S> {
    stats: &'a mut Stats,
    sink: &'a mut S,
}

impl<P: Packet, S: Sink<P>> Sink<P> for Counting<'_, S> {
    fn dropped(&mut self, packet: P, reason: DropReason, sojourn: Duration, now: Time) {
        self.stats.on_drop(&packet, reason);
        self.sink.dropped(packet, reason, sojourn, now);
    }
    fn marked(&mut self, packet: &P, reason: MarkReason, now: Time) {
        self.stats.marked.add(packet.len());
        self.sink.marked(packet, reason, now);
    }
}

impl<P: Packet> Qdisc<P> for AnyQdisc<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        self.stats.arrived.add(packet.len());
        self.backlog = self.discipline.enqueue(packet, now, &mut Counting { stats: &mut self.stats, sink });
        self.stats.on_backlog(self.backlog);
    }
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        let counting = &mut Counting { stats: &mut self.stats, sink };
        let taken = self.discipline.dequeue(now, counting, &mut self.backlog);
        if let Some((packet, sojourn)) = &taken {
            self.stats.on_sent(packet, *sojourn);
        }
        taken
    }
    fn next_ready(&self, now: Time) -> Option<Time> {
        self.discipline.next_ready(now)
    }
    fn backlog(&self) -> Backlog {
        self.backlog
    }
}
