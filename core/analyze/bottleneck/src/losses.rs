//! Losses and marks, with the delay of packets next to the lost one.
use crate::recent_round_trips::RecentRoundTrips;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_flow::partition_near;

/// Maximum number of stored losses; beyond it every second one is kept, then every fourth.
const LIMIT: usize = 1024;
/// Maximum number of open holes: an overflow of a buffer of 100,000 packets loses no more at once.
const HOLES: usize = 4096;
/// Losses within this time are initially one group.
const NEAR_NS: i64 = 50_000_000;
/// Maximum number of groups before they are joined.
const GROUPS: usize = 1024;

/// How the delay at a loss was measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DelaySource {
    /// Round-trip time of a neighboring packet.
    RoundTrip,
    /// Delay of a neighboring packet from its sender to the capture point.
    Arrival,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Point {
    /// Best estimate of the time when the packet was lost, ns.
    pub(crate) at: i64,
    pub(crate) frame: u64,
    /// Frame number of the retransmission.
    pub(crate) repair: u64,
    /// Delay of a neighboring packet.
    pub(crate) delay: Option<(DelaySource, f32)>,
}

/// Losses close to each other in time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Group {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) count: u32,
    pub(crate) first_frame: u64,
    pub(crate) last_frame: u64,
    /// Maximum bytes in flight between the previous group and this one.
    pub(crate) outstanding_bytes: u64,
    /// Minimum bytes in flight between this group and the next.
    pub(crate) min_after_bytes: u64,
}

/// Losses or marks: all are counted, some are stored.
#[derive(Clone, Default, Debug)]
pub(crate) struct Points {
    pub(crate) kept: Vec<Point>,
    pub(crate) count: u64,
    stride: u64,
}

impl Points {
    pub(crate) fn push(&mut self, point: Point) {
        if self.count.is_multiple_of(self.stride.max(1)) {
            self.kept.push(point);
        }
        self.count += 1;
        if self.kept.len() >= LIMIT {
            let mut number = 0_u32;
            self.kept.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.stride = 2 * self.stride.max(1);
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Hole {
    start: u64,
    stop: u64,
    at: i64,
    frame: u64,
    delay: Option<f32>,
}

#[derive(Clone, Default, Debug)]
pub(crate) struct Losses {
    pub(crate) points: Points,
    pub(crate) marks: Points,
    pub(crate) groups: Vec<Group>,
    holes: VecDeque<Hole>,
    /// Times from a hole to its retransmission, ns: round trips under load without timestamps.
    pub(crate) fills: Vec<f32>,
    max_outstanding: u64,
}

impl Losses {
    #[inline]
    pub(crate) fn watch(&mut self, outstanding: u64) {
        self.max_outstanding = self.max_outstanding.max(outstanding);
        if let Some(group) = self.groups.last_mut() {
            group.min_after_bytes = group.min_after_bytes.min(outstanding);
        }
    }
    /// Records a hole in front of a segment that arrived at `at` with `delay`.
    #[cold]
    pub(crate) fn hole(&mut self, range: (u64, u64), at: i64, frame: u64, delay: Option<f64>) {
        if self.holes.len() >= HOLES {
            self.holes.pop_front();
        }
        let delay = delay.map(|delay| delay as f32);
        self.holes.push_back(Hole { start: range.0, stop: range.1, at, frame, delay });
    }
    /// Records a loss upstream of the capture point, from byte `start`, detected at `known_at`.
    pub(crate) fn lost_before(&mut self, start: u64, known_at: i64, known_frame: u64) {
        let number = self.holes.partition_point(|hole| hole.stop <= start);
        let hole = self.holes.get(number).filter(|hole| hole.start <= start);
        let mut point = Point { at: known_at, frame: known_frame, repair: known_frame, delay: None };
        if let Some(hole) = hole {
            let delay = hole.delay.map(|delay| (DelaySource::Arrival, delay));
            point = Point { at: hole.at, frame: hole.frame, repair: known_frame, delay };
            if self.fills.len() < LIMIT {
                self.fills.push((known_at - hole.at) as f32);
            }
        }
        self.add(point);
    }
    /// Scales the recorded delays after the tick duration was corrected by `scale`. The recorded
    /// value for a delay `d` at `t` is `t - d`.
    pub(crate) fn retime(&mut self, scale: f64) {
        let again = |at: i64, delay: &mut f32| {
            *delay = (scale * f64::from(*delay) + (1.0 - scale) * at as f64) as f32;
        };
        for point in self.points.kept.iter_mut().chain(&mut self.marks.kept) {
            if let Some((DelaySource::Arrival, delay)) = &mut point.delay {
                again(point.at, delay);
            }
        }
        for hole in &mut self.holes {
            hole.delay.iter_mut().for_each(|delay| again(hole.at, delay));
        }
    }
    /// Records a loss downstream of the capture point, of a packet sent at `at`.
    pub(crate) fn lost_after(&mut self, at: i64, frame: u64, repair: u64, recent: &RecentRoundTrips) {
        let delay = recent.near(at).map(|delay| (DelaySource::RoundTrip, delay));
        self.add(Point { at, frame, repair, delay });
    }
    /// Removes a loss after its retransmission, in frame `repair`, turned out to be spurious.
    pub(crate) fn void(&mut self, repair: u64) {
        self.points.count = self.points.count.saturating_sub(1);
        // They are ordered by their retransmissions, and this one is recent.
        let kept = &mut self.points.kept;
        let is_before = |place: usize| kept.get(place).is_some_and(|point| point.repair < repair);
        let place = partition_near(kept.len(), kept.len(), is_before);
        let Some(point) = kept.get(place).copied().filter(|point| point.repair == repair) else { return };
        kept.remove(place);
        let is_its = |group: &Group| group.from <= point.at && point.at <= group.to;
        let Some(number) = self.groups.iter().rposition(is_its) else { return };
        if let Some(group) = self.groups.get_mut(number).filter(|group| group.count > 1) {
            group.count -= 1;
        } else {
            self.groups.remove(number);
        }
    }
    fn add(&mut self, point: Point) {
        self.points.push(point);
        match self.groups.iter_mut().rev().find(|group| group.from - NEAR_NS <= point.at) {
            Some(group) if point.at <= group.to + NEAR_NS => {
                group.from = group.from.min(point.at);
                group.to = group.to.max(point.at);
                group.count += 1;
                group.last_frame = group.last_frame.max(point.frame);
            }
            _ => self.groups.push(Group {
                from: point.at,
                to: point.at,
                count: 1,
                first_frame: point.frame,
                last_frame: point.frame,
                outstanding_bytes: core::mem::take(&mut self.max_outstanding),
                min_after_bytes: u64::MAX,
            }),
        }
        if self.groups.len() > GROUPS {
            self.thin();
        }
    }
    /// Joins pairs of neighboring groups.
    #[cold]
    fn thin(&mut self) {
        let pairs = self.groups.chunks(2).filter_map(|pair| pair.iter().copied().reduce(join));
        self.groups = pairs.collect();
    }
}

pub(crate) fn join(a: Group, b: Group) -> Group {
    Group {
        from: a.from.min(b.from),
        to: a.to.max(b.to),
        count: a.count + b.count,
        first_frame: a.first_frame.min(b.first_frame),
        last_frame: a.last_frame.max(b.last_frame),
        outstanding_bytes: a.outstanding_bytes.max(b.outstanding_bytes),
        min_after_bytes: b.min_after_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_retimed_before_and_after_their_retransmission() {
        let mut losses = Losses::default();
        losses.hole((1_000, 2_000), 600_000_000, 1, Some(100e6));
        losses.hole((3_000, 4_000), 600_000_000, 2, Some(100e6));
        losses.lost_before(1_000, 700_000_000, 3);
        // Half a second of ticks becomes a quarter, before and after the retransmission.
        losses.retime(0.5);
        losses.lost_before(3_000, 800_000_000, 4);
        let delays: Vec<_> = losses.points.kept.iter().map(|point| point.delay).collect();
        assert_eq!(delays, [Some((DelaySource::Arrival, 350e6)); 2]);
    }

    /// Removed losses are not counted, even if there are more than can be stored individually.
    #[test]
    fn removed_losses_are_not_counted() {
        let mut losses = Losses::default();
        for number in 0..10_000_u64 {
            losses.lost_after(number as i64 * 1_000, number, number + 5, &RecentRoundTrips::default());
        }
        (0..10_000).filter(|number| number % 4 == 0).for_each(|number| losses.void(number + 5));
        assert_eq!(losses.points.count, 7_500);
        assert!(losses.points.kept.iter().all(|point| point.frame % 4 != 0));
    }
}
