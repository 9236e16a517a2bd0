//! Any of the disciplines behind one type, without a virtual call per packet.
use crate::spec::{Text, read};
use crate::{Astar, AstarParams, Blue, BlueParams, Ebdp, EbdpParams, Sfb, SfbParams};
use crate::{
    Backlog, Cake, CakeParams, Codel, CodelParams, DropReason, Fifo, FifoParams, FqCodel, FqCodelParams,
    MarkReason, Packet, Qdisc, Sink, SpecError, Stats,
};
use crate::{Drr, DrrParams, Htb, HtbParams, Rfc970, Rfc970Params, Tbf, TbfParams};
use crate::{DualPi2, DualPi2Params};
use crate::{Fq, FqParams, FqPie, FqPieParams, Sfq, SfqParams};
use crate::{Pie, PieParams, Red, RedParams, Switch, SwitchParams};
use core::fmt;
use core::str::{FromStr, SplitWhitespace};
use fathom_units::{Duration, Time};

/// Declares [`Spec`] and [`AnyQdisc`]: each discipline is made by `new(parameters, seed)`.
macro_rules! disciplines {
    ($($(#[$doc:meta])* $name:ident($params:ty);)*) => {
        /// A queue discipline and its parameters.
        ///
        /// ```text
        /// fifo limit 256p | 375000b | 100ms [drop tail | drop head]
        /// codel [variant rfc | linux] [limit 1000p] [target 5ms] [interval 100ms] [ecn | noecn] [ce_threshold <time>]
        /// fq_codel [variant rfc | linux] [limit 10240p] [flows 1024] [quantum 1514b] [target 5ms] [interval 100ms]
        ///     [memory 32mb] [ecn | noecn] [ce_threshold <time>]
        /// pie [variant rfc | linux] [limit 1000p] [target 15ms] [tupdate 15ms] [alpha 2] [beta 20] [max_burst 150ms]
        ///     [ecn | noecn] [mark_ecn_threshold 10%] [bytemode | nobytemode] [dq_rate_estimator | no_dq_rate_estimator]
        /// red [variant rfc | linux] [limit 400000b] [min <bytes>] [max <bytes>] [avpkt 1000b] [burst <packets>]
        ///     [probability 0.02] [bandwidth 10mbit] [ecn] [harddrop] [gentle] [adaptive]
        /// dualpi2 [variant rfc | linux] [limit 10000p] [target 15ms] [tupdate 15ms] [alpha 0.15] [beta 3]
        ///     [coupling_factor 2] [min_th 800us] [range 400us] [step_thresh 1ms] [classic_protection 10%]
        ///     [drop_on_overload | overflow]
        /// blue [limit 1000p] [increment 0.02] [decrement 0.002] [freeze 100ms] [ecn | noecn]
        /// sfb [limit 1000p] [max 25] [target 20] [increment 0.0005] [decrement 0.00005] [rehash 600s] [db 60s]
        ///     [penalty_rate 10] [penalty_burst 20]
        /// ebdp | astar [limit 400p] [delay 200ms] [extra 5]
        /// tbf rate <rate> burst <bytes> [peakrate <rate> mtu <bytes>] limit <bytes> | latency <time> | { <discipline> }
        /// htb [default <class>] [r2q 10] class <number> [parent <class>] rate <rate> [ceil <rate>] [burst 1600b] [cburst 1600b]
        ///     [prio 0] [quantum <bytes>] [match dscp <0..63> | flow <0..1023> | ect1] [{ <discipline> }] class ...
        /// drr [limit 1000p] [flows 1024] [quantum 1514b]
        /// rfc970 [limit 1000p] [ttl <time>]
        /// sfq [limit 127p] [depth 127p] [divisor 1024] [flows 128] [quantum 1514b] [perturb <time>] [headdrop]
        /// fq_pie [limit 10240p] [flows 1024] [quantum 1514b] [target 15ms] [tupdate 15ms] [alpha 2] [beta 20] [ecn_prob 10%]
        ///     [ecn | noecn] [bytemode | nobytemode] [dq_rate_estimator | no_dq_rate_estimator]
        /// switch ports <number> rate <rate> memory <bytes> [alpha 1 | shared | static]
        /// fq [limit 10000p] [flow_limit 100p] [flows 1024] [quantum 3028b] [initial_quantum 15140b] [refill_delay 40ms]
        /// ```
        /// Values in brackets are the defaults, as in Linux. `docs/queues.md` has all disciplines with all their words.
        /// Sizes are in tc's units (`kb` is 1024 bytes), and a number without a unit is refused. `Display` writes every
        /// parameter.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Spec { $($(#[$doc])* $name($params),)* }

        /// The names of all disciplines, in the order in which an error lists them.
        const NAMES: &[&str] = &[$(<$params>::NAME),*];

        enum Discipline<P> { $($name($name<P>),)* }

        impl Spec {
            /// The discipline of this name, its parameters read from `words`; `None` if there is none of this name.
            fn read(name: &str, words: SplitWhitespace<'_>) -> Option<Result<Spec, SpecError>> {
                $(if name == <$params>::NAME { return Some(read(words).map(Spec::$name)); })*
                None
            }
        }

        impl fmt::Display for Spec {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Spec::$name(params) => { f.write_str(<$params>::NAME)?; params.write(f) })* }
            }
        }

        impl<P: Packet> Discipline<P> {
            fn new(spec: &Spec, seed: u64) -> Self {
                match spec { $(Spec::$name(params) => Discipline::$name($name::new(params.clone(), seed)),)* }
            }
        }

        /// As [`Qdisc`], and what is held afterwards, so that the discipline is looked up once.
        impl<P: Packet> Discipline<P> {
            fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) -> Backlog {
                match self {
                    $(Discipline::$name(q) => {
                        q.enqueue(packet, now, sink);
                        q.backlog()
                    })*
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
                }
            }
            fn next_ready(&self, now: Time) -> Option<Time> {
                match self { $(Discipline::$name(q) => q.next_ready(now),)* }
            }
        }
    };
}

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
    /// Buffer sized by service time.
    Ebdp(EbdpParams);
    /// Buffer sized by service time and idle time.
    Astar(AstarParams);
    /// CAKE.
    Cake(CakeParams);
    /// A token bucket filter.
    Tbf(TbfParams);
    /// A hierarchical token bucket.
    Htb(HtbParams);
    /// Deficit round robin.
    Drr(DrrParams);
    /// Fair queueing by source host, RFC 970.
    Rfc970(Rfc970Params);
    /// Stochastic fairness queueing.
    Sfq(SfqParams);
    /// FQ-PIE.
    FqPie(FqPieParams);
    /// The scheduler of Linux's `fq`.
    Fq(FqParams);
    /// Output ports of a switch with one memory.
    Switch(SwitchParams);
}

impl Spec {
    /// An empty queue. `seed` is for disciplines that use chance, if only for the salt of a hash.
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
    /// The discipline's, which is asked for more often than it changes.
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
    /// What it has done since it was made.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
}

/// Counts on the way to the host's sink.
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
