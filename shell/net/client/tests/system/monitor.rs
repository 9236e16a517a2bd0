//! Probes without an end, to hosts whose addresses arrive while they run.
use fathom_client::{Located, MonitorConfig, PingEvent, monitor};
use fathom_os::clock::Clock;
use fathom_run::NotSent;
use fathom_units::Duration;
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
