//! Properties of arbitrary bytes; the fuzz target `protocol` runs the same function.
use core::net::IpAddr;
use fathom_probe::protocol::{
    ARRIVAL_BYTES, BurstArrival, ClientMessage, FirstLine, FlowAnswer, LineReader, ServerMessage, UdpProbe,
    object_request, parse_request, parse_response, requested_object,
};
use fathom_probe::{
    EchoCodec, FlowProbes, IcmpVersion, Progress, ResponseError, Responses, TimestampCodec, dns,
};
use fathom_units::Time;
use fathom_wire::IpPacket;

/// # Panics
/// If a property is violated.
pub(crate) fn check(bytes: &[u8]) {
    for line in bytes.split(|b| *b == b'\n') {
        check_line(line);
    }
    check_line(bytes);
    check_udp(bytes);
    check_bursts(bytes);
    check_icmp(bytes);
    check_flow(bytes);
    check_cutting(bytes);
    check_http(bytes);
    dns::addresses(&dns::query(0x1234, "example.net", 1), bytes);
}

/// A parsed value can be written and parsed again without a change.
fn check_line(line: &[u8]) {
    if let Ok(first) = FirstLine::parse(line) {
        assert_eq!(FirstLine::parse(first.to_string().as_bytes()), Ok(first));
    }
    if let Ok(answer) = FlowAnswer::parse(line) {
        assert_eq!(FlowAnswer::parse(answer.to_string().as_bytes()), Ok(answer));
    }
    if let Some(object) = requested_object(line) {
        let again = object_request(object, line.len() + 1);
        assert_eq!(again.strip_suffix(b"\n").and_then(requested_object), Some(object));
    }
    if let Ok(message) = ClientMessage::parse(line) {
        assert_eq!(ClientMessage::parse(&message.to_line()), Ok(message));
    }
    if let Ok(message) = ServerMessage::parse(line) {
        assert_eq!(ServerMessage::parse(&message.to_line()), Ok(message));
    }
}

fn check_udp(bytes: &[u8]) {
    if let Ok(probe) = UdpProbe::decode(bytes) {
        assert_eq!(UdpProbe::decode(&probe.encode()), Ok(probe));
    }
}

/// Records of arrivals are read and written without a change; what is left is no whole record.
fn check_bursts(bytes: &[u8]) {
    let mut held = bytes.to_vec();
    let records = BurstArrival::take_all(&mut held);
    let mut written: Vec<u8> = records.iter().flat_map(BurstArrival::encode).collect();
    written.extend(held);
    assert!(written == bytes && records.len() == bytes.len() / ARRIVAL_BYTES);
}

/// Any segment of the server leaves a flow whose requests are valid, and errors are read or
/// refused.
fn check_flow(bytes: &[u8]) {
    let of =
        |last| [IpAddr::from([192, 0, 2, last]), IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last.into()])];
    for (host, peer) in of(1).into_iter().zip(of(2)) {
        let mut probes = FlowProbes::new(host, peer, 0);
        probes.received(bytes, Time::ZERO);
        assert!(bytes.len() >= 36 || probes.read_error(bytes).is_none());
        let mut later = bytes.to_vec();
        later.get_mut(8..10).into_iter().for_each(|number| number[0] = number[0].wrapping_add(1));
        probes.received(&later, Time::ZERO);
        if let Some(request) = probes.busiest(Time::ZERO).and_then(|ports| probes.request(ports, 3, 7)) {
            assert!(IpPacket::new_checked(&request[..]).is_ok_and(|ip| ip.hop_limit() == 3));
        }
    }
}

/// Parsed times are within a day, and nothing is parsed from too few bytes.
fn check_icmp(bytes: &[u8]) {
    let identifier = bytes.get(4..6).map_or(0, |b| u16::from_be_bytes([b[0], b[1]]));
    if let Some(told) = (TimestampCodec { identifier }).reply(bytes) {
        assert!(bytes.len() >= 20 && told.received_ms.max(told.sent_ms) < 86_400_000);
    }
    for version in [IcmpVersion::V4, IcmpVersion::V6] {
        let codec = EchoCodec::new(version, 0);
        let (reply, request) = (codec.read_reply(bytes), codec.read_request(bytes));
        assert!((reply.is_none() && request.is_none()) || bytes.len() >= 32);
    }
}

/// Lines do not depend on how the stream is split.
fn check_cutting(bytes: &[u8]) {
    const LIMIT: usize = 40;
    let step = usize::from(bytes.first().copied().unwrap_or(0)) % 7 + 1;
    let mut expected = Vec::new();
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        if line.len() > LIMIT || (line.len() == LIMIT && !line.ends_with(b"\n")) {
            expected.push(None);
            break;
        }
        if let Some(line) = line.strip_suffix(b"\n") {
            expected.push(Some(line.strip_suffix(b"\r").unwrap_or(line).to_vec()));
        }
    }
    let (mut reader, mut seen) = (LineReader::new(LIMIT), Vec::new());
    'stream: for chunk in bytes.chunks(step) {
        reader.push(chunk);
        loop {
            match reader.next_line() {
                Ok(Some(line)) => seen.push(Some(line)),
                Ok(None) => break,
                Err(_) => {
                    seen.push(None);
                    break 'stream;
                }
            }
        }
    }
    assert_eq!(seen, expected);
}

/// A header does not depend on the bytes after it, and is not longer than the input.
fn check_http(bytes: &[u8]) {
    if let Ok(Some((request, length))) = parse_request(bytes) {
        assert_eq!(parse_request(&bytes[..length]), Ok(Some((request, length))));
        assert_eq!(parse_request(&bytes[..length - 1]), Ok(None));
    }
    if let Ok(Some((response, length))) = parse_response(bytes) {
        assert_eq!(parse_response(&bytes[..length]), Ok(Some((response, length))));
        assert_eq!(parse_response(&bytes[..length - 1]), Ok(None));
    }
    let whole = follow(&[bytes]);
    for at in [1, bytes.len() / 3, bytes.len() / 2] {
        let (first, second) = bytes.split_at(at.min(bytes.len()));
        assert_eq!(follow(&[first, second]), whole, "split at {at}");
    }
}

/// Responses received in these parts: their number, and their bodies.
fn follow(parts: &[&[u8]]) -> Result<(usize, Vec<u8>), ResponseError> {
    let (mut responses, mut complete, mut bodies) = (Responses::to_probes(), 0, Vec::new());
    for part in parts {
        let before = bodies.len();
        let Progress { body_bytes, complete: more } =
            responses.push(part, &mut |body| bodies.extend_from_slice(body))?;
        assert_eq!(body_bytes, (bodies.len() - before) as u64);
        complete += more;
    }
    Ok((complete, bodies))
}
