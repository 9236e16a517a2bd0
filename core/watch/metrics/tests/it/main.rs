//! Encoded requests, decoded with independently declared messages.
mod otlp;
mod read;
mod reply;
mod reply_bytes;
mod write;

use fathom_units::Rng;
use fathom_watch_samples::{Sketch, scale};

/// A sketch of random values, near and far from each other, some of them zero.
fn random_sketch(rng: &mut Rng) -> Sketch {
    let mut sketch = Sketch::default();
    for _ in 0..rng.below(40) {
        let bucket = scale::LOWEST + rng.below((scale::HIGHEST - scale::LOWEST + 1) as u64) as i32;
        for near in 0..rng.below(6) as i32 {
            sketch.add_times((bucket + near * near).min(scale::HIGHEST), rng.below(1_000) + 1);
        }
    }
    for _ in 0..rng.below(3) {
        sketch.add_value(0.0);
    }
    sketch
}
