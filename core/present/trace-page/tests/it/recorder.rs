//! Every reported event is on the page.
use crate::read::{Page, Track, read};
use crate::sawtooth::{BEGIN, FLOW, Sawtooth, Truth};
use fathom_capture::Address;
use fathom_flow::{
    Ack, End, FlowId, Lost, Probe, ProbeKind, RetransmissionCause, RttValidity, Segment, SegmentKind, Sink,
    Spurious, SpuriousProof, Times,
};
use fathom_trace_page::{Curve, Level, Limits, Panel, Recorder, Scope, Words};

const MARKED: u64 = 0x10;
const LOSS: u64 = 32;
const ZERO_WINDOW: u64 = 33;
const RENEGING: u64 = 36;

fn model(seed: u64, segments: u64, limits: Limits) -> (Truth, Page) {
    let mut recorder = Recorder::new(&[FLOW], limits, Some(BEGIN));
    let mut model = Sawtooth::new(&mut recorder, seed, 50, 100);
    model.run(segments);
    let truth = model.truth.clone();
    (truth, read(&recorder.finish(&Words::default())))
}

fn count(column: &[u64], is: impl Fn(u64) -> bool) -> u64 {
    column.iter().filter(|value| is(**value)).count() as u64
}

/// What of it is rare, as the page has it.
fn rare(track: &Track) -> Truth {
    Truth {
        segments: 0,
        retransmissions: count(&track.segments[2], |kind| (1..=5).contains(&(kind & 15))),
        losses: count(&track.events[2], |code| code == LOSS),
        marks: count(&track.segments[2], |kind| kind & MARKED != 0),
        zero_windows: count(&track.events[2], |code| code == ZERO_WINDOW),
        acks: 0,
    }
}

#[test]
fn every_rare_event_of_a_random_run_is_on_the_page_however_little_it_may_hold() {
    for seed in 0..6 {
        for rows in [1_000_000, 5000, 100] {
            let (truth, page) = model(seed, 40_000, Limits { rows });
            let [track] = &page.tracks[..] else { panic!("seed {seed}: one end sends") };
            assert!(truth.losses > 0, "seed {seed}");
            assert_eq!(
                Truth { segments: 0, acks: 0, ..truth.clone() },
                rare(track),
                "seed {seed}, {rows} rows"
            );
            let ordinary = count(&track.segments[2], |kind| kind == 0);
            assert!(ordinary <= rows as u64 && track.acks[0].len() <= rows, "seed {seed}");
            assert!(track.trips.iter().map(|t| t[0].len()).sum::<usize>() <= rows, "seed {seed}");
            let losses: u64 = track.episodes.iter().map(|e| e[2]).sum();
            assert_eq!(losses, truth.losses, "seed {seed}: each loss is in one episode");
            if rows == 1_000_000 {
                assert_eq!(
                    (track.segments[0].len() as u64, track.strides),
                    (truth.segments, [1; 5]),
                    "seed {seed}"
                );
            }
        }
    }
}

#[test]
fn a_thinned_page_covers_what_the_whole_one_covers() {
    for seed in 0..3 {
        let (_, whole) = model(seed, 20_000, Limits::default());
        let (_, thin) = model(seed, 20_000, Limits { rows: 700 });
        let (whole, thin) = (&whole.tracks[0], &thin.tracks[0]);
        assert!(thin.strides.iter().take(3).all(|stride| *stride > 1), "{:?}", thin.strides);
        let range = |t: &Track| (t.segments[3].iter().min().copied(), t.segments[4].iter().max().copied());
        assert_eq!((range(whole), whole.bytes), (range(thin), thin.bytes), "seed {seed}");
        let extremes = |t: &Track| (t.trips[0][1].iter().min().copied(), t.trips[0][2].iter().max().copied());
        assert_eq!(
            extremes(whole),
            extremes(thin),
            "seed {seed}: the shortest and the longest round trip stay"
        );
        assert_eq!(whole.acks[2].last(), thin.acks[2].last(), "seed {seed}: the last ACK stays");
        for column in [&thin.segments[0], &thin.acks[0], &thin.trips[0][0], &thin.events[0]] {
            assert!(column.is_sorted(), "seed {seed}: time goes forward");
        }
    }
}

#[test]
fn an_ordinary_segment_takes_few_bytes() {
    let mut recorder = Recorder::new(&[FLOW], Limits::default(), Some(BEGIN));
    let mut model = Sawtooth::new(&mut recorder, 1, 50, 100);
    model.run(20_000);
    let empty = Recorder::new(&[], Limits::default(), None).finish(&Words::default()).len();
    let bytes = recorder.finish(&Words::default()).len() - empty;
    // With its half an ACK and half a round trip, in base64.
    assert!(bytes / 20_000 <= 24, "{} bytes a segment", bytes / 20_000);
}

fn segment(at: i64, frame: u64, start: u64, kind: SegmentKind) -> Segment {
    Segment {
        times: Times { at, frame },
        end: End::A,
        start,
        stop: start + 100,
        ip_bytes: 152,
        kind,
        stamps: None,
        ecn: 0,
        outstanding_bytes: 100,
        window_bytes: None,
    }
}

fn ack(at: i64, frame: u64, acknowledgement: u64, blocks: &[(u64, u64)]) -> Ack<'_> {
    Ack {
        times: Times { at, frame },
        end: End::B,
        acknowledgement,
        newly_bytes: 0,
        blocks,
        is_duplicate: false,
        window_bytes: 1000,
        stamps: None,
        echoes_congestion: false,
    }
}

#[test]
fn a_reported_loss_that_was_none_is_a_spurious_retransmission() {
    let mut recorder = Recorder::new(&[FlowId(0)], Limits::default(), Some(0));
    let repair = Times { at: 30, frame: 3 };
    let original = Some(Times { at: 10, frame: 1 });
    recorder.segment(FlowId(0), &segment(10, 1, 0, SegmentKind::New));
    recorder.segment(FlowId(0), &segment(20, 2, 100, SegmentKind::New));
    recorder.segment(FlowId(0), &segment(30, 3, 0, SegmentKind::Retransmission(RetransmissionCause::Fast)));
    let (end, start, stop, cause) = (End::A, 0, 100, RetransmissionCause::Fast);
    recorder.lost(FlowId(0), &Lost { repair, original, end, start, stop, cause });
    let times = Times { at: 40, frame: 4 };
    let proof = SpuriousProof::DuplicateSack;
    recorder.spurious(FlowId(0), &Spurious { times, repair, end, start, stop, cause, proof });
    let page = read(&recorder.finish(&Words::default()));
    let track = &page.tracks[0];
    assert_eq!(track.segments[2], [0, 0, 4]);
    assert!(track.events[0].is_empty() && track.episodes.is_empty());
}

#[test]
fn reneging_is_seen_and_other_flows_are_not() {
    let mut recorder = Recorder::new(&[FlowId(1)], Limits::default(), Some(0));
    for flow in [FlowId(0), FlowId(1), FlowId(2)] {
        recorder.segment(flow, &segment(10, 1, 0, SegmentKind::New));
        recorder.ack(flow, &ack(20, 2, 100, &[(200, 300)]));
        recorder.ack(flow, &ack(30, 3, 200, &[]));
    }
    let page = read(&recorder.finish(&Words::default()));
    let [track] = &page.tracks[..] else { panic!("one flow was asked for") };
    assert_eq!((track.flow, track.end, track.bytes), (1, 0, 100));
    assert_eq!((&track.events[1][..], &track.events[2][..]), (&[3][..], &[RENEGING][..]));
    assert_eq!((track.acks[5][0], track.acks[6][0]), (100, 100), "the SACK block");
}

#[test]
fn a_clock_that_steps_back_does_not_turn_time_round() {
    let mut recorder = Recorder::new(&[FlowId(0)], Limits::default(), None);
    for (n, at) in [1000, 2000, 500, 2500].into_iter().enumerate() {
        recorder.segment(FlowId(0), &segment(at, n as u64 + 1, n as u64 * 100, SegmentKind::New));
    }
    let page = read(&recorder.finish(&Words::default()));
    assert_eq!(page.tracks[0].segments[0], [0, 1000, 1000, 1500]);
    assert_eq!((page.begin, page.span, page.steps_back), (1000, 1500, 1));
}

#[test]
fn curves_and_levels_of_the_caller_are_written() {
    let mut recorder = Recorder::new(&[FlowId(3)], Limits::default(), Some(1_000));
    let points = vec![(900, 1.0), (3_000, 0.5), (2_000, f64::NAN)];
    let panel = Panel::QueueDelay;
    recorder.add_curve(Curve { name: "far".into(), panel, scope: Scope::All, points });
    let level = |flow, name: &str| {
        let scope = Scope::Flow(FlowId(flow));
        Level { name: name.into(), panel: Panel::QueueDelay, scope, value: 0.010_3 }
    };
    recorder.add_level(level(3, "base"));
    recorder.add_level(level(4, "of a flow that is not shown"));
    let page = read(&recorder.finish(&Words::default()));
    let curve = &page.curves["far"];
    assert_eq!(curve.iter().map(|p| p.0).collect::<Vec<_>>(), [0, 2000, 2000]);
    assert!((curve[0].1, curve[1].1) == (1.0, 0.5) && curve[2].1.is_nan());
    assert_eq!(page.levels.len(), 1);
    assert_eq!(page.levels["base"].to_bits(), 0.010_3_f64.to_bits());
}

fn echo(number: u64, took: i64) -> Probe {
    let asked = Times { at: BEGIN + number as i64 * 10_000_000, frame: 2 * number + 1 };
    Probe {
        kind: ProbeKind::Echo,
        ends: [(Address::v4([10, 7, 0, 1]), 1), (Address::v4([10, 7, 0, 2]), 0)],
        asked,
        answered: Some(Times { at: asked.at + took, frame: 2 * number + 2 }),
        validity: RttValidity::Clean,
    }
}

#[test]
fn probes_are_marks_and_the_longest_of_very_many_stays() {
    let mut recorder = Recorder::new(&[FLOW], Limits::default(), Some(BEGIN));
    for number in 0..130_000 {
        recorder.probe(&echo(number, if number == 77_777 { 900_000_000 } else { 10_000_000 }));
    }
    recorder.probe(&Probe { answered: None, ..echo(130_000, 0) });
    recorder.probe(&Probe { validity: RttValidity::Ambiguous, ..echo(130_001, 5) });
    recorder.probe(&Probe { kind: ProbeKind::QuicSpin, ..echo(130_002, 5) });
    recorder.probe(&Probe { kind: ProbeKind::Dns, ..echo(130_003, 7) });
    let page = read(&recorder.finish(&Words::default()));
    assert_eq!(page.routes, ["10.7.0.1 → 10.7.0.2"]);
    let [echoes, dns] = &page.probes[..] else { panic!("{:?}", page.probes.len()) };
    assert_eq!((echoes.name.as_str(), echoes.unanswered, echoes.stride), ("ICMP echo", 1, 4));
    assert!((30_000..=50_000).contains(&echoes.rows[0].len()), "{}", echoes.rows[0].len());
    let longest = echoes.rows[1].iter().position(|took| *took == 900_000_000).expect("the longest");
    assert_eq!((echoes.rows[2][longest], echoes.rows[3][longest]), (155_556, 155_555));
    assert!(echoes.rows[0].is_sorted());
    assert_eq!((dns.name.as_str(), dns.unanswered, dns.rows[1].as_slice()), ("DNS", 0, &[7][..]));
}
