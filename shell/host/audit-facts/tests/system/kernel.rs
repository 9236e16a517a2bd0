//! This kernel's replies match the configuration.
use fathom_audit::{AuditedQueue, Facts, KnownRates, Tree, audit};
use fathom_audit_facts::{add_all, add_qdiscs, add_unsent, files};
use fathom_run::{QueueKind, Remedy};
use fathom_test_support::new_namespace;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;

fn tc(words: &str) {
    let status = Command::new("tc").args(words.split(' ')).status().expect("tc (iproute2)");
    assert!(status.success(), "tc {words}");
}

fn ip(words: &str) {
    let status = Command::new("ip").args(words.split(' ')).status().expect("ip (iproute2)");
    assert!(status.success(), "ip {words}");
}

fn qdiscs(tree: &Tree) -> String {
    let found = tree.iter().find(|(path, _)| *path == "replies/qdisc").expect("a reply");
    String::from_utf8_lossy(found.1).into_owned()
}

#[test]
fn queue_disciplines_as_they_were_set() {
    // Each qdisc that every kernel has, as set with tc, and the expected line.
    let cases = [
        ("pfifo limit 77", "va pfifo handle=1 limit_packets=77"),
        ("bfifo limit 123456b", "limit_bytes=123456"),
        ("tbf rate 10mbit burst 10kb limit 250000b", "limit_bytes=250000 rate_bits_per_second=10000000"),
        ("htb default 1", "va htb handle=4 rate_bits_per_second=20000000"),
    ];
    let told = std::thread::spawn(move || {
        new_namespace().enter().expect("entered");
        ip("link add va type veth peer name vb");
        ip("link set va up");
        let mut told = Vec::new();
        for (number, (words, want)) in cases.into_iter().enumerate() {
            tc(&format!("qdisc replace dev va root handle {}: {words}", number + 1));
            if words.starts_with("htb") {
                tc("class add dev va parent 4: classid 4:1 htb rate 5mbit ceil 20mbit");
            }
            let mut tree = Tree::default();
            add_all(&mut tree).expect("replies");
            told.push((want, qdiscs(&tree)));
        }
        told
    });
    for (want, reply) in told.join().expect("the thread in the namespace") {
        assert!(reply.contains(want), "{want} in\n{reply}");
    }
}

#[test]
fn the_reply_is_of_the_tree() {
    let mut tree = files(Path::new("/"));
    assert!(add_all(&mut tree).expect("replies"), "interfaces of /sys are those of the kernel's list");
    assert!(qdiscs(&tree).contains("lo noqueue"));
}

/// A program writes to a peer that does not read: data beyond the peer's window is not sent.
#[test]
fn what_a_program_wrote_and_tcp_has_not_sent() {
    let unsent = std::thread::spawn(|| {
        new_namespace().enter().expect("entered");
        ip("link set lo up");
        let unsent = || {
            let mut tree = Tree::default();
            add_unsent(&mut tree).expect("a list of sockets");
            let (_, bytes) = tree.iter().next().expect("a reply");
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.trim().strip_prefix("notsent_bytes ").expect("its name").parse::<u64>().expect("a number")
        };
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let mut stream =
            TcpStream::connect(listener.local_addr().expect("its address")).expect("a connection");
        let (_peer, _) = listener.accept().expect("accepted");
        let before = unsent();
        stream.set_nonblocking(true).expect("not blocking");
        while stream.write(&[0; 65_536]).is_ok() {}
        (before, unsent())
    });
    let (before, after) = unsent.join().expect("the thread in the namespace");
    assert!(before == 0 && after > 10_000, "{before}, then {after}");
}

/// The current qdisc of `va`.
fn queue_of_va() -> AuditedQueue {
    let mut tree = Tree::default();
    let base =
        [("flags", "0x1003"), ("type", "1"), ("mtu", "1500"), ("tx_queue_len", "1000"), ("speed", "10")];
    for (file, text) in base.iter().chain(&[("device/uevent", "DRIVER=x"), ("ifindex", "2"), ("iflink", "2")])
    {
        tree.insert(format!("sys/class/net/va/{file}"), text.as_bytes().to_vec());
    }
    add_qdiscs(&mut tree).expect("replies");
    let queues = audit(&Facts::of(&tree), &KnownRates::default(), None).queues;
    queues.into_iter().find(|queue| queue.point.queue.kind() == QueueKind::Qdisc).expect("a queue discipline")
}

/// Runs a command from an audit. Skips commands for the whole host, and uses another qdisc if this
/// kernel lacks fq_codel.
fn run(command: &str) {
    let own = command.rsplit(" && ").next().expect("a part").replace("fq_codel", "pfifo limit 33");
    tc(own.strip_prefix("tc ").expect("tc"));
}

/// Each command is accepted, and each undo restores the previous state.
#[test]
fn commands_of_the_audit_can_be_run() {
    // Configurations, set up with tc command by command.
    let cases: [&[&str]; 5] = [
        &["qdisc add dev va root handle 7: bfifo limit 1000000b"],
        &["qdisc add dev va root handle 7: pfifo limit 900"],
        &["qdisc add dev va root handle 7: tbf rate 10mbit burst 10kb limit 250000b"],
        &[
            "qdisc add dev va root handle 7: htb default 1a",
            "class add dev va parent 7: classid 7:1a htb rate 9mbit",
            "qdisc add dev va parent 7:1a handle 8: pfifo limit 900",
        ],
        &["qdisc add dev va root handle fa: mq"],
    ];
    for commands in cases {
        let delays = std::thread::spawn(move || {
            new_namespace().enter().expect("entered");
            ip("link add va numtxqueues 4 type veth peer name vb numtxqueues 4");
            ip("link set va up");
            commands.iter().for_each(|command| tc(command));
            let before = queue_of_va();
            let Some(Remedy::Run { command, undo, .. }) = before.remedies.first() else {
                panic!("{before:?}")
            };
            run(command);
            let between = queue_of_va();
            run(undo);
            [&before, &between, &queue_of_va()].map(|queue| queue.point.delay_s())
        });
        let [before, between, after] = delays.join().expect("the thread in the namespace");
        assert_eq!(before, after, "{commands:?}");
        assert!(between < before || commands[0].ends_with("mq"), "{commands:?}: {between} of {before}");
    }
}
