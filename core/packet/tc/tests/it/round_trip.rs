//! Everything written can be read back, for each sample and for random values.
use crate::samples::{index_of, requests};
use fathom_tc::{
    Filter, FqCodel, Handle, HtbClass, Kind, Link, LinkLayer, Match, Mirred, Object, Peak, Qdisc, RateSpec,
    Request, Tbf, U32Key, Verb, messages,
};
use fathom_units::{Duration, Rng};

fn as_object(request: &Request) -> Object {
    let bytes = request.encode(3, &index_of).unwrap();
    let message = messages(&bytes).next().unwrap();
    assert_eq!(message.sequence, 3);
    Object::read(&message).unwrap()
}

fn comes_back(request: &Request) {
    match request {
        Request::Qdisc { qdisc, .. } => {
            let read = Qdisc::read(&as_object(request)).unwrap();
            match (&qdisc.kind, &read.kind) {
                (Kind::Htb(asked), Kind::Htb(got)) => {
                    assert_eq!(got.default_class, asked.default_class);
                    assert_eq!(got.rate_to_quantum, asked.rate_to_quantum.or(Some(10)));
                }
                // These have a fixed parent.
                (Kind::Ingress | Kind::Clsact, _) => assert_eq!(read.parent, Handle::INGRESS),
                _ => assert_eq!(&read, qdisc, "{request}"),
            }
        }
        Request::Class { class, .. } => {
            let read = HtbClass::read(&as_object(request)).unwrap();
            let close = |a: u32, b: u32| a.abs_diff(b) <= 320;
            assert!(close(read.burst, class.burst) && close(read.ceil_burst, class.ceil_burst), "{request}");
            let exact = HtbClass { burst: class.burst, ceil_burst: class.ceil_burst, ..read };
            assert_eq!(exact, *class, "{request}");
        }
        Request::Filter { filter, .. } => {
            let read = Filter::read(&as_object(request)).unwrap();
            let action = filter.action.as_ref().map(|_| Mirred::to("#9"));
            assert_eq!(read, Filter { action, ..filter.clone() }, "{request}");
        }
        _ => {}
    }
}

#[test]
fn each_sample_comes_back() {
    requests().iter().for_each(comes_back);
}

fn some<T>(rng: &mut Rng, value: T) -> Option<T> {
    rng.chance(0.5).then_some(value)
}

fn rate(rng: &mut Rng) -> RateSpec {
    RateSpec {
        bytes_per_second: 1 + rng.below(15_000_000),
        overhead: rng.below(64) as u16,
        mpu: rng.below(128) as u16,
        link_layer: [LinkLayer::Ethernet, LinkLayer::Atm][rng.below(2) as usize],
    }
}

fn micros(rng: &mut Rng) -> Duration {
    Duration::from_micros(rng.below(1 << 32))
}

fn number(rng: &mut Rng) -> u32 {
    rng.next_u64() as u32
}

fn key(rng: &mut Rng) -> U32Key {
    U32Key { mask: number(rng), value: number(rng), offset: number(rng).cast_signed() }
}

/// A peak rate, which is never 0.
fn peak(rng: &mut Rng) -> Option<Peak> {
    let (rate, burst) = (rate(rng), number(rng));
    let rate = RateSpec { bytes_per_second: rate.bytes_per_second.max(1), ..rate };
    some(rng, Peak { rate, burst })
}

fn kind(rng: &mut Rng) -> Kind {
    match rng.below(3) {
        0 => {
            let (a, b, c, d) = (number(rng), number(rng), micros(rng), micros(rng));
            Kind::FqCodel(FqCodel {
                limit: some(rng, a),
                quantum: some(rng, b),
                target: some(rng, c),
                interval: some(rng, d),
                ecn: some(rng, true),
                ..FqCodel::default()
            })
        }
        1 => Kind::Tbf(Tbf { rate: rate(rng), burst: number(rng), limit: number(rng), peak: peak(rng) }),
        _ => {
            let limit = number(rng);
            Kind::Pfifo(some(rng, limit))
        }
    }
}

#[test]
fn random_values_round_trip() {
    let seed = 11;
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    for _ in 0..3_000 {
        let place = Handle(rng.next_u64() as u32);
        let device = || "eth0".to_owned();
        let qdisc = Qdisc { parent: place, handle: place.qdisc(), kind: kind(&mut rng), stab: None };
        comes_back(&Request::Qdisc { verb: Verb::Add, device: device(), qdisc });
        let class = HtbClass {
            parent: place.qdisc(),
            handle: place,
            rate: rate(&mut rng),
            ceil: rate(&mut rng),
            burst: rng.below(1 << 16) as u32,
            ceil_burst: rng.below(1 << 16) as u32,
            quantum: rng.next_u64() as u32,
            priority: rng.below(8) as u32,
        };
        comes_back(&Request::Class { verb: Verb::Add, device: device(), class });
        let keys = (0..rng.below(5)).map(|_| key(&mut rng)).collect();
        let (priority, matches) = (rng.below(1 << 16) as u16, Match::U32(keys));
        let filter = Filter { parent: place, priority, matches, class: some(&mut rng, place), action: None };
        comes_back(&Request::Filter { device: device(), filter });
    }
}

#[test]
fn an_interface_round_trips() {
    let up = Request::SetLink { name: "eth0".into(), up: Some(true), queue_packets: Some(32) };
    let bytes = up.encode(1, &index_of).unwrap();
    // Only answers contain a name.
    assert_eq!(Link::read(&messages(&bytes).next().unwrap()), None);
    let made = Request::AddIfb { name: "ifb-eth0".into(), queues: 4 }.encode(1, &index_of).unwrap();
    let link = Link::read(&messages(&made).next().unwrap()).unwrap();
    assert_eq!((link.name.as_str(), link.kind.as_deref(), link.up), ("ifb-eth0", Some("ifb"), false));
    assert_eq!(link.transmit_queues, 4);
    let gone = Request::DeleteLink { name: "eth9".into() }.encode(1, &index_of).unwrap_err();
    assert_eq!(gone.to_string(), "interface eth9 does not exist");
}
