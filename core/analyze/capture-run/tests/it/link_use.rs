//! Frames for several hosts, and VLANs.
use fathom_capture::{Contents, Frame, LinkType};
use fathom_capture_run::Intake;
use fathom_run::{FrameCount, VlanCount};

#[test]
fn frames_for_several_hosts_and_vlans_are_counted() {
    let ethernet = |to: u8, ethertype: &[u8]| [&[to; 6][..], &[2; 6], ethertype, &[0; 46]].concat();
    let all = [
        (ethernet(0xff, &[0x08, 0x06]), 60),
        (ethernet(0xff, &[0x08, 0x06]), 1_000),
        (ethernet(0x01, &[0x86, 0xdd]), 90),
        (ethernet(0x02, &[0x81, 0x00, 0x00, 0x0c, 0x08, 0x00]), 500),
        (ethernet(0xff, &[0x81, 0x00, 0x00, 0x07, 0x08, 0x06]), 64),
        (ethernet(0x02, &[0x08, 0x00]), 1_514),
    ];
    let mut intake = Intake::new();
    for (number, (bytes, original_len)) in (1..).zip(&all) {
        let (link, original_len) = (LinkType::ETHERNET, *original_len);
        let frame = Frame { at: number as i64, link, original_len, interface: 0, lost_before: 0, bytes };
        intake.frame(number, &frame, &mut |_, _| {});
    }
    let (source, _) = intake.finish("eth0".into(), &Contents::default(), None);
    let of = |frames, wire_bytes| FrameCount { frames, wire_bytes };
    assert_eq!((source.frames, source.wire_bytes), (6, 3_228));
    assert_eq!(source.broadcast, of(3, 1_124));
    assert_eq!(source.multicast, of(1, 90));
    let vlans = [(7, of(1, 64)), (12, of(1, 500))];
    assert_eq!(source.vlans, vlans.map(|(id, count)| VlanCount { id, count }));
}
