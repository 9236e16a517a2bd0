//! Probes with their own connections.
use crate::memory::{answered, row, start, tally, wait_for};
use fathom_watch_samples::Outcome;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::time::Duration;

/// A server that delays its response to the first `slow` requests.
fn http(slow: usize, delay: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (n, connection) in listener.incoming().flatten().enumerate() {
            std::thread::spawn(move || {
                let mut connection = connection;
                let _ = connection.read(&mut [0; 4_096]);
                std::thread::sleep(if n < slow { delay } else { Duration::ZERO });
                let _ = connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            });
        }
    });
    address
}

#[test]
fn each_part_of_an_http_request_is_a_series() {
    let port = http(0, Duration::ZERO).port();
    let (monitor, memory) = start(&format!(
        "[defaults]\ninterval = '100ms'\n\
         [[target]]\nname = 'web'\nurl = 'http://127.0.0.1:{port}/x'\n\
         [[target]]\nname = 'tcp'\nhost = '127.0.0.1'\nprobe = 'tcp:{port}'\n\
         [[target]]\nname = 'closed'\nhost = '127.0.0.1'\nprobe = 'tcp:1'\n"
    ));
    let web = format!("http:{port}");
    for probe in [web.clone(), format!("{web} connect"), format!("{web} answer")] {
        wait_for(&probe, || (answered(&memory.samples("web", &probe)) >= 5).then_some(()));
    }
    wait_for("tcp", || (answered(&memory.samples("tcp", &format!("tcp:{port}"))) >= 5).then_some(()));
    let why = wait_for("a refusal", || row(&monitor, "closed", "tcp:1")?.failing_since).1;
    assert!(why.contains("connection refused on port 1"), "{why}");
    assert!(monitor.stop().is_empty());
    let (whole, connect) = (memory.samples("web", &web), memory.samples("web", &format!("{web} connect")));
    let sample = connect.iter().find(|c| whole.iter().any(|w| w.at == c.at)).unwrap();
    let all = whole.iter().find(|w| w.at == sample.at).unwrap();
    match (sample.outcome, all.outcome) {
        (Outcome::Answered(part), Outcome::Answered(all)) => assert!(part < all, "{part} of {all}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_answer_after_the_timeout_is_late_and_not_lost() {
    let port = http(3, Duration::from_millis(900)).port();
    let (monitor, memory) = start(&format!(
        "[[target]]\nname = 'slow'\nurl = 'http://127.0.0.1:{port}/'\ninterval = '200ms'\ntimeout = '300ms'\n"
    ));
    let name = format!("http:{port}");
    let amended =
        wait_for("late answers", || memory.of("slow", &name).filter(|s| s.amended.len() >= 3)).amended;
    wait_for("answers in time", || (answered(&memory.samples("slow", &name)) >= 3).then_some(()));
    assert!(monitor.stop().is_empty());
    let samples = memory.samples("slow", &name);
    for late in amended {
        assert!(
            matches!(late.outcome, Outcome::Late(d) if d >= fathom_units::Duration::from_millis(890)),
            "{late:?}"
        );
        let lost = samples.iter().find(|s| s.at == late.at).unwrap();
        assert_eq!(lost.outcome, Outcome::Lost);
    }
    assert_eq!(tally(&samples).lost, 3);
}

#[test]
fn a_dns_answer_counts_if_it_answers_the_question() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = server.recv_from(&mut buffer) {
            // First an answer to a different query, then the right one.
            let mut answer = buffer[..length].to_vec();
            answer[2] |= 0x80;
            let mut other = answer.clone();
            other[0] ^= 0xff;
            server.send_to(&other, from).unwrap();
            server.send_to(&answer, from).unwrap();
        }
    });
    let (monitor, memory) = start(&format!(
        "[[target]]\nname = 'ns'\nhost = '127.0.0.1'\nprobe = 'dns:{port}'\nquery = 'example.net'\ninterval = '100ms'\n"
    ));
    let name = format!("dns:{port}");
    wait_for("answers", || (answered(&memory.samples("ns", &name)) >= 5).then_some(()));
    assert!(monitor.stop().is_empty());
    assert_eq!(tally(&memory.samples("ns", &name)).failed, 0);
}
