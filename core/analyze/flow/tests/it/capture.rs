//! Reads captures in testdata/trace: of the lab, and a real bloated upload (pcap, Ethernet, IPv4).
use fathom_capture::{Address, IcmpHeader, Packet, Reader, Stamps, Step, TcpHeader, Transport, dissect};
use fathom_flow::{Flows, Sink, Times, Tracer};
use std::io::Read;
use std::path::{Path, PathBuf};

pub(crate) fn read(path: &Path) -> Vec<u8> {
    let file = std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Folder of the bloated upload: captures at the sender and the receiver, and ground truth.
pub(crate) fn bloated_upload_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/trace/bloated-upload")
}

/// Capture of the bloated upload at one end: `snd` or `rcv`.
pub(crate) fn bloated_upload(end: &str) -> Vec<u8> {
    let path = bloated_upload_folder().join(format!("{end}.pcap.xz"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    lzma_rust2::XzReader::new(file, false).read_to_end(&mut bytes).unwrap();
    bytes
}

pub(crate) fn lab_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/trace/lab")
}

pub(crate) fn lab(name: &str) -> Vec<u8> {
    read(&lab_folder().join(format!("{name}.pcap.gz")))
}

pub(crate) fn each_packet(file: &[u8], mut visit: impl FnMut(Times, &Packet<'_>)) {
    let (mut reader, mut rest, mut frames) = (Reader::new(), file, 0);
    while !rest.is_empty() {
        let (used, step) = reader.step(rest).unwrap();
        if let Step::Frame(frame) = step {
            frames += 1;
            let packet = dissect(frame.link, frame.original_len, frame.bytes).unwrap();
            visit(Times { at: frame.at, frame: frames }, &packet);
        }
        rest = &rest[used..];
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn le(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn transport(protocol: u8, body: &[u8], length: usize) -> Transport<'_> {
    match protocol {
        6 => {
            let header = usize::from(body[12] >> 4) * 4;
            let options = &body[20..header];
            let stamps = options.starts_with(&[1, 1, 8, 10]).then(|| &options[4..12]);
            Transport::Tcp(TcpHeader {
                source_port: u16_at(body, 0),
                destination_port: u16_at(body, 2),
                sequence: u32_at(body, 4),
                acknowledgement: u32_at(body, 8),
                flags: u16_at(body, 12) & 0x1ff,
                window: u16_at(body, 14),
                payload_bytes: (length - header) as u32,
                stamps: stamps.map(|s| Stamps { value: u32_at(s, 0), echo: u32_at(s, 4) }),
                options,
                payload: &body[header..],
            })
        }
        1 => Transport::Icmp(IcmpHeader {
            is_v6: false,
            kind: body[0],
            code: body[1],
            rest: body[4..8].try_into().unwrap(),
            payload: &body[8..],
        }),
        protocol => Transport::Other { protocol },
    }
}

pub(crate) fn trace<S: Sink>(file: &[u8], sink: S) -> (Flows, S) {
    assert_eq!(le(file, 0), 0xa1b2_c3d4, "pcap with microseconds, little-endian");
    let mut tracer = Tracer::new(sink);
    let (mut at, mut frame) = (24, 0);
    while at < file.len() {
        let stored = le(file, at + 8) as usize;
        let bytes = &file[at + 16..at + 16 + stored];
        frame += 1;
        let nanos = i64::from(le(file, at)) * 1_000_000_000 + i64::from(le(file, at + 4)) * 1000;
        let ip = &bytes[14..];
        let header = usize::from(ip[0] & 15) * 4;
        let length = usize::from(u16_at(ip, 2));
        let packet = Packet {
            source: Address::v4(ip[12..16].try_into().unwrap()),
            destination: Address::v4(ip[16..20].try_into().unwrap()),
            hop_limit: ip[8],
            dscp: ip[1] >> 2,
            ecn: ip[1] & 3,
            identification: Some(u16_at(ip, 4)),
            ip_bytes: length as u32,
            wire_bytes: le(file, at + 12),
            transport: transport(ip[9], &ip[header..length.min(ip.len())], length - header),
        };
        tracer.packet(Times { at: nanos, frame }, &packet);
        at += 16 + stored;
    }
    tracer.finish()
}
