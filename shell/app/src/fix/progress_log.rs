//! Decides which rate changes of autorate are worth a line, and when.
use fathom_fix::auto::{Change, DirectionStatus, Status};
use fathom_os::clock::utc_offset_s;
use fathom_prose::autorate_reason;
use fathom_text::rate;
use fathom_units::{Direction, PerDirection, Rate, WallTime};

/// Minimum time between two lines of a direction, ns. Under load a rate changes by a tenth each
/// second.
const QUIET_NS: u64 = 10_000_000_000;
/// Minimum relative change of a rate that is printed.
const WORTH: f64 = 0.1;
/// Time without answers after which that is printed, ns.
const PATIENCE_NS: u64 = 5_000_000_000;

/// Lines for rate changes of a tenth or more, with a summary of the changes in between, and missing
/// answers.
#[derive(Default, Debug)]
pub struct ProgressLog {
    reported: Option<PerDirection<ReportedRate>>,
    answers: u64,
    is_silent: bool,
    heard_ns: u64,
}

/// The rate in the last line, and the changes since. One line can summarize many changes, the last
/// of which can be in the other direction.
#[derive(Clone, Copy, Debug)]
struct ReportedRate {
    at_ns: u64,
    rate: Rate,
    /// Minimum and maximum since then, including that rate.
    range: [Rate; 2],
    cuts: u64,
    lowered: Option<Change>,
    raised: Option<Change>,
}

/// Number of rate reductions because of delay.
#[must_use]
pub fn cuts(status: &DirectionStatus) -> u64 {
    status.decisions.iter().filter(|(why, _)| why.is_cut()).map(|(_, count)| count).sum()
}

impl ReportedRate {
    fn new(at_ns: u64, rate: Rate, cuts: u64) -> ReportedRate {
        ReportedRate { at_ns, rate, range: [rate; 2], cuts, lowered: None, raised: None }
    }
    fn note(&mut self, now: Rate, last: Option<Change>) {
        let [min, max] = self.range;
        self.range = [min.min(now), max.max(now)];
        match last {
            Some(last) if last.to < last.from => self.lowered = Some(last),
            Some(last) => self.raised = Some(last),
            None => {}
        }
    }
    /// A line if the change is large enough. The rate then counts as reported.
    fn line(&mut self, direction: Direction, now_ns: u64, now: Rate, cuts: u64) -> Option<String> {
        let why = if now < self.rate { self.lowered } else { self.raised };
        let why =
            why.filter(|_| is_worth(self.rate, now) && now_ns.saturating_sub(self.at_ns) >= QUIET_NS)?;
        let line = format!(
            "{}  {direction} {} -> {}{}  {}",
            clock_words(WallTime(now_ns)),
            words(self.rate),
            words(now),
            self.meanwhile(now, cuts),
            autorate_reason(why.reason)
        );
        *self = ReportedRate::new(now_ns, now, cuts);
        Some(line)
    }
    /// The range and the cuts since the last line.
    fn meanwhile(&self, now: Rate, cuts: u64) -> String {
        let [min, max] = self.range;
        let is_between = is_worth(self.rate.min(now), min) || is_worth(self.rate.max(now), max);
        let count = cuts.saturating_sub(self.cuts);
        match (is_between, count) {
            (true, _) => format!(" ({} to {} meanwhile, cuts: {count})", words(min), words(max)),
            (false, 0 | 1) => String::new(),
            (false, _) => format!(" (cuts: {count})"),
        }
    }
}

impl ProgressLog {
    /// The lines to print after a tick.
    pub fn tick(&mut self, status: &Status) -> Vec<String> {
        let (now_ns, directions) = (status.at.0, &status.directions);
        // The first change is printed at once.
        let begin =
            |now: &DirectionStatus| ReportedRate::new(0, now.last.map_or(now.rate, |last| last.from), 0);
        let reported = self.reported.get_or_insert_with(|| directions.as_ref().map(begin));
        let mut lines = Vec::new();
        for (direction, (now, one)) in directions.as_ref().zip(reported.as_mut()) {
            one.note(now.rate, now.last);
            lines.extend(one.line(direction, now_ns, now.rate, cuts(now)));
        }
        lines.extend(self.silence(status));
        lines
    }
    /// A line if answers are missing, or have returned.
    fn silence(&mut self, status: &Status) -> Option<String> {
        let now = status.at.0;
        let is_first = self.heard_ns == 0;
        if is_first || std::mem::replace(&mut self.answers, status.answers) != status.answers {
            self.heard_ns = now;
            let again = std::mem::take(&mut self.is_silent);
            return again.then(|| format!("{}  reflectors answer again", clock_words(status.at)));
        }
        if self.is_silent || now.saturating_sub(self.heard_ns) < PATIENCE_NS {
            return None;
        }
        self.is_silent = true;
        let why = status.problem.as_ref().map_or_else(String::new, |words| format!(" ({words})"));
        let at = clock_words(status.at);
        Some(format!(
            "{at}  nobody has answered for 5 s{why}: the rates stay as they are until somebody does"
        ))
    }
}

fn is_worth(reported: Rate, now: Rate) -> bool {
    let [reported, now] = [reported, now].map(|rate| rate.as_bits_per_second() as f64);
    (now - reported).abs() > reported * WORTH
}

fn words(of: Rate) -> String {
    rate(of.as_bits_per_second() as f64)
}

/// The local time of day.
fn clock_words(at: WallTime) -> String {
    let there = WallTime(at.0.saturating_add_signed(utc_offset_s(at).saturating_mul(1_000_000_000)));
    there.to_string().chars().skip("2026-11-22T".len()).take("08:00:00".len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_shape::autorate::Reason;

    fn mbit(n: u64) -> Rate {
        Rate::from_bits_per_second(n * 1_000_000)
    }

    fn changed(s: u64, from: u64, to: u64, reason: Reason) -> Option<Change> {
        Some(Change { at: WallTime(s * 1_000_000_000), from: mbit(from), to: mbit(to), reason })
    }

    #[test]
    fn a_line_for_several_changes_tells_the_cause_of_their_sum() {
        let s = |n: u64| n * 1_000_000_000;
        let mut reported = ReportedRate::new(0, mbit(11), 0);
        reported.note(mbit(11), None);
        assert_eq!(reported.line(Direction::Up, s(1_000), mbit(11), 0), None);
        reported.note(mbit(5), changed(1, 11, 5, Reason::BottleneckBelow));
        reported.note(mbit(6), changed(2, 5, 6, Reason::Exploring));
        let line = reported.line(Direction::Up, s(1_000), mbit(6), 1).unwrap();
        let words = "  up 11.0 Mbit/s -> 6.00 Mbit/s (5.00 Mbit/s to 11.0 Mbit/s meanwhile, cuts: 1)  cut to what was";
        assert!(line.contains(words), "{line}");
        // No further line for ten seconds; then one line for all changes.
        for (second, rate) in [(1, 9), (2, 6), (3, 12), (9, 14)] {
            reported.note(mbit(rate), changed(second, 6, 14, Reason::Exploring));
            assert_eq!(reported.line(Direction::Up, s(1_000 + second), mbit(rate), 5), None);
        }
        let later = reported.line(Direction::Up, s(1_010), mbit(14), 5).unwrap();
        assert!(
            later.contains("  up 6.00 Mbit/s -> 14.0 Mbit/s (cuts: 4)  raised: our queue shows"),
            "{later}"
        );
    }
}
