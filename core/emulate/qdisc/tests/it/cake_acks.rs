//! CAKE's ACK filter: the sender learns the same with and without it.
use crate::common::{Header, Log, TestPacket, build, packet};
use fathom_qdisc::{PureAck, Qdisc};
use fathom_units::{Rng, Time};

const SEGMENT: u32 = 1000;

/// The ACKs of a receiver that loses some segments. Each reports up to three blocks, the most
/// recently grown first, and sometimes a duplicate; ECN flags and timestamps change occasionally.
fn receiver(seed: u64, count: usize) -> Vec<PureAck> {
    let mut rng = Rng::new(seed);
    // Close to the wraparound of sequence numbers.
    let (mut ack, mut next) = (u32::MAX - 20 * SEGMENT, u32::MAX - 20 * SEGMENT);
    let mut blocks: Vec<(u32, u32)> = vec![];
    let (mut flags, mut clock) = (0, 1);
    let timestamps = rng.chance(0.5);
    (0..count)
        .map(|_| {
            flags ^= u8::from(rng.chance(0.05));
            clock += rng.below(2) as u32;
            let mut duplicate = None;
            match rng.below(10) {
                // This segment is lost and the next one arrives.
                0 => {
                    next = next.wrapping_add(2 * SEGMENT);
                    blocks.insert(0, (next.wrapping_sub(SEGMENT), next));
                    blocks.truncate(4);
                }
                // A lost segment is retransmitted.
                1 | 2 if !blocks.is_empty() => {
                    blocks.clear();
                    ack = next;
                }
                3 => duplicate = Some((ack.wrapping_sub(SEGMENT), ack)),
                _ => {
                    next = next.wrapping_add(SEGMENT);
                    match blocks.first_mut() {
                        Some(block) => block.1 = next,
                        None => ack = next,
                    }
                }
            }
            let mut sack = [(0, 0); 4];
            let reported = duplicate.into_iter().chain(blocks.iter().copied()).take(3);
            sack.iter_mut().zip(reported).for_each(|(place, block)| *place = block);
            let timestamp = timestamps.then_some(clock);
            PureAck { connection: 1, ack, ecn_flags: flags, sack, timestamp, other_options: rng.chance(0.01) }
        })
        .collect()
}

/// Sends the ACKs through the filter, with dequeues between. Returns which ones passed.
fn filtered(spec: &str, acks: &[PureAck], seed: u64) -> Vec<usize> {
    let (mut queue, mut rng, mut through) = (build(spec), Rng::new(seed), vec![]);
    for (number, ack) in acks.iter().enumerate() {
        let (header, now) = (Header { ack: Some(*ack), ..Header::default() }, number_time(number));
        queue.enqueue(TestPacket { header, ..packet(number, 1, 66) }, now, &mut Log::default());
        let some = if number % 50 > 30 { rng.below(3) } else { 0 };
        (0..some).for_each(|_| through.extend(queue.dequeue(now, &mut Log::default())));
    }
    let end = number_time(acks.len());
    through.extend(std::iter::from_fn(|| queue.dequeue(end, &mut Log::default())));
    through.iter().map(|(ack, _)| ack.name.parse().unwrap()).collect()
}

/// Close together, so that COBALT sends no signal.
fn number_time(number: usize) -> Time {
    Time::from_nanos(10_000 * number as u64)
}

fn flag_changes(flags: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut flags: Vec<u8> = flags.collect();
    flags.dedup();
    flags
}

fn blocks(ack: &PureAck) -> impl Iterator<Item = (u32, u32)> + '_ {
    ack.sack.iter().copied().filter(|(start, end)| start != end)
}
/// True if `a` is inside `b`, modulo 2^32.
fn lies_in(a: (u32, u32), b: (u32, u32)) -> bool {
    (a.0.wrapping_sub(b.0) as i32) >= 0 && (b.1.wrapping_sub(a.1) as i32) >= 0
}

#[test]
fn ack_filtering_preserves_what_the_sender_learns() {
    let mut dropped = 0;
    for filter in ["ack-filter", "ack-filter-aggressive"] {
        for seed in 0..200 {
            let acks = receiver(seed, 400);
            let through = filtered(&format!("cake {filter} besteffort"), &acks, seed);
            dropped += acks.len() - through.len();
            let place = format!("{filter}, seed {seed}");
            assert!(through.is_sorted(), "{place}: out of order");
            assert_eq!(through.last(), Some(&(acks.len() - 1)), "{place}: the last ACK always comes");
            let flags = |numbers: &[usize]| flag_changes(numbers.iter().map(|n| acks[*n].ecn_flags));
            let all: Vec<usize> = (0..acks.len()).collect();
            assert_eq!(flags(&through), flags(&all), "{place}: a change of ECN flags was lost");
            for lost in all.iter().filter(|number| through.binary_search(number).is_err()) {
                let after: Vec<&PureAck> = through.iter().filter(|n| *n > lost).map(|n| &acks[*n]).collect();
                let ack = &acks[*lost];
                assert!(!ack.other_options, "{place}: {lost} has options that nobody here knows");
                assert!(
                    (after[0].ack.wrapping_sub(ack.ack) as i32) >= 0,
                    "{place}: {lost} acknowledged more"
                );
                let is_reported =
                    |block| after.iter().any(|later| blocks(later).any(|other| lies_in(block, other)));
                assert!(blocks(ack).all(is_reported), "{place}: the blocks of {lost} were lost");
                let is_duplicate = |(start, _): (u32, u32)| (start.wrapping_sub(ack.ack) as i32) < 0;
                assert!(!blocks(ack).any(is_duplicate), "{place}: a duplicate SACK, {lost}, was lost");
            }
        }
    }
    // Of 2 * 200 * 400 ACKs: the filter does drop.
    assert!(dropped > 20_000, "{dropped}");
}

#[test]
fn without_the_keyword_nothing_is_filtered() {
    let acks = receiver(1, 400);
    assert_eq!(filtered("cake besteffort", &acks, 1).len(), 400);
}
