//! Round-trip times of minutes, with all their data in flight.
use crate::segments::Words;
use fathom_flow::{End, FlowId, FlowSummary, Lost, RetransmissionCause, Sink, Times, Tracer};

const SEGMENTS: u64 = 100_000;
const MSS: u64 = 1448;
/// 716 s, the longest that Auerswald observed.
const ROUND_TRIP_MS: i64 = 716_000;
const GAP_MS: i64 = 7;

#[derive(Default)]
struct Losses(u64);

impl Sink for Losses {
    fn lost(&mut self, _: FlowId, lost: &Lost) {
        assert_eq!(lost.cause, RetransmissionCause::Fast);
        assert!(lost.original.is_some_and(|original| original.at < lost.repair.at));
        self.0 += 1;
    }
}

struct Line {
    tracer: Tracer<Losses>,
    frame: u64,
}

impl Line {
    fn new() -> Line {
        let mut line = Line { tracer: Tracer::new(Losses::default()), frame: 0 };
        line.send(0, Words::parse("A syn mss 1460 scale 14 ts 1/0"));
        line.send(10, Words::parse("B syn ack 1 mss 1460 scale 14 ts 1/1"));
        line
    }
    fn send(&mut self, at_ms: i64, words: Words) {
        self.frame += 1;
        words.send(&mut self.tracer, Times { at: at_ms * 1_000_000, frame: self.frame });
    }
    fn data(&mut self, at_ms: i64, nth: u64) {
        let (sequence, stamps) = (1 + nth * MSS, Some((at_ms as u32, 1)));
        let (payload, identification) = (MSS as u32, self.frame as u16 | 1);
        self.send(
            at_ms,
            Words { sequence, payload, ack: Some(1), flags: 16, stamps, identification, ..Words::default() },
        );
    }
    fn ack(&mut self, at_ms: i64, number: u64, sack: Vec<(u64, u64)>, echo: i64) {
        let stamps = Some((at_ms as u32, echo as u32));
        let window = 60_000;
        self.send(
            at_ms,
            Words {
                is_b: true,
                sequence: 1,
                ack: Some(number),
                flags: 16,
                window,
                sack,
                stamps,
                ..Words::default()
            },
        );
    }
    fn finish(self) -> (FlowSummary, u64) {
        let (flows, losses) = self.tracer.finish();
        (flows.flows[0].clone(), losses.0)
    }
}

#[test]
fn a_round_trip_of_twelve_minutes_with_a_hundred_thousand_segments_in_flight() {
    let mut line = Line::new();
    let (mut sent, mut answered) = (0, 0);
    while answered < SEGMENTS {
        let (next, answer) = (sent as i64 * GAP_MS, answered as i64 * GAP_MS + ROUND_TRIP_MS);
        if sent < SEGMENTS + 5 && next <= answer {
            line.data(next + 20, sent);
            sent += 1;
        } else {
            answered += 1;
            line.ack(answer + 20, 1 + answered * MSS, Vec::new(), answer + 20 - ROUND_TRIP_MS);
        }
    }
    let (flow, losses) = line.finish();
    let totals = flow.sent_by(End::A);
    let round_trip = ROUND_TRIP_MS as u64 * 1_000_000;
    assert_eq!(
        (totals.rtt.cumulative.count, totals.rtt.timestamps.moments().count),
        (SEGMENTS + 1, SEGMENTS + 1)
    );
    assert_eq!((totals.rtt.cumulative.max, totals.rtt.timestamps.moments().max), (round_trip, round_trip));
    assert_eq!(totals.rtt.sequence.percentile(0.5).unwrap() / 1_000_000_000, 704, "within 3.1 % below 716 s");
    assert_eq!(totals.outstanding_bytes.max, (SEGMENTS + 5) * MSS);
    assert_eq!((losses, totals.repeated_packets, totals.unseen_bytes), (0, 0, 0));
}

#[test]
fn thousands_of_holes_are_each_filled_once() {
    let is_lost = |nth: u64| nth % 50 == 7;
    let mut line = Line::new();
    (0..SEGMENTS).for_each(|nth| line.data(20 + nth as i64 * GAP_MS, nth));
    let base = ROUND_TRIP_MS + 20;
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    let (mut ack, mut echo) = (1, 1);
    for nth in (0..SEGMENTS).filter(|nth| !is_lost(*nth)) {
        let (start, stop) = (1 + nth * MSS, 1 + (nth + 1) * MSS);
        if start == ack {
            (ack, echo) = (stop, 20 + nth as i64 * GAP_MS);
        } else if let Some(last) = blocks.last_mut().filter(|last| last.1 == start) {
            last.1 = stop;
        } else {
            blocks.push((start, stop));
        }
        line.ack(base + nth as i64 * GAP_MS, ack, blocks.iter().rev().take(3).copied().collect(), echo);
    }
    let mended: Vec<u64> = (0..SEGMENTS).filter(|nth| is_lost(*nth)).collect();
    let second = base + SEGMENTS as i64 * GAP_MS;
    for (place, nth) in mended.iter().enumerate() {
        line.data(second + place as i64, *nth);
    }
    let (flow, losses) = line.finish();
    let totals = flow.sent_by(End::A);
    assert_eq!(losses, mended.len() as u64);
    assert_eq!((totals.retransmissions.fast, totals.repeated_packets), (losses, losses));
    let first_loss_and_after = SEGMENTS - 7 - losses;
    assert_eq!(
        totals.rtt.sequence.moments().count,
        first_loss_and_after + 7 + 1,
        "by SACK, each as it arrived"
    );
    assert_eq!(totals.rtt.sequence.moments().max, ROUND_TRIP_MS as u64 * 1_000_000);
}
