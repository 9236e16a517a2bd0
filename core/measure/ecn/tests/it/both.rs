//! Two devices on a path, and one that answers for the host.
use crate::net::{Mangler, Net, Placed, router};
use fathom_ecn::{Fate, Place, Probe, judge};
use fathom_units::{Direction, Ecn};

#[test]
fn a_change_and_a_drop_behind_it_are_two_findings() {
    let mut net = Net::new(4, 1);
    let placed = |what, at| Placed { what, at, direction: Direction::Up };
    net.manglers = vec![placed(Mangler::Ect1ToEct0, 2), placed(Mangler::DropEct, 4)];
    let report = judge(&net.run().0);
    let found: Vec<_> = report.problems().filter(|f| f.probe == Probe::Udp(Ecn::Ect1)).collect();
    let expected = [(Fate::Changed(Some(Ecn::Ect0)), 2), (Fate::Dropped, 4)];
    let expected = expected.map(|(fate, at)| (fate, Some(Place { after: at - 1, before: at })));
    assert_eq!(found.iter().map(|f| (f.fate, f.place)).collect::<Vec<_>>(), expected, "{report:#?}");
}

#[test]
fn a_middlebox_that_answers_for_the_host_is_noticed() {
    let mut net = Net::new(4, 1);
    net.intercepts = Some(3);
    let report = judge(&net.run().0);
    assert_eq!((report.host_hop, report.intercepted_at), (Some(3), Some(router(3))));
    assert_eq!(report.problems().next(), None, "{report:#?}");
    assert_eq!(judge(&Net::new(4, 1).run().0).intercepted_at, None);
}
