//! Replies of receivers.
use crate::reply_bytes;
use fathom_units::Rng;
use fathom_watch_metrics::{Message, Partial, partial_success};
use std::path::Path;

#[test]
fn a_partial_success_is_decoded() {
    let mut partial = Message::default();
    partial.number(1, 12);
    partial.bytes(2, b"too old");
    let mut answer = Message::default();
    answer.number(9, 1);
    answer.fixed(10, 2);
    answer.message(1, &partial);
    let read = partial_success(answer.as_bytes());
    assert_eq!(read, Some(Partial { rejected: 12, message: "too old".into() }));
    let mut empty = Message::default();
    empty.message(1, &Message::default());
    assert_eq!(partial_success(empty.as_bytes()), None, "an empty one refuses nothing");
    for none in [
        b"".as_slice(),
        b"{\"partialSuccess\":{}}",
        b"\x0a",
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x0b",
    ] {
        assert_eq!(partial_success(none), None, "{none:?}");
    }
}

#[test]
fn any_bytes_are_an_answer() {
    for seed in 0..2_000 {
        let mut rng = Rng::new(seed);
        let mut byte = || match rng.below(5) {
            4 => rng.below(256) as u8,
            usual => [0x0a, 0x08, 0x12, 0x01].get(usual as usize).copied().unwrap_or(0),
        };
        let bytes: Vec<u8> = (0..seed % 40).map(|_| byte()).collect();
        reply_bytes::check(&bytes);
    }
}

#[test]
fn the_corpus_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/push_reply");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        reply_bytes::check(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 5, "{} files in {}", count, folder.display());
}
