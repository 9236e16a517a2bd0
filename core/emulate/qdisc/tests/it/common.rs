//! A packet and a sink for tests.
use fathom_qdisc::{AnyQdisc, DropReason, Ecn, End, MarkReason, Packet, PureAck, Qdisc, Sink, Spec};
use fathom_queue::conformance::{Call, calls};
use fathom_units::{Bytes, Duration, Time};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TestPacket {
    pub(crate) name: String,
    pub(crate) flow: u64,
    pub(crate) len: Bytes,
    pub(crate) ecn: Ecn,
    pub(crate) header: Header,
}

/// Fields that only some disciplines use.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Header {
    pub(crate) dscp: u8,
    /// `None`: the same as the size on the wire.
    pub(crate) ip_len: Option<Bytes>,
    /// Source and destination; `None`: each flow has its own hosts.
    pub(crate) hosts: Option<[u64; 2]>,
    pub(crate) ack: Option<PureAck>,
}

impl Packet for TestPacket {
    fn len(&self) -> Bytes {
        self.len
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        assert_ne!(self.ecn, Ecn::NotEct, "{self:?} cannot be marked");
        self.ecn = Ecn::Ce;
    }
    /// The flow number itself, so that a test chooses the queue.
    fn flow_hash(&self, _salt: u64) -> u64 {
        self.flow
    }
    fn host_hash(&self, end: End, _salt: u64) -> u64 {
        self.header.hosts.map_or(self.flow, |hosts| hosts[end as usize])
    }
    fn ip_len(&self) -> Bytes {
        self.header.ip_len.unwrap_or(self.len)
    }
    fn dscp(&self) -> u8 {
        self.header.dscp
    }
    fn set_dscp(&mut self, dscp: u8) {
        self.header.dscp = dscp;
    }
    fn pure_ack(&self) -> Option<PureAck> {
        self.header.ack
    }
}

pub(crate) fn packet(name: impl ToString, flow: u64, len: u64) -> TestPacket {
    TestPacket { name: name.to_string(), flow, len: Bytes(len), ecn: Ecn::NotEct, header: Header::default() }
}

/// What a call did, as text: `drop b aqm`, `mark c`, `mark c threshold`, `send a 5ms`.
#[derive(Default, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Log(pub(crate) Vec<String>);

impl Sink<TestPacket> for Log {
    fn dropped(&mut self, packet: TestPacket, reason: DropReason, _sojourn: Duration, _now: Time) {
        let reason = match reason {
            DropReason::Overlimit => "overlimit",
            DropReason::Aqm => "aqm",
            DropReason::AckFilter => "ack filter",
            DropReason::Expired => "expired",
            DropReason::Oversize => "oversize",
        };
        self.0.push(format!("drop {} {reason}", packet.name));
    }
    fn marked(&mut self, packet: &TestPacket, reason: MarkReason, _now: Time) {
        assert_eq!(packet.ecn, Ecn::Ce);
        let reason = match reason {
            MarkReason::Aqm => "",
            MarkReason::Threshold => " threshold",
        };
        self.0.push(format!("mark {}{reason}", packet.name));
    }
}

pub(crate) fn build(spec: &str) -> AnyQdisc<TestPacket> {
    spec.parse::<Spec>().unwrap_or_else(|error| panic!("{spec}: {error}")).build(1)
}

pub(crate) fn ms(ms: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(ms / 1e3)
}

/// Dequeues and describes what happened, the sent packet last; `empty` if none was sent.
pub(crate) fn dequeue(queue: &mut impl Qdisc<TestPacket>, now: Time) -> String {
    let mut log = Log::default();
    let sent = queue.dequeue(now, &mut log);
    log.0.push(match sent {
        Some((packet, sojourn)) => format!("send {} {sojourn}", packet.name),
        None => "empty".to_string(),
    });
    log.0.join(", ")
}

/// Enqueues and describes what happened; `-` if nothing did.
pub(crate) fn enqueue(queue: &mut impl Qdisc<TestPacket>, packet: TestPacket, now: Time) -> String {
    let mut log = Log::default();
    queue.enqueue(packet, now, &mut log);
    if log.0.is_empty() { "-".to_string() } else { log.0.join(", ") }
}

/// One operation on a queue.
pub(crate) enum Action {
    Enqueue(TestPacket),
    Dequeue,
}

/// The calls of the conformance check.
pub(crate) fn random_actions(seed: u64, count: usize) -> Vec<(Time, Action)> {
    let action = |call| match call {
        Call::Enqueue(sent) => {
            let named = packet(sent.number, sent.flow, sent.len.get());
            Action::Enqueue(TestPacket { ecn: sent.ecn, ..named })
        }
        Call::Dequeue => Action::Dequeue,
    };
    calls(seed, count as u64).into_iter().map(|(now, call)| (now, action(call))).collect()
}

/// The disciplines that the property tests cover, with limits small enough to be reached.
pub(crate) const SPECS: &[&str] = &[
    "fifo limit 20p",
    "fifo limit 20p drop head",
    "fifo limit 12000b",
    "fifo limit 12000b drop head",
    "fifo limit 30ms",
    "codel limit 60p",
    "codel limit 60p ecn",
    "codel limit 1000p target 1ms interval 10ms",
    "codel limit 60p ecn ce_threshold 3ms",
    "codel variant linux limit 60p",
    "codel variant linux limit 60p ecn ce_threshold 3ms",
    "codel variant linux limit 1000p target 1ms interval 10ms",
    "pie limit 60p",
    "pie limit 60p ecn bytemode max_burst 1ms alpha 16",
    "pie limit 1000p dq_rate_estimator target 2ms alpha 20 max_burst 5ms",
    "pie variant linux limit 60p alpha 32 beta 32",
    "pie variant linux limit 1000p ecn dq_rate_estimator bytemode target 1ms mark_ecn_threshold 100%",
    "cake",
    "cake bandwidth 4mbit besteffort flows memlimit 30000b",
    "cake bandwidth 1mbit rtt 20ms flowblind ingress memlimit 60000b pppoe-llcsnap",
    "cake unlimited autorate-ingress hosts diffserv8 ack-filter-aggressive rtt 1ms",
    "blue limit 20p freeze 10ms",
    "blue limit 20p freeze 1ms increment 0.2 decrement 0.1 ecn",
    "sfb limit 60p",
    "sfb limit 60p target 3 max 8 increment 0.05 decrement 0.01 rehash 1s db 300ms",
    "dualpi2 limit 60p",
    "dualpi2 limit 1000p target 2ms beta 30 overflow classic_protection 0.5",
    "dualpi2 variant linux limit 60p",
    "dualpi2 variant linux limit 1000p target 2ms beta 30",
    "ebdp limit 60p",
    "ebdp limit 60p delay 10ms extra 1",
    "astar limit 60p delay 100ms",
    "red limit 60000b min 5000b max 15000b",
    "red limit 60000b min 5000b max 15000b ecn gentle adaptive probability 0.5",
    "red limit 20000b min 2000b max 15000b ecn harddrop",
    "red variant linux limit 60000b min 5000b max 15000b probability 0.2",
    "red variant linux limit 20000b min 2000b max 15000b ecn adaptive bandwidth 1mbit",
    "tbf rate 4mbit burst 2000b limit 20000b",
    "tbf rate 1mbit burst 20000b peakrate 3mbit mtu 1200b latency 100ms",
    "tbf rate 4mbit burst 1514b { fq_codel limit 30p flows 4 }",
    "tbf rate 4mbit burst 5000b { tbf rate 3mbit burst 3000b { cake bandwidth 2mbit } }",
    "htb default 1 class 1 rate 4mbit { fifo limit 20p }",
    "htb default 4 class 1 rate 4mbit class 2 parent 1 rate 1mbit ceil 3mbit match flow 0..1 { codel limit 30p } class 3 parent 1 rate 2mbit class 4 parent 3 rate 1mbit ceil 4mbit prio 1 { sfb limit 40p } class 5 parent 3 rate 1mbit match flow 2 match flow 4 { tbf rate 500kbit burst 1514b limit 20000b }",
    "htb class 1 rate 1mbit ceil 2mbit match flow 1..2 { htb default 1 class 1 rate 2mbit { fq_codel limit 20p flows 2 } }",
    "sfq limit 30p",
    "sfq limit 60p depth 10p flows 3 quantum 300b headdrop perturb 50ms",
    "fq_pie limit 60p alpha 32 beta 32",
    "fq_pie limit 1000p flows 2 quantum 300b ecn ecn_prob 100% target 1ms dq_rate_estimator bytemode",
    "fq limit 60p flow_limit 20p",
    "fq limit 1000p flow_limit 10p flows 3 quantum 300b initial_quantum 0b refill_delay 1ms",
    "drr limit 30p",
    "drr limit 30p flows 2 quantum 300b",
    "switch ports 3 rate 2mbit memory 30000b",
    "switch ports 3 rate 1000003bit memory 60000b alpha 0.25",
    "switch ports 2 rate 3mbit memory 30000b shared",
    "switch ports 8 rate 500kbit memory 60000b static",
    "rfc970 limit 30p",
    "rfc970 limit 1000p ttl 20ms",
    "fq_codel variant linux limit 50p flows 8 ce_threshold 20ms",
    "fq_codel variant linux limit 1000p flows 3 target 1ms interval 10ms noecn",
    "fq_codel limit 50p",
    "fq_codel limit 1000p memory 20000b noecn",
    "fq_codel flows 2 quantum 300b target 1ms interval 10ms noecn",
];
