//! Probes without an end, to hosts whose addresses arrive while they run.
use fathom_client::{Located, MonitorConfig, PingEvent, monitor};
use fathom_os::clock::Clock;
use fathom_run::NotSent;
use fathom_units::Duration;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

fn at(host: u8) -> Result<std::net::SocketAddr, String> {
    Ok(([127, 0, 0, host], 0).into())
}

#[test]
fn a_host_is_probed_as_soon_as_it_has_an_address() {
    let config = MonitorConfig {
        clock: Clock::start(),
        targets: 2,
        interval: Duration::from_millis(20),
        // Probes are forgotten while it runs.
        remembered: Duration::from_millis(50),
        seed: 1,
    };
    let (found, located) = channel();
    found.send(Located { target: 0, address: at(1) }).unwrap();
    found.send(Located { target: 1, address: Err("no such name".into()) }).unwrap();
    let stop = AtomicBool::new(false);
    let (mut replies, mut failed) = ([0_u32; 2], Vec::new());
    let ended = monitor(&config, located, &stop, &mut |event| match event {
        PingEvent::NotSent { target, reason } => {
            if failed.is_empty() {
                found.send(Located { target: 1, address: at(2) }).unwrap();
            }
            failed.push((target, reason));
        }
        PingEvent::Reply { target, reply, .. } => {
            assert!(reply.reply.is_first(), "{reply:?}");
            replies[target] += 1;
            // More than a second of them: what was forgotten changes nothing.
            if replies[1] == 60 {
                stop.store(true, Ordering::Relaxed);
            }
        }
        _ => {}
    });
    ended.unwrap();
    assert_eq!(failed.first(), Some(&(1, NotSent::System("no such name".into()))));
    assert!(failed.iter().all(|(target, _)| *target == 1), "{failed:?}");
    assert!(replies[0] > 0, "{replies:?}");
}

#[test]
fn a_host_without_a_route_is_probed_again_once_there_is_one() {
    fathom_test_support::in_new_namespace(|| {
        let config = MonitorConfig {
            clock: Clock::start(),
            targets: 1,
            interval: Duration::from_millis(100),
            remembered: Duration::from_secs(5),
            seed: 1,
        };
        let (found, located) = channel();
        found.send(Located { target: 0, address: Ok(([192, 0, 2, 1], 0).into()) }).unwrap();
        let (stop, mut failed) = (AtomicBool::new(false), 0);
        let ended = monitor(&config, located, &stop, &mut |event| match event {
            PingEvent::NotSent { .. } => {
                // As the start of a router, before its interface is up.
                if failed == 0 {
                    ip("address add 192.0.2.1/32 dev lo");
                }
                failed += 1;
            }
            PingEvent::Reply { .. } => stop.store(true, Ordering::Relaxed),
            _ => {}
        });
        ended.unwrap();
        assert!(failed > 0);
    });
}

/// Runs `ip`.
fn ip(arguments: &str) {
    let ran = Command::new("ip").args(arguments.split(' ')).status();
    assert!(ran.expect("ip is not installed: run ./setup test").success(), "ip {arguments}");
}

/// Another host, 192.0.2.1, at the other end of the interface v0. It ends with its standard input.
fn neighbor() -> Child {
    ip("link add v0 type veth peer name v1");
    let script = "echo; read go; ip link set v1 up; ip address add 192.0.2.1/24 dev v1; echo; read end";
    let mut host = Command::new("unshare");
    host.args(["--net", "sh", "-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut host = host.spawn().expect("unshare is not installed: run ./setup test");
    let mut line = [0];
    let mut out = host.stdout.take().unwrap();
    out.read_exact(&mut line).unwrap();
    ip(&format!("link set v1 netns {}", host.id()));
    host.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    out.read_exact(&mut line).unwrap();
    host
}

#[test]
fn probes_continue_from_a_new_address_of_this_host() {
    fathom_test_support::in_new_namespace(|| {
        let mut host = neighbor();
        ip("link set v0 up");
        ip("address add 192.0.2.2/24 dev v0");
        let config = MonitorConfig {
            clock: Clock::start(),
            targets: 1,
            interval: Duration::from_millis(100),
            remembered: Duration::from_secs(2),
            seed: 1,
        };
        let (found, located) = channel();
        found.send(Located { target: 0, address: Ok(([192, 0, 2, 1], 0).into()) }).unwrap();
        let (stop, mut changed) = (AtomicBool::new(false), None);
        let ended = monitor(&config, located, &stop, &mut |event| match (event, changed) {
            (PingEvent::Reply { .. }, None) => {
                ip("address del 192.0.2.2/24 dev v0");
                ip("address add 192.0.2.3/24 dev v0");
                changed = Some(config.clock.now());
            }
            (PingEvent::Reply { reply, .. }, Some(at)) if reply.sent > at => {
                stop.store(true, Ordering::Relaxed);
            }
            _ => {}
        });
        ended.unwrap();
        drop(host.stdin.take());
        host.wait().unwrap();
    });
}
