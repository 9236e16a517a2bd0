//! Rate changes under load.
use crate::world::{World, mbit, request, watchdog_command};
use fathom_shaper::{ShaperKind, Transaction};
use std::time::{Duration, Instant};

/// With less than this in the queue, four more packets fit.
const FEW_BYTES: u32 = 4_000;

#[test]
fn a_hundred_other_rates_under_load_drop_nothing() {
    for kind in [ShaperKind::Tbf, ShaperKind::FlowHash] {
        let world = World::new(&[
            "ip addr add 10.9.0.1/24 dev eth0",
            "ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev eth0",
        ]);
        let mut transaction =
            world.inside(|| Transaction::begin(&request(Some(kind)), &world.place())).unwrap();
        world
            .inside(|| transaction.apply(watchdog_command(&world.place()), Duration::from_secs(60)))
            .unwrap();
        world.inside(|| transaction.set_rates(Some(mbit(1)), None)).unwrap();
        // Ten packets of 1 kB fit into the shortest queue. At 1 Mbit/s each takes 8 ms, and a rate
        // change takes much less.
        let load = world.inside(|| std::net::UdpSocket::bind("10.9.0.1:0").unwrap());
        let load = &load;
        let (waited, mut times) = world.inside(|| hundred_changes(&mut transaction, load));
        assert!(waited, "{kind}: nothing waited, so nothing was shown");
        times.sort();
        println!("{kind}: 100 changes, 0 drops, median {:?}, slowest {:?}", times[50], times[99]);
        world.inside(|| transaction.roll_back("test")).unwrap();
    }
}

/// Whether anything was queued meanwhile, and the duration of each change.
fn hundred_changes(transaction: &mut Transaction, load: &std::net::UdpSocket) -> (bool, Vec<Duration>) {
    let (mut waited, mut times) = (false, Vec::new());
    for n in 0..100 {
        if transaction.look().unwrap().up.unwrap().backlog_bytes < FEW_BYTES {
            for _ in 0..4 {
                load.send_to(&[0; 1_000], "10.9.0.2:9").unwrap();
            }
        }
        let begun = Instant::now();
        transaction.set_rates(Some(mbit(1 + n % 2)), None).unwrap();
        times.push(begun.elapsed());
        let up = transaction.look().unwrap().up.unwrap();
        assert_eq!(up.drops, 0, "change {n}");
        waited |= up.backlog_bytes > 0;
    }
    (waited, times)
}
