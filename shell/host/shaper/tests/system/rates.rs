//! Rate changes under load.
use crate::world::{World, gone, inside, mbit, request, until};
use fathom_os::netns::NetNs;
use fathom_shaper::{ShapeRequest, ShaperKind, Transaction};
use fathom_tc::Stats;
use fathom_test_support::new_namespace;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::panic::AssertUnwindSafe;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// The address of `eth0`, and one beyond it without a host.
const ADDRESS: &str = "ip addr add 10.9.0.1/24 dev eth0";
const NEIGHBOR: &str = "ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev eth0";
/// With less than this in the queue, four more packets fit.
const FEW_BYTES: u32 = 4_000;

#[test]
fn a_hundred_other_rates_under_load_drop_nothing() {
    for kind in [ShaperKind::Tbf, ShaperKind::FlowHash] {
        let world = World::new(&[ADDRESS, NEIGHBOR]);
        let mut transaction = world.applied(&request(Some(kind)));
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

/// Rate changes up and down again.
const CHANGES: usize = 20;

/// TBF never sends anything again if its burst becomes smaller than a packet that it already has.
/// TCP makes super-packets of up to 64 kB.
#[test]
fn a_lower_rate_still_sends_the_queued_packets_of_a_higher_one() {
    for kind in [ShaperKind::Tbf, ShaperKind::FlowHash] {
        let world = World::new(&[ADDRESS]);
        let far = far_end(&world);
        thread::scope(|scope| {
            let listener = inside(&far, || TcpListener::bind("10.9.0.2:9").unwrap());
            scope.spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                while stream.read(&mut [0; 1 << 16]).is_ok_and(|bytes| bytes > 0) {}
            });
            let stream = world.inside(|| TcpStream::connect("10.9.0.2:9").unwrap());
            let mut sender = stream.try_clone().unwrap();
            scope.spawn(move || while sender.write_all(&[0; 1 << 16]).is_ok() {});
            let changes = std::panic::catch_unwind(AssertUnwindSafe(|| many_changes(&world, kind)));
            // Ends both threads, whatever happened.
            stream.shutdown(std::net::Shutdown::Both).unwrap();
            changes.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        });
    }
}

/// TBF drops packets that are larger than its burst, and those of 9 kB are at 8 Mbit/s.
#[test]
fn jumbo_frames_pass() {
    for kind in [ShaperKind::Tbf, ShaperKind::FlowHash] {
        let world = World::new(&["ip link set eth0 mtu 9000", ADDRESS, NEIGHBOR]);
        let mut transaction = world.applied(&request(Some(kind)));
        let socket = world.inside(|| std::net::UdpSocket::bind("10.9.0.1:0").unwrap());
        for _ in 0..4 {
            socket.send_to(&[0; 8_900], "10.9.0.2:9").unwrap();
            gone(&mut transaction);
        }
        let up = transaction.look().unwrap().up.unwrap();
        assert!(up.drops == 0 && up.sent_bytes > 4 * 8_900, "{kind}: {up:?}");
        world.inside(|| transaction.roll_back("test")).unwrap();
    }
}

fn many_changes(world: &World, kind: ShaperKind) {
    let first = ShapeRequest { up: Some(mbit(100)), ..request(Some(kind)) };
    let mut transaction = world.applied(&first);
    for n in 0..CHANGES {
        wait(&mut transaction, &format!("{kind}, change {n}: a queue at 100 Mbit/s"), |up| {
            up.backlog_bytes > 50_000
        });
        world.inside(|| transaction.set_rates(Some(mbit(10)), None)).unwrap();
        let sent = transaction.look().unwrap().up.unwrap().sent_bytes;
        let goal = format!("{kind}, change {n}: progress at 10 Mbit/s");
        wait(&mut transaction, &goal, |up| up.sent_bytes > sent + 50_000);
        world.inside(|| transaction.set_rates(Some(mbit(100)), None)).unwrap();
    }
    world.inside(|| transaction.roll_back("test")).unwrap();
}

/// Waits for counters of the egress shaper.
fn wait(transaction: &mut Transaction, what: &str, is_so: impl Fn(&Stats) -> bool) {
    until(what, || Some(transaction.look().unwrap().up.unwrap()).filter(&is_so));
}

/// Moves the other end of `eth0` to its own namespace, with the address 10.9.0.2.
fn far_end(world: &World) -> NetNs {
    let far = new_namespace();
    // iproute2 knows an unnamed namespace by a process in it.
    let mut process = inside(&far, || Command::new("sleep").arg("20").spawn().unwrap());
    world.shell(&format!("ip link set p0 netns {}", process.id()));
    process.kill().unwrap();
    process.wait().unwrap();
    inside(&far, || {
        for command in ["link set p0 up", "addr add 10.9.0.2/24 dev p0"] {
            let status = Command::new("ip").args(command.split(' ')).status().unwrap();
            assert!(status.success(), "ip {command}");
        }
    });
    far
}
