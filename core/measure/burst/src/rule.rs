//! How a queue drops, from where in a burst packets were lost.
use crate::Response;
use crate::response::{FULL, Lost};
use alloc::vec::Vec;
use fathom_run::ManagementRule;
use fathom_stats::midpoint_median;

/// Fewer early losses may be those of the link.
const MIN_EARLY: usize = 5;
/// Duration of a burst in which an AQM shows: CoDel and PIE let 100 to 150 ms pass.
const AQM_S: f64 = 0.3;
/// No link loses so large a share of all packets.
const NOT_OF_LINK: f64 = 0.1;
/// Least share of the intervals between drops that follow the law of CoDel.
const CONFORMING: f64 = 0.8;
/// Number of intervals that are compared. Later ones are shorter than what delays resolve.
const INTERVALS: usize = 10;
/// Relative error of an interval.
const TOLERANCE: f64 = 0.12;
/// Shortest and longest interval of CoDel that is set for some link, in seconds: 100 ms by default,
/// the longest round trip otherwise (RFC 8289 section 4.3).
const INTERVAL_S: core::ops::RangeInclusive<f64> = 0.01..=1.0;
const DEFAULT_INTERVAL_S: f64 = 0.1;
/// Number of packets in the shortest interval that is compared.
const FINE: f64 = 4.0;
/// Numbers of the first drop that is compared.
const STARTS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// PIE drops nothing in the first 150 ms of a burst (RFC 8033 section 4.4), here with a margin.
const PIE_ALLOWANCE_S: f64 = 0.140;
/// A full queue accepts a packet each time one leaves it. If so many left, it follows another rule.
const LEFT_PACKETS: f64 = 8.0;
/// A queue of less than this share of the longest is short: an AQM drops nothing.
const SHORT: f64 = 0.2;
/// Least number of losses that are expected from a short queue if they do not depend on it.
const EXPECTED: f64 = 7.0;
/// A link loses at least this share of it.
const OF_LINK: f64 = 0.25;

/// `None` if nothing shows it.
pub(crate) fn rule(responses: &[&Response]) -> Option<ManagementRule> {
    let is_queued = responses.iter().any(|response| response.has_queue());
    if !is_queued && responses.iter().any(|response| response.is_policed()) {
        return Some(ManagementRule::Policer);
    }
    let early = |response: &&&Response| response.early_losses().count();
    let of_queue = responses.iter().filter(|response| response.has_queue());
    let clearest = of_queue.clone().max_by_key(early)?;
    if of_queue.clone().any(follows_codel) {
        return Some(ManagementRule::Codel);
    }
    if of_queue.clone().any(drops_head) {
        return Some(ManagementRule::HeadDrop);
    }
    if of_queue.clone().any(drops_all) {
        return Some(ManagementRule::Red);
    }
    let dependence = of_queue
        .clone()
        .map(|response| Dependence::of(response))
        .fold(Dependence::default(), Dependence::plus);
    if clearest.has_few_early() || dependence.is_of_link() {
        let is_full = responses.iter().any(|response| response.was_full());
        // A burst may be over before an AQM begins.
        let is_long = of_queue.clone().any(|response| response.sending_s() >= AQM_S);
        return (is_full && is_long).then_some(ManagementRule::TailDrop);
    }
    // Where packets take too long, the drops of CoDel look like random ones.
    if !dependence.is_of_queue() || !of_queue.clone().any(resolves_codel) {
        return None;
    }
    let first_sent_s = |response: &&Response| {
        let first = response.early_losses().next()?.index;
        Some(response.sent_s[first])
    };
    let earliest_s = of_queue.filter(|r| !r.has_few_early()).filter_map(first_sent_s);
    let is_late = earliest_s.fold(f64::INFINITY, f64::min) >= PIE_ALLOWANCE_S;
    // Earlier, RED or a PIE that still drops for the last burst.
    is_late.then_some(ManagementRule::Pie)
}

/// Whether a queue dropped all that came, although packets left it: RED above its upper threshold.
/// PIE does so as well, but later.
fn drops_all(response: &&Response) -> bool {
    response.runs().any(|run| {
        // A host that paused after it sent the last one recorded a late time.
        let exact = run.start..(run.end - 1).max(run.start + 1);
        let sending_s = response.sent_s[exact.end - 1] - response.sent_s[run.start];
        // A host that paused before it answered sends replies of packets that left before.
        let left = response.left_during(exact).min(sending_s / response.packet_s);
        response.sent_s[run.start] < PIE_ALLOWANCE_S && left >= LEFT_PACKETS
    })
}

/// Whether the last datagrams of a burst all arrived, more than the packets that left the queue
/// meanwhile, and many before them did not.
fn drops_head(response: &&Response) -> bool {
    let end = response.passed_at_end();
    response.early_losses().count() > response.count() / 4
        && end.len() as f64 > 2.0 * response.left_during(end) + LEFT_PACKETS
}

/// Packets that were sent, and lost, while the queue was short and while it was longer and had
/// room.
#[derive(Clone, Copy, Default)]
struct Dependence {
    short: [f64; 2],
    longer: [f64; 2],
}

impl Dependence {
    fn of(response: &Response) -> Self {
        let mut counts = Dependence::default();
        let passed = response.passed.iter().map(|passed| (passed.wait_s, 0.0));
        for (wait_s, lost) in passed.chain(response.lost.iter().map(|lost| (lost.wait_s, 1.0))) {
            let share = wait_s / response.longest_s;
            let of = if share < SHORT { &mut counts.short } else { &mut counts.longer };
            if share < FULL {
                *of = [of[0] + 1.0, of[1] + lost];
            }
        }
        counts
    }
    fn plus(self, other: Self) -> Self {
        let sum = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
        Dependence { short: sum(self.short, other.short), longer: sum(self.longer, other.longer) }
    }
    /// Losses from the short queue, and how many they would be if they did not depend on it.
    fn losses(self) -> (f64, f64) {
        (self.short[1], self.short[0] * self.longer[1] / self.longer[0].max(1.0))
    }
    fn is_of_link(self) -> bool {
        let (lost, expected) = self.losses();
        lost >= OF_LINK * expected && lost >= 1.0
    }
    fn is_of_queue(self) -> bool {
        let (lost, expected) = self.losses();
        lost < OF_LINK * expected && expected >= EXPECTED
    }
}

impl Response {
    /// Whether losses while the queue had room may be those of the link.
    pub(crate) fn has_few_early(&self) -> bool {
        self.early_losses().count() < MIN_EARLY
    }
    /// Whether a longer burst would show no more: more packets than a link loses were lost although
    /// there was room.
    pub(crate) fn is_managed(&self) -> bool {
        let early = self.early_losses().count();
        early >= 4 * MIN_EARLY && early as f64 >= NOT_OF_LINK * self.count() as f64
    }
}

/// Whether packets are much shorter than the last interval that is compared.
fn resolves(response: &Response, shortest_s: f64) -> bool {
    shortest_s >= FINE * response.packet_s
}

fn resolves_codel(response: &&Response) -> bool {
    resolves(response, DEFAULT_INTERVAL_S / libm::sqrt(INTERVALS as f64))
}

/// Whether the intervals between drops shrink as 1/sqrt(number): CoDel's control law. The number
/// is that of the drop, or a later one: CAKE starts with the second, and Linux goes on where it
/// was if it dropped within the last 16 intervals.
pub(crate) fn follows_codel(response: &&Response) -> bool {
    let early: Vec<&Lost> = response.early_losses().take(INTERVALS + 1).collect();
    let spacings: Vec<f64> = early.windows(2).map(|pair| pair[1].at_s - pair[0].at_s).collect();
    let shortest_s = spacings.iter().copied().fold(f64::INFINITY, f64::min);
    if spacings.len() < MIN_EARLY - 1 || !resolves(response, shortest_s) {
        return false;
    }
    // Intervals that hardly shrink are like each other by chance more often.
    let is_long = spacings.len() >= INTERVALS;
    STARTS.into_iter().filter(|start| is_long || *start <= 2).any(|start| {
        let roots = (start..).map(|number| libm::sqrt(f64::from(number)));
        let intervals: Vec<f64> = spacings.iter().zip(roots).map(|(s, root)| s * root).collect();
        let Some(interval) = midpoint_median(intervals.iter().copied()) else { return false };
        let conforming = spacings.iter().zip(&intervals).filter(|(spacing, of)| {
            let slack = TOLERANCE * interval + response.packet_s * **of / spacing.max(f64::MIN_POSITIVE);
            libm::fabs(**of - interval) <= slack
        });
        INTERVAL_S.contains(&interval) && conforming.count() as f64 >= CONFORMING * spacings.len() as f64
    })
}
