//! A simulated network on a TUN interface in its own namespace, which answers pings with configured
//! impairments.
use fathom_os::netlink::{LOOPBACK, Netlink, interface_index};
use fathom_os::tun::{Tun, VNET_HEADER_BYTES};
use fathom_test_support::new_namespace;
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Delays of the replies to the n-th request to an address.
pub(crate) type Manner = fn(last_octet: u8, n: u32) -> Vec<Duration>;

/// Runs `test` in the namespace, with 10.77.0.0/16 and fd77::/64 behind the interface.
pub(crate) fn with(manner: Manner, test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            new_namespace().enter().unwrap();
            let tun = Tun::create("far0").unwrap();
            let mut netlink = Netlink::open().unwrap();
            let interface = interface_index("far0").unwrap();
            for index in [LOOPBACK, interface] {
                netlink.set_up(index, None, None).unwrap();
            }
            netlink.add_address(interface, "10.77.0.1".parse().unwrap(), 16).unwrap();
            netlink.add_address(interface, "fd77::1".parse().unwrap(), 64).unwrap();
            let over = Arc::new(AtomicBool::new(false));
            let flag = Arc::clone(&over);
            let answering = std::thread::spawn(move || answer(&tun, manner, &flag));
            test();
            over.store(true, Ordering::Relaxed);
            answering.join().unwrap();
        });
        if let Err(panic) = worker.join() {
            std::panic::resume_unwind(panic);
        }
    });
}

fn answer(tun: &Tun, manner: Manner, over: &AtomicBool) {
    let mut waiting: Vec<(Instant, Vec<u8>)> = Vec::new();
    let mut counts = std::collections::BTreeMap::new();
    let mut buffer = vec![0; 70_000];
    while !over.load(Ordering::Relaxed) {
        while let Some(length) = tun.read(&mut buffer).unwrap() {
            let Some(reply) = reply(&buffer[VNET_HEADER_BYTES..length]) else { continue };
            let to = if reply[0] >> 4 == 4 { reply[15] } else { reply[23] };
            let n = counts.entry((reply[0] >> 4, to)).or_insert(0_u32);
            waiting.extend(manner(to, *n).into_iter().map(|delay| (Instant::now() + delay, reply.clone())));
            *n += 1;
        }
        let now = Instant::now();
        let (due, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut waiting).into_iter().partition(|(at, _)| *at <= now);
        waiting = later;
        for (_, packet) in due {
            tun.write(&[IoSlice::new(&[0; VNET_HEADER_BYTES]), IoSlice::new(&packet)]).unwrap();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The echo reply to a request: addresses swapped, which does not affect checksums, and another
/// type.
fn reply(packet: &[u8]) -> Option<Vec<u8>> {
    let mut reply = packet.to_vec();
    let (at, request, answer) = if packet[0] >> 4 == 4 {
        reply[12..20].rotate_left(4);
        (20, 8, 0)
    } else {
        reply[8..40].rotate_left(16);
        (40, 128, 129)
    };
    if *packet.get(at)? != request {
        return None;
    }
    reply[at] = answer;
    // RFC 1624: only the word with the type changes the checksum.
    let before = u32::from(!u16::from_be_bytes([packet[at + 2], packet[at + 3]]));
    let sum = before + u32::from(!(u16::from(request) << 8)) + (u32::from(answer) << 8_u32);
    let folded = (sum & 0xffff) + (sum >> 16);
    let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
    reply[at + 2..at + 4].copy_from_slice(&checksum.to_be_bytes());
    Some(reply)
}
