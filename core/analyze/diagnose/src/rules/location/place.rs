//! What a part of the path is to a household.
use super::key;
use crate::latency::shortest;
use crate::view::{Rise, View};
use core::net::IpAddr;
use core::ops::Range;
use fathom_run::{FirstLink, Hop, Metric, Path, Place};
use fathom_units::Direction;

/// Share of the delay in the queue of this host from which the queue is there.
const MOSTLY_HERE: f64 = 0.5;
/// A router this near, in seconds, is not behind a line to a provider, which takes longer: the
/// first one with any address, a second one with a private address this far from the first.
const LOCAL_S: f64 = 0.001;

/// The place of these links, where link 0 leads from this host to hop 1; `None` if they are of more
/// than one.
pub(super) fn of(
    view: &View<'_>,
    path: &Path,
    rise: &Rise<'_>,
    direction: Direction,
    links: Range<u8>,
) -> Option<Place> {
    let routers = household_routers(view, path);
    let mut places = links.map(|link| match link {
        0 if direction == Direction::Up && waits_here(view, rise) => Place::ThisComputer,
        0 if routers > 0 && path.first_link == Some(FirstLink::Wifi) => Place::Wifi,
        link if link < routers => Place::LocalNetwork,
        link if link == routers => Place::AccessLine,
        _ => Place::Internet,
    });
    let first = places.next()?;
    places.all(|place| place == first).then_some(first)
}

/// Number of routers before the line to the provider. A host at the line itself has none.
fn household_routers(view: &View<'_>, path: &Path) -> u8 {
    let base_s = |hop: &Hop| {
        let series =
            [Metric::HopRtt, Metric::HopEcho].map(|metric| view.run.series(&key(metric, hop.number)));
        series.into_iter().flatten().filter_map(shortest).min_by(f64::total_cmp)
    };
    let Some(first) = path.hops.first().filter(|hop| hop.number == 1) else { return 1 };
    let first_s = base_s(first).unwrap_or(f64::INFINITY);
    if !is_private(first) && first_s >= LOCAL_S {
        return 0;
    }
    let is_local = |hop: &Hop| is_private(hop) && base_s(hop).is_some_and(|s| s - first_s < LOCAL_S);
    let others = path.hops.iter().skip(1).zip(2..).take_while(|(hop, n)| hop.number == *n && is_local(hop));
    1 + others.count() as u8
}

fn is_private(hop: &Hop) -> bool {
    match hop.address.parse() {
        Ok(IpAddr::V4(v4)) => v4.is_private(),
        // Hosts of a household have public IPv6 addresses.
        Ok(IpAddr::V6(v6)) => hop.number == 1 || v6.is_unique_local(),
        Err(_) => false,
    }
}

/// Whether packets wait in the queue of this host's interface.
fn waits_here(view: &View<'_>, rise: &Rise<'_>) -> bool {
    let waits = view.values(Metric::HostQueue, rise.phase).percentile(0.5);
    waits.is_some_and(|wait| wait.value >= MOSTLY_HERE * rise.p50())
}
