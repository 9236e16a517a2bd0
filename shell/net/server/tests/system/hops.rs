//! Probes of the hops to the client.
use crate::client::Control;
use fathom_probe::protocol::{ClientMessage, HopReport, ServerMessage};
use fathom_server::{Config, Server};
use fathom_test_support::{NamespaceRow, in_new_namespace, unused_port};
use std::net::SocketAddr;

fn lists_hops(control: &Control) -> bool {
    let ServerMessage::Hello { loads, .. } = &control.hello else { panic!("{:?}", control.hello) };
    loads.iter().any(|load| load == "hops")
}

#[test]
fn the_router_before_the_client_is_reported() {
    in_new_namespace(|| {
        let row = NamespaceRow::new(3);
        row.enter(2);
        let listen = vec!["10.8.1.2".parse().unwrap(), "fd08:1::2".parse().unwrap()];
        let config = Config { listen, port: unused_port(), ..Config::default() };
        let server = Server::start(config).unwrap();
        row.enter(0);
        let of = |address: &str| SocketAddr::new(address.parse().unwrap(), server.local_port());
        check_hops(of("10.8.1.2"), "10.8.1.1");
        check_hops(of("fd08:1::2"), "fd08:1::1");
    });
}

/// The server reports the router before this host.
fn check_hops(server: SocketAddr, router: &str) {
    let mut control = Control::open(server);
    assert!(lists_hops(&control));
    // The second request does no harm.
    (0..2).for_each(|_| control.say(&ClientMessage::ProbeHops {}));
    let lines: Vec<_> = (0..4)
        .map(|_| match control.next() {
            Some(ServerMessage::Hops { replies }) => replies,
            last => panic!("{last:?} instead of hops"),
        })
        .collect();
    assert_eq!(lines[0], [], "the first line is sent at once");
    let replies = lines.concat();
    assert!((1..=4).contains(&replies.len()), "one a second: {replies:?}");
    let is_it = |reply: &HopReport| (reply.hop, reply.address.to_string()) == (1, router.to_owned());
    assert!(replies.iter().all(|reply| is_it(reply) && !reply.in_flow), "{replies:?}");
    control.bye();
}
