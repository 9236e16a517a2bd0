//! Probes of the hops to the client.
use crate::client::Control;
use fathom_probe::protocol::{ClientMessage, ServerMessage};
use fathom_server::{Config, Server};
use fathom_test_support::{NamespaceRow, in_new_namespace, unused_port};

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
        let mut other = Control::open(format!("[fd08:1::2]:{}", server.local_port()).parse().unwrap());
        assert!(!lists_hops(&other), "its header has no identification");
        other.say(&ClientMessage::ProbeHops {});
        other.bye();
        let mut control = Control::open(format!("10.8.1.2:{}", server.local_port()).parse().unwrap());
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
        let routers = replies.iter().map(|reply| (reply.hop, reply.address.to_string(), reply.in_flow));
        assert!((1..=4).contains(&replies.len()), "one a second: {replies:?}");
        assert!(routers.clone().all(|router| router == (1, "10.8.1.1".into(), false)), "{replies:?}");
        control.bye();
    });
}
