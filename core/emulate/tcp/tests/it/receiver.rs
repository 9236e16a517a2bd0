//! When and what the receiver ACKs, by hand from Linux's rules, RFC 2018, 2883, 3168 and 8257.
use fathom_tcp::{Ack, Data, Receiver, ReceiverConfig};
use fathom_units::{Duration, Ecn, Time};

const MSS: u64 = 1448;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

struct Host {
    receiver: Receiver,
    now: Time,
}

impl Host {
    /// Without immediate ACKs at the start.
    fn new(config: ReceiverConfig) -> Self {
        let config = ReceiverConfig { tunes_window: false, ..config };
        let mut host = Host { receiver: Receiver::new(config), now: Time::ZERO };
        for _ in 0..16 {
            host.receive(0);
        }
        host
    }
    fn with_rtt(rtt: Duration, config: ReceiverConfig) -> Self {
        let config = ReceiverConfig { tunes_window: false, ..config };
        let mut host = Host { receiver: Receiver::new(config), now: Time::ZERO };
        host.open(rtt);
        host
    }
    fn tuning(rtt: Duration, config: ReceiverConfig) -> Self {
        let mut host = Host { receiver: Receiver::new(config), now: Time::ZERO };
        host.open(rtt);
        host
    }
    fn open(&mut self, rtt: Duration) {
        let syn =
            Data { seq: 0, len: 0, sent_at: self.now, syn: true, cwr: false, push: false, ecn: Ecn::NotEct };
        assert!(self.receiver.on_data(&syn, false, self.now).is_some_and(|ack| ack.syn));
        self.now += rtt;
    }
    fn data(&self, packet: u64) -> Data {
        Data {
            seq: packet * MSS,
            len: MSS as u32,
            sent_at: self.now,
            syn: false,
            cwr: false,
            push: false,
            ecn: Ecn::Ect0,
        }
    }
    fn receive(&mut self, packet: u64) -> Option<Ack> {
        self.receiver.on_data(&self.data(packet), false, self.now)
    }
    fn receive_marked(&mut self, packet: u64, marked: bool) -> Option<Ack> {
        self.receiver.on_data(&self.data(packet), marked, self.now)
    }
    /// Receives `first` to `last` in order, `gap` apart. Returns those that were ACKed at once.
    fn run(&mut self, first: u64, last: u64, gap: Duration) -> Vec<u64> {
        let mut acked = Vec::new();
        for packet in first..=last {
            self.now += gap;
            acked.extend(self.receive(packet).map(|_| packet));
        }
        acked
    }
}

/// Cumulative ACK and SACKs, in packets.
fn in_packets(ack: Ack) -> (u64, Vec<(u64, u64)>) {
    let packet = |offset: u32| (ack.ack + u64::from(offset)) / MSS;
    let sack = ack.sack.iter().filter(|range| range.start < range.end);
    (ack.ack / MSS, sack.map(|range| (packet(range.start), packet(range.end) - 1)).collect())
}

#[test]
fn the_first_sixteen_are_acknowledged_at_once_then_every_second() {
    let config = ReceiverConfig { tunes_window: false, ..Default::default() };
    let mut host = Host { receiver: Receiver::new(config), now: Time::ZERO };
    let at_once = host.run(0, 25, ms(1));
    assert_eq!(at_once, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 19, 21, 23, 25]);
}

/// Linux: `tcp_rcv_space_adjust` checks once per RTT how much arrived. At a record,
/// `tcp_grow_window` ACKs each segment until the window has grown, by two segments of 1460 bytes
/// each.
#[test]
fn each_segment_is_acknowledged_in_record_rounds() {
    let mut host = Host::tuning(ms(100), ReceiverConfig { quick_acks: 0, ..Default::default() });
    // From 65535 bytes to 81920: six segments.
    assert_eq!(host.run(0, 9, ms(0)), [0, 1, 2, 3, 4, 5, 7, 9]);
    host.now += ms(100);
    assert_eq!(host.run(10, 29, ms(0)), [11, 13, 15, 17, 19, 21, 23, 25, 27, 29]);
    // Packet 30 ends a round of 20 segments, 28960 bytes, above 14600. Twice that plus 16 segments
    // are 81280 bytes, plus twice that times 14360 / 14600: 241166 bytes, 55 segments above 81920.
    host.now += ms(100);
    let at_once = host.run(30, 89, ms(0));
    assert_eq!(at_once[..55], (31..=85).collect::<Vec<u64>>());
    assert_eq!(at_once[55..], [87, 89]);
}

/// Linux: `tcp_measure_rcv_mss` records PSH, and the read that empties the buffer sends the ACK.
#[test]
fn the_end_of_a_batch_is_acknowledged_at_once_unless_there_is_a_gap() {
    let mut host = Host::with_rtt(ms(20), ReceiverConfig::default());
    host.run(0, 15, ms(1));
    let pushed = Data { push: true, ..host.data(16) };
    assert_eq!(host.receiver.on_data(&pushed, false, host.now).map(in_packets), Some((17, vec![])));
    // The ACKs after the third of a gap are compressed.
    assert_eq!([18, 19, 20].map(|packet| host.receive(packet).is_some()), [true; 3]);
    let beyond = Data { push: true, ..host.data(21) };
    assert_eq!(host.receiver.on_data(&beyond, false, host.now), None);
}

#[test]
fn a_lone_segment_waits_forty_milliseconds() {
    let mut host = Host::with_rtt(ms(20), ReceiverConfig::default());
    host.run(0, 15, ms(1));
    assert_eq!(host.receive(16), None);
    assert_eq!(host.receiver.next_timer(), Some(host.now + ms(40)));
    assert_eq!(host.receiver.on_timer(host.now + ms(39)), None);
    assert_eq!(host.receiver.on_timer(host.now + ms(40)).map(in_packets), Some((17, vec![])));
    assert_eq!(host.receiver.next_timer(), None);
}

/// Half the old plus the gap: 30 ms apart, 40 ms become 50, 55, 57.5, and so on towards 60.
#[test]
fn slow_segments_wait_longer() {
    let mut host = Host::with_rtt(ms(20), ReceiverConfig::default());
    host.run(0, 15, ms(1));
    host.run(16, 29, ms(30));
    host.now += ms(30);
    assert_eq!(host.receive(30), None);
    let wait = host.receiver.next_timer().unwrap() - host.now;
    assert!((ms(59)..ms(61)).contains(&wait), "{wait}");
}

/// The sender restarts slow start.
#[test]
fn after_a_pause_all_are_acknowledged_at_once() {
    let mut host = Host::with_rtt(ms(20), ReceiverConfig::default());
    assert_eq!(host.run(0, 19, ms(1)).last(), Some(&19));
    host.now += ms(300);
    assert_eq!(host.run(20, 30, ms(1)), (20..=30).collect::<Vec<_>>());
}

#[test]
fn a_duplicate_segment_is_acknowledged_at_once() {
    let mut host = Host::with_rtt(ms(20), ReceiverConfig::default());
    host.run(0, 19, ms(1));
    let ack = host.receive(7).unwrap();
    assert!(ack.dsack && ack.ack == 20 * MSS, "{ack:?}");
    assert!(host.receive(20).is_some_and(|next| !next.dsack));
}

/// RFC 2018: the newest range first; the cumulative ACK jumps over ranges already received.
#[test]
fn sack_ranges_are_sent_newest_first() {
    let mut host = Host::new(ReceiverConfig { sack_compression: Duration::ZERO, ..Default::default() });
    let steps = [
        (2, (1, vec![(2, 2)])),
        (3, (1, vec![(2, 3)])),
        (6, (1, vec![(6, 6), (2, 3)])),
        (9, (1, vec![(9, 9), (6, 6), (2, 3)])),
        (12, (1, vec![(12, 12), (9, 9), (6, 6)])),
        (7, (1, vec![(6, 7), (12, 12), (9, 9)])),
        (8, (1, vec![(6, 9), (12, 12)])),
        (1, (4, vec![(6, 9), (12, 12)])),
        (5, (4, vec![(5, 9), (12, 12)])),
        (4, (10, vec![(12, 12)])),
        (10, (11, vec![(12, 12)])),
        (11, (13, vec![])),
    ];
    for (packet, want) in steps {
        assert_eq!(host.receive(packet).map(in_packets), Some(want), "packet {packet}");
    }
}

/// Three at once, then one for all that arrive within 1/20 of the RTT and within 1 ms.
#[test]
fn acknowledgments_with_a_gap_are_compressed() {
    let mut host = Host::with_rtt(ms(10), ReceiverConfig::default());
    host.run(0, 19, ms(1));
    let step = Duration::from_micros(100);
    assert_eq!(host.run(21, 30, step), [21, 22, 23]);
    // Packet 24 arrived 600 us before the last; the first segment 11 ms after the SYN-ACK.
    let due = host.now.saturating_sub(step * 6) + ms(11) / 20;
    assert_eq!(host.receiver.next_timer(), Some(due));
    let ack = host.receiver.on_timer(host.now).map(in_packets);
    assert_eq!(ack, Some((20, vec![(21, 30)])));
    // The gap is closed, so the ACK is sent at once.
    assert_eq!(host.receive(20).map(in_packets), Some((31, vec![])));
}

#[test]
fn every_long_gap_is_reported_without_compression() {
    let mut host = Host::new(ReceiverConfig { sack_compression: Duration::ZERO, ..Default::default() });
    assert_eq!(host.run(2, 1_000, Duration::from_micros(1)).len(), 999);
}

/// RFC 3168: the echo remains until CWR.
#[test]
fn a_mark_is_echoed_until_cwr() {
    let mut host = Host::with_rtt(ms(20), ReceiverConfig::default());
    host.run(0, 19, ms(1));
    let echoes = |ack: Option<Ack>| ack.map(|ack| ack.ece);
    // The first mark makes two ACKs immediate.
    assert_eq!(echoes(host.receive_marked(20, true)), Some(true));
    assert_eq!(echoes(host.receive_marked(21, false)), Some(true));
    assert_eq!(echoes(host.receive_marked(22, false)), None);
    assert_eq!(echoes(host.receive_marked(23, false)), Some(true));
    let reduced = Data { cwr: true, ..host.data(24) };
    assert_eq!(echoes(host.receiver.on_data(&reduced, false, host.now)), Some(false));
    // A marked segment with CWR begins the next echo.
    let both = Data { cwr: true, ..host.data(25) };
    assert_eq!(echoes(host.receiver.on_data(&both, true, host.now)), Some(true));
}

/// RFC 8257 section 3.2: a change is reported at once, after the delayed ACK with the old echo.
#[test]
fn an_exact_echo_reports_every_change() {
    let mut host = Host::with_rtt(ms(20), ReceiverConfig { exact_ecn: true, ..Default::default() });
    host.run(0, 15, ms(1));
    assert_eq!(host.receive(16), None);
    let before = host.receive_marked(17, true).unwrap();
    assert_eq!((before.ack / MSS, before.ece), (17, false));
    assert_eq!(host.receiver.next_timer(), Some(host.now));
    let after = host.receiver.on_timer(host.now).unwrap();
    assert_eq!((after.ack / MSS, after.ece), (18, true));
}
