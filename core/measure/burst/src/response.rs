//! What one burst shows: delays behind the queue, the rate of the link, and what was lost when.
use alloc::vec::Vec;
use core::ops::Range;
use fathom_run::Burst;
use fathom_stats::{median, percentile, sorted};
use fathom_units::Direction;

/// Least number of datagrams that waited, for the rate of the link.
const MIN_WAITED: usize = 6;
/// A datagram that waited for this share of the longest wait found packets in the queue.
pub(crate) const WAITED: f64 = 0.2;
/// A wait of fewer packets is that of the hosts, not of a queue.
const MIN_QUEUE_PACKETS: f64 = 3.0;
/// Largest difference between the waits of two packets in a row, relative to the longest wait.
const SMOOTH: f64 = 0.15;
/// The link takes this much longer for the last packets of a burst if it is another one.
const SLOWER: f64 = 1.1;
/// A policer loses at least this share of a burst that it does not delay.
pub(crate) const POLICED: f64 = 0.1;
/// A datagram was lost at a full queue if it would have waited for this share of the longest wait.
pub(crate) const FULL: f64 = 0.85;
/// A full queue accepts at most this many times the packets that leave it meanwhile ...
const MORE: f64 = 1.5;
/// ... and this number.
const MORE_PACKETS: f64 = 4.0;
/// Fewer losses at a full queue may be chance.
const MIN_FULL_LOSSES: usize = 3;
/// A receiver that does not answer this share of the requests limits its replies: no link loses so
/// many behind the queue.
const UNANSWERED: f64 = 0.25;
/// A buffer is full if half as many datagrams, or this share, waited for this share of the time,
/// and so did the last ones, from this share of their number on.
const HALF: f64 = 0.6;
const AS_LONG: f64 = 0.9;
const END: f64 = 0.9;

/// A datagram that arrived.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Passed {
    /// Number in the burst, from 0.
    pub(crate) index: usize,
    /// Arrival in seconds after the first arrival of the burst.
    pub(crate) at_s: f64,
    /// Delay above the shortest of all datagrams, in seconds.
    pub(crate) wait_s: f64,
}

/// A datagram that was lost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Lost {
    /// Number in the burst, from 0.
    pub(crate) index: usize,
    /// Longer wait of the datagrams before and after it, in seconds.
    pub(crate) wait_s: f64,
    /// Arrival of the next one, in seconds after the first arrival of the burst.
    pub(crate) at_s: f64,
}

/// How a link responded to a burst.
#[derive(Clone, PartialEq, Debug)]
pub struct Response {
    /// Size of the IP packets.
    pub(crate) ip_bytes: f64,
    /// When each datagram was sent, in seconds since the first: a busy host sends them in clumps.
    pub(crate) sent_s: Vec<f64>,
    pub(crate) passed: Vec<Passed>,
    pub(crate) lost: Vec<Lost>,
    /// Number of those far apart before the burst, and of those of them that were lost.
    pub(crate) before: [f64; 2],
    /// Number of those far apart after the burst that were lost: a full buffer drops none of them.
    pub(crate) lost_after: usize,
    /// Longest wait in seconds.
    pub(crate) longest_s: f64,
    /// Time between two packets that waited, in seconds.
    pub(crate) packet_s: f64,
    /// The datagrams were echo requests.
    pub(crate) is_echo: bool,
    /// The receiver did not answer all requests that reached it. Then losses show nothing.
    pub(crate) is_limited: bool,
}

impl Response {
    /// `None` if too few datagrams arrived, or not all were to be answered. Earlier responses of
    /// the link show its rate where a receiver limits its replies.
    pub(crate) fn of(burst: &Burst, earlier: &[Response]) -> Option<Self> {
        // An AQM may mark ECN-capable packets instead of dropping them.
        if burst.echo_every > 1 || burst.ecn > 0 {
            return None;
        }
        let response = Self::of_all(burst)?;
        let is_limited = response.is_echo && response.has_unanswered(earlier);
        Some(if is_limited { response.limited(earlier) } else { response })
    }
    /// The response to a burst of ECN-capable datagrams: those that were marked count as lost.
    pub(crate) fn of_marks(burst: &Burst) -> Option<Self> {
        let response = Self::of_all(burst)?;
        let is_marked = |index: usize| burst.ce.contains(&(burst.before + index as u32));
        let (marked, passed) = response.passed.into_iter().partition::<Vec<_>, _>(|p| is_marked(p.index));
        let lost = marked.iter().map(|&Passed { index, at_s, wait_s }| Lost { index, wait_s, at_s });
        // However long they wait, they did not find the buffer full.
        Some(Response { lost: lost.collect(), passed, longest_s: f64::INFINITY, ..response })
    }
    fn of_all(burst: &Burst) -> Option<Self> {
        let from = burst.before as usize;
        let sent = burst.sent_ns.get(from..from + burst.count as usize)?;
        let passed = arrivals(burst)?;
        let longest_s = percentile(&mut passed.iter().map(|p| p.wait_s).collect::<Vec<f64>>(), 0.98)?;
        let packet_s = packet_time(&passed, longest_s)?;
        Some(Response {
            ip_bytes: f64::from(burst.payload_bytes + burst.header_bytes),
            sent_s: sent.iter().map(|at| at.saturating_sub(sent[0]) as f64 / 1e9).collect(),
            lost: losses(&passed, sent.len()),
            passed,
            before: before(burst),
            lost_after: lost_after(burst, packet_s),
            longest_s,
            packet_s,
            is_echo: burst.echo_every > 0,
            is_limited: false,
        })
    }
    /// Whether the receiver did not answer all that reached it: a request that it does not answer
    /// has used the link, one that a queue drops has not.
    fn has_unanswered(&self, earlier: &[Response]) -> bool {
        let Some((packet_s, start)) = self.before_losses(earlier) else { return false };
        let later: Vec<f64> = self.passed.iter().map(|p| p.at_s).filter(|at_s| *at_s > start).collect();
        let carried = later.last().map_or(0.0, |end| (end - start) / packet_s);
        let unanswered = carried - later.len() as f64;
        unanswered > UNANSWERED * carried && unanswered >= MIN_FULL_LOSSES as f64
    }
    /// The response of a receiver that limits its replies: what was lost in a queue is not known.
    fn limited(self, earlier: &[Response]) -> Self {
        let packet_s = self.before_losses(earlier).map_or(self.packet_s, |(packet_s, _)| packet_s);
        Response { packet_s, lost: Vec::new(), is_limited: true, ..self }
    }
    /// Time of the link for a packet before the first loss, and when the last of these arrived. The
    /// first ones may pass at once, so it is at least the share of that for a larger packet.
    fn before_losses(&self, earlier: &[Response]) -> Option<(f64, f64)> {
        let first = self.lost.first()?.index;
        let (before, after) = self.passed.split_at(self.passed.partition_point(|p| p.index < first));
        let longest_s = before.iter().map(|p| p.wait_s).fold(0.0, f64::max);
        let waited = before.iter().filter(|p| p.wait_s >= WAITED * longest_s);
        let waited: Vec<f64> = waited.map(|p| p.at_s).collect();
        let larger = |of: &&Response| of.has_queue() && of.lost.is_empty() && of.ip_bytes >= self.ip_bytes;
        let known_s = earlier.iter().find(larger).map(|of| of.packet_s * self.ip_bytes / of.ip_bytes);
        if let [start, .., end] = *waited.as_slice()
            && waited.len() >= MIN_WAITED
        {
            let packet_s = (end - start) / (waited.len() - 1) as f64;
            return Some((packet_s.max(known_s.unwrap_or(0.0)), end));
        }
        Some((known_s?, after.first()?.at_s))
    }
    /// Whether fewer datagrams of this size waited as long, and the last of these do not wait
    /// longer. Then the buffer was full, although the losses are not known.
    pub(crate) fn waited_no_longer(&self, others: &[Response]) -> bool {
        let is_as_long = |a: f64, b: f64| a.min(b) >= AS_LONG * a.max(b);
        let of_end = |p: &&Passed| p.index as f64 >= END * self.count() as f64;
        let mut at_end = self.passed.iter().filter(of_end).peekable();
        let is_smaller = |other: &&Response| {
            other.ip_bytes == self.ip_bytes && other.count() as f64 <= HALF * self.count() as f64
        };
        let mut smaller = others.iter().filter(is_smaller);
        self.is_limited
            && at_end.peek().is_some()
            && at_end.all(|p| is_as_long(p.wait_s, self.longest_s))
            && smaller.any(|other| is_as_long(other.longest_s, self.longest_s))
    }
    /// Whether packets waited for the link. Then a packet waits nearly as long as the one before.
    #[must_use]
    pub fn has_queue(&self) -> bool {
        let steps = self.passed.windows(2).map(|pair| libm::fabs(pair[1].wait_s - pair[0].wait_s));
        let is_smooth = median(steps).is_some_and(|step| step <= SMOOTH * self.longest_s);
        self.longest_s >= MIN_QUEUE_PACKETS * self.packet_s && is_smooth
    }
    /// Whether the datagrams came faster than the link takes them.
    pub(crate) fn exceeded_link(&self) -> bool {
        self.has_queue() || !self.lost.is_empty()
    }
    /// Whether a burst lost packets that had no queue to wait in.
    pub(crate) fn is_policed(&self) -> bool {
        !self.has_queue() && self.lost.len() as f64 >= POLICED * self.count() as f64
    }
    /// Seconds between the packets that a policer lets pass, and the packets that it let pass at
    /// once.
    pub(crate) fn policing(&self) -> Option<(f64, f64)> {
        let first = self.lost.first()?.index;
        let after = self.passed.iter().filter(|p| p.index > first).count();
        let packet_s = (self.sending_s() - self.sent_s[first]) / after.max(1) as f64;
        Some((packet_s, first as f64 - self.sent_s[first] / packet_s)).filter(|_| after >= MIN_WAITED)
    }
    /// Losses while the queue had room.
    pub(crate) fn early_losses(&self) -> impl Iterator<Item = &Lost> {
        self.lost.iter().filter(|lost| lost.wait_s < FULL * self.longest_s)
    }
    /// Whether the buffer was full: from then on, a packet is accepted each time one leaves.
    #[must_use]
    pub fn was_full(&self) -> bool {
        let mut at_top = self.lost.iter().filter(|lost| lost.wait_s >= FULL * self.longest_s);
        let Some(first) = at_top.next() else { return false };
        let left = self.left_during(first.index..self.count());
        let accepted = self.passed.iter().filter(|p| p.index > first.index).count() as f64;
        // Of a burst that is hardly faster than the link, most pass anyway.
        let sent = (self.count() - first.index) as f64;
        let most = (MORE * left).min(left + (sent - left).max(0.0) / 2.0);
        let is_consistent = accepted <= most + MORE_PACKETS;
        self.has_queue() && is_consistent && at_top.count() >= MIN_FULL_LOSSES - 1
    }
    /// Packets that passed before the link's rate limited them: one, or those of a token bucket.
    pub(crate) fn bucket_packets(&self) -> f64 {
        let waited = self.passed.iter().enumerate().filter(|(_, p)| p.wait_s >= WAITED * self.longest_s);
        1.0 + median(waited.map(|(order, p)| order as f64 - p.at_s / self.packet_s)).unwrap_or(0.0).max(0.0)
    }
    /// Packets that were sent in the time that the link takes for one.
    pub(crate) fn pace(&self) -> f64 {
        self.packet_s * self.count() as f64 / self.sending_s().max(f64::MIN_POSITIVE)
    }
    /// Datagrams that were lost in a row.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let runs = self.lost.chunk_by(|a, b| a.index + 1 == b.index);
        runs.map(|run| run[0].index..run[0].index + run.len())
    }
    /// Number of datagrams.
    pub(crate) fn count(&self) -> usize {
        self.sent_s.len()
    }
    /// Duration in which the burst was sent, in seconds.
    pub(crate) fn sending_s(&self) -> f64 {
        self.sent_s.last().copied().unwrap_or(0.0)
    }
    /// Packets that left the queue while these datagrams were sent: none while the link pauses.
    pub(crate) fn left_during(&self, sent: Range<usize>) -> f64 {
        let of = |index: usize| self.sent_s.get(index).copied().unwrap_or(0.0);
        let before = |at_s: f64| self.passed.partition_point(|passed| passed.at_s < at_s);
        before(of(sent.end.saturating_sub(1))).saturating_sub(before(of(sent.start))) as f64
    }
    /// Datagrams at the end of the burst that all arrived.
    pub(crate) fn passed_at_end(&self) -> Range<usize> {
        self.lost.last().map_or(0, |lost| lost.index + 1)..self.count()
    }
}

/// How a link responded to several bursts, in the order of sending.
#[must_use]
pub fn responses<'a>(bursts: impl IntoIterator<Item = &'a Burst>) -> Vec<Response> {
    let mut all = Vec::new();
    bursts.into_iter().for_each(|burst| add_response(&mut all, burst));
    all
}

/// Adds the response to a burst. If it shows that the receiver limits its replies, the losses of
/// those before show nothing either.
pub(crate) fn add_response(all: &mut Vec<Response>, burst: &Burst) {
    let response = Response::of(burst, all);
    all.extend(response);
    if falls_short(burst, all) {
        for n in 0..all.len() {
            if !all[n].lost.is_empty() {
                all[n] = all[n].clone().limited(&all[..n]);
            }
        }
    }
}

/// Whether fewer replies came than the link carries in the time in which a burst was sent.
fn falls_short(burst: &Burst, responses: &[Response]) -> bool {
    let from = burst.before as usize;
    let Some(sent) = burst.sent_ns.get(from..from + burst.count as usize) else { return false };
    let sending_s = sent.last().unwrap_or(&0).saturating_sub(sent[0]) as f64 / 1e9;
    let ip_bytes = f64::from(burst.payload_bytes + burst.header_bytes);
    let known = responses.iter().filter(|of| of.has_queue()).map(|of| of.packet_s * ip_bytes / of.ip_bytes);
    let Some(packet_s) = known.min_by(f64::total_cmp) else { return false };
    let carried = (sending_s / packet_s).min(sent.len() as f64);
    let unanswered = carried - burst.arrivals().flatten().count() as f64;
    burst.echo_every == 1 && unanswered > (UNANSWERED * carried).max(MORE_PACKETS)
}

/// The datagrams of a burst that arrived; `None` without any.
pub(crate) fn arrivals(burst: &Burst) -> Option<Vec<Passed>> {
    let from = burst.before as usize;
    let sent = burst.sent_ns.get(from..from + burst.count as usize)?;
    let received = burst.received_ns.get(from..from + sent.len())?;
    let base_ns = shortest_ns(burst)?;
    let first_ns = received.iter().copied().flatten().next()? as f64;
    let arrival = |(index, (sent_ns, received_ns)): (usize, (&u64, &Option<u64>))| {
        let at_ns = (*received_ns)? as f64;
        let wait_s = (at_ns - *sent_ns as f64 - base_ns) / 1e9;
        Some(Passed { index, at_s: (at_ns - first_ns) / 1e9, wait_s })
    };
    Some(sent.iter().zip(received).enumerate().filter_map(arrival).collect())
}

/// Delay of each datagram above the shortest in seconds, and when it left or reached this host in
/// ns, in the order of time.
#[must_use]
pub fn waits(burst: &Burst) -> Vec<(u64, f64)> {
    let Some(base_ns) = shortest_ns(burst) else { return Vec::new() };
    let wait = |(sent, received): (&u64, &Option<u64>)| {
        let received = (*received)?;
        let at = if burst.direction == Direction::Up { *sent } else { received };
        Some((at, (received as f64 - *sent as f64 - base_ns) / 1e9))
    };
    let mut waits: Vec<(u64, f64)> = burst.sent_ns.iter().zip(&burst.received_ns).filter_map(wait).collect();
    waits.sort_by_key(|(at, _)| *at);
    waits
}

/// Shortest delay of all datagrams in ns, which includes the offset of the clocks.
fn shortest_ns(burst: &Burst) -> Option<f64> {
    let both = burst.sent_ns.iter().zip(&burst.received_ns);
    both.filter_map(|(sent, received)| Some((*received)? as f64 - *sent as f64)).min_by(f64::total_cmp)
}

/// Time that the link takes for a packet, from the later two thirds of those that waited: a token
/// bucket lets the first ones pass.
fn packet_time(passed: &[Passed], longest_s: f64) -> Option<f64> {
    let waited = sorted(passed.iter().filter(|p| p.wait_s >= WAITED * longest_s).map(|p| p.at_s));
    let later = waited.get(waited.len() / 3..).filter(|later| later.len() >= MIN_WAITED)?;
    let mean = |at: &[f64]| Some((at.last()? - at.first()?) / (at.len() - 1) as f64);
    let (packet_s, end) = (mean(later)?, &later[later.len() / 2..]);
    // What a token bucket let pass may have waited for another link.
    let end_s = mean(end).filter(|end_s| end.len() >= 2 * MIN_WAITED && *end_s > SLOWER * packet_s);
    Some(end_s.unwrap_or(packet_s))
}

fn before(burst: &Burst) -> [f64; 2] {
    let all = burst.received_ns.iter().take(burst.before as usize);
    [burst.before.into(), all.filter(|received| received.is_none()).count() as f64]
}

/// Until the last that arrived. When each was sent, a packet had left the queue since the one
/// before.
fn lost_after(burst: &Burst, packet_s: f64) -> usize {
    let from = (burst.before + burst.count) as usize;
    let end = burst.received_ns.iter().rposition(Option::is_some).unwrap_or(0);
    let has_room = |number: usize| {
        let since_ns = burst.sent_ns[number].saturating_sub(burst.sent_ns[number - 1]);
        since_ns as f64 >= 2e9 * packet_s
    };
    let end = end.min(burst.sent_ns.len());
    (from..end).filter(|number| burst.received_ns[*number].is_none() && has_room(*number)).count()
}

fn losses(passed: &[Passed], count: usize) -> Vec<Lost> {
    let mut next = 0;
    let missing = (0..count).filter_map(|index| {
        if passed.get(next).is_some_and(|p| p.index == index) {
            next += 1;
            return None;
        }
        let (before, after) = (next.checked_sub(1).and_then(|i| passed.get(i)), passed.get(next));
        // The one before may have found the buffer full, and the next one come after a pause.
        let wait_s = before.into_iter().chain(after).map(|p| p.wait_s).fold(0.0, f64::max);
        Some(Lost { index, wait_s, at_s: after.or(before).map_or(0.0, |p| p.at_s) })
    });
    missing.collect()
}
