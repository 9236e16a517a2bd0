//! Loss, duplication, reordering: every packet is accounted for.
use crate::common::{Log, advance, at, link, packet};
use fathom_link::{Bottleneck, BottleneckParams, Impairment, ImpairmentDraw, ImpairmentParams};
use fathom_units::{Duration, Ratio, Rng, Time};

fn impaired(loss: f64, duplicate: f64, reorder: f64) -> BottleneckParams {
    let impairment = ImpairmentParams {
        loss: Ratio(loss),
        duplicate: Ratio(duplicate),
        reorder: Ratio(reorder),
        reorder_delay: Duration::from_millis(5),
        ..ImpairmentParams::default()
    };
    BottleneckParams { impairment, ..link(Some("12mbit"), "10ms", "fifo limit 30p") }
}

#[test]
fn every_packet_leaves_or_is_accounted_for() {
    for seed in 0..50 {
        let mut rng = Rng::stream(seed, "arrivals");
        let mut line = Bottleneck::new(&impaired(0.1, 0.1, 0.1), seed);
        let (mut log, mut now, mut out) = (Log::default(), Time::ZERO, 0);
        for id in 0..1000 {
            now += Duration::from_nanos(rng.below(1_800_000));
            line.arrive(packet(id, 1500), now, &mut log);
            out += advance(&mut line, now, &mut log).len() as u64;
            let inside = line.queued().packets + line.in_flight(now).packets + line.sending(now).packets;
            let gone = (log.count("lost") + log.count("dropped")) as u64;
            let made = log.count("duplicated") as u64;
            assert_eq!(id + 1 + made, out + gone + inside, "seed {seed}, packet {id}");
        }
    }
}

#[test]
fn shares_are_as_asked() {
    // Half of 100 000 packets each: five standard deviations are 0.8 %.
    let params = ImpairmentParams {
        loss: Ratio(0.5),
        duplicate: Ratio(0.25),
        reorder: Ratio(0.1),
        reorder_delay: Duration::from_millis(1),
        ..ImpairmentParams::default()
    };
    let mut impairment = Impairment::new(params, Rng::new(4));
    let draws: Vec<ImpairmentDraw> = (0..100_000).map(|_| impairment.draw()).collect();
    let share = |is: fn(&ImpairmentDraw) -> bool| draws.iter().filter(|draw| is(draw)).count() as f64 / 1e5;
    let (lost, twice, held) = (share(|f| f.lost), share(|f| f.duplicated), share(|f| f.held_back));
    assert!((lost - 0.5).abs() < 0.008 && (twice - 0.25).abs() < 0.007 && (held - 0.1).abs() < 0.005);
}

#[test]
fn a_packet_held_back_is_overtaken() {
    let mut line = Bottleneck::new(&impaired(0.0, 0.0, 0.5), 7);
    (0..20).for_each(|id| line.arrive(packet(id, 1500), at("0ms"), &mut ()));
    let out = advance(&mut line, at("1s"), &mut Log::default());
    assert_eq!(out.len(), 20);
    assert!(out.windows(2).all(|pair| pair[0].1 <= pair[1].1), "times in order: {out:?}");
    assert!(out.windows(2).any(|pair| pair[0].0 > pair[1].0), "packets not in order: {out:?}");
    for (id, time) in out {
        let straight = at("10ms") + Duration::from_millis(id + 1);
        assert!(time == straight || time == straight + Duration::from_millis(5), "{id} at {time}");
    }
}

#[test]
fn ratios_of_one_affect_every_packet() {
    let both = |params: &BottleneckParams| {
        let (mut line, mut log) = (Bottleneck::new(params, 7), Log::default());
        line.arrive(packet(1, 1500), at("0ms"), &mut log);
        (advance(&mut line, at("1s"), &mut log), log.0.last().unwrap().1.clone())
    };
    assert_eq!(
        both(&impaired(0.0, 1.0, 0.0)),
        (vec![(1, at("11ms")), (1, at("11ms"))], "duplicated 1".into())
    );
    assert_eq!(both(&impaired(1.0, 1.0, 0.0)), (vec![], "lost 1".into()));
}
