//! How an AQM marks ECN-capable packets (RFC 3168).
use crate::Response;
use crate::codel::{follow_codel, resolves_codel};
use crate::rule::PIE_ALLOWANCE_S;
use alloc::vec::Vec;
use fathom_run::{Burst, ManagementRule, Marks};
use fathom_units::Ecn;

/// Fewer marks show no rule.
const MIN_MARKS: usize = 5;
/// So many marks in a row are not of PIE, which drops instead of marking from a probability of 10 %
/// on (RFC 8033 section 5.1). RED above its upper threshold marks all.
const IN_A_ROW: usize = 8;
/// At most this share of the packets is on the wrong side of a threshold.
const EXCEPTIONS: f64 = 0.03;

/// How packets with ECT(0) and ECT(1) were marked in a queue that drops others by this rule; `None`
/// if they were not.
#[must_use]
pub fn marks(bursts: &[&Burst], drops: Option<ManagementRule>) -> Option<Marks> {
    let of = |ecn: Ecn| {
        let sent = bursts.iter().find(|burst| burst.ecn == u32::from(ecn.bits()))?;
        Response::of_marks(sent).filter(|response| response.lost.len() >= MIN_MARKS)
    };
    let (classic, l4s) = (of(Ecn::Ect0)?, of(Ecn::Ect1));
    // The average queue of RED is above a threshold as long as the queue grows.
    let threshold_s = threshold_s(&classic).filter(|_| drops != Some(ManagementRule::Red));
    let l4s_threshold_s = l4s.and_then(|response| self::threshold_s(&response));
    Some(Marks {
        rule: rule(&classic).filter(|_| threshold_s.is_none()),
        threshold_s,
        l4s_threshold_s: l4s_threshold_s.filter(|_| threshold_s.is_none()),
    })
}

/// `marked` has packets that were marked in the place of those that were lost.
fn rule(marked: &Response) -> Option<ManagementRule> {
    if follow_codel(core::iter::once(marked)) {
        return Some(ManagementRule::Codel);
    }
    // Where packets take too long, the marks of CoDel look like others.
    if !resolves_codel(marked) {
        return None;
    }
    if marked.runs().any(|run| run.len() >= IN_A_ROW) {
        return Some(ManagementRule::Red);
    }
    let first_s = marked.lost.first().map(|first| marked.sent_s[first.index]);
    first_s.is_some_and(|first_s| first_s >= PIE_ALLOWANCE_S).then_some(ManagementRule::Pie)
}

/// The wait from which on all packets are marked, and none before.
fn threshold_s(marked: &Response) -> Option<f64> {
    let of_marked = marked.lost.iter().map(|lost| (lost.wait_s, true));
    let of_others = marked.passed.iter().map(|passed| (passed.wait_s, false));
    let mut all: Vec<(f64, bool)> = of_marked.chain(of_others).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Packets on the wrong side of a threshold before the first, second, and so on.
    let mut now = marked.passed.len();
    let counts = all.iter().enumerate().map(|(before, (wait_s, is_marked))| {
        let counted = (now, before, *wait_s);
        now = if *is_marked { now + 1 } else { now - 1 };
        counted
    });
    let (wrong, below, threshold_s) = counts.min_by_key(|counted| counted.0)?;
    let least = below.min(all.len() - below);
    (below > 0 && wrong as f64 <= EXCEPTIONS * least as f64).then_some(threshold_s)
}
