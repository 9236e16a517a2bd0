//! A request of each form, for the golden file and the property tests.
use fathom_tc::{
    AckFilter, Cake, Cells, Diffserv, Filter, FlowMode, FqCodel, Handle, Htb, HtbClass, Kind, LinkLayer,
    Match, Mirred, Peak, Qdisc, RateSpec, Request, Stab, Tbf, U32Key, Verb, bpf,
};
use fathom_units::{Duration, Rate};

pub(crate) const DEVICE: &str = "eth0";
pub(crate) const IFB: &str = "ifb-eth0";

pub(crate) fn index_of(name: &str) -> Option<u32> {
    match name {
        DEVICE => Some(7),
        IFB => Some(9),
        _ => None,
    }
}

fn mbit(rate: f64) -> Rate {
    Rate::from_bits_per_second((rate * 1e6) as u64)
}
fn spec(rate: f64) -> RateSpec {
    RateSpec::new(mbit(rate))
}
const ATM: RateSpec = RateSpec { bytes_per_second: 0, overhead: 44, mpu: 84, link_layer: LinkLayer::Atm };

fn atm(rate: f64) -> RateSpec {
    RateSpec { bytes_per_second: spec(rate).bytes_per_second, ..ATM }
}

fn root(verb: Verb, kind: Kind) -> Request {
    let qdisc = Qdisc { parent: Handle::ROOT, handle: Handle::new(1, 0), kind, stab: None };
    Request::Qdisc { verb, device: DEVICE.into(), qdisc }
}
fn leaf(kind: Kind) -> Request {
    let qdisc = Qdisc { parent: Handle::new(1, 0x10), handle: Handle::new(0x10, 0), kind, stab: None };
    Request::Qdisc { verb: Verb::Add, device: DEVICE.into(), qdisc }
}
fn class(verb: Verb, class: HtbClass) -> Request {
    Request::Class { verb, device: DEVICE.into(), class }
}
fn filter(parent: Handle, matches: Match, class: Option<Handle>, to: Option<&str>) -> Request {
    let filter = Filter { parent, priority: 1, matches, class, action: to.map(Mirred::to) };
    Request::Filter { device: DEVICE.into(), filter }
}

fn cakes() -> Vec<Request> {
    let full = Cake {
        rate: Some(mbit(0.95)),
        diffserv: Some(Diffserv::Diffserv4),
        flow_mode: Some(FlowMode::DualSource),
        nat: Some(true),
        wash: Some(false),
        ack_filter: Some(AckFilter::On),
        split_gso: Some(true),
        rtt: Some(Duration::from_millis(100)),
        target: None,
        cells: Some(Cells::None),
        overhead: Some(44),
        mpu: Some(84),
        ..Cake::default()
    };
    let ingress = Cake {
        rate: Some(mbit(10.0)),
        diffserv: Some(Diffserv::BestEffort),
        flow_mode: Some(FlowMode::Triple),
        nat: Some(false),
        wash: Some(true),
        ingress: Some(true),
        ack_filter: Some(AckFilter::Off),
        split_gso: Some(false),
        rtt: Some(Duration::from_millis(50)),
        cells: Some(Cells::Atm),
        overhead: Some(48),
        memory: Some(4 << 20),
        mark: Some(0xff),
        ..Cake::default()
    };
    let rate = |rate| Cake { rate: Some(rate), ..Cake::default() };
    vec![
        root(Verb::Replace, Kind::Cake(rate(mbit(95.0)))),
        root(Verb::Replace, Kind::Cake(full)),
        root(Verb::Replace, Kind::Cake(ingress)),
        root(Verb::Change, Kind::Cake(rate(mbit(90.0)))),
        root(Verb::Replace, Kind::Cake(Cake { raw: true, ..rate(Rate::default()) })),
        root(Verb::Replace, Kind::CakeMq(rate(mbit(950.0)))),
    ]
}

fn queues() -> Vec<Request> {
    let fq_codel = FqCodel {
        limit: Some(1001),
        flows: Some(1024),
        quantum: Some(300),
        target: Some(Duration::from_millis(5)),
        interval: Some(Duration::from_millis(100)),
        memory: Some(4 << 20),
        ecn: Some(true),
        ce_threshold: Some(Duration::from_millis(1)),
        drop_batch: Some(64),
    };
    let htb = Htb { default_class: 0x10, ..Htb::default() };
    let wide_htb = Htb { rate_to_quantum: Some(10), direct_packets_limit: Some(1000), ..htb };
    let tbf = |rate, burst, limit| Tbf { rate, burst, limit, peak: None };
    let no_peak = tbf(spec(9.5), 3_028, 24_000);
    let with_peak = |rate| Tbf { peak: Some(Peak { rate: spec(rate), burst: 3_028 }), ..no_peak };
    vec![
        root(Verb::Replace, Kind::FqCodel(FqCodel::default())),
        leaf(Kind::FqCodel(fq_codel)),
        leaf(Kind::FqCodel(FqCodel { ecn: Some(false), ..FqCodel::default() })),
        root(Verb::Replace, Kind::Htb(htb)),
        root(Verb::Add, Kind::Htb(wide_htb)),
        root(Verb::Replace, Kind::Tbf(tbf(spec(9.5), 3_028, 24_000))),
        root(Verb::Replace, Kind::Tbf(tbf(spec(40_000.0), 1 << 20, 10 << 20))),
        root(Verb::Replace, Kind::Tbf(with_peak(20.0))),
        root(Verb::Change, Kind::Tbf(with_peak(1e9))),
        root(Verb::Change, Kind::Tbf(tbf(atm(9.0), 3_028, 24_000))),
        leaf(Kind::Bfifo(Some(24_000))),
        leaf(Kind::Bfifo(None)),
        leaf(Kind::Pfifo(Some(100))),
        root(Verb::Add, Kind::PfifoFast),
        root(Verb::Add, Kind::Mq),
        Request::Qdisc {
            verb: Verb::Add,
            device: DEVICE.into(),
            qdisc: Qdisc {
                parent: Handle::ROOT,
                handle: Handle::new(1, 0),
                kind: Kind::Pfifo(Some(10)),
                stab: Some(Stab { overhead: 44, mpu: 0 }),
            },
        },
        Request::Qdisc {
            verb: Verb::Add,
            device: DEVICE.into(),
            qdisc: Qdisc { parent: Handle::ROOT, handle: Handle::NONE, kind: Kind::Noqueue, stab: None },
        },
        root(Verb::Add, Kind::Ingress),
        root(Verb::Add, Kind::Clsact),
    ]
}

fn classes() -> Vec<Request> {
    let top = HtbClass {
        parent: Handle::new(1, 0),
        handle: Handle::new(1, 1),
        rate: spec(9.5),
        ceil: spec(9.5),
        burst: 1_600,
        ceil_burst: 1_600,
        quantum: 1_514,
        priority: 0,
    };
    let below = HtbClass {
        parent: Handle::new(1, 1),
        handle: Handle::new(1, 0x10),
        rate: atm(0.148),
        ceil: atm(9.5),
        burst: 3_000,
        ceil_burst: 3_000,
        priority: 1,
        ..top
    };
    let fast = HtbClass {
        rate: spec(40_000.0),
        ceil: spec(40_000.0),
        burst: 1 << 20,
        ceil_burst: 1 << 20,
        quantum: 60_000,
        ..top
    };
    vec![class(Verb::Add, top), class(Verb::Change, below), class(Verb::Add, fast)]
}

fn filters() -> Vec<Request> {
    let (ingress, htb, leaf) = (Handle::INGRESS_QDISC, Handle::new(1, 0), Some(Handle::new(1, 0x10)));
    let any = Match::U32(vec![U32Key::default()]);
    let to = Match::U32(vec![U32Key { mask: 0xffff_ff00, value: 0xc613_0000, offset: 16 }]);
    vec![
        filter(ingress, any.clone(), None, Some(IFB)),
        filter(ingress, Match::All, None, Some(IFB)),
        filter(htb, any, leaf, None),
        filter(htb, to, leaf, None),
        filter(htb, Match::Bpf(bpf::flow_hash(0x0001_0010, 6)), leaf, None),
    ]
}

fn links_and_removals() -> Vec<Request> {
    let name = || IFB.to_owned();
    let delete = |parent, kind| Request::DeleteQdisc { device: DEVICE.into(), parent, kind };
    let filter = |parent| Request::DeleteFilter { device: DEVICE.into(), parent, priority: 1 };
    vec![
        Request::AddIfb { name: name(), queues: 1 },
        Request::AddIfb { name: name(), queues: 4 },
        Request::SetLink { name: name(), up: Some(true), queue_packets: None },
        Request::SetLink { name: name(), up: Some(false), queue_packets: None },
        Request::SetLink { name: name(), up: None, queue_packets: Some(1000) },
        Request::DeleteLink { name: name() },
        delete(Handle::ROOT, None),
        delete(Handle::INGRESS, Some("ingress")),
        delete(Handle::INGRESS, Some("clsact")),
        filter(Handle::INGRESS_QDISC),
        filter(Handle::new(1, 0)),
    ]
}

pub(crate) fn requests() -> Vec<Request> {
    [links_and_removals(), cakes(), queues(), classes(), filters()].concat()
}
