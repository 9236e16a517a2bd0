//! This kernel's replies: what is set is what is told.
use fathom_audit::Tree;
use fathom_inspect::{add_all, files};
use fathom_os::netns::NetNs;
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
    // Each queue discipline that this kernel surely has, as tc sets it, and the line that is told of it.
    let cases = [
        ("pfifo limit 77", "va pfifo handle=1 limit_packets=77"),
        ("bfifo limit 123456b", "limit_bytes=123456"),
        ("tbf rate 10mbit burst 10kb limit 250000b", "limit_bytes=250000 rate_bits_per_second=10000000"),
        ("htb default 1", "va htb handle=4 rate_bits_per_second=20000000"),
    ];
    let told = std::thread::spawn(move || {
        NetNs::create().expect("a network namespace: run as root").enter().expect("entered");
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
