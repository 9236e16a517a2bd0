//! Generated samples.
use fathom_units::Rng;
use fathom_watch_samples::{Chunk, Code, Mark, Stored};

/// 2026-01-05T00:00:00Z in milliseconds.
pub(super) const START_MS: u64 = 1_767_571_200_000;

/// Any code; each kind occurs often.
pub(super) fn any_code(rng: &mut Rng) -> Code {
    let number = match rng.below(4) {
        0 => rng.below(4),
        1 => rng.below(6_148),
        _ => 800 + rng.below(60),
    };
    Code::from_number(number as u16).expect("a code")
}

/// A chunk with regular, late, duplicate and stepped times, and some marks.
pub(super) fn any_chunk(rng: &mut Rng) -> Chunk {
    let mut chunk = Chunk::default();
    let (mut at_ms, interval) = (START_MS + rng.below(3_600_000), 1 + rng.below(10_000));
    let odd = rng.below(100);
    for _ in 0..rng.below(400) {
        chunk.samples.push(Stored { at_ms, code: any_code(rng) });
        let usual = rng.below(100) >= odd;
        at_ms = match rng.below(5) {
            _ if usual => at_ms + interval,
            0 => at_ms,
            1 => at_ms + rng.below(3),
            // The clock was stepped by seconds or years.
            2 => at_ms.saturating_sub(rng.below(4_000_000)),
            3 => at_ms + rng.below(4_000_000),
            _ => rng.below(2 * START_MS),
        };
    }
    for _ in 0..rng.below(3) {
        let marked_ms = START_MS + rng.below(3_600_000);
        chunk.marks.push(Mark { at_ms: marked_ms, duplicates: rng.below(3), reordered: rng.next_u64() });
    }
    chunk
}
