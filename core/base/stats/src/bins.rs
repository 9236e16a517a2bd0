//! Log-linear bins of delays, used by every delay histogram in this project.

/// Bins per factor of two: the upper edge of a bin is at most 1/32 (3.1 %) above its lower edge.
pub const BINS_PER_OCTAVE: u32 = 32;

/// The bin of a delay in ns. Below 32 ns each bin holds one value; above, each octave has 32 bins.
pub const fn bin_of(nanos: u64) -> u32 {
    if nanos < BINS_PER_OCTAVE as u64 {
        return nanos as u32;
    }
    let shift = nanos.ilog2() - BINS_PER_OCTAVE.ilog2();
    shift * BINS_PER_OCTAVE + (nanos >> shift) as u32
}

/// The smallest delay of a bin, in ns.
pub const fn lower_edge(bin: u32) -> u64 {
    if bin < 2 * BINS_PER_OCTAVE {
        return bin as u64;
    }
    let shift = bin / BINS_PER_OCTAVE - 1;
    ((bin - shift * BINS_PER_OCTAVE) as u64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_in_its_bin_and_bins_are_narrow() {
        for nanos in (0..70).chain((6..63).flat_map(|e| [(1 << e) - 1, 1 << e, (1 << e) + 1, 3 << (e - 1)])) {
            let (low, next) = (lower_edge(bin_of(nanos)), lower_edge(bin_of(nanos) + 1));
            assert!(low <= nanos && nanos < next, "{nanos} not in {low}..{next}");
            assert!((next - low) as f64 <= (low as f64 / 32.0).max(1.0), "bin at {low} too wide");
        }
    }
}
