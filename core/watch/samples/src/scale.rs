//! Buckets of values: base-2 exponential, schema 5.
//!
//! Bucket `i` holds the values in `(G^(i-1), G^i]` with G = 2^(1/32). These are the buckets of
//! Prometheus' native histograms of schema 5, with the same numbers, and those of OTLP's
//! exponential histograms of scale 5, whose numbers are lower by one.

/// Buckets per factor of two.
pub const BUCKETS_PER_OCTAVE: i32 = 32;

/// The lowest bucket, with the upper bound 2^-32 (0.23 ns in seconds). It also counts lower values.
pub const LOWEST: i32 = -1024;

/// The highest bucket, with the upper bound 2^63.97 (more than the 2^64 ns of a `Duration`, in any
/// unit). It also counts higher values.
pub const HIGHEST: i32 = 2047;

/// `2^(k/32)` as rounded by Prometheus: twice its table for schema 5 (client_golang,
/// `prometheus/histogram.go`), up to three units in the last place below the exact values. Both
/// programs must put a value between the two into the same bucket.
#[allow(clippy::approx_constant, reason = "the root of two that Prometheus has is not the nearest one")]
const BOUNDS: [f64; 32] = [
    1.0,
    1.0218971486541166,
    1.0442737824274138,
    1.0671404006768235,
    1.0905077326652577,
    1.1143867425958924,
    1.1387886347566916,
    1.1637248587775775,
    1.189207115002721,
    1.2152473599804687,
    1.241857812073484,
    1.2690509571917332,
    1.2968395546510096,
    1.325236643159741,
    1.3542555469368927,
    1.3839098819638318,
    1.414213562373095,
    1.4451808069770464,
    1.4768261459394991,
    1.5091644275934224,
    1.5422108254079407,
    1.5759808451078863,
    1.610490331949254,
    1.6457554781539645,
    1.6817928305074288,
    1.7186192981224775,
    1.756252160373299,
    1.7947090750031065,
    1.8340080864093422,
    1.8741676341102995,
    1.915206561397147,
    1.9571441241753997,
];

/// Mantissa bits of an `f64`.
const FRACTION_BITS: u32 = 52;
/// Exponent bias of an `f64`.
const EXPONENT_BIAS: i32 = 1023;

/// The bucket of a positive value; the lowest one for other values and NaN.
pub fn bucket_of(value: f64) -> i32 {
    if value.is_nan() || value <= 0.0 {
        return LOWEST;
    }
    let bits = value.to_bits();
    // A positive value has no sign bit. Subnormal values have exponent 0 and end in the lowest
    // bucket.
    let octave = (bits >> FRACTION_BITS) as i32 - EXPONENT_BIAS;
    let fraction = f64::from_bits((bits & ((1 << FRACTION_BITS) - 1)) | 1.0_f64.to_bits());
    // `fraction` is at least 1. A power of two is the upper bound of its bucket, because no bound
    // is below it.
    let below = BOUNDS.partition_point(|bound| *bound < fraction) as i32;
    (octave * BUCKETS_PER_OCTAVE + below).clamp(LOWEST, HIGHEST)
}

/// The largest value of a bucket. Bucket numbers out of range count as [`LOWEST`] or [`HIGHEST`].
pub fn upper_bound(bucket: i32) -> f64 {
    bound(bucket.clamp(LOWEST, HIGHEST))
}

/// The representative value of a bucket, with the same relative error at both ends: (G-1)/(G+1) =
/// 1.083 %.
pub fn value_of(bucket: i32) -> f64 {
    let bucket = bucket.clamp(LOWEST, HIGHEST);
    let (low, high) = (bound(bucket - 1), bound(bucket));
    2.0 * low * (high / (low + high))
}

fn bound(bucket: i32) -> f64 {
    let fraction = BOUNDS.get(bucket.rem_euclid(BUCKETS_PER_OCTAVE) as usize).copied().unwrap_or(1.0);
    let octave = bucket.div_euclid(BUCKETS_PER_OCTAVE) + EXPONENT_BIAS;
    fraction * f64::from_bits((octave as u64) << FRACTION_BITS)
}
