//! Counts of probes by outcome.
use crate::Code;

/// Counts of probes. Merging adds them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// Sent: answered, late or lost. Excludes failed probes.
    pub sent: u64,
    /// Answered within the timeout.
    pub answered: u64,
    /// Answered after the timeout.
    pub late: u64,
    /// Not answered.
    pub lost: u64,
    /// Not sent.
    pub failed: u64,
    /// Duplicate replies.
    pub duplicates: u64,
    /// Reordered replies: they overtook the reply to an earlier probe.
    pub reordered: u64,
}

impl Tally {
    /// Counts one sample.
    pub fn add(&mut self, code: Code) {
        match code {
            Code::FAILED => self.failed += 1,
            Code::LOST => self.lost += 1,
            late if late.is_late() => self.late += 1,
            _ => self.answered += 1,
        }
        self.sent += u64::from(code != Code::FAILED);
    }
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Tally) {
        let pairs = self.fields_mut().into_iter().zip(other.fields());
        pairs.for_each(|(count, more)| *count = count.saturating_add(more));
    }
    /// Share of the sent probes that were lost; `None` if none was sent.
    pub fn loss_ratio(&self) -> Option<f64> {
        (self.sent > 0).then(|| self.lost as f64 / self.sent as f64)
    }
    pub(crate) fn fields(&self) -> [u64; 7] {
        [self.sent, self.answered, self.late, self.lost, self.failed, self.duplicates, self.reordered]
    }
    pub(crate) fn fields_mut(&mut self) -> [&mut u64; 7] {
        [
            &mut self.sent,
            &mut self.answered,
            &mut self.late,
            &mut self.lost,
            &mut self.failed,
            &mut self.duplicates,
            &mut self.reordered,
        ]
    }
}
