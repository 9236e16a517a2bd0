//! Two captures of one path.
use crate::upload::upload;
use fathom_run::Capture;

/// Two captures of one path with every possible event in between.
pub(crate) fn path() -> Capture {
    let mut path = upload();
    let [hop] = path.hops.as_mut_slice() else { panic!("{:?}", path.hops) };
    hop.captures = ["lan", "wan"].map(String::from);
    (hop.lost_packets, hop.uncaptured_packets, hop.appeared_packets) = (1, 2, 1);
    (hop.unjudged_packets, hop.translated_flows) = (40_000, 3);
    (hop.reordered_packets, hop.duplicated_packets, hop.is_clock_set) = (7, 1, true);
    hop.remarked.clear();
    let mut back = hop.clone();
    back.captures.reverse();
    (back.lost_packets, back.uncaptured_packets, back.appeared_packets) = (0, 0, 0);
    (back.unjudged_packets, back.reordered_packets, back.is_clock_set) = (0, 0, false);
    path.hops.push(back);
    path
}
