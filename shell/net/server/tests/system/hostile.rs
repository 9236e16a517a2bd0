//! Garbage, resets, and lack of descriptors. A failed assertion prints the seed.
use crate::client::{Control, PATIENCE, connect, exchange, read_to_close, serve};
use fathom_server::Refusal;
use fathom_units::Rng;
use socket2::SockRef;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::Command;
use std::time::Duration;

/// Reads until the server closes, but no longer than the timeout of a first line.
fn finish(mut stream: TcpStream) {
    stream.shutdown(std::net::Shutdown::Write).unwrap_or(());
    read_to_close(&mut stream);
}

/// A protocol line with a few changed bytes, or random bytes.
fn garbage(rng: &mut Rng, session: &str) -> Vec<u8> {
    let lines = [
        "FATHOM/1 CONTROL\n{\"report_every\":{\"ms\":100}}\n{\"bye\":{}}\n".to_owned(),
        format!("FATHOM/1 FLOW {session} 4 up cubic\n"),
        "GET /probe HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n".to_owned(),
        String::new(),
    ];
    let mut bytes = lines[rng.below(4) as usize].clone().into_bytes();
    let noise = if bytes.is_empty() { rng.below(600) } else { rng.below(3) };
    bytes.extend((0..noise).map(|_| rng.next_u64() as u8));
    for _ in 0..rng.below(4) {
        let at = rng.below(bytes.len().max(1) as u64) as usize;
        if let Some(byte) = bytes.get_mut(at) {
            *byte = rng.next_u64() as u8;
        }
    }
    bytes.truncate(rng.below(bytes.len() as u64 + 40) as usize);
    bytes
}

#[test]
fn garbage_on_every_door_changes_nothing_for_the_others() {
    let seed = 20_240_607;
    let mut rng = Rng::new(seed);
    let server = serve(|_| ());
    let mut control = Control::open(server.v4());
    let session = control.session.to_string();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    for _ in 0..300 {
        let mut stream = connect(server.v4());
        let _ = stream.write_all(&garbage(&mut rng, &session));
        if rng.below(2) == 0 {
            SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
        } else {
            finish(stream);
        }
        udp.send_to(&garbage(&mut rng, &session), server.v4()).unwrap();
    }
    assert!(control.flow(1, "up -").1.starts_with("OK"), "seed {seed}");
    control.bye();
    server.until("all connections are given back", |s| s.open_connections == 0);
    assert!(server.refused(Refusal::FirstLine) > 20, "seed {seed}: {:?}", server.stats());
}

#[test]
fn a_thousand_connections_that_are_reset_at_once_leave_nothing() {
    let server = serve(|_| ());
    for n in 0..1000 {
        let stream = connect(server.v4());
        if n % 2 == 0 {
            let _ = (&stream).write_all(b"GET /probe HTTP/1.1\r\n\r\n");
        }
        SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    }
    server.until("all are given back", |s| s.open_connections == 0);
    assert!(!exchange(server.v4(), b"GET /probe HTTP/1.0\r\n\r\n").is_empty());
}

/// Runs in a process with few descriptors.
fn exhausted_descriptors() {
    let server = serve(|c| c.listen.truncate(1));
    let mut control = Control::open(server.v4());
    let before = cpu_ticks();
    let held = exhaust(server.v4());
    server.until("accept has failed without free descriptors", |s| {
        s.refused.get(&Refusal::Descriptors).is_some_and(|n| *n >= 3)
    });
    std::thread::sleep(Duration::from_secs(1));
    let failures = server.refused(Refusal::Descriptors);
    // 10 retries per second, not a busy loop.
    assert!(failures < 30, "{failures} failures");
    control.bye();
    drop(held);
    let spent = cpu_ticks() - before;
    assert!(spent < 80, "{spent} ticks of CPU time in a second and some");
    server.until("connections are given back", |s| s.open_connections == 0);
    assert!(!exchange(server.v4(), b"GET /probe HTTP/1.0\r\n\r\n").is_empty());
}

/// Uses up all descriptors of this process, the last one for a connection whose other end then
/// waits in the backlog.
fn exhaust(address: SocketAddr) -> (Vec<File>, TcpStream) {
    let mut files = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        files.push(file);
    }
    files.pop();
    (files, TcpStream::connect(address).unwrap())
}

/// utime and stime of this process, in ticks of 10 ms.
fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn want_of_descriptors_is_waited_out() {
    // The limit applies to a process, so this test runs itself again in a separate one.
    const INNER: &str = "FATHOM_TEST_FEW_DESCRIPTORS";
    if std::env::var_os(INNER).is_some() {
        return exhausted_descriptors();
    }
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 64; exec \"$0\" --exact \"$1\" --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .arg("hostile::want_of_descriptors_is_waited_out")
        .env(INNER, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn half_a_connection_is_no_hindrance() {
    let server = serve(|_| ());
    // The client closed its sending half but waits for the response.
    let mut stream = connect(server.v4());
    stream.write_all(b"FATHOM/1 CONTROL\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut said = String::new();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let _ = stream.read_to_string(&mut said);
    assert!(said.contains("hello"), "{said}");
    server.until("the session has ended", |s| s.open_sessions == 0);
}
