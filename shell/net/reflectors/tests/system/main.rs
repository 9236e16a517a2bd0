//! A server used for longer than a session may last, and one that restarts.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
use fathom_client::TestConfig;
use fathom_os::clock::Clock;
use fathom_reflectors::{ReflectConfig, ReflectedDelay, Reflection, Reflectors};
use fathom_server::{Config, Server};
use fathom_units::Duration;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

fn serve(port: u16) -> Server {
    let listen = vec!["127.0.0.1".parse().unwrap()];
    Server::start(Config { listen, port, max_time: Duration::from_secs(3), ..Config::default() }).unwrap()
}

/// Replies of each host over some seconds, and the number of seconds with a reply.
fn gather(reflectors: &mut Reflectors, clock: Clock, seconds: u64) -> (Vec<Reflection>, u64) {
    let (mut all, mut heard) = (Vec::new(), 0);
    for _ in 0..seconds {
        let found = reflectors.gather(clock.now() + Duration::from_secs(1), false);
        heard += u64::from(!found.is_empty());
        all.extend(found);
    }
    (all, heard)
}

#[test]
fn sessions_follow_each_other_and_a_server_that_comes_back_is_another_host() {
    let port = fathom_test_support::unused_port();
    let server = serve(port);
    let clock = Clock::start();
    let config = TestConfig { clock, ..TestConfig::new(&format!("127.0.0.1:{port}")) };
    let hosts = vec!["127.0.0.1".parse().unwrap()];
    let config = ReflectConfig { server: Some(config), hosts, clock };
    let mut reflectors = Reflectors::open(&config, &AtomicBool::new(false)).unwrap();
    let (found, heard) = gather(&mut reflectors, clock, 9);
    let mut of: BTreeMap<u16, usize> = BTreeMap::new();
    found.iter().for_each(|one| *of.entry(one.host).or_default() += 1);
    // 20 per second from the server, 3 by ICMP; both exist in every session.
    assert!(of.len() == 2 && of[&0] > 60 && of[&0x8000] > 10, "{of:?}");
    assert_eq!(heard, 9, "{of:?}");
    assert_eq!(reflectors.problem(), None);
    // The kernel's clock answers ICMP; echo is used until it does.
    let by_clock = |one: &&Reflection| one.host == 0x8000 && matches!(one.delay, ReflectedDelay::OneWay(_));
    assert!(found.iter().filter(by_clock).count() > 10, "{found:?}");
    let round_trip = found.iter().find_map(|one| match one.delay {
        ReflectedDelay::RoundTrip(time) => Some(time),
        ReflectedDelay::OneWay(_) => None,
    });
    assert!(round_trip.unwrap() < Duration::from_secs(1));
    // Both clocks run at the same rate: each one-way delay is known up to a constant.
    let sums = found.iter().filter_map(|one| match one.delay {
        ReflectedDelay::OneWay(delay) => Some(delay.up + delay.down),
        ReflectedDelay::RoundTrip(_) => None,
    });
    assert!(sums.min().is_some_and(|least| (0..100_000_000).contains(&least)));

    drop(server);
    let (_, _) = gather(&mut reflectors, clock, 2);
    assert!(reflectors.problem().is_some());
    let _again = serve(port);
    let (later, _) = gather(&mut reflectors, clock, 12);
    assert!(later.iter().any(|one| one.host == 1), "{:?}", reflectors.problem());
    assert!(later.iter().all(|one| one.host != 0));
}
