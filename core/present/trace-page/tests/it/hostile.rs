//! No word of a file becomes a part of the page, and no number makes the recorder fail.
use crate::read::read;
use fathom_capture::Address;
use fathom_flow::{
    Ack, End, FlowId, Lost, RetransmissionCause, RoundTrip, RttMethod, RttValidity, Segment, SegmentKind,
    Sink, Times,
};
use fathom_trace_page::{Finding, Limits, Recorder, Words};
use fathom_units::Rng;

const EVIL: &str = "</script><script>alert(1)</script>\x1b[2J\"'&\u{202e}";

#[test]
fn text_is_escaped() {
    let evil = || String::from(EVIL);
    let finding = Finding {
        name: evil(),
        confidence: evil(),
        text: evil(),
        evidence: vec![(evil(), evil())],
        alternatives: vec![evil()],
        ..Finding::default()
    };
    let words = Words {
        title: EVIL,
        command: EVIL,
        level: EVIL,
        headline: EVIL,
        sentences: &[evil()],
        numbers: &[(evil(), evil())],
        actions: &[(evil(), evil())],
        findings: &[finding],
        facts: &[(evil(), evil())],
        version: EVIL,
        ..Words::default()
    };
    let page = Recorder::new(&[], Limits::default(), None).finish(&words);
    assert!(!page.contains("<script>alert") && !page.contains('\x1b') && !page.contains('\u{202e}'));
    assert_eq!(page.matches("<script").count(), 3, "data, theme and picture");
    assert_eq!(page.matches("</script>").count(), 3);
    assert!(!page.contains("http://") || !page.contains("src="), "nothing is loaded");
}

#[test]
fn no_event_makes_the_recorder_panic() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let mut recorder = Recorder::new(&[FlowId(0)], Limits { rows: 50 }, None);
        let extremes = [0, 1, 1 << 20, u64::from(u32::MAX), 1 << 40, u64::MAX / 2];
        recorder.opened(
            FlowId(0),
            [(Address::v6([7; 16]), 1), (Address::v4([1; 4]), 2)],
            Times { at: 0, frame: 1 },
        );
        for frame in 0..500 {
            let mut any = || extremes[rng.below(6) as usize].saturating_sub(rng.below(3));
            let (start, stop, window, at) = (any(), any(), any(), any() as i64 - any() as i64);
            let times = Times { at, frame };
            let end = if frame % 3 == 0 { End::A } else { End::B };
            let kind = if frame % 5 == 0 {
                SegmentKind::Retransmission(RetransmissionCause::Unknown)
            } else {
                SegmentKind::New
            };
            let (ip_bytes, outstanding_bytes) = (any() as u32, any());
            let segment = Segment {
                times,
                end,
                start,
                stop,
                ip_bytes,
                kind,
                stamps: None,
                ecn: 3,
                outstanding_bytes,
                window_bytes: None,
            };
            recorder.segment(FlowId(0), &segment);
            let blocks = [(start, stop), (stop, start)];
            let ack = Ack {
                times,
                end,
                acknowledgement: start,
                newly_bytes: 0,
                blocks: &blocks,
                is_duplicate: true,
                window_bytes: window,
                stamps: None,
                echoes_congestion: true,
            };
            recorder.ack(FlowId(0), &ack);
            let (method, validity) = (RttMethod::Sequence, RttValidity::Clean);
            let trip = RoundTrip {
                times,
                sent_at: any() as i64,
                sent_frame: 1,
                end,
                method,
                validity,
                stamps: None,
            };
            recorder.round_trip(FlowId(0), &trip);
            let (original, cause) = (Some(Times { at: any() as i64, frame: 0 }), RetransmissionCause::Fast);
            recorder.lost(FlowId(0), &Lost { repair: times, original, end, start, stop, cause });
        }
        let page = read(&recorder.finish(&Words::default()));
        assert_eq!(page.tracks.len(), 2, "seed {seed}");
        assert!(page.tracks.iter().any(|track| track.name.starts_with("[707:")), "seed {seed}");
    }
}
