//! Search with a good initial guess.

/// Number of entries inspected on either side of a wrong guess: one or two cache lines.
const FIRST_WIDTH: usize = 2;
/// Factor by which the search widens, because large errors are much larger than small ones.
const WIDER: usize = 8;

/// Like `partition_point` on `count` entries, but searches outwards from `guess`. In a long list
/// this touches nearby memory only, while a binary search touches the middle of each half.
#[inline]
pub fn partition_near(guess: usize, count: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let guess = guess.min(count);
    let mut width = 0;
    loop {
        let (low, high) = (guess.saturating_sub(width), guess.saturating_add(width).min(count));
        let is_inside = (low == 0 || is_before(low - 1)) && (high == count || !is_before(high));
        if is_inside {
            return partition(low, high, is_before);
        }
        width = width.saturating_mul(WIDER).max(FIRST_WIDTH);
    }
}

fn partition(mut low: usize, mut high: usize, is_before: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low.midpoint(high);
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use fathom_units::Rng;

    #[test]
    fn results_equal_binary_search_from_any_guess() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let count = rng.below(300) as usize;
            let mut values: Vec<u64> = (0..count).map(|_| rng.below(200)).collect();
            values.sort_unstable();
            let (wanted, guess) = (rng.below(210), rng.below(400) as usize);
            let found = partition_near(guess, count, |at| values[at] <= wanted);
            assert_eq!(found, values.partition_point(|value| *value <= wanted), "seed {seed}");
        }
        assert_eq!(partition_near(usize::MAX, 0, |_| true), 0);
    }
}
