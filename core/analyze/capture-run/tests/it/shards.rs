//! A capture in shards, as processed by threads, gives the same results as a single tracer.
use crate::capture::{bloated_upload, each_packet, lab, lab_folder};
use crate::packets::segment;
use fathom_bottleneck::QueueWatch;
use fathom_capture::{Packet, TcpHeader, Transport};
use fathom_flow::{Bounds, Flows, Followed, SHARDS, Shard, Shards, Times, Tracer};
use fathom_run::Run;

struct Found {
    flows: Flows,
    run: Run,
}

fn whole(file: &[u8]) -> Found {
    let mut tracer = Tracer::new(QueueWatch::new());
    each_packet(file, |times, packet| tracer.packet(times, packet));
    let (flows, watch) = tracer.finish();
    let run = fathom_capture_run::run(vec![], &flows, &watch.finish());
    Found { flows, run }
}

fn in_shards(file: &[u8]) -> Found {
    let followed = Shard::all(Bounds::default(), || QueueWatch::one_of(SHARDS)).map(|mut shard| {
        each_packet(file, |times, packet| shard.packet(times, packet));
        shard.finish()
    });
    let (flows, watches) = Followed::join(followed);
    let run = fathom_capture_run::run(vec![], &flows, &QueueWatch::join(watches).finish());
    Found { flows, run }
}

fn check(name: &str, file: &[u8]) {
    let (whole, shards) = (whole(file), in_shards(file));
    assert!(!whole.flows.flows.is_empty() && !whole.run.series.is_empty(), "{name}");
    assert_eq!(format!("{:?}", shards.flows), format!("{:?}", whole.flows), "{name}");
    assert_eq!(shards.run, whole.run, "{name}");
}

#[test]
fn captures_of_the_lab_and_a_real_one() {
    for entry in std::fs::read_dir(lab_folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(name) = name.strip_suffix(".pcap.gz") {
            check(name, &lab(name));
        }
    }
    check("bloated upload", &bloated_upload("snd"));
}

fn answer(sent: &Packet<'static>) -> Packet<'static> {
    let Transport::Tcp(tcp) = &sent.transport else { panic!("{sent:?}") };
    let (source_port, destination_port) = (tcp.destination_port, tcp.source_port);
    let transport = Transport::Tcp(TcpHeader { source_port, destination_port, ..*tcp });
    Packet { source: sent.destination, destination: sent.source, transport, ..*sent }
}

/// Flows are evenly divided, with both directions in the same shard, and share the limits.
#[test]
fn shards_are_balanced_and_share_the_limits() {
    let bounds = Bounds { lone_flows: 1000, flows: 50_000, waiting: 1000, hash_seed: 7 };
    let mut shards = Shards::new(Shard::all(bounds, || ()));
    for flow in 0..60_000 {
        let sent = segment(0x0a00_0000 + flow * 17, 0x10, flow, 1);
        for (frame, packet) in (u64::from(flow) * 2..).zip([answer(&sent), sent]) {
            shards.packet(Times { at: frame as i64 * 1000, frame }, &packet);
        }
    }
    let (flows, _) = Followed::join(shards.finish());
    assert_eq!(flows.flows.len(), bounds.flows, "half of them in each shard");
    assert!(
        flows.flows.iter().all(|flow| flow.totals().iter().all(|side| side.packets == 1)),
        "both directions"
    );
    assert!(
        flows.flows.iter().zip(0..).all(|(flow, number)| flow.id.0 == number),
        "in the order of first packets"
    );
    assert!(flows.flows.is_sorted_by_key(|flow| flow.first.frame));
    assert_eq!(flows.totalled.packets, 120_000);
    assert_eq!(flows.totalled.untracked_packets, 20_000);
}
