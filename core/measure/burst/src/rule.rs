//! How a queue drops, from where in a burst packets were lost.
use crate::Response;
use crate::codel::{follow_codel, resolves_codel};
use crate::response::{FULL, Lost};
use alloc::vec::Vec;
use fathom_run::ManagementRule;

/// Fewer early losses may be those of the link.
const MIN_EARLY: usize = 5;
/// Duration of a burst in which an AQM shows: CoDel and PIE let 100 to 150 ms pass.
const AQM_S: f64 = 0.3;
/// No link loses so large a share of all packets.
const NOT_OF_LINK: f64 = 0.1;
/// PIE drops nothing in the first 150 ms of a burst (RFC 8033 section 4.4), here with a margin.
pub(crate) const PIE_ALLOWANCE_S: f64 = 0.140;
/// A full queue accepts a packet each time one leaves it. If so many left, it follows another rule.
const LEFT_PACKETS: f64 = 8.0;
/// Number of packets in which PIE does not begin to drop most.
const SOON: usize = 20;
/// RED loses at most this share of the packets before its average exceeds the upper threshold.
const MOST_BEFORE: f64 = 0.2;
/// A queue of less than this share of the longest is short: an AQM drops nothing.
const SHORT: f64 = 0.2;
/// Least number of losses that are expected from a short queue if they do not depend on it.
const EXPECTED: f64 = 4.0;
/// A link loses at least this share of it.
const OF_LINK: f64 = 0.25;

/// `None` if nothing shows it.
pub(crate) fn rule(responses: &[&Response]) -> Option<ManagementRule> {
    let is_queued = responses.iter().any(|response| response.has_queue());
    if !is_queued && responses.iter().any(|response| response.is_policed()) {
        return Some(ManagementRule::Policer);
    }
    let early = |response: &&Response| response.early_losses().count();
    let of_queue = responses.iter().copied().filter(|response| response.has_queue());
    let clearest = of_queue.clone().max_by_key(early)?;
    if follow_codel(of_queue.clone()) {
        return Some(ManagementRule::Codel);
    }
    if of_queue.clone().any(drops_head) {
        return Some(ManagementRule::HeadDrop);
    }
    if of_queue.clone().any(drops_all) {
        return Some(ManagementRule::Red);
    }
    let lossy = || of_queue.clone().filter(|response| !response.has_few_early());
    let lost_after: usize = of_queue.clone().map(|response| response.lost_after).sum();
    let dependence = Dependence::of(lossy());
    if clearest.has_few_early() && lost_after < MIN_EARLY || dependence.is_of_link() {
        let is_full = match clearest.has_few_early() {
            true => responses.iter().any(|response| response.was_full()),
            false => clearest.was_full(),
        };
        // A burst may be over before an AQM begins.
        let is_long = of_queue.clone().any(|response| response.sending_s() >= AQM_S);
        return (is_full && is_long).then_some(ManagementRule::TailDrop);
    }
    // Where packets take too long, the drops of CoDel look like random ones.
    if !dependence.is_of_queue() || !of_queue.clone().any(resolves_codel) {
        return None;
    }
    let first_sent_s = |response: &Response| Some(response.sent_s[response.early_losses().next()?.index]);
    let earliest_s = lossy().filter_map(first_sent_s);
    let is_late = earliest_s.fold(f64::INFINITY, f64::min) >= PIE_ALLOWANCE_S;
    // Earlier, RED or a PIE that still drops for the last burst.
    (is_late && lossy().all(begins_slowly) && lossy().any(drops_more)).then_some(ManagementRule::Pie)
}

/// Whether a queue dropped all that came, although packets left it: RED above its upper threshold.
/// PIE does so as well, but later, and PI2 after it dropped many.
fn drops_all(response: &Response) -> bool {
    let mut lost = 0;
    response.runs().any(|run| {
        let lost_before = lost;
        lost += run.len();
        // A host that paused after it sent the last one recorded a late time.
        let exact = run.start..(run.end - 1).max(run.start + 1);
        let sending_s = response.sent_s[exact.end - 1] - response.sent_s[run.start];
        // A host that paused before it answered sends replies of packets that left before.
        let left = response.left_during(exact).min(sending_s / response.packet_s);
        let is_abrupt = lost_before as f64 <= MOST_BEFORE * run.start as f64;
        response.sent_s[run.start] < PIE_ALLOWANCE_S && left >= LEFT_PACKETS && is_abrupt
    })
}

/// Whether at most half of the packets were lost after the first that was: a full queue before a
/// faster link loses as many at once as later.
fn begins_slowly(response: &Response) -> bool {
    let Some(first) = response.early_losses().next() else { return true };
    let soon = first.index..first.index + SOON;
    response.lost.iter().filter(|lost| soon.contains(&lost.index)).count() <= SOON / 2
}

/// Whether drops became at least twice as frequent: PIE drops more until the queue is short, and a
/// full buffer as many from the first on.
fn drops_more(response: &Response) -> bool {
    let early: Vec<&Lost> = response.early_losses().collect();
    let mean =
        |lost: &[&Lost]| Some((lost.last()?.index - lost.first()?.index) as f64 / (lost.len() - 1) as f64);
    let (first, last) = (early.get(..MIN_EARLY), early.get(early.len() - early.len() / 3..));
    let first = first.and_then(mean);
    first.zip(last.and_then(mean)).is_some_and(|(first, last)| first >= 2.0 * last)
}

/// Whether the last datagrams of a burst all arrived, more than the packets that left the queue
/// meanwhile, and many before them did not.
fn drops_head(response: &Response) -> bool {
    let end = response.passed_at_end();
    response.early_losses().count() > response.count() / 4
        && end.len() as f64 > 2.0 * response.left_during(end) + LEFT_PACKETS
}

/// Packets that were sent, and lost, while the queue was short and while it was longer and had
/// room.
#[derive(Default)]
struct Dependence {
    short: [f64; 2],
    longer: [f64; 2],
}

impl Dependence {
    fn of<'a>(bursts: impl Iterator<Item = &'a Response>) -> Self {
        let mut counts = Dependence::default();
        bursts.for_each(|response| counts.add(response));
        counts
    }
    fn add(&mut self, response: &Response) {
        let mut count = |is_short: bool, sent: f64, lost: f64| {
            let of = if is_short { &mut self.short } else { &mut self.longer };
            *of = [of[0] + sent, of[1] + lost];
        };
        let [sent_before, lost_before] = response.before;
        count(true, sent_before, lost_before);
        // Later, an AQM still drops while the queue is short again.
        let peak = response.passed.iter().max_by(|a, b| a.wait_s.total_cmp(&b.wait_s));
        let peak = peak.map_or(0, |passed| passed.index);
        let passed = response.passed.iter().map(|passed| (passed.index, passed.wait_s, 0.0));
        let lost = response.lost.iter().map(|one| (one.index, one.wait_s, 1.0));
        for (index, wait_s, is_lost) in passed.chain(lost) {
            let share = wait_s / response.longest_s;
            if index <= peak && share < FULL {
                count(share < SHORT, 1.0, is_lost);
            }
        }
    }
    /// Losses from the short queue, and how many they would be if they did not depend on it.
    fn losses(&self) -> (f64, f64) {
        (self.short[1], self.short[0] * self.longer[1] / self.longer[0].max(1.0))
    }
    fn is_of_link(&self) -> bool {
        let (lost, expected) = self.losses();
        lost >= OF_LINK * expected && lost >= 1.0 && self.longer[1] < NOT_OF_LINK * self.longer[0]
    }
    fn is_of_queue(&self) -> bool {
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
