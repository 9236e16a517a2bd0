//! Datagrams written by hand from irtt's `packet.go` and `params.go`.
use super::*;
use alloc::vec;
use fathom_units::{Duration, Time};

const TOKEN: [u8; 8] = [8, 7, 6, 5, 4, 3, 2, 1];

fn asked() -> Params {
    Params {
        version: 1,
        duration: Duration::from_nanos(100),
        interval: Duration::from_nanos(3),
        length_bytes: 64,
        layout: Layout::FATHOM,
    }
}

/// Version 1, duration 100, interval 3, length 64, count of received probes, both times,
/// monotonic clock: each number zigzag-encoded.
const PARAMS: [u8; 16] = [1, 2, 2, 0xc8, 1, 3, 6, 4, 0x80, 1, 5, 2, 6, 6, 7, 4];

fn granted(flags: u8, params: &[u8]) -> Vec<u8> {
    [&[0x14, 0xa7, 0x5b, flags][..], &TOKEN, params].concat()
}

fn session() -> Session {
    Asked::new(asked(), None).opened(&granted(3, &PARAMS)).unwrap()
}

#[test]
fn the_request_has_the_bytes_of_irtt() {
    let request = Asked::new(asked(), None).request();
    assert_eq!(request, [&[0x14, 0xa7, 0x5b, 1][..], &PARAMS].concat());
    let Ok(Request::Open { params, is_trial: false }) = super::request(&request) else { panic!() };
    assert_eq!(params, asked());
}

#[test]
fn an_hmac_covers_the_datagram_with_zeros_in_its_place() {
    let keyed = Asked::new(Params { version: 1, ..Params::default() }, Some(b"secret"));
    let request = keyed.request();
    // Of Python: hmac.new(b"secret", bytes.fromhex("14a75b09" + "00" * 16 + "0102"), "md5")
    let code =
        [0x57, 0x60, 0x5a, 0x93, 0x69, 0x6f, 0x51, 0x4d, 0xb4, 0xa4, 0x5a, 0x42, 0x54, 0x4b, 0x7f, 0x55];
    assert_eq!(request, [&[0x14, 0xa7, 0x5b, 9][..], &code, &[1, 2]].concat());
    assert_eq!(super::request(&request), Err(IrttError::Hmac));
    let sealer = Sealer::new(Some(b"secret"));
    assert_eq!(sealer.open(&request), Ok((9, &[1, 2][..])));
    for byte in 3..request.len() {
        let mut other = request.clone();
        other[byte] ^= 1;
        assert!(sealer.open(&other).is_err(), "byte {byte}");
    }
    assert_eq!(Sealer::new(Some(b"other")).open(&request), Err(IrttError::Hmac));
    assert_eq!(sealer.open(&granted(3, &PARAMS)), Err(IrttError::Hmac));
}

#[test]
fn a_session_opens_probes_and_closes() {
    let session = session();
    assert_eq!(*session.granted(), asked());
    let probe = session.probe(0x0102_0304);
    let start = [&[0x14, 0xa7, 0x5b, 0][..], &TOKEN, &[4, 3, 2, 1]].concat();
    assert_eq!((probe.len(), &probe[..16], probe[16..].iter().max()), (64, &start[..], Some(&0)));
    assert_eq!(session.close(), [&[0x14, 0xa7, 0x5b, 4][..], &TOKEN].concat());
    let mut answer = probe;
    answer[3] = 2;
    answer[16..20].copy_from_slice(&[5, 0, 0, 0]);
    answer[20..36].copy_from_slice(&[1, 1, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]);
    let expected = Reply { sequence: 0x0102_0304, received: Some(5), received_ns: 257, sent_ns: 258 };
    assert_eq!(session.reply(&answer), Ok(expected));
    for length in 0..36 {
        assert_eq!(session.reply(&answer[..length]), Err(IrttError::Form), "{length} bytes");
    }
    answer[3] = 6;
    assert_eq!(session.reply(&answer), Err(IrttError::Closed));
    answer[4] ^= 1;
    assert_eq!(session.reply(&answer), Err(IrttError::Token));
}

#[test]
fn what_a_server_grants_is_followed_or_refused() {
    let ask = Asked::new(asked(), None);
    let open = |flags, params: &[u8]| ask.opened(&granted(flags, params)).map(|s| s.granted().layout);
    // The middle of both times, by both clocks, and no counts.
    let middle = Layout { received_stats: 0, stamp_at: 4, clock: 3 };
    assert_eq!(open(3, &[1, 2, 6, 8, 7, 6]), Ok(middle));
    let stamps = [&[0x14, 0xa7, 0x5b, 2][..], &TOKEN, &[0; 4], &[9; 8], &[7, 0, 0, 0, 0, 0, 0, 0]].concat();
    let read = ask.opened(&granted(3, &[1, 2, 6, 8, 7, 6])).unwrap().reply(&stamps);
    assert_eq!(read, Ok(Reply { sequence: 0, received: None, received_ns: 7, sent_ns: 7 }));
    for (flags, params, error) in [
        (3, &[1, 2][..], IrttError::Unstamped),
        (3, &[1, 4], IrttError::Version(2)),
        (7, &PARAMS, IrttError::Closed),
        (1, &PARAMS, IrttError::Form),
        (2, &PARAMS, IrttError::Form),
        (0x13, &PARAMS, IrttError::Form),
        (3, &[1], IrttError::Params),
        (3, &[1, 2, 6, 10], IrttError::Params),
        (3, &[1, 2, 6, 6], IrttError::Params),
        (3, &[1, 2, 2, 1], IrttError::Params),
        (3, &[1, 2, 9, 33], IrttError::Params),
        (3, &[1, 2, 9, 2, b'a'], IrttError::Params),
        (3, &[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2], IrttError::Params),
    ] {
        assert_eq!(open(flags, params), Err(error), "{flags} {params:?}");
    }
    // Parameters of later versions, a fill and DSCP are ignored.
    assert_eq!(
        open(3, &[&PARAMS[..], &[8, 92, 9, 4, b'r', b'a', b'n', b'd', 99, 1]].concat()),
        Ok(Layout::FATHOM)
    );
}

#[test]
fn a_server_answers_with_the_fields_of_the_session_in_the_length_of_the_probe() {
    let stamps = [1, 2].map(|n| Stamps { wall_ns: n * 0x100, monotonic_ns: n });
    for (layout, fields) in [
        (Layout::FATHOM, vec![5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]),
        (
            Layout { received_stats: 2, stamp_at: 1, clock: 1 },
            vec![3, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0],
        ),
        (Layout { received_stats: 0, stamp_at: 4, clock: 1 }, vec![0x80, 1, 0, 0, 0, 0, 0, 0]),
        (Layout::default(), vec![]),
    ] {
        assert_eq!(layout.bytes(), fields.len());
        let probe = [&[0x14, 0xa7, 0x5b, 0][..], &TOKEN, &[9; 4], &vec![0; fields.len()], &[7; 3]].concat();
        let reply = echo_reply(&probe, layout, (5, 3), stamps, false).unwrap();
        let expected = [&[0x14, 0xa7, 0x5b, 2][..], &TOKEN, &[9; 4], &fields, &[7; 3]].concat();
        assert_eq!(reply, expected, "{layout:?}");
        let short = &probe[..probe.len() - 4];
        assert_eq!(echo_reply(short, layout, (5, 3), stamps, false), Err(IrttError::Form));
    }
    let token = u64::from_le_bytes(TOKEN);
    assert_eq!(open_reply(token, &asked(), false), granted(3, &PARAMS));
    assert_eq!(open_reply(token, &asked(), true), granted(7, &PARAMS));
    assert_eq!(request(&session().probe(1)), Ok(Request::Echo { token, sequence: 1 }));
    assert_eq!(request(&session().close()), Ok(Request::Close { token }));
    assert_eq!(request(&granted(3, &PARAMS)), Err(IrttError::Form), "a reply");
}

#[test]
fn the_window_has_a_bit_for_each_received_probe() {
    let mut window = Window::default();
    let seen = [5, 6, 8, 7, 9, 9, 200, 100, u32::MAX / 2].map(|sequence| window.add(sequence));
    assert_eq!(seen, [0b1, 0b11, 0b1101, 0, 0b1_1111, 0b1_1111, 1, 0, 1]);
}

#[test]
fn a_token_is_of_one_client_for_a_minute_or_two() {
    let (tokens, others) = (Tokens::new([1; 64]), Tokens::new([2; 64]));
    let [client, other_port, other_host] =
        ["192.0.2.1:9", "192.0.2.1:10", "192.0.2.2:9"].map(|address| address.parse().unwrap());
    let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
    for layout in [Layout::default(), Layout::FATHOM, Layout { received_stats: 3, stamp_at: 4, clock: 3 }] {
        let token = tokens.make(client, layout, at(90));
        assert_eq!(tokens.make(client, layout, at(119)), token, "a repeated request gets the same");
        for (seconds, expected) in [(90, Some(layout)), (179, Some(layout)), (180, None), (59, None)] {
            assert_eq!(tokens.check(token, client, at(seconds)), expected, "{seconds} s");
        }
        for refused in [
            tokens.check(token, other_port, at(90)),
            tokens.check(token, other_host, at(90)),
            others.check(token, client, at(90)),
            tokens.check(token ^ 1, client, at(90)),
            tokens.check(token ^ 1 << 63, client, at(90)),
            tokens.check(0, client, at(90)),
        ] {
            assert_eq!(refused, None);
        }
    }
}
