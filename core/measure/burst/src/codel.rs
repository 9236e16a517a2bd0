//! The control law of CoDel (RFC 8289 section 3.3): intervals between drops shrink as
//! 1 / sqrt(number).
use crate::Response;
use crate::response::Lost;
use alloc::vec::Vec;
use fathom_stats::midpoint_median;

/// Least number of intervals of a burst that are compared, and of all bursts together.
const FEW: usize = 5;
const ENOUGH: usize = 8;
/// Most of a burst: the queue may be full later.
const MOST: usize = 30;
/// Share of the intervals that may differ; one may in any case, because Linux shortens the second.
const EXCEPTIONS: f64 = 0.1;
/// Relative error of an interval.
const TOLERANCE: f64 = 0.12;
/// Shortest and longest first interval that is set for some path to the internet, in seconds:
/// 100 ms by default, the longest round trip otherwise (RFC 8289 section 4.3).
const INTERVAL_S: core::ops::RangeInclusive<f64> = 0.03..=1.0;
const DEFAULT_INTERVAL_S: f64 = 0.1;
/// Number of packets in the shortest interval that is compared.
const FINE: f64 = 4.0;
/// Numbers of the first drop: CAKE starts with the second, and Linux goes on where it was if it
/// dropped within the last 16 intervals.
const STARTS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// Whether bursts follow the law from the same first interval on.
pub(crate) fn follow_codel<'a>(bursts: impl Iterator<Item = &'a Response>) -> bool {
    let all: Vec<Intervals> = bursts.filter_map(Intervals::of).collect();
    let Some(interval_s) = all.iter().max_by_key(|one| one.seconds.len()).and_then(Intervals::first) else {
        return false;
    };
    let alike: Vec<&Intervals> = all.iter().filter(|one| one.follow(interval_s)).collect();
    // Drops of another AQM follow the law in some bursts by chance.
    alike.iter().map(|one| one.seconds.len()).sum::<usize>() >= ENOUGH
        && all.len() - alike.len() <= exceptions(all.len())
        && 2 * alike.len() > all.len()
}

/// Whether packets are short enough for the law to show.
pub(crate) fn resolves_codel(response: &Response) -> bool {
    DEFAULT_INTERVAL_S / libm::sqrt(10.0) >= FINE * response.packet_s
}

fn exceptions(count: usize) -> usize {
    ((EXCEPTIONS * count as f64) as usize).max(1)
}

/// Intervals between the drops of a burst.
struct Intervals {
    seconds: Vec<f64>,
    /// Time of the link for a packet.
    packet_s: f64,
}

impl Intervals {
    /// `None` if too few are longer than some packets.
    fn of(response: &Response) -> Option<Self> {
        let packet_s = response.packet_s;
        let early: Vec<&Lost> = response.early_losses().take(MOST + 1).collect();
        let seconds = early.windows(2).map(|pair| pair[1].at_s - pair[0].at_s);
        let seconds: Vec<f64> = seconds.take_while(|s| *s >= FINE * packet_s).collect();
        (seconds.len() >= FEW).then_some(Intervals { seconds, packet_s })
    }
    /// Numbers that the first of them may have. Those that hardly shrink are like each other by
    /// chance more often.
    fn starts(&self) -> impl Iterator<Item = u32> {
        let few = if self.seconds.len() < ENOUGH { 2 } else { u32::MAX };
        STARTS.into_iter().filter(move |start| *start <= few)
    }
    /// The first interval of the law that is nearest; `None` if they follow none.
    fn first(&self) -> Option<f64> {
        let first = |start: u32| {
            let roots = (start..).map(|number| libm::sqrt(f64::from(number)));
            let interval_s = midpoint_median(self.seconds.iter().zip(roots).map(|(s, root)| s * root))?;
            let (misses, deviation) = self.compare(start, interval_s);
            let is_law = misses <= exceptions(self.seconds.len()) && INTERVAL_S.contains(&interval_s);
            is_law.then_some((misses, deviation, interval_s))
        };
        let nearest = self.starts().filter_map(first).min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        nearest.map(|(.., interval_s)| interval_s)
    }
    fn follow(&self, interval_s: f64) -> bool {
        self.starts().any(|start| self.compare(start, interval_s).0 <= exceptions(self.seconds.len()))
    }
    /// Number of intervals that differ from the law, and the sum of relative differences of the
    /// others.
    fn compare(&self, start: u32, interval_s: f64) -> (usize, f64) {
        let law = |number: u32| interval_s / libm::sqrt(f64::from(number));
        let (mut number, mut misses, mut deviation) = (start, 0, 0.0);
        for observed in &self.seconds {
            let differs = |expected: f64| libm::fabs(observed / expected - 1.0);
            let is_near = |expected: f64| differs(expected) <= TOLERANCE + self.packet_s / expected;
            // A packet of another flow may have been dropped between.
            let two = law(number) + law(number + 1);
            if is_near(law(number)) {
                deviation += differs(law(number));
            } else if is_near(two) {
                number += 1;
                deviation += differs(two);
            } else {
                misses += 1;
            }
            number += 1;
        }
        (misses, deviation)
    }
}
