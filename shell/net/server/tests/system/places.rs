//! Addresses, families and network namespaces.
use crate::client::{Control, serve};
use fathom_server::{Config, Server, ServerError};
use fathom_test_support::in_new_namespace;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Command;

fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn one_family_alone_is_enough() {
    for ip in ["127.0.0.1", "::1"] {
        let server = serve(|c| c.listen = vec![ip.parse().unwrap()]);
        assert_eq!(server.addresses(), [ip.parse::<std::net::IpAddr>().unwrap()]);
        Control::open(server.at(ip));
    }
}

#[test]
fn a_host_with_ipv6_switched_off_is_served_over_ipv4() {
    in_new_namespace(|| {
        for family in ["all", "default", "lo"] {
            // `/proc/sys/net` shows the namespace of the writing thread.
            std::fs::write(format!("/proc/sys/net/ipv6/conf/{family}/disable_ipv6"), "1").unwrap();
        }
        let server = serve(|c| c.listen.clear());
        Control::open(server.v4());
        assert!(TcpStream::connect(server.at("::1")).is_err());
    });
}

#[test]
fn a_host_with_ipv6_alone_is_served() {
    in_new_namespace(|| {
        run("ip", &["address", "del", "127.0.0.1/8", "dev", "lo"]);
        let server = serve(|c| c.listen.clear());
        Control::open(server.at("::1"));
        assert!(TcpStream::connect(server.v4()).is_err());
    });
}

#[test]
fn a_port_in_use_is_named() {
    let server = serve(|_| ());
    let listen = vec![Ipv4Addr::LOCALHOST.into()];
    let port = server.v4().port();
    let error = Server::start(Config { listen, port, ..Config::default() }).unwrap_err();
    assert!(matches!(error, ServerError::Listen { transport: "TCP", .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains(&server.v4().to_string()) && text.contains("--port"), "{text}");
    let token = Some("not visible".into());
    let bad_token = Server::start(Config { token, ..Config::default() }).unwrap_err();
    assert!(matches!(bad_token, ServerError::Token), "{bad_token:?}");
}

#[test]
fn a_server_belongs_to_the_namespace_of_the_thread_that_starts_it() {
    let (tell, port) = std::sync::mpsc::channel();
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let inside = std::thread::spawn(move || {
        in_new_namespace(move || {
            let server = serve(|c| c.listen.clear());
            let control = Control::open(server.v4());
            assert!(control.flow(1, "down -").1.starts_with("OK"));
            tell.send(server.v4().port()).unwrap();
            wait.recv().unwrap();
        });
    });
    let outside: SocketAddr = (Ipv4Addr::LOCALHOST, port.recv().unwrap()).into();
    assert!(TcpStream::connect(outside).is_err(), "reachable from another namespace");
    done.send(()).unwrap();
    inside.join().unwrap();
}

#[test]
fn the_session_of_a_client_that_vanished_is_freed() {
    in_new_namespace(|| {
        let server = serve(|c| c.max_sessions = 1);
        let control = Control::open(server.v4());
        let (_up, _) = control.flow(1, "up -");
        let (_down, _) = control.flow(2, "down -");
        // From here on not even a FIN or RST arrives.
        run("ip", &["link", "set", "lo", "down"]);
        server.until("the session is given up", |s| s.open_sessions == 0);
        server.until("its connections too", |s| s.open_connections == 0);
        run("ip", &["link", "set", "lo", "up"]);
        Control::open(server.v4());
    });
}
