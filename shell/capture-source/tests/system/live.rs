use fathom_capture::{LinkType, Transport, dissect};
use fathom_capture_source::Live;
use fathom_os::netlink::{LOOPBACK, Netlink, interface_index};
use fathom_os::tun::{Tun, VNET_HEADER_BYTES};
use fathom_test_support::in_new_namespace;
use std::io::IoSlice;
use std::net::UdpSocket;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn an_interface_gives_frames_until_the_flag_is_set() {
    in_new_namespace(|| {
        // A smaller snap length is raised to the minimum.
        let mut live = Live::open("lo", 1).unwrap();
        assert_eq!(live.link(), LinkType::ETHERNET);
        let (near, far) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("[::1]:0").unwrap());
        for length in 0..100 {
            near.send_to(&[1; 500][..length], near.local_addr().unwrap()).unwrap();
            far.send_to(&[1; 500][..length], far.local_addr().unwrap()).unwrap();
        }
        let stop = AtomicBool::new(false);
        let mut lengths = Vec::new();
        let ending = live.for_each(
            || stop.load(Ordering::Relaxed),
            |number, frame| {
                let packet = dissect(frame.link, frame.original_len, frame.bytes).unwrap();
                if let Transport::Udp(udp) = packet.transport {
                    lengths.push(udp.payload_bytes);
                    assert!(frame.bytes.len() <= 128);
                }
                stop.store(lengths.len() == 200, Ordering::Relaxed);
                assert!(number < 1000);
                ControlFlow::Continue(())
            },
        );
        assert_eq!(lengths, (0..100).flat_map(|length| [length, length]).collect::<Vec<_>>());
        assert!(ending.trouble.is_none(), "{:?}", ending.trouble);
        assert_eq!((ending.contents.frames, ending.contents.statistics[0].received), (200, Some(200)));
        assert_eq!(
            (ending.contents.statistics[0].dropped_by_system, ending.contents.resolution_ns),
            (Some(0), 1)
        );
    });
}

/// Cooked frames as in tcpdump; each loopback packet once.
#[test]
fn all_interfaces_at_once() {
    in_new_namespace(|| {
        let tun = Tun::create("tun7").unwrap();
        let number = interface_index("tun7").unwrap();
        Netlink::open().unwrap().set_up(number, None, None).unwrap();
        let mut live = Live::open("any", 128).unwrap();
        assert_eq!(live.link(), LinkType::LINUX_SLL2);
        let near = UdpSocket::bind("127.0.0.1:0").unwrap();
        near.send_to(&[1; 500], near.local_addr().unwrap()).unwrap();
        let echo =
            [0x45, 0, 0, 28, 0, 7, 0, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 8, 0, 0, 0, 1, 2, 3, 4];
        tun.write(&[IoSlice::new(&[0; VNET_HEADER_BYTES]), IoSlice::new(&echo)]).unwrap();
        let (mut on_loopback, mut on_tun) = (0, 0);
        let is_over = std::cell::Cell::new(false);
        live.for_each(
            || is_over.get(),
            |_, frame| {
                let interface = u32::from_be_bytes(*frame.bytes[4..].first_chunk().unwrap());
                match dissect(frame.link, frame.original_len, frame.bytes).unwrap().transport {
                    Transport::Udp(udp) => {
                        on_loopback += 1;
                        assert_eq!((udp.payload_bytes, interface), (500, LOOPBACK));
                        assert_eq!((frame.original_len, frame.bytes.len()), (20 + 528, 20 + 128));
                    }
                    Transport::Icmp(icmp) if !icmp.is_v6 => {
                        on_tun += 1;
                        assert_eq!((interface, frame.bytes[20..].to_vec()), (number, echo.to_vec()));
                    }
                    _ => {}
                }
                is_over.set(on_tun > 0);
                ControlFlow::Continue(())
            },
        );
        assert_eq!((on_loopback, on_tun), (1, 1));
    });
}

/// A TUN device has no link header; its packets are captured until it is removed.
#[test]
fn an_interface_without_link_header_until_it_goes_away() {
    in_new_namespace(|| {
        let tun = Tun::create("tun7").unwrap();
        Netlink::open().unwrap().set_up(interface_index("tun7").unwrap(), None, None).unwrap();
        let mut live = Live::open("tun7", 128).unwrap();
        assert_eq!(live.link(), LinkType::RAW);
        // ICMP echo without a checksum, which nobody answers.
        let echo =
            [0x45, 0, 0, 28, 0, 7, 0, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 8, 0, 0, 0, 1, 2, 3, 4];
        tun.write(&[IoSlice::new(&[0; VNET_HEADER_BYTES]), IoSlice::new(&echo)]).unwrap();
        let mut echoes = 0;
        let mut tun = Some(tun);
        let ending = live.for_each(
            || false,
            |_, frame| {
                if frame.bytes == echo {
                    echoes += 1;
                    tun = None;
                }
                ControlFlow::Continue(())
            },
        );
        assert_eq!(echoes, 1);
        let said = ending.trouble.unwrap().to_string();
        assert!(said.starts_with("read error: "), "{said}");
    });
}
