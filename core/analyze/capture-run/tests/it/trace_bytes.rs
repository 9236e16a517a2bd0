//! The run of arbitrary packets can be read again. The fuzz target `trace` runs this too.
use fathom_bottleneck::QueueWatch;
use fathom_capture::{Address, Packet, Stamps, TcpHeader, Transport, UdpHeader};
use fathom_capture_run::{hops, run};
use fathom_flow::{Bounds, Followed, SHARDS, Shard, Shards, Times, Tracer, missing_directions};
use fathom_path::{Captures, Settings};
use fathom_run::{CaptureSource, Run};

pub(crate) const EACH: usize = 12;
const BOUNDS: Bounds = Bounds { lone_flows: 50, flows: 60, waiting: 500, hash_seed: 7 };
/// Bytes per step of a data segment's length; 256 steps are three Ethernet segments.
const LENGTH_STEP: u32 = 17;
/// The last time that a file can contain, ns; negated, the first.
const END: i64 = (1 << 62) - 1;

/// Next sequence numbers of four flows, by flow and end.
#[derive(Default)]
struct World {
    next: [[u32; 2]; 4],
    ticks: [u32; 2],
    at: i64,
    options: [u8; 24],
}

fn pair(high: u8, low: u8) -> u16 {
    u16::from_be_bytes([high, low])
}

/// Mostly small, sometimes impossible.
fn offset(high: u8, low: u8) -> u32 {
    match high {
        0x7f => u32::from(low) << 24,
        _ => (i32::from(pair(high, low) as i16) * 8) as u32,
    }
}

impl World {
    /// Steps from 0 to days; some large ones go back, or to the limits of a file.
    fn pass(&mut self, code: u8, length: u8) {
        if code == 0xff && length >= 0xfe {
            self.at = [-END, END][usize::from(length & 1)];
            return;
        }
        let step = i64::from(code & 15) << ((code >> 4).min(12) * 3);
        self.at = (self.at + if code >= 0xfc { -step } else { step * 1000 }).clamp(-END, END);
    }
    fn tcp(&mut self, bytes: [u8; EACH]) -> TcpHeader<'_> {
        let [form, _, s1, s0, a1, a0, length, flags, window, tick, b1, b0] = bytes;
        let (flow, end) = (usize::from(form & 3), usize::from(form >> 2 & 1));
        let payload_bytes = if form & 8 == 0 { 0 } else { u32::from(length) * LENGTH_STEP };
        let sequence = self.next[flow][end].wrapping_add(offset(s1, s0));
        let acknowledgement = self.next[flow][1 - end].wrapping_add(offset(a1, a0));
        let flags = [0x10, 0x10, 0x18, u16::from(flags)][usize::from(form >> 4 & 3)];
        self.next[flow][end] = sequence.wrapping_add(payload_bytes + u32::from(flags & 2 != 0));
        self.ticks[end] = self.ticks[end].wrapping_add(u32::from(tick) << (tick >> 6));
        let stamps =
            (form & 0x40 != 0).then_some(Stamps { value: self.ticks[end], echo: self.ticks[1 - end] });
        // A block above the acknowledged data, or below.
        let block = acknowledgement.wrapping_add(offset(b1, b0));
        let until = block.wrapping_add(u32::from(length) * LENGTH_STEP);
        self.options[12..16].copy_from_slice(&[1, 1, 5, 10]);
        self.options[16..20].copy_from_slice(&block.to_be_bytes());
        self.options[20..].copy_from_slice(&until.to_be_bytes());
        TcpHeader {
            source_port: 1000 + end as u16,
            destination_port: 1001 - end as u16,
            sequence,
            acknowledgement,
            flags,
            window: u16::from(window) << 6,
            payload_bytes,
            stamps,
            options: if form & 0x80 == 0 { &[] } else { &self.options[12..] },
            payload: &[],
        }
    }
    fn packet(&mut self, bytes: [u8; EACH]) -> Packet<'_> {
        let (flow, end) = (bytes[0] & 3, usize::from(bytes[0] >> 2 & 1));
        let ends = [Address::v4([10, 0, 0, flow / 2]), Address::v4([192, 0, 2, 1])];
        let is_dns = bytes[8] == 0xff && bytes[9] == 0xff;
        let transport = if is_dns {
            const DNS: [u8; 12] = [0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
            let ports = [40_000, 53];
            let (source_port, destination_port) = (ports[end], ports[1 - end]);
            Transport::Udp(UdpHeader { source_port, destination_port, payload_bytes: 12, payload: &DNS })
        } else {
            Transport::Tcp(self.tcp(bytes))
        };
        let payload = if let Transport::Tcp(tcp) = &transport { tcp.payload_bytes } else { 20 };
        Packet {
            source: ends[end],
            destination: ends[1 - end],
            hop_limit: 60 + flow,
            dscp: 0,
            ecn: bytes[7] >> 6,
            identification: Some(pair(bytes[2], bytes[3])),
            ip_bytes: 40 + payload,
            wire_bytes: 54 + payload,
            transport,
        }
    }
}

/// Calls `visit` with each packet and the bytes that describe it.
fn each(bytes: &[u8], mut visit: impl FnMut(Times, &Packet<'_>, &[u8; EACH])) {
    let mut world = World::default();
    for (frame, chunk) in (1..).zip(bytes.as_chunks::<EACH>().0) {
        world.pass(chunk[1], chunk[6]);
        let times = Times { at: world.at, frame };
        visit(times, &world.packet(*chunk), chunk);
    }
}

pub(crate) fn check_shards(bytes: &[u8]) {
    let mut whole = Tracer::new(QueueWatch::new());
    let mut shards = Shards::new(Shard::all(Bounds::default(), || QueueWatch::one_of(SHARDS)));
    each(bytes, |times, packet, _| {
        whole.packet(times, packet);
        shards.packet(times, packet);
    });
    let (flows, watch) = whole.finish();
    let (joined, watches) = Followed::join(shards.finish());
    assert_eq!(format!("{joined:?}"), format!("{flows:?}"));
    let expected = run(vec![], &flows, &watch.finish());
    assert_eq!(run(vec![], &joined, &QueueWatch::join(watches).finish()), expected);
}

/// This program can read the run of these packets.
pub(crate) fn check(bytes: &[u8]) {
    let mut tracer = Tracer::bounded(QueueWatch::new(), BOUNDS);
    let mut captures = Captures::new(2, Settings { limit: 1000, is_one_clock: false });
    each(bytes, |times, packet, chunk| {
        tracer.packet(times, packet);
        // After a router with some delay and some loss.
        captures.packet(0, packet, times);
        if chunk[10] & 7 != 7 {
            let later = (times.at + (i64::from(chunk[11]) << 12)).min(END);
            captures.packet(1, packet, Times { at: later, frame: times.frame });
        }
    });
    let (flows, watch) = tracer.finish();
    let source = CaptureSource {
        name: "bytes".into(),
        frames: 0,
        wire_bytes: 0,
        duration_s: 0.0,
        defects: missing_directions(&flows).into_iter().collect(),
        ..CaptureSource::default()
    };
    let mut run = run(vec![source], &flows, &watch.finish());
    if let (Ok(report), Some(capture)) = (captures.finish(), &mut run.capture) {
        capture.hops = hops(&report, &["a".into(), "b".into()]);
    }
    let written = serde_json::to_vec(&run).expect("a run can be written");
    let read = Run::from_json(&written);
    assert_eq!(read.as_ref(), Ok(&run), "what is written can be read");
}
