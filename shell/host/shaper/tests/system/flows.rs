//! The flow hash program in the kernel: where flows go. Tags are tested with the interpreter of
//! `core/packet/tc`, because not every kernel supports them.
use crate::world::{World, gone, request, watchdog_command};
use fathom_shaper::{ShaperKind, Transaction};
use std::net::UdpSocket;
use std::time::Duration;

/// Number of flows: one packet from each of as many ports.
const FLOWS: usize = 100;

/// Bytes sent by each queue, by class.
fn queues(world: &World) -> Vec<(String, u64)> {
    let text = world.shell("tc -s class show dev eth0");
    let mut lines = text.lines();
    let mut queues = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("class htb ") {
            let sent = lines.next().unwrap().trim().strip_prefix("Sent ").unwrap();
            let bytes = sent.split(' ').next().unwrap().parse().unwrap();
            queues.push((name.split(' ').next().unwrap().to_owned(), bytes));
        }
    }
    queues
}

/// Number of queues that have sent since `before`.
fn used(world: &World, before: &[(String, u64)]) -> usize {
    let is_of_hash = |name: &str| !name.ends_with(":1") && !name.ends_with(":ff");
    let now = queues(world);
    now.iter().filter(|(name, bytes)| is_of_hash(name) && !before.contains(&(name.clone(), *bytes))).count()
}

#[test]
fn flows_of_all_kinds_go_to_queues_of_their_own() {
    let world = World::new(&[
        "sysctl -qw net.ipv6.conf.eth0.accept_dad=0",
        "ip addr add 10.9.0.1/24 dev eth0; ip -6 addr add fd09::1/64 dev eth0 nodad",
        "ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev eth0; ip neigh add fd09::2 lladdr 02:00:00:00:00:02 dev eth0",
    ]);
    let mut transaction =
        world.inside(|| Transaction::begin(&request(Some(ShaperKind::FlowHash)), &world.place())).unwrap();
    world.inside(|| transaction.apply(watchdog_command(&world.place()), Duration::from_secs(60))).unwrap();
    // A hundred flows are expected to use 83 of 256 queues: 256 (1 - (1 - 1/256)^100).
    let cases = [
        ("IPv4", "10.9.0.1:0", "10.9.0.2:9", 400, 65..=FLOWS),
        ("IPv6", "[fd09::1]:0", "[fd09::2]:9", 400, 65..=FLOWS),
        // All fragments between two hosts, and neighbor discovery.
        ("in fragments", "10.9.0.1:0", "10.9.0.2:9", 2_000, 1..=8),
    ];
    for (what, from, to, bytes, expected) in cases {
        let sockets: Vec<UdpSocket> =
            (0..FLOWS).map(|_| world.inside(|| UdpSocket::bind(from).unwrap())).collect();
        gone(&mut transaction);
        let before = queues(&world);
        for socket in &sockets {
            socket.send_to(&vec![0; bytes], to).unwrap();
            gone(&mut transaction);
        }
        let used = used(&world, &before);
        println!("{what}: {FLOWS} flows in {used} queues");
        assert!(expected.contains(&used), "{what}: {used} queues");
    }
    world.inside(|| transaction.roll_back("test")).unwrap();
}
