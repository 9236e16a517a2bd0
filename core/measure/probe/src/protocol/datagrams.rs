//! Load of UDP datagrams: their header, when they depart, and what arrives.
use alloc::vec;
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Ecn, Rate, Rng, Time};
use serde::{Deserialize, Serialize};

/// Header of a datagram of load in bytes. With that of UDP it is as long as that of TCP with
/// timestamps, so an IP packet carries as much payload as one of TCP.
pub const DATAGRAM_HEADER_BYTES: usize = 24;

const MAGIC: [u8; 8] = *b"FTHLOAD1";

/// Longest time that a late sender makes up for, so that it sends no long burst.
const CATCH_UP: Duration = Duration::from_millis(10);

/// Longest time whose datagrams depart together, unless the sender is late.
const BURST: Duration = Duration::from_millis(1);

/// Sequence numbers below the highest one for which it is known whether they arrived.
const WINDOW: u64 = 1024;

/// Header of a datagram of load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadHeader {
    /// Number of datagrams of the flow that were sent before.
    pub sequence: u64,
    /// When it was sent, in ns on the sender's clock.
    pub sent_ns: u64,
}

impl LoadHeader {
    /// The bytes at the start of the datagram.
    #[must_use]
    pub fn encode(&self) -> [u8; DATAGRAM_HEADER_BYTES] {
        let mut bytes = [0; DATAGRAM_HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[16..].copy_from_slice(&self.sent_ns.to_be_bytes());
        bytes
    }
    /// Writes the header of datagram `sequence` over its first bytes, of which there are enough.
    pub fn write(sequence: u64, now: Time, datagram: &mut [u8]) {
        let header = LoadHeader { sequence, sent_ns: now.as_nanos() };
        datagram[..DATAGRAM_HEADER_BYTES].copy_from_slice(&header.encode());
    }
    /// The header of a datagram; `None` if it is not load.
    #[must_use]
    pub fn decode(datagram: &[u8]) -> Option<Self> {
        let header: &[u8; DATAGRAM_HEADER_BYTES] = datagram.first_chunk()?;
        let number = |at: usize| u64::from_be_bytes(core::array::from_fn(|i| header[at + i]));
        (header[..8] == MAGIC).then(|| LoadHeader { sequence: number(8), sent_ns: number(16) })
    }
}

/// Makes the datagrams of a flow: they depart evenly, at the rate of their payload.
#[derive(Clone, Debug)]
pub struct LoadSender {
    rate: Rate,
    /// From here on, `sent` datagrams departed.
    start: Time,
    sent: u64,
    sequence: u64,
    bytes: Vec<u8>,
    /// Bytes of a datagram that count to the rate.
    counted: usize,
    rng: Rng,
}

impl LoadSender {
    /// Datagrams with `payload` each, from `start` on.
    #[must_use]
    pub fn new(rate: Rate, payload: Bytes, start: Time) -> Self {
        let length = DATAGRAM_HEADER_BYTES + payload.get() as usize;
        LoadSender { counted: payload.get() as usize, ..LoadSender::whole(rate, length, start) }
    }
    /// Datagrams of `length` bytes of another protocol, which count with their header.
    #[must_use]
    pub fn whole(rate: Rate, length: usize, start: Time) -> Self {
        let bytes = vec![0; length];
        LoadSender { rate, start, sent: 0, sequence: 0, bytes, counted: length, rng: Rng::new(1) }
    }
    /// Bytes of a datagram that count to the rate.
    #[must_use]
    pub const fn payload_bytes(&self) -> usize {
        self.counted
    }
    /// When a sender that waits from `now` on wakes: what is due within a millisecond departs
    /// together, so that it wakes seldom and its bursts stay short.
    #[must_use]
    pub fn wake(&self, now: Time) -> Time {
        if self.due() <= now { now } else { self.due().max(now + BURST) }
    }
    /// When the next datagram departs.
    #[must_use]
    pub fn due(&self) -> Time {
        let before = self.sent.saturating_mul(self.payload_bytes() as u64);
        self.start + self.rate.serialization_time(Bytes(before))
    }
    /// The datagram to send at `now`, if one is due. What is later than 10 ms is left out.
    pub fn take(&mut self, now: Time) -> Option<&[u8]> {
        self.take_with(now, LoadHeader::write)
    }
    /// As [`LoadSender::take`], with a header that `head` writes over the first bytes.
    pub fn take_with(&mut self, now: Time, head: impl FnOnce(u64, Time, &mut [u8])) -> Option<&[u8]> {
        let late = now.saturating_since(self.due());
        if late > CATCH_UP {
            (self.start, self.sent) = (now.saturating_sub(CATCH_UP), 0);
        } else if self.due() > now {
            return None;
        }
        // Random, so that it cannot be compressed on the path.
        self.bytes.chunks_mut(8).for_each(|part| {
            part.copy_from_slice(&self.rng.next_u64().to_le_bytes()[..part.len()]);
        });
        head(self.sequence, now, &mut self.bytes);
        (self.sent, self.sequence) = (self.sent + 1, self.sequence + 1);
        Some(&self.bytes)
    }
}

/// What arrived of a flow of datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Reception {
    /// Datagrams, each counted once.
    pub received: u64,
    /// Those that are missing before the highest that arrived.
    pub lost: u64,
    /// Copies of datagrams that had arrived before.
    pub duplicate: u64,
    /// Those that arrived after a later one (RFC 4737 section 3.3).
    pub reordered: u64,
    /// Those of `received` that arrived with each ECN codepoint, in the order of [`Ecn::ALL`]; all
    /// 0 if that is unknown.
    #[serde(default)]
    pub ecn: [u64; 4],
}

/// Counts what arrives of a flow of datagrams.
#[derive(Clone, Debug)]
pub struct Receiver {
    counts: Reception,
    highest: Option<u64>,
    /// Whether each of the last sequence numbers arrived, at its number modulo [`WINDOW`].
    arrived: [u64; (WINDOW / 64) as usize],
}

impl Default for Receiver {
    fn default() -> Self {
        Receiver { counts: Reception::default(), highest: None, arrived: [0; (WINDOW / 64) as usize] }
    }
}

impl Receiver {
    /// Counts the arrival of a datagram, with its traffic class if that is known. One that is older
    /// than the window is a duplicate. Returns whether it is new.
    pub fn add(&mut self, sequence: u64, class: Option<u8>) -> bool {
        let age = self.highest.map_or(0, |highest| highest.saturating_sub(sequence));
        if self.highest.is_none_or(|highest| sequence > highest) {
            // Clears what the window moves over.
            let from = self.highest.map_or(0, |highest| highest + 1);
            for skipped in from.max(sequence.saturating_sub(WINDOW - 1))..sequence {
                *self.word(skipped) &= !bit(skipped);
            }
            self.highest = Some(sequence);
        } else if age >= WINDOW || *self.word(sequence) & bit(sequence) != 0 {
            self.counts.duplicate += 1;
            return false;
        } else {
            self.counts.reordered += 1;
        }
        *self.word(sequence) |= bit(sequence);
        self.counts.received += 1;
        class.into_iter().for_each(|class| self.counts.ecn[Ecn::of_class(class) as usize] += 1);
        true
    }
    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> Reception {
        let sent = self.highest.map_or(0, |highest| highest.saturating_add(1));
        Reception { lost: sent.saturating_sub(self.counts.received), ..self.counts }
    }
    fn word(&mut self, sequence: u64) -> &mut u64 {
        &mut self.arrived[(sequence % WINDOW / 64) as usize]
    }
}

const fn bit(sequence: u64) -> u64 {
    1 << (sequence % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_the_wire_and_other_bytes_are_no_load() {
        let header = LoadHeader { sequence: 7, sent_ns: u64::MAX };
        let mut datagram = header.encode().to_vec();
        assert_eq!(LoadHeader::decode(&datagram[..23]), None);
        datagram.extend([9; 100]);
        assert_eq!(LoadHeader::decode(&datagram), Some(header));
        datagram[0] = b'X';
        assert_eq!(LoadHeader::decode(&datagram), None);
    }

    #[test]
    fn datagrams_depart_evenly_and_a_late_sender_sends_no_long_burst() {
        // 1,250 bytes at 10 Mbit/s: one per ms.
        let ms = |ms: u64| Time::from_nanos(1_000_000 * ms);
        let mut sender = LoadSender::new(Rate::from_bits_per_second(10_000_000), Bytes(1_250), ms(5));
        let mut take = |now| {
            let mut count = 0;
            while let Some(datagram) = sender.take(now) {
                assert_eq!(datagram.len(), 1_274);
                count += 1;
            }
            (count, sender.due())
        };
        assert_eq!((take(ms(4)), take(ms(5))), ((0, ms(5)), (1, ms(6))));
        assert_eq!(take(ms(9)), (4, ms(10)));
        // A second later, what was due in the last 10 ms is sent, with both ends.
        assert_eq!(take(ms(1_009)), (11, ms(1_010)));
        let last = LoadHeader { sequence: 16, sent_ns: 1_020_000_000 };
        assert_eq!(sender.take(ms(1_020)).and_then(LoadHeader::decode), Some(last));
        // It waits at least a millisecond, unless something is due.
        let half = Duration::from_micros(500);
        let wakes = [ms(1_010), ms(1_010) + half, ms(1_030)].map(|now| sender.wake(now));
        assert_eq!(wakes, [ms(1_011), ms(1_011) + half, ms(1_030)]);
    }

    #[test]
    fn what_is_missing_doubled_and_late_is_counted() {
        let mut receiver = Receiver::default();
        for (sequence, class) in
            [(0, Some(2)), (1, Some(0xbb)), (4, Some(3)), (4, Some(2)), (2, Some(0)), (5, None)]
        {
            receiver.add(sequence, class);
        }
        let counts = Reception { received: 5, lost: 1, duplicate: 1, reordered: 1, ecn: [1, 0, 1, 2] };
        assert_eq!(receiver.counts(), counts);
        // Far ahead, the window holds nothing of what was before.
        receiver.add(5_000, None);
        assert!(!receiver.add(3, None) && receiver.add(4_999, None) && !receiver.add(5_000, None));
        let all = Reception { received: 7, lost: 4_994, duplicate: 3, reordered: 2, ..counts };
        assert_eq!(receiver.counts(), all);
        assert!(receiver.add(u64::MAX, None) && !receiver.add(u64::MAX, None));
    }
}
