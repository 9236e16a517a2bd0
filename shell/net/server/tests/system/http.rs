//! HTTP.
use crate::client::{connect, exchange, serve};
use fathom_probe::protocol::{HttpBody, parse_response, probe_request};
use std::io::{Read, Write};

/// Status and body of each response in `bytes`.
fn answers(mut bytes: &[u8]) -> Vec<(u16, String)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let (response, head) = parse_response(bytes).unwrap().expect("a whole head");
        let HttpBody::Bytes(length) = response.body else { panic!("{response:?}") };
        let end = head + usize::try_from(length).unwrap();
        all.push((response.status, String::from_utf8(bytes[head..end].to_vec()).unwrap()));
        bytes = &bytes[end..];
    }
    all
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = serve(|_| ());
    let requests = [
        &probe_request("host")[..],
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /nothing HTTP/1.1\nHost: a\n\n",
        b"GET /probe HTTP/1.1\r\nConnection: close\r\n\r\n",
        b"GET /probe HTTP/1.1\r\n\r\n",
    ];
    let got = answers(&exchange(server.at("::1"), &requests.concat()));
    let statuses: Vec<_> = got.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [200, 200, 404, 200], "nothing after the close that was asked for");
    assert_eq!(got[0].1.len(), 1);
    assert!(got[1].1.contains("fathom test"), "{}", got[1].1);
    assert_eq!(server.stats().http_answered, 3);
}

#[test]
fn a_kept_connection_answers_each_request_however_it_is_cut() {
    let server = serve(|_| ());
    let mut stream = connect(server.v4());
    let mut sizes = vec![];
    for cut in [1, 5, 20, 30, 31, 32] {
        let request = probe_request("127.0.0.1");
        stream.write_all(&request[..cut]).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(10));
        stream.write_all(&request[cut..]).unwrap();
        let mut buffer = [0; 4096];
        let got = stream.read(&mut buffer).unwrap();
        assert_eq!(answers(&buffer[..got])[0].0, 200);
        sizes.push(got);
    }
    assert!(sizes.iter().all(|s| *s < 100), "an answer is a probe, not load: {sizes:?}");
}

#[test]
fn what_is_not_a_small_get_is_refused() {
    let server = serve(|_| ());
    let long = [&b"GET / HTTP/1.1\r\n"[..], &b"X-Filler: 123456789\r\n".repeat(300), b"\r\n"].concat();
    for (request, status) in [
        (&long[..], 431),
        (b"GET / HTTP/2.0\r\n\r\n", 505),
        (b"GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", 413),
        (b"GET nowhere HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
    ] {
        let got = answers(&exchange(server.v4(), request));
        assert_eq!(got.len(), 1, "{got:?}");
        assert_eq!(got[0].0, status);
    }
    assert!(exchange(server.v4(), b"POST / HTTP/1.1\r\n\r\n").is_empty(), "not a first line of ours");
}

#[test]
fn a_client_that_never_reads_is_not_answered_without_end() {
    let server = serve(|_| ());
    let mut stream = connect(server.v4());
    stream.set_nonblocking(true).unwrap();
    let flood = probe_request("h").repeat(1000);
    // Send until the connection accepts no more: then the server has stopped reading, so its memory
    // use is bounded.
    let (mut sent, mut stuck) = (0_usize, 0);
    while stuck < 20 {
        match stream.write(&flood) {
            Ok(n) => sent += n,
            Err(_) => {
                stuck += 1;
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
        assert!(sent < 500_000_000, "the server reads on and on");
    }
    assert!(!exchange(server.v4(), b"GET /probe HTTP/1.0\r\n\r\n").is_empty(), "others are served meanwhile");
}
