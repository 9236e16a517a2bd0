//! An answer used as a question gives the original quantities, and no question panics.
use crate::question_bytes::check;
use fathom_size::{Buffer, Framing, Question};
use fathom_units::{Bytes, Duration, Rate, Rng};

/// A number from 1 to 2^`bits`, with all orders of magnitude equally likely.
fn some(rng: &mut Rng, bits: u64) -> u64 {
    (rng.next_u64() >> (64 - 1 - rng.next_u64() % bits)).max(1)
}

fn near(got: u64, want: u64, slack: f64) -> bool {
    (got as f64 - want as f64).abs() <= want as f64 * slack + 1.0
}

#[test]
fn buffer_rate_and_delay_are_inverse() {
    let mut answered = 0;
    for seed in 0..2_000 {
        let mut rng = Rng::new(seed);
        let framing = Framing {
            packet: Bytes(some(&mut rng, 15)),
            overhead: Bytes(some(&mut rng, 6)),
            atm: seed % 3 == 0,
        };
        let (bytes, rate) = (some(&mut rng, 33), some(&mut rng, 36));
        let given = Question {
            buffer: Some(Buffer::Bytes(Bytes(bytes))),
            rate: Some(Rate::from_bits_per_second(rate)),
            framing,
            ..Question::default()
        };
        // One gigabyte at 1 bit/s is rejected.
        let Ok(answer) = given.answer() else { continue };
        let delay = answer.delay;
        // For a short delay, one nanosecond is a large relative error.
        let slack = 1.0 / delay.as_nanos().max(1) as f64 + 1e-9;
        if delay < Duration::from_micros(1) {
            continue;
        }
        answered += 1;
        let back = Question { buffer: None, delay: Some(delay), ..given.clone() }.answer().unwrap();
        assert!(near(back.buffer.0, bytes, slack * 2.0), "seed {seed}: {given:?} {back:?}");
        let rate_back = Question { rate: None, delay: Some(delay), ..given.clone() }.answer().unwrap();
        assert!(
            near(rate_back.rate.as_bits_per_second(), rate, slack * 2.0),
            "seed {seed}: {given:?} {rate_back:?}"
        );
    }
    assert!(answered > 1_500, "{answered}");
}

#[test]
fn no_question_panics() {
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let mut maybe = |bits| (rng.below(3) > 0).then(|| some(&mut rng, bits));
        let question = Question {
            buffer: maybe(63).map(|n| if n % 2 == 0 { Buffer::Bytes(Bytes(n)) } else { Buffer::Packets(n) }),
            rate: maybe(63).map(Rate::from_bits_per_second),
            delay: maybe(63).map(Duration::from_nanos),
            flows: maybe(63),
            overload: maybe(20).map(|n| n as f64 / 1e6),
            arriving: maybe(63).map(Rate::from_bits_per_second),
            fill: maybe(63).map(Duration::from_nanos),
            framing: Framing {
                packet: Bytes(maybe(16).unwrap_or(1514)),
                overhead: Bytes(maybe(16).unwrap_or(0)),
                atm: seed % 2 == 0,
            },
        };
        if let Ok(answer) = question.answer() {
            assert!(answer.buffer.0 > 0 && answer.rate.as_bits_per_second() > 0, "seed {seed}: {question:?}");
        }
    }
}

#[test]
fn no_text_panics() {
    for seed in 0..5_000 {
        let mut rng = Rng::new(seed);
        let letters = b"0123456789.%-pkmgbits \xc3\xa9";
        let letter = |dice: &mut Rng| letters[dice.below(letters.len() as u64) as usize];
        let word: Vec<u8> = (0..rng.below(24)).map(|_| letter(&mut rng)).collect();
        check(&word);
    }
}

#[test]
fn the_corpus_of_the_fuzzer() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fuzz/corpus/size");
    let files: Vec<_> = std::fs::read_dir(corpus).unwrap().collect();
    assert!(files.len() > 10);
    files.into_iter().for_each(|file| check(&std::fs::read(file.unwrap().path()).unwrap()));
}
