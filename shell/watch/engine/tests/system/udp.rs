//! UDP probes against `fathom serve`.
use crate::memory::{answered, row, start, wait_for};
use fathom_server::{Config, Server};
use fathom_units::Duration;
use fathom_watch_samples::Outcome;
use std::net::{IpAddr, Ipv4Addr};

fn serve(max_time: Duration) -> Server {
    let listen = vec![IpAddr::V4(Ipv4Addr::LOCALHOST)];
    Server::start(Config { listen, port: 0, max_time, ..Config::default() }).unwrap()
}

#[test]
fn round_trip_and_one_way_delays_through_many_sessions() {
    // Sessions of two seconds: each is replaced by the next.
    let server = serve(Duration::from_secs(2));
    let port = server.local_port();
    let (monitor, memory) = start(&format!(
        "[watch]\ninterface = 'none'\n[[target]]\nname = 'far'\nhost = '127.0.0.1'\nprobe = 'udp:{port}'\ninterval = '100ms'\n\
         [[target]]\nname = 'none'\nhost = '127.0.0.1'\nprobe = 'udp:9'\ninterval = '100ms'\n"
    ));
    let (both, up, down) = (format!("udp:{port}"), format!("udp:{port} up"), format!("udp:{port} down"));
    for probe in [&both, &up, &down] {
        wait_for(probe, || (answered(&memory.samples("far", probe)) >= 60).then_some(()));
    }
    let why = wait_for("a reason", || {
        row(&monitor, "none", "udp:9")?.failing_since.filter(|f| f.1.contains("refused"))
    })
    .1;
    assert!(why.contains("fathom serve"), "{why}");
    assert!(monitor.stop().is_empty());
    assert!(server.stats().sessions >= 3, "{}", server.stats().sessions);
    server.stop();
    let whole = memory.samples("far", &both);
    let delay = |outcome| match outcome {
        Outcome::Answered(delay) => Some(delay.as_secs_f64()),
        _ => None,
    };
    let mut gaps: Vec<f64> = Vec::new();
    for one in memory.samples("far", &up).iter().filter(|s| delay(s.outcome).is_some()) {
        let back =
            memory.samples("far", &down).iter().find(|s| s.at == one.at).and_then(|s| delay(s.outcome));
        let all = whole.iter().find(|s| s.at == one.at).and_then(|s| delay(s.outcome));
        gaps.extend(all.zip(back).map(|(all, back)| (all - back - delay(one.outcome).unwrap()).abs()));
    }
    gaps.sort_unstable_by(f64::total_cmp);
    // Each direction is measured with the fitted clock; their sum is the round-trip time, except
    // where noise made one negative.
    assert!(gaps[gaps.len() / 2] < 50e-6, "{gaps:?}");
}
