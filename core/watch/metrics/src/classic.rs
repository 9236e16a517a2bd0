//! Classic histograms, for receivers without native ones: one counter per bucket bound.
use fathom_watch_samples::{Sketch, scale};

/// Powers of two as bucket bounds, from 15 us to 16 s, with their text. They are also bounds of the
/// history's buckets, so the counts are exact.
pub const EDGES: [Edge; 21] = [
    Edge { power: -16, text: "1.52587890625e-5" },
    Edge { power: -15, text: "3.0517578125e-5" },
    Edge { power: -14, text: "6.103515625e-5" },
    Edge { power: -13, text: "0.0001220703125" },
    Edge { power: -12, text: "0.000244140625" },
    Edge { power: -11, text: "0.00048828125" },
    Edge { power: -10, text: "0.0009765625" },
    Edge { power: -9, text: "0.001953125" },
    Edge { power: -8, text: "0.00390625" },
    Edge { power: -7, text: "0.0078125" },
    Edge { power: -6, text: "0.015625" },
    Edge { power: -5, text: "0.03125" },
    Edge { power: -4, text: "0.0625" },
    Edge { power: -3, text: "0.125" },
    Edge { power: -2, text: "0.25" },
    Edge { power: -1, text: "0.5" },
    Edge { power: 0, text: "1.0" },
    Edge { power: 1, text: "2.0" },
    Edge { power: 2, text: "4.0" },
    Edge { power: 3, text: "8.0" },
    Edge { power: 4, text: "16.0" },
];

/// A bucket bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Exponent of the power of two.
    pub power: i32,
    /// The label `le`: the shortest decimal of this number, as in `/metrics`.
    pub text: &'static str,
}

impl Edge {
    /// Number of values up to this bound.
    pub fn count(self, sketch: &Sketch) -> u64 {
        let last = self.power * scale::BUCKETS_PER_OCTAVE;
        let within = sketch.buckets().take_while(|(bucket, _)| *bucket <= last);
        within.fold(sketch.zero_count(), |sum, (_, count)| sum.saturating_add(count))
    }
}

/// One of the series of a classic histogram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Values up to a bound.
    Within(Edge),
    /// All values: the last bucket.
    Infinite,
    /// Number of values.
    Count,
    /// Sum of the values.
    Sum,
}

impl Part {
    /// All parts, in output order.
    pub fn all() -> impl Iterator<Item = Part> {
        EDGES.into_iter().map(Part::Within).chain([Part::Infinite, Part::Sum, Part::Count])
    }
    /// Suffix of the metric name.
    pub const fn suffix(self) -> &'static str {
        match self {
            Part::Within(_) | Part::Infinite => "_bucket",
            Part::Count => "_count",
            Part::Sum => "_sum",
        }
    }
    /// The label `le`, if any.
    pub const fn le(self) -> Option<&'static str> {
        match self {
            Part::Within(edge) => Some(edge.text),
            Part::Infinite => Some("+Inf"),
            Part::Count | Part::Sum => None,
        }
    }
    /// The value.
    pub fn value(self, sketch: &Sketch) -> f64 {
        match self {
            Part::Within(edge) => edge.count(sketch) as f64,
            Part::Infinite | Part::Count => sketch.count() as f64,
            Part::Sum => sketch.sum(),
        }
    }
}
