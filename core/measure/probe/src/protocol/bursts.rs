//! Bursts of UDP datagrams: their text in the first line of a flow, when they depart, and the
//! records of what arrived.
use super::{DATAGRAM_HEADER_BYTES, LoadHeader};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use fathom_burst::{BurstPlan, MOST_DATAGRAMS};
use fathom_units::{Duration, Rng, Time};

/// Bit of the number of an arrival that is set if it was CE.
const CE: u32 = 1 << 31;
/// Size of a record of an arrival in bytes.
pub const ARRIVAL_BYTES: usize = 12;
/// Largest datagram of a burst without the headers of UDP and IP: it fits an Ethernet frame.
pub const MOST_BURST_PAYLOAD_BYTES: u32 = 1452;
/// Most datagrams before a burst, longest time between two of them, and between two of the burst.
const MOST_BEFORE: u32 = 400;
const MOST_APART: Duration = Duration::from_secs(10);
/// Shortest time between two datagrams far apart.
const LEAST_APART: Duration = Duration::from_millis(1);
/// Datagrams are sent after a burst for at most this time: a buffer of a minute empties, and its
/// datagrams arrive.
pub const AFTER_BURST: Duration = Duration::from_secs(90);

/// The text of a burst in a first line: payload in bytes, number before, number, and two times in
/// ns.
pub(super) fn text(plan: &BurstPlan) -> String {
    let BurstPlan { payload_bytes, before, count, apart, interval, .. } = plan;
    alloc::format!("{payload_bytes},{before},{count},{},{}", apart.as_nanos(), interval.as_nanos())
}

/// Parses the text of a burst; `None` if it is malformed or beyond a limit.
pub(super) fn parse(text: &str) -> Option<BurstPlan> {
    let number =
        |word: &str| word.bytes().all(|b| b.is_ascii_digit()).then(|| word.parse::<u64>().ok()).flatten();
    let numbers: Vec<u64> = text.split(',').map(number).collect::<Option<_>>()?;
    let [payload_bytes, before, count, apart, interval] = *numbers.as_slice() else { return None };
    let small = |n: u64| u32::try_from(n).ok();
    let plan = BurstPlan {
        payload_bytes: small(payload_bytes)?,
        before: small(before)?,
        count: small(count)?,
        apart: Duration::from_nanos(apart),
        interval: Duration::from_nanos(interval),
        ..BurstPlan::default()
    };
    let is_allowed = (DATAGRAM_HEADER_BYTES as u32..=MOST_BURST_PAYLOAD_BYTES).contains(&plan.payload_bytes)
        && plan.before <= MOST_BEFORE
        && (1..=MOST_DATAGRAMS).contains(&plan.count)
        && (LEAST_APART..=MOST_APART).contains(&plan.apart)
        && plan.interval <= MOST_APART;
    is_allowed.then_some(plan)
}

/// Makes the datagrams of a burst, those before it and those after it.
#[derive(Clone, Debug)]
pub struct BurstSender {
    plan: BurstPlan,
    start: Time,
    next: u32,
    bytes: Vec<u8>,
}

impl BurstSender {
    /// Datagrams from `start` on.
    #[must_use]
    pub fn new(plan: BurstPlan, start: Time) -> Self {
        let mut bytes = vec![0; plan.payload_bytes as usize];
        // Random, so that it cannot be compressed on the path.
        let mut rng = Rng::new(1);
        bytes.iter_mut().for_each(|byte| *byte = rng.next_u64() as u8);
        BurstSender { plan, start, next: 0, bytes }
    }
    /// Number of the next datagram.
    #[must_use]
    pub const fn next_number(&self) -> u32 {
        self.next
    }
    /// When the next datagram departs; `None` at the end.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        let last = self.plan.offset(self.plan.before + self.plan.count) + AFTER_BURST;
        let offset = self.plan.offset(self.next);
        (offset <= last).then(|| self.start + offset)
    }
    /// The next datagram, sent at `now`.
    pub fn take(&mut self, now: Time) -> &[u8] {
        LoadHeader::write(self.next.into(), now, &mut self.bytes);
        self.next += 1;
        &self.bytes
    }
}

/// A datagram of a burst that arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BurstArrival {
    /// Its number.
    pub number: u32,
    /// When it arrived, in ns on the receiver's clock.
    pub received_ns: u64,
    /// Its ECN codepoint was CE.
    pub is_ce: bool,
}

impl BurstArrival {
    /// Its record.
    #[must_use]
    pub fn encode(&self) -> [u8; ARRIVAL_BYTES] {
        let mut bytes = [0; ARRIVAL_BYTES];
        let ce = if self.is_ce { CE } else { 0 };
        bytes[..4].copy_from_slice(&(self.number & !CE | ce).to_be_bytes());
        bytes[4..].copy_from_slice(&self.received_ns.to_be_bytes());
        bytes
    }
    /// Takes complete records from the start of `bytes`.
    pub fn take_all(bytes: &mut Vec<u8>) -> Vec<BurstArrival> {
        let whole = bytes.len() - bytes.len() % ARRIVAL_BYTES;
        let records = bytes.drain(..whole).collect::<Vec<u8>>();
        let decode = |record: &[u8]| {
            let (number, time) = record.split_at(4);
            let of = |digits: &[u8]| digits.iter().fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte));
            let number = of(number) as u32;
            BurstArrival { number: number & !CE, received_ns: of(time), is_ce: number & CE > 0 }
        };
        records.chunks_exact(ARRIVAL_BYTES).map(decode).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: BurstPlan = BurstPlan {
        payload_bytes: 700,
        before: 2,
        count: 3,
        apart: Duration::from_millis(20),
        interval: Duration::from_micros(100),
        echo_every: 0,
        ecn: fathom_units::Ecn::NotEct,
    };

    #[test]
    fn a_burst_survives_its_text_and_limits_are_enforced() {
        assert_eq!(text(&PLAN), "700,2,3,20000000,100000");
        assert_eq!(parse(&text(&PLAN)), Some(PLAN));
        for wrong in [
            "",
            "700,2,3,20000000",
            "700,2,3,20000000,100000,1",
            "700,2,+3,20000000,100000",
            "23,2,3,20000000,100000",
            "1453,2,3,20000000,100000",
            "700,401,3,20000000,100000",
            "700,2,0,20000000,100000",
            "700,2,16385,20000000,100000",
            "700,2,3,999999,100000",
            "700,2,3,10000000001,100000",
            "700,2,3,20000000,10000000001",
            "700,2,3,20000000,",
            "700,2,3,20000000,99999999999999999999999",
            "700,4294967298,3,20000000,100000",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn datagrams_depart_apart_then_at_once_then_apart() {
        let mut sender = BurstSender::new(PLAN, Time::from_nanos(1_000_000));
        let mut departures = Vec::new();
        while sender.next_number() < 7 {
            let due = sender.due().unwrap();
            departures.push(due.as_nanos() / 100_000);
            let number = u64::from(sender.next_number());
            let datagram = sender.take(due);
            assert_eq!(datagram.len(), 700);
            let header = LoadHeader { sequence: number, sent_ns: due.as_nanos() };
            assert_eq!(LoadHeader::decode(datagram), Some(header));
        }
        assert_eq!(departures, [10, 210, 410, 411, 412, 612, 812]);
        // Those after it end.
        let after = AFTER_BURST.as_nanos() / PLAN.apart.as_nanos();
        let all = core::iter::from_fn(|| Some(sender.take(sender.due()?).len())).count();
        assert_eq!(all as u64, after - 1);
    }

    #[test]
    fn records_are_read_in_any_parts() {
        let arrivals =
            [1, 70_000].map(|number| BurstArrival { number, received_ns: 1 << 40 | 7, is_ce: number == 1 });
        let bytes: Vec<u8> = arrivals.iter().flat_map(BurstArrival::encode).collect();
        let (mut held, mut read) = (Vec::new(), Vec::new());
        for part in bytes.chunks(5) {
            held.extend(part);
            read.extend(BurstArrival::take_all(&mut held));
        }
        assert_eq!((read.as_slice(), held.len()), (&arrivals[..], 0));
    }
}
