//! Which router of a path is probed next, and what the replies show.
use fathom_probe::{HopProbe, HopRates, HopReply, Hops};
use fathom_run::{Hop, Metric, Path, Value};
use fathom_units::{Duration, Time};
use std::net::{IpAddr, Ipv4Addr};

const MS: fn(u64) -> Time = |ms| Time::from_nanos(ms * 1_000_000);

/// Without datagrams of other flows.
const RATES: HopRates = HopRates { other_flows: 0, ..HopRates::TEST };

fn router(hop: u8) -> IpAddr {
    Ipv4Addr::new(192, 0, 2, hop).into()
}

/// Polls every 10 ms for `ms`; hops of `silent` never answer, the others answer expiring
/// requests at once and the server is hop `length`. Returns the probes with their times.
fn run(hops: &mut Hops, from: u64, ms: u64, length: u8, silent: &[u8]) -> Vec<(u64, HopProbe)> {
    let mut all = Vec::new();
    for at in (from..from + ms).step_by(10) {
        let Some(probe) = hops.next(MS(at), false) else { continue };
        all.push((at, probe));
        match probe {
            HopProbe::Expiring { hop, sequence } if !silent.contains(&hop) => {
                let is_end = hop >= length;
                let by = router(hop.min(length));
                hops.expired(HopReply { sequence, is_end }, by, Some(65 - hop), MS(at + 1));
            }
            HopProbe::Echo { hop, sequence, to } if hop != 2 => {
                hops.echoed(hop, sequence, to, MS(at + 1));
            }
            _ => {}
        }
    }
    all
}

#[test]
fn each_hop_gets_one_expiring_probe_a_second_and_more_echoes() {
    let mut hops = Hops::new(RATES);
    let all = run(&mut hops, 0, 5_000, 4, &[]);
    let found = |number| Hop {
        number,
        address: router(number).to_string(),
        name: None,
        flow_address: None,
        other_address: None,
        autonomous_system: None,
        return_hops: Some(number),
    };
    let (server_hop, server_return_hops) = (Some(4), Some(4));
    let expected =
        Path { hops: [1, 2, 3].map(found).into(), server_hop, server_return_hops, ..Path::default() };
    assert_eq!(hops.path(), expected);
    for hop in 1..=3 {
        let expiring = |p: &&(u64, HopProbe)| matches!(p.1, HopProbe::Expiring { hop: h, .. } if h == hop);
        let times: Vec<u64> = all.iter().filter(expiring).map(|(at, _)| *at).collect();
        assert_eq!(times.len(), 5, "{times:?}");
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 1_000), "{times:?}");
        let echoes = all.iter().filter(|p| matches!(p.1, HopProbe::Echo { hop: h, .. } if h == hop)).count();
        // Hop 2 does not answer echo requests to its address.
        assert!(if hop == 2 { echoes == 20 } else { (60..=84).contains(&echoes) }, "{hop}: {echoes}");
    }
    let keys: Vec<_> = hops.into_series().map(|s| (s.key().metric, s.key().scope.clone())).collect();
    let with_server = [("1", 2), ("2", 1), ("3", 2), ("4", 1)].into_iter().flat_map(|(hop, count)| {
        [Metric::HopRtt, Metric::HopEcho].into_iter().take(count).map(|m| (m, Some(hop.into())))
    });
    assert_eq!(keys, with_server.collect::<Vec<_>>());
}

/// Four hops whose probes are a second apart, as on a line of 100 kbit/s.
#[test]
fn on_a_slow_line_hops_are_probed_in_turn() {
    let mut hops = Hops::new(RATES);
    let mut counts = [0; 6];
    for at in (0..24_000).step_by(1_000) {
        let Some(HopProbe::Expiring { hop, sequence }) = hops.next(MS(at), false) else { panic!("{at}") };
        counts[usize::from(hop)] += 1;
        hops.expired(HopReply { sequence, is_end: hop >= 4 }, router(hop), Some(65 - hop), MS(at + 900));
    }
    assert_eq!(counts, [0, 6, 6, 6, 6, 0]);
}

#[test]
fn on_a_slow_line_hops_that_may_not_exist_do_not_displace_others() {
    let mut hops = Hops::new(RATES);
    let mut counts = [0; 31];
    for at in (0..60_000).step_by(1_000) {
        let Some(HopProbe::Expiring { hop, sequence }) = hops.next(MS(at), false) else { continue };
        counts[usize::from(hop)] += 1;
        if hop <= 3 {
            hops.expired(HopReply { sequence, is_end: false }, router(hop), Some(65 - hop), MS(at + 900));
        }
    }
    assert!(counts[1..=3].iter().all(|count| *count >= 14), "{counts:?}");
}

#[test]
fn the_status_counts_probes_that_are_answered_or_old() {
    let rates = HopRates {
        expiring_every: Duration::from_secs(2),
        echo_every: Duration::from_secs(2),
        other_flows: 0,
    };
    let mut hops = Hops::new(rates);
    run(&mut hops, 0, 19_000, 4, &[2]);
    let status = hops.status(MS(19_000));
    let counts = status.iter().map(|hop| (hop.number, hop.address, hop.sent, hop.lost));
    // Ten probes each; the silent hop gets four at 0, 2, 4, 6 s and one every ten seconds then.
    let expected = [
        (1, Some(router(1)), 10, 0),
        (2, None, 4, 4),
        (3, Some(router(3)), 10, 0),
        (4, Some(router(4)), 10, 0),
    ];
    assert!(counts.eq(expected), "{status:?}");
    // The last one of the silent hop, at 16 s, is lost at 21 s.
    assert_eq!((hops.status(MS(21_100))[1].sent, hops.is_waiting()), (5, false));
}

/// Every second request that expires is a segment of the upload, and its replies are apart.
#[test]
fn during_an_upload_every_second_request_is_in_its_flow() {
    let mut hops = Hops::new(RATES);
    run(&mut hops, 0, 2_000, 3, &[]);
    let (mut kinds, other) = (vec![], router(77));
    for at in (2_000..8_000).step_by(10) {
        match hops.next(MS(at), true) {
            Some(HopProbe::InFlow { hop: 1, sequence }) => {
                kinds.push(true);
                let found =
                    hops.expired_in_flow(sequence, other, MS(at + 3)).map(|(key, o)| (key.clone(), o));
                let (key, observation) = found.unwrap();
                assert_eq!((key.metric, observation.value), (Metric::HopFlowRtt, Value::Observed(0.003)));
                let reply = HopReply { sequence, is_end: false };
                assert_eq!(hops.expired(reply, other, None, MS(at + 3)), None, "of the other kind");
            }
            Some(HopProbe::Expiring { hop: 1, .. }) => kinds.push(false),
            Some(HopProbe::InFlow { hop, .. }) => assert_eq!(hop, 2, "the server is not probed"),
            _ => {}
        }
    }
    assert_eq!(kinds, [true, false, true, false, true, false]);
    let flow_address = |hop: &Hop| hop.flow_address.clone();
    assert_eq!(
        hops.path().hops.iter().map(flow_address).collect::<Vec<_>>(),
        [Some(other.to_string()), None]
    );
}

/// Two routers share the second hop. Five datagrams of other flows expire there, instead of
/// every third other request.
#[test]
fn other_flows_show_another_router() {
    let mut hops = Hops::new(HopRates::TEST);
    let (mut flows, mut expiring) = (vec![], 0);
    for at in (0..30_000).step_by(10) {
        match hops.next(MS(at), false) {
            Some(HopProbe::Expiring { hop, sequence }) => {
                expiring += u32::from(hop == 2);
                let reply = HopReply { sequence, is_end: hop >= 3 };
                hops.expired(reply, router(hop.min(3)), None, MS(at + 1));
            }
            Some(HopProbe::OtherFlow { hop, flow }) => {
                assert!(hop < 3, "the server is not probed");
                hops.expired_in_other_flow(hop, if hop == 2 && flow == 3 { router(77) } else { router(hop) });
                flows.extend((hop == 2).then_some((at / 1_000, flow)));
            }
            _ => {}
        }
    }
    assert_eq!(flows, [(1, 0), (4, 1), (7, 2), (10, 3), (13, 4)]);
    assert_eq!(expiring, 25);
    let other = |hop: &Hop| hop.other_address.clone();
    assert_eq!(hops.path().hops.iter().map(other).collect::<Vec<_>>(), [None, Some(router(77).to_string())]);
    hops.expired_in_other_flow(9, router(9));
    hops.expired_in_other_flow(0, router(9));
    assert_eq!(hops.path().hops.len(), 2, "replies to nothing do no harm");
}

#[test]
fn silent_hops_are_tried_less_often() {
    let mut hops = Hops::new(RATES);
    let all = run(&mut hops, 0, 20_000, 5, &[2]);
    let to_silent = all.iter().filter(|p| matches!(p.1, HopProbe::Expiring { hop: 2, .. })).count();
    assert!((6..=8).contains(&to_silent), "{to_silent}");
    assert_eq!(hops.path().hops.iter().map(|hop| hop.number).collect::<Vec<_>>(), [1, 3, 4]);
}

#[test]
fn while_the_server_is_silent_two_hops_beyond_the_last_router_are_tried() {
    let mut hops = Hops::new(RATES);
    let silent: Vec<u8> = (4..=30).collect();
    run(&mut hops, 0, 1_000, 40, &silent);
    let later = run(&mut hops, 1_000, 5_000, 40, &silent);
    let farthest = later.iter().filter_map(|(_, probe)| match probe {
        HopProbe::Expiring { hop, .. } => Some(*hop),
        HopProbe::InFlow { .. } | HopProbe::OtherFlow { .. } | HopProbe::Echo { .. } => None,
    });
    assert_eq!((farthest.max(), hops.path().server_hop), (Some(5), None));
}

#[test]
fn a_path_that_changes_is_reported_and_single_answers_from_elsewhere_are_not() {
    let mut hops = Hops::new(RATES);
    run(&mut hops, 0, 2_000, 3, &[]);
    let mut other = |from: u64, by: IpAddr| {
        let probe = (from..).step_by(10).find_map(|at| match hops.next(MS(at), false) {
            Some(HopProbe::Expiring { hop: 2, sequence }) => Some((at, sequence)),
            _ => None,
        });
        let (sent, sequence) = probe.unwrap();
        hops.expired(HopReply { sequence, is_end: false }, by, None, MS(sent));
        (sent, hops.path().changes_ns.len())
    };
    let (mut at, mut changes) = (2_000, vec![]);
    for by in [9, 2, 9, 9, 9].map(router) {
        let changed;
        (at, changed) = other(at + 10, by);
        changes.push(changed);
    }
    assert_eq!(changes, [0, 0, 0, 0, 1]);
    assert_eq!(hops.path().hops[1].address, router(9).to_string());
}

#[test]
fn replies_to_nothing_do_no_harm() {
    let mut hops = Hops::new(RATES);
    hops.expired(HopReply { sequence: 7, is_end: true }, router(1), Some(0), MS(1));
    hops.echoed(0, 0, router(1), MS(1));
    hops.echoed(255, u32::MAX, router(1), MS(1));
    assert_eq!(hops.path(), Path::default());
}

/// Hosts and routers send with a hop limit of 64, 128 or 255.
#[test]
fn the_way_back_is_counted_from_the_hop_limit() {
    let counted = |hop_limit| {
        let mut hops = Hops::new(RATES);
        let Some(HopProbe::Expiring { sequence, .. }) = hops.next(MS(0), false) else { return None };
        hops.expired(HopReply { sequence, is_end: true }, router(1), Some(hop_limit), MS(1));
        hops.path().server_return_hops
    };
    assert_eq!([0, 64, 65, 128, 129, 255].map(counted), [65, 1, 64, 1, 127, 1].map(Some));
}
