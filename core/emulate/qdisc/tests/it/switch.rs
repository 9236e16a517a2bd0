//! The ports of a switch: sharing in closed form, port rates, and a second implementation.
use crate::common::{Log, TestPacket, build, enqueue, ms, packet};
use crate::oracle::{Oracle, Queue, bytes, sent};
use crate::shapers::{Departures, serve};
use fathom_qdisc::{Qdisc, Sharing, SwitchParams};
use fathom_units::{Bytes, Rate, Rng, Time};

/// A list of all packets with their departure times, which follow from each arrival.
pub(crate) struct SwitchOracle {
    params: SwitchParams,
    ports: Vec<Queue>,
    /// When each port's packets have been sent, in 1/rate ns, in the order of [`Queue`].
    through: Vec<Vec<i128>>,
    last: Vec<i128>,
    flows: Vec<u64>,
}

impl SwitchOracle {
    pub(crate) fn new(params: SwitchParams) -> Self {
        let n = params.ports as usize;
        let (ports, through, last) = (vec![vec![]; n], vec![vec![]; n], vec![0; n]);
        SwitchOracle { params, ports, through, last, flows: vec![] }
    }
    fn port(&mut self, flow: u64) -> usize {
        if !self.flows.contains(&flow) && self.flows.len() < self.ports.len() {
            self.flows.push(flow);
        }
        let known = self.flows.iter().position(|other| *other == flow);
        known.unwrap_or((flow % self.ports.len() as u64) as usize)
    }
    fn rate(&self) -> i128 {
        i128::from(self.params.rate.as_bits_per_second())
    }
}

impl Oracle for SwitchOracle {
    fn enqueue(&mut self, packet: TestPacket, now: f64) -> Vec<String> {
        let port = self.port(packet.flow);
        let (len, memory) = (packet.len.get(), self.params.memory.get());
        let (all, own): (u64, u64) = (self.ports.iter().map(bytes).sum(), bytes(&self.ports[port]));
        let fits = match self.params.sharing {
            Sharing::Dynamic(alpha) => own as f64 / alpha < (memory - all) as f64,
            Sharing::Complete => true,
            Sharing::Static => own + len <= memory / u64::from(self.params.ports),
        };
        if !fits || all + len > memory {
            return vec![format!("drop {} overlimit", packet.name)];
        }
        // A port that is idle on arrival starts at once, otherwise after its last packet.
        let begin = self.last[port].max(now as i128 * self.rate());
        self.last[port] = begin + i128::from(len) * 8 * 1_000_000_000;
        self.through[port].push(self.last[port]);
        self.ports[port].push((packet, now));
        vec![]
    }
    fn dequeue(&mut self, now: f64) -> Vec<String> {
        let rate = self.rate();
        let sent_ns = |times: &Vec<i128>| times.first().map(|time| time / rate);
        let first = self.through.iter().filter_map(sent_ns).min().filter(|first| *first <= now as i128);
        let Some(port) =
            first.and_then(|first| self.through.iter().position(|times| sent_ns(times) == Some(first)))
        else {
            return vec!["empty".into()];
        };
        self.through[port].remove(0);
        let (packet, at) = self.ports[port].remove(0);
        vec![sent(&packet, now - at)]
    }
}

/// Bytes that each of `n` ports holds in the long run when overloaded twice with packets of `len`.
fn held(sharing: &str, n: u64, memory: u64, len: u64) -> Vec<u64> {
    let mut queue = build(&format!("switch ports 16 rate 8mbit memory {memory}b {sharing}"));
    let (mut held, mut log) = (vec![0_u64; n as usize], Log::default());
    // Each port takes 1000 bytes per millisecond; the largest queue fills within a second.
    for step in 0..4_000_000 / len {
        let now = ms(step as f64 * len as f64 / 2000.0);
        while let Some((packet, _)) = queue.dequeue(now, &mut log) {
            held[packet.flow as usize] -= packet.len.get();
        }
        for port in 0..n {
            if enqueue(&mut queue, packet(step, port, len), now) == "-" {
                held[port as usize] += len;
            }
        }
    }
    held
}

#[test]
fn overloaded_ports_share_memory_as_computed() {
    // Choudhury and Hahne: alpha B / (1 + n alpha) each; the last packet crosses the threshold.
    let memory = 1_000_000;
    for alpha in [0.125, 0.5, 1.0, 2.0, 8.0] {
        for n in [1, 2, 5, 16] {
            for len in [300, 1000] {
                let expected = alpha * memory as f64 / (1.0 + n as f64 * alpha);
                let held = held(&format!("alpha {alpha}"), n, memory, len);
                for bytes in &held {
                    // One packet more or less in the memory moves the threshold by alpha packets.
                    let allowed = len as f64 * (2.0 + alpha);
                    let off = (*bytes as f64 - expected).abs();
                    assert!(off <= allowed, "alpha {alpha}, {n} of {len}: {held:?}, expected {expected}");
                }
            }
        }
    }
}

#[test]
fn a_single_port_is_limited_by_the_sharing_mode() {
    for (sharing, share) in
        [("shared", 1.0), ("static", 1.0 / 16.0), ("alpha 1", 0.5), ("alpha 8", 8.0 / 9.0)]
    {
        let held = held(sharing, 1, 1_000_000, 1000)[0] as f64;
        assert!((held - share * 1e6).abs() <= 2000.0, "{sharing}: {held}");
    }
}

/// A million packets at an odd rate: each port keeps it to the packet, whatever the others do.
#[test]
fn each_port_keeps_its_rate() {
    let rate = Rate::from_bits_per_second(2_999_999_929);
    let mut queue = build("switch ports 3 rate 2999999929bit memory 3000000000b shared");
    let (mut out, mut log): (Departures, Log) = (vec![], Log::default());
    let packets = 200_000_u64;
    for number in 0..packets {
        for port in 0..3 {
            queue.enqueue(packet("", port, 60 + 700 * port), Time::ZERO, &mut log);
        }
        assert!(number > 0 || log.0.is_empty());
    }
    serve(&mut queue, Time::ZERO, Time::MAX, &mut out);
    for port in 0..3 {
        let bits = u128::from(packets * (60 + 700 * port) * 8);
        let exact = bits * 1_000_000_000 / u128::from(rate.as_bits_per_second());
        let last = out.iter().rfind(|(_, packet)| packet.flow == port).unwrap().0;
        assert_eq!(u128::from(last.saturating_since(Time::ZERO).as_nanos()), exact, "port {port}");
    }
}

/// With room for all, each port behaves as if it were alone.
#[test]
fn ports_do_not_wait_for_one_another() {
    for seed in 0..20 {
        let alone = |only: Option<u64>| {
            let mut queue = build("switch ports 4 rate 5mbit memory 10mb static");
            let (mut rng, mut out, mut log) = (Rng::new(seed), vec![], Log::default());
            let mut now = Time::ZERO;
            for number in 0..2000_u64 {
                let next = now + fathom_units::Duration::from_nanos(rng.below(1_000_000));
                serve(&mut queue, now, next, &mut out);
                now = next;
                let (port, len) = (rng.below(4), 60 + rng.below(1400));
                if number < 4 || only.is_none_or(|only| only == port) {
                    // The first four packets assign the ports to their hosts.
                    let port = if number < 4 { number } else { port };
                    queue.enqueue(packet(number, port, len), now, &mut log);
                }
            }
            serve(&mut queue, now, Time::MAX, &mut out);
            assert!(log.0.is_empty(), "seed {seed}: {:?}", log.0);
            out
        };
        let together = alone(None);
        for port in 0..4 {
            let of = |out: &Departures| -> Vec<(Time, String, Bytes)> {
                let own = out.iter().filter(|(_, packet)| packet.flow == port);
                own.map(|(at, packet)| (*at, packet.name.clone(), packet.len)).collect()
            };
            assert_eq!(of(&alone(Some(port))), of(&together), "seed {seed}, port {port}");
        }
    }
}
