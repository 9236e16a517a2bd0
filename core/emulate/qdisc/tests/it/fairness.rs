//! Flows' shares of the link when all have packets to send.
use crate::common::{TestPacket, build, dequeue, enqueue, ms, packet};
use fathom_qdisc::{AnyQdisc, Ecn, Packet, Qdisc, Sink, Spec};
use fathom_units::{Bytes, Duration, Rng, Time};

/// Bytes per flow after `count` packets; `check` runs after each. Ten packets per flow stay queued.
fn shares(spec: &str, sizes: &[&[u64]], count: usize, mut check: impl FnMut(&[u64])) -> Vec<u64> {
    let (mut queue, mut rng) = (build(spec), Rng::new(4));
    let mut bytes = vec![0; sizes.len()];
    let mut draw = |flow: usize| {
        let sizes = sizes[flow];
        packet("", flow as u64, sizes[rng.below(sizes.len() as u64) as usize])
    };
    for flow in (0..sizes.len()).flat_map(|flow| [flow; 10]) {
        assert_eq!(enqueue(&mut queue, draw(flow), ms(0.0)), "-");
    }
    let mut log = crate::common::Log::default();
    for _ in 0..count {
        let (sent, _) = queue.dequeue(ms(1.0), &mut log).unwrap();
        bytes[sent.flow as usize] += sent.len.get();
        check(&bytes);
        assert_eq!(enqueue(&mut queue, draw(sent.flow as usize), ms(1.0)), "-");
    }
    bytes
}

/// Jain's fairness index: 1 if all are equal.
fn jain(bytes: &[u64]) -> f64 {
    let sum: f64 = bytes.iter().map(|b| *b as f64).sum();
    let squares: f64 = bytes.iter().map(|b| (*b as f64).powi(2)).sum();
    sum * sum / (bytes.len() as f64 * squares)
}

const MIXED: &[&[u64]] = &[&[1514], &[60], &[60, 1514], &[300, 400, 1000], &[1000]];

/// The paper's bound: after k rounds a flow has sent k quanta, less at most one packet.
#[test]
fn drr_shares_bytes_within_a_quantum_and_a_packet_at_any_time() {
    for quantum in [256_u64, 1000, 1514, 6000] {
        let spec = format!("drr quantum {quantum}b");
        let bytes = shares(&spec, MIXED, 100_000, |bytes| {
            let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
            assert!(most - least < quantum + 1514, "{spec}: {bytes:?}");
        });
        assert!(jain(&bytes) > 0.999_999, "{spec}: {bytes:?}");
    }
}

/// These let a flow overdraw its turn. SFQ rounds small packets up by up to 7 bytes in 60.
#[test]
fn the_other_fair_queues_share_bytes_too() {
    for (spec, least) in [
        ("fq_codel", 0.999_99),
        ("fq_codel variant linux", 0.999_99),
        ("fq_pie", 0.999_99),
        ("fq", 0.999_99),
        ("sfq", 0.999),
    ] {
        let bytes = shares(spec, MIXED, 100_000, |_| {});
        assert!(jain(&bytes) > least, "{spec}: {bytes:?}");
    }
}

/// RFC 970 counts packets, so shares depend on packet size. DRR was invented to fix that.
#[test]
fn rfc_970_shares_packets() {
    let bytes = shares("rfc970", &[&[1514], &[60]], 10_000, |_| {});
    assert_eq!(bytes, [5000 * 1514, 5000 * 60]);
}

/// The finding of RFC 970: with unlimited memory and a finite time to live, a FIFO under overload
/// loses everything. Fair queueing protects a host that sends less than its share.
#[test]
fn rfc_970_keeps_a_modest_host_alive() {
    let mut queue = build("rfc970 limit 1000000p ttl 1s");
    let (mut greedy, mut modest) = (0, 0);
    for millisecond in 0..100_000_u32 {
        let now = ms(f64::from(millisecond));
        // Per millisecond two packets of one host and 0.1 of the other arrive, and one leaves.
        (0..2).for_each(|_| _ = enqueue(&mut queue, packet("g", 1, 1000), now));
        if millisecond % 10 == 0 {
            enqueue(&mut queue, packet("m", 2, 1000), now);
        }
        let result = dequeue(&mut queue, now);
        greedy += u32::from(result.contains("send g"));
        modest += u32::from(result.contains("send m"));
    }
    assert_eq!(modest, 10_000);
    assert_eq!(greedy, 90_000);
}

/// A packet with a flow hash that depends on the salt, as those of real hosts do.
struct Salted(TestPacket);

impl Packet for Salted {
    fn len(&self) -> Bytes {
        self.0.len
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow_hash(&self, salt: u64) -> u64 {
        Rng::new(self.0.flow ^ salt).next_u64()
    }
}

struct Nothing;
impl Sink<Salted> for Nothing {
    fn dropped(&mut self, packet: Salted, _: fathom_qdisc::DropReason, _: Duration, _: Time) {
        panic!("{} dropped", packet.0.name);
    }
    fn marked(&mut self, _: &Salted, _: fathom_qdisc::MarkReason, _: Time) {}
}

/// Rehashing separates flows that shared a slot, and does not reorder the packets of a flow.
#[test]
fn sfq_rehashes_and_keeps_order() {
    let mut queue: AnyQdisc<Salted> = "sfq divisor 2 perturb 1s".parse::<Spec>().unwrap().build(1);
    let (mut last, mut together) = ([0; 2], 0);
    let mut take_four = |from: &mut AnyQdisc<Salted>, now| -> Vec<u64> {
        let four = [(); 4].map(|()| from.dequeue(now, &mut Nothing).unwrap().0.0);
        for packet in &four {
            let (before, number) = (&mut last[packet.flow as usize], packet.name.parse::<u64>().unwrap());
            assert!(number > *before, "{number} after {before}");
            *before = number;
        }
        four.iter().map(|packet| packet.flow).collect()
    };
    for pair in 0..200_u64 {
        let [now, later] = [2 * pair, 2 * pair + 1].map(|second| Time::from_nanos(second * 1_000_000_000));
        for number in 1..=8 {
            let flow = u64::from(number > 4);
            queue.enqueue(Salted(packet(pair * 100 + number, flow, 1514)), now, &mut Nothing);
        }
        // In a shared slot the first four are of the first flow; otherwise two of each.
        together += u32::from(take_four(&mut queue, now) == [0; 4]);
        // The remaining packets were rehashed by then.
        take_four(&mut queue, later);
    }
    assert!((70..=130).contains(&together), "{together}");
}
