//! Encoding of chunks, windows and frames: encoded data is decoded exactly, and corrupt data is
//! refused.
use super::support::{START_MS, any_chunk};
use fathom_units::{Duration, Rng, WallTime};
use fathom_watch_samples::{
    Chunk, Code, DecodeError, Entry, Frame, Grid, Outcome, Sample, Stored, Windows, seal,
};

fn any_frame(rng: &mut Rng) -> Frame {
    let count = rng.below(6);
    let entry =
        |_| Entry { series: rng.below(20) as u32, new: any_chunk(rng), amended: any_chunk(rng).samples };
    Frame { entries: (0..count).map(entry).collect() }
}

#[test]
fn every_encoded_chunk_decodes_to_itself() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let chunk = any_chunk(&mut rng);
        assert_eq!(Chunk::decode(&chunk.encode()).as_ref(), Ok(&chunk), "seed {seed}");
        let mut windows = Windows::new([1, 600_000, 3_600_000][rng.below(3) as usize]);
        windows.add_chunk(&chunk);
        assert_eq!(Windows::decode(&windows.encode()), Ok(windows), "seed {seed}");
        let frame = any_frame(&mut rng);
        assert_eq!(Frame::decode(&frame.encode()), Ok(frame), "seed {seed}");
    }
}

#[test]
fn a_regular_grid_costs_nothing_but_its_codes() {
    let code = Code::level(0.02);
    let samples = (0..3_600).map(|n| Stored { at_ms: START_MS + n * 1_000, code }).collect();
    let bytes = Chunk { samples, marks: Vec::new() }.encode().len();
    assert!(bytes < 7_200 + 24, "{bytes} bytes");
}

#[test]
fn each_changed_byte_and_each_cut_is_refused() {
    let mut rng = Rng::new(9);
    let chunk = any_chunk(&mut rng);
    let frame = any_frame(&mut rng);
    let mut windows = Windows::new(600_000);
    windows.add_chunk(&chunk);
    let whole = [chunk.encode(), windows.encode(), frame.encode()];
    let refused = |bytes: &[u8]| {
        Chunk::decode(bytes).is_err() && Windows::decode(bytes).is_err() && Frame::decode(bytes).is_err()
    };
    for (kind, bytes) in whole.iter().enumerate() {
        for place in 0..bytes.len() {
            assert!(refused(&bytes[..place]), "kind {kind}, cut to {place} bytes");
            let mut changed = bytes.clone();
            changed[place] ^= 1 << rng.below(8);
            assert!(refused(&changed), "kind {kind}, byte {place}");
        }
    }
}

#[test]
fn damage_has_a_name() {
    let good = Chunk { samples: vec![Stored { at_ms: 7, code: Code::LOST }], marks: Vec::new() };
    // Kind, version, count, first time, interval, marks, the two bytes of the code.
    assert_eq!(good.encode(), seal(vec![b'c', 1, 1, 7, 0, 0, 0, 0]));
    let cases: [(Vec<u8>, DecodeError, &str); 9] = [
        (vec![], DecodeError::Short, "is truncated"),
        (seal(vec![b'w', 1, 0, 0]), DecodeError::Kind(b'w'), "has the unexpected kind 119"),
        (
            seal(vec![b'c', 9, 0, 0]),
            DecodeError::Version(9),
            "has version 9, but this program supports version 1",
        ),
        (vec![b'c', 1, 0, 0, 1, 2, 3, 4], DecodeError::Checksum, "has a wrong checksum"),
        (seal(vec![b'c', 1, 0x80]), DecodeError::Short, "is truncated"),
        (
            seal([&[b'c', 1][..], &[0xff; 10]].concat()),
            DecodeError::Number,
            "has a number with more than 64 bits",
        ),
        (seal(vec![b'c', 1, 100, 0]), DecodeError::Count(100), "announces 100 entries, more than the limit"),
        (
            seal(vec![b'c', 1, 1, 7, 0, 0, 0, 0xff]),
            DecodeError::Code(0xff00),
            "has the invalid outcome code 65280",
        ),
        (seal(vec![b'c', 1, 0, 0, 0]), DecodeError::Trailing, "has extra bytes at the end"),
    ];
    for (bytes, error, words) in cases {
        assert_eq!(Chunk::decode(&bytes), Err(error), "{bytes:?}");
        assert_eq!(error.to_string(), words);
    }
    let back = seal(vec![b'c', 1, 2, 7, 15, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(Chunk::decode(&back), Err(DecodeError::Time), "a time before 1970");
    let window = |sketch: &[u8]| {
        Windows::decode(&seal([&[b'w', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], sketch].concat()))
    };
    assert!(window(&[1, 0, 5]).is_ok());
    assert_eq!(window(&[1, 0, 0, 0]), Err(DecodeError::Bucket), "an empty bucket at an end");
    assert_eq!(window(&[1, 0xff, 0x7f, 5]), Err(DecodeError::Bucket), "a bucket that is none");
}

#[test]
fn times_are_less_than_a_millisecond_from_the_truth() {
    for seed in 0..50 {
        let mut rng = Rng::new(seed);
        let (mut grid, mut at) = (Grid::default(), START_MS * 1_000_000 + rng.below(1_000_000));
        let interval = 1 + rng.below(2_000_000_000);
        for n in 0..500 {
            let ms = grid.place(WallTime(at));
            assert!(at.abs_diff(ms * 1_000_000) < 1_000_000, "seed {seed}, time {n}");
            at = match rng.below(50) {
                0 => at - rng.below(3_600_000_000_000),
                1 => at + rng.below(3_600_000_000_000),
                _ => at + interval,
            };
        }
    }
}

#[test]
fn a_grid_with_some_microseconds_of_unrest_is_regular() {
    let mut rng = Rng::new(4);
    let mut grid = Grid::default();
    // The worst case: halfway between two milliseconds.
    let middle = START_MS * 1_000_000 + 500_000;
    let time = |n: u64| WallTime(middle + n * 1_000_000_000 + rng.below(300_000));
    let times: Vec<u64> = (0..1_000).map(time).map(|at| grid.place(at)).collect();
    // The first two set the interval.
    assert!(times.windows(2).skip(1).all(|w| w[1] - w[0] == 1_000), "{:?}", &times[..5]);
}

#[test]
fn a_late_answer_finds_the_nearest_lost_sample() {
    let lost = |at_ms| Stored { at_ms, code: Code::LOST };
    let answered = Stored { at_ms: 102, code: Code::level(0.02) };
    let mut chunk = Chunk { samples: vec![lost(100), lost(101), answered, lost(110)], marks: Vec::new() };
    let late = Code::of(Outcome::Late(Duration::from_secs(716)));
    let at = |at_ms| Stored { at_ms, code: late };
    assert_eq!(chunk.amend(at(105)), None, "none is near");
    assert_eq!(chunk.amend(at(102)), Some(1), "the one at that time is not lost");
    assert_eq!(chunk.amend(at(102)), None, "it is amended");
    assert_eq!(chunk.amend(at(99)), Some(0));
    assert_eq!(chunk.samples, [at(100), at(101), answered, lost(110)]);
    let sample = Sample { at: WallTime(110_400_000), outcome: Outcome::Lost };
    assert_eq!(Stored::of(sample), lost(110));
}
