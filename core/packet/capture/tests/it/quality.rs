//! Each defect of a capture is reported, and nothing else.
use crate::build::{ethernet, join, segment, tcp, v4, v6};
use fathom_capture::{Frame, LinkType, Quality, Statistics, dissect};
use fathom_run::CaptureDefect;

/// Counts these frames: time, original length, stored bytes, interface.
fn counted(frames: &[(i64, u32, &[u8], u32)]) -> Quality {
    counted_of(LinkType::ETHERNET, frames)
}

fn counted_of(link: LinkType, frames: &[(i64, u32, &[u8], u32)]) -> Quality {
    let mut quality = Quality::new();
    for (number, (at, original_len, bytes, interface)) in (1..).zip(frames) {
        let frame = Frame {
            at: *at,
            link,
            original_len: *original_len,
            interface: *interface,
            lost_before: 0,
            bytes,
        };
        quality.frame(number, &frame, &dissect(link, *original_len, bytes));
    }
    quality
}

fn data() -> Vec<u8> {
    ethernet(0x0800, &v4(6, &[], &segment()))
}

/// A segment with unique sequence number and identification.
fn numbered(number: u32) -> Vec<u8> {
    let mut frame = data();
    frame[18..20].copy_from_slice(&(number as u16 + 1).to_be_bytes());
    frame[38..42].copy_from_slice(&number.to_be_bytes());
    frame
}

#[test]
fn a_good_capture_has_no_defects() {
    let frames: Vec<_> = (0..2000).map(numbered).collect();
    let frames: Vec<_> = frames.iter().zip(0..).map(|(f, n)| (n * 12_345_678, 166, &f[..96], 0)).collect();
    let quality = counted(&frames);
    assert_eq!(quality.defects(), []);
    assert_eq!((quality.frames, quality.wire_bytes, quality.cut), (2000, 2000 * 166, 2000));
    assert_eq!((quality.cut_headers, quality.cut_at, quality.not_ip, quality.interfaces), (0, 96, 0, 1));
    assert_eq!(quality.span, Some((0, 1999 * 12_345_678)));
}

#[test]
fn a_capture_without_packets_is_reported() {
    assert_eq!(counted(&[]).defects(), [CaptureDefect::Empty]);
    let arp = ethernet(0x0806, &[0; 28]);
    let frames = [(1, 42, &arp[..], 0), (2, 42, &arp[..], 0)];
    assert_eq!(counted(&frames).defects(), [CaptureDefect::NoIp { frames: 2 }]);
    let some = data();
    assert_eq!(counted(&[frames[0], (2, 166, &some[..96], 0)]).defects(), []);
}

#[test]
fn truncated_frames_count_by_what_is_missing() {
    let frame = data();
    // Ethernet 14, IPv4 20, TCP 32, payload 100: stored bytes, and whether headers are truncated.
    for (stored, cut) in
        [(13, 1), (33, 1), (34, 1), (49, 1), (53, 1), (54, 1), (65, 1), (66, 0), (67, 0), (165, 0)]
    {
        let quality = counted(&[(1, 166, &frame[..stored], 0)]);
        assert_eq!((quality.cut, quality.cut_headers), (1, cut), "{stored}");
    }
    let of_v6 = ethernet(0x86dd, &v6(6, &segment()));
    assert_eq!(counted(&[(1, 186, &of_v6[..86], 0)]).cut_headers, 0);
    let quality = counted(&[(1, 186, &of_v6[..85], 0)]);
    assert_eq!(quality.defects(), [CaptureDefect::CutHeaders { frames: 1, stored_bytes: 85 }]);
}

#[test]
fn a_clock_step_is_reported_with_its_frame() {
    let frame = data();
    let times = [5_000_000_001, 4_000_000_001, 4_000_000_002, 3_995_000_002, 3_989_000_002, 200_000_000_000];
    let frames: Vec<_> = times.iter().map(|at| (*at, 166, &frame[..], 0)).collect();
    let quality = counted(&frames);
    let back = quality.steps_back;
    assert_eq!((back.count, back.largest_ns, back.frame), (2, 1_000_000_000, 2));
    let disordered = quality.disordered;
    assert_eq!((disordered.count, disordered.largest_ns, disordered.frame), (1, 5_000_000, 4));
    assert_eq!((quality.gaps.count, quality.gaps.largest_ns, quality.gaps.frame), (1, 196_010_999_998, 6));
    assert_eq!(
        quality.defects(),
        [
            CaptureDefect::ClockStepsBack { count: 2, max_ns: 1_000_000_000, frame: 2 },
            CaptureDefect::Gaps { count: 1, max_ns: 196_010_999_998, frame: 6 },
        ]
    );
    let extremes =
        counted(&[(i64::MIN, 166, &frame, 0), (i64::MAX, 166, &frame, 0), (i64::MIN, 166, &frame, 0)]);
    assert_eq!((extremes.leaps.count, extremes.leaps.largest_ns), (2, u64::MAX));
}

/// Frames at these times, and the time of each without leaps.
fn steadied(times: impl IntoIterator<Item = i64>) -> (Quality, Vec<i64>) {
    let (mut quality, bytes) = (Quality::new(), data());
    let one = |(number, at)| {
        let link = LinkType::ETHERNET;
        let frame = Frame { at, link, original_len: 166, interface: 0, lost_before: 0, bytes: &bytes };
        quality.frame(number, &frame, &dissect(link, 166, &bytes));
        quality.steadied(at)
    };
    let all = (1..).zip(times).map(one).collect();
    (quality, all)
}

/// A leap back at the limit of times, then steps of almost a year forward, beyond the limit.
#[test]
fn leaps_never_lead_to_impossible_times() {
    const MOST: i64 = (1 << 62) - 1;
    const NEARLY_A_YEAR: i64 = 365 * 86_400 * 1_000_000_000;
    let climbing = (0..290).map(|years| years * NEARLY_A_YEAR - MOST);
    let (_, times) = steadied(std::iter::once(MOST).chain(climbing));
    assert!(times.iter().all(|at| at.abs() <= MOST), "{times:?}");
}

/// A router starts at 5 s of 1970, sets its clock, and loses it again for one frame.
#[test]
fn a_clock_set_by_years_continues() {
    const SECOND: i64 = 1_000_000_000;
    const TODAY: i64 = 1_800_000_000;
    let seconds = [5, 6, TODAY, TODAY + 1, 0, TODAY + 2, TODAY + 3];
    let (quality, times) = steadied(seconds.map(|at| at * SECOND));
    assert_eq!(times, [5, 6, 6, 7, 7, 7, 8].map(|at| at * SECOND));
    assert_eq!(quality.from_to(), (5 * SECOND, 8 * SECOND));
    assert_eq!((quality.leaps.count, quality.leaps.frame, quality.gaps.count), (3, 6, 0));
    let max_ns = (TODAY + 2) as u64 * SECOND as u64;
    assert_eq!(quality.defects(), [CaptureDefect::ClockSet { count: 3, max_ns, frame: 6 }]);
}

#[test]
fn whole_milliseconds_are_a_coarse_clock() {
    let frames: Vec<_> = (0..200).map(numbered).collect();
    let at =
        |unit: i64| -> Vec<_> { frames.iter().zip(0..).map(|(f, n)| (n * unit, 166, &f[..], 0)).collect() };
    let mut coarse = counted(&at(3_000_000));
    coarse.resolution_ns = 1000;
    assert_eq!(coarse.defects(), [CaptureDefect::CoarseClock { step_ns: 1_000_000 }]);
    let mut fine = counted(&at(3_000_001));
    fine.resolution_ns = 1000;
    assert_eq!(fine.defects(), []);
}

#[test]
fn super_packets_are_longer_than_the_handshake_allows() {
    let syn = |mss: u16| {
        let mut frame = ethernet(0x0800, &v4(6, &[], &tcp(&join(&[&[2, 4], &mss.to_be_bytes()]), &[])));
        frame[47] = 2;
        frame
    };
    let long = |bytes: usize| ethernet(0x0800, &v4(6, &[], &tcp(&[], &vec![0; bytes - 40])));
    // MSS in a SYN, length of the IP packet, and whether it is a super-packet.
    for (mss, bytes, expected) in [(1460, 1500, 0), (1460, 2948, 1), (8960, 9000, 0), (8960, 64_000, 1)] {
        let (handshake, frame) = (syn(mss), long(bytes));
        let quality = counted(&[(1, 58, &handshake, 0), (2, frame.len() as u32, &frame, 0)]);
        assert_eq!(quality.super_packets, expected, "{mss} {bytes}");
        assert_eq!(quality.longest_bytes as usize, bytes);
    }
    // Without a handshake the largest MTU decides.
    let (mtu, above) = (long(9216), long(9217));
    assert_eq!(counted(&[(2, 9230, &mtu, 0)]).super_packets, 0);
    assert_eq!(counted(&[(2, 9231, &above, 0)]).super_packets, 1);
}

#[test]
fn copies_are_distinguished_from_duplicate_acks() {
    let frames: Vec<_> = (0..4000).map(numbered).collect();
    let twice = |second: u32| -> Vec<_> {
        frames.iter().flat_map(|f| [(1, 166, &f[..], 0), (1, 166, &f[..], second)]).collect()
    };
    for quality in [counted(&twice(0)), counted(&twice(1))] {
        let count = quality.duplicates();
        assert!((3000..5000).contains(&count), "{count}");
        assert_eq!(quality.defects()[0], CaptureDefect::Duplicates { packets: count, is_estimate: true });
    }
    // IPv6 has no identification: seen twice on one interface it may have been sent twice.
    let of_v6: Vec<Vec<u8>> = (0..4000_u32)
        .map(|number| {
            let mut frame = ethernet(0x86dd, &v6(6, &segment()));
            frame[58..62].copy_from_slice(&number.to_be_bytes());
            frame
        })
        .collect();
    let twice_v6 = |second: u32| -> Vec<_> {
        of_v6.iter().flat_map(|f| [(1, 186, &f[..], 0), (1, 186, &f[..], second)]).collect()
    };
    assert_eq!(counted(&twice_v6(0)).duplicates(), 0);
    assert!(counted(&twice_v6(1)).duplicates() > 3000);
    // `tcpdump -i any` has the interface in its header.
    let any = |index: u8| -> Vec<Vec<u8>> {
        of_v6.iter().map(|f| join(&[&[0x86, 0xdd, 0, 0, 0, 0, 0, index], &[0; 12], &f[14..]])).collect()
    };
    let (near, far) = (any(2), any(3));
    let both: Vec<_> =
        near.iter().zip(&far).flat_map(|(a, b)| [(1, 192, &a[..], 0), (1, 192, &b[..], 0)]).collect();
    assert!(counted_of(LinkType::LINUX_SLL2, &both).duplicates() > 3000);
}

/// Number of frames that are not copies.
fn passed(link: LinkType, frames: &[(&[u8], u32)]) -> usize {
    let mut quality = Quality::new();
    let mut count = 0;
    for (number, (bytes, interface)) in (1..).zip(frames) {
        let (at, original_len) = (number as i64 * 1000, bytes.len() as u32);
        let frame = Frame { at, link, original_len, interface: *interface, lost_before: 0, bytes };
        let packet = dissect(link, original_len, bytes);
        quality.frame(number, &frame, &packet);
        count += usize::from(!quality.is_copy(&frame, &packet.unwrap()));
    }
    count
}

#[test]
fn copies_are_skipped_wherever_they_were_captured() {
    let frames: Vec<_> = (0..4000).map(numbered).collect();
    let forwarded: Vec<_> = frames
        .iter()
        .map(|frame| {
            let mut frame = frame.clone();
            frame[22] -= 1;
            frame
        })
        .collect();
    let cooked = |of: &[Vec<u8>], interface: u8| -> Vec<Vec<u8>> {
        of.iter().map(|f| join(&[&[8, 0, 0, 0, 0, 0, 0, interface], &[0; 12], &f[14..]])).collect()
    };
    let (near, far) = (cooked(&frames, 2), cooked(&forwarded, 3));
    // A router forwards each packet `behind` packets later.
    let late = |link: LinkType, behind: usize, first: &[Vec<u8>], second: &[Vec<u8>], interface: u32| {
        let (mut order, mut waiting) = (Vec::new(), std::collections::VecDeque::new());
        for (a, b) in first.iter().zip(second) {
            order.push((&a[..], 0));
            waiting.push_back((&b[..], interface));
            if waiting.len() > behind {
                order.extend(waiting.pop_front());
            }
        }
        order.extend(waiting);
        passed(link, &order)
    };
    assert_eq!(late(LinkType::LINUX_SLL2, 1000, &near, &far, 0), 4000);
    assert_eq!(late(LinkType::ETHERNET, 1000, &frames, &frames, 1), 4000);
    assert_eq!(late(LinkType::ETHERNET, 1000, &frames, &forwarded, 0), 4000);
    // A port mirror must be recognized first.
    let mirrored = late(LinkType::ETHERNET, 1, &frames, &frames, 0);
    assert!((4000..4200).contains(&mirrored), "{mirrored}");
    // Without copies the search ends soon.
    let many: Vec<_> = (0..6000).map(numbered).collect();
    let once: Vec<_> = many.iter().map(|frame| (&frame[..], 0)).collect();
    let again = [&once[..], &once[..]].concat();
    assert_eq!(passed(LinkType::ETHERNET, &once), 6000);
    assert!(passed(LinkType::ETHERNET, &again) > 6000);
    // An answer that differs from its request only in its direction and hop limit is not a copy.
    let echo = |number: u8, is_reply: bool| {
        let mut packet = v6(58, &[128 + u8::from(is_reply), 0, 0, 0, 0, 1, 0, number]);
        if is_reply {
            packet[7] -= 1;
            let (source, destination) = packet[8..40].split_at_mut(16);
            source.swap_with_slice(destination);
        }
        ethernet(0x86dd, &packet)
    };
    let echoes: Vec<_> = (0..200).flat_map(|number| [echo(number, false), echo(number, true)]).collect();
    let echoes: Vec<_> = echoes.iter().map(|frame| (&frame[..], 0)).collect();
    assert_eq!(passed(LinkType::ETHERNET, &echoes), 400);
    // A retransmission remains.
    assert_eq!(passed(LinkType::LINUX_SLL2, &[(&near[0], 0), (&near[0], 0)]), 2);
}

#[test]
fn drops_and_foreign_frames_are_reported() {
    let mut quality = counted_of(LinkType(147), &[(1, 60, &[0; 60], 0), (2, 60, &[0; 60], 0)]);
    quality.statistics(&[
        Statistics {
            interface: 0,
            received: Some(9),
            dropped_by_interface: Some(4),
            dropped_by_system: Some(5),
        },
        Statistics::default(),
    ]);
    quality.untimed = 2;
    assert_eq!((quality.lost, quality.not_ip, quality.unknown_link), (9, 2, Some((LinkType(147), 2))));
    assert_eq!(
        quality.defects(),
        [
            CaptureDefect::DroppedFrames { dropped_frames: 9, frames: 2 },
            CaptureDefect::UnknownLinkType { link_type: 147, frames: 2 },
            CaptureDefect::Untimed { frames: 2 },
        ]
    );
    let encrypted = [0x88, 0x41, 0, 0, 0];
    let radio = counted_of(LinkType::IEEE802_11, &[(1, 60, &encrypted, 0)]);
    assert_eq!(radio.defects(), [CaptureDefect::Encrypted { frames: 1 }]);
    let frame =
        Frame { at: 0, link: LinkType(147), original_len: 9, interface: 0, lost_before: 7, bytes: &[0; 9] };
    quality.frame(3, &frame, &dissect(LinkType(147), 9, &[0; 9]));
    assert_eq!(quality.lost, 16);
}
