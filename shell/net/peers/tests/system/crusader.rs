//! Tests against a server that answers as crusader does: its program is in no package. Its messages
//! were recorded in `fuzz/corpus/other_protocols`.
use crate::stand_in::{check_load, kinds, protocol, test};
use fathom_peers::Trust;
use fathom_run::{Interruption, Metric, PhaseEnd, PhaseKind, SeriesKey};
use fathom_units::Direction;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// The sequence numbers of a probe that is lost on the way, and of one whose reply is lost.
const LOST: (u64, u64) = (12, 17);

/// What a server does otherwise than crusader.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    None,
    Version,
    Full,
    Silent,
    /// It reports no arrival of some probes.
    Unreported,
    /// It ends at the second start of load.
    Gone,
}

struct Server {
    fault: Fault,
    /// Time in us and number of the probes that were not reported yet.
    arrivals: Mutex<Vec<(u64, u64)>>,
    /// Number of the group that started last, plus one.
    started: (Mutex<u32>, Condvar),
    groups: AtomicU32,
}

/// Starts a server and returns its URL.
fn start(fault: Fault) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let udp = UdpSocket::bind(("127.0.0.1", port)).unwrap();
    let server = Arc::new(Server {
        fault,
        arrivals: Mutex::default(),
        started: Default::default(),
        groups: AtomicU32::new(0),
    });
    let ponger = server.clone();
    std::thread::spawn(move || ponger.pong(&udp));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let of_stream = server.clone();
            // The client ends connections whenever a phase ends.
            std::thread::spawn(move || drop(of_stream.serve(&stream)));
        }
    });
    format!("crusader://127.0.0.1:{port}")
}

fn framed(content: &[&[u8]]) -> Vec<u8> {
    let content = content.concat();
    [&(content.len() as u64).to_le_bytes(), &content[..]].concat()
}

fn read_message(mut stream: &TcpStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    stream.read_exact(&mut length)?;
    let mut content = vec![0; u64::from_le_bytes(length) as usize];
    stream.read_exact(&mut content)?;
    Ok(content)
}

impl Server {
    fn pong(&self, udp: &UdpSocket) {
        let start = std::time::Instant::now();
        let mut buffer = [0; 128];
        while let Ok((length, from)) = udp.recv_from(&mut buffer) {
            let index = u64::from_le_bytes(buffer[8..16].try_into().unwrap());
            if index == LOST.0 {
                continue;
            }
            if self.fault != Fault::Unreported || index % 3 > 0 {
                self.arrivals.lock().unwrap().push((start.elapsed().as_micros() as u64, index));
            }
            if index != LOST.1 {
                udp.send_to(&buffer[..length], from).unwrap();
            }
        }
    }
    fn serve(&self, mut stream: &TcpStream) -> io::Result<()> {
        let hello = read_message(stream)?;
        assert_eq!(hello[8..], [3, 0, 0, 0, 0, 0, 0, 0]);
        if self.fault == Fault::Silent {
            return io::copy(&mut stream, &mut io::sink()).map(drop);
        }
        let version = if self.fault == Fault::Version { 4_u64 } else { 3 };
        stream.write_all(&framed(&[&hello[..8], &version.to_le_bytes()]))?;
        loop {
            let message = read_message(stream)?;
            match message[0] {
                0 if self.fault == Fault::Full => stream.write_all(&framed(&[&[0; 5]]))?,
                0 => stream.write_all(&framed(&[&[0, 0, 0, 0, 1], &[0; 8]]))?,
                1 => assert_eq!(message[4..], [0; 8]),
                8 => return self.report(stream),
                4 => return self.receive(stream, &message),
                5 => return self.send(stream, &message),
                other => panic!("message {other}"),
            }
        }
    }
    /// Reports arrivals every 20 ms, and starts loads.
    fn report(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(std::time::Duration::from_millis(20)))?;
        loop {
            match read_message(stream) {
                Ok(message) if message[0] == 9 => {
                    stream.write_all(&framed(&[&[4, 0, 0, 0, 0]]))?;
                    assert_eq!(read_message(stream)?, [2, 0, 0, 0]);
                    return Ok(());
                }
                Ok(message) => {
                    assert_eq!((message[0], message[4]), (3, 1));
                    if self.fault == Fault::Gone && self.groups.fetch_add(1, Ordering::Relaxed) > 0 {
                        return Ok(());
                    }
                    *self.started.0.lock().unwrap() = u32::from(message[12]) + 1;
                    self.started.1.notify_all();
                    stream.write_all(&framed(&[&[6, 0, 0, 0], &message[4..16], &[9; 8]]))?;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let arrivals = std::mem::take(&mut *self.arrivals.lock().unwrap());
                    let fields: Vec<u8> = arrivals
                        .iter()
                        .flat_map(|(at, index)| [*at, *index])
                        .flat_map(u64::to_le_bytes)
                        .collect();
                    let count = (arrivals.len() as u64).to_le_bytes();
                    stream.write_all(&framed(&[&[1, 0, 0, 0], &count, &fields]))?;
                }
                Err(error) => return Err(error),
            }
        }
    }
    fn await_start(&self, request: &[u8]) {
        let started = self.started.0.lock().unwrap();
        drop(self.started.1.wait_while(started, |group| *group <= request[4].into()).unwrap());
    }
    fn receive(&self, mut stream: &TcpStream, request: &[u8]) -> io::Result<()> {
        stream.write_all(&framed(&[&[7, 0, 0, 0]]))?;
        assert_eq!(read_message(stream)?, [7, 0, 0, 0]);
        stream.write_all(&[1])?;
        self.await_start(request);
        io::copy(&mut stream, &mut io::sink()).map(drop)
    }
    fn send(&self, mut stream: &TcpStream, request: &[u8]) -> io::Result<()> {
        stream.write_all(&framed(&[&[8, 0, 0, 0]]))?;
        stream.read_exact(&mut [0])?;
        stream.write_all(&framed(&[&[7, 0, 0, 0]]))?;
        self.await_start(request);
        loop {
            stream.write_all(&[7; 1 << 16])?;
        }
    }
}

/// The values and the number of lost probes of a series.
fn values(run: &fathom_run::Run, key: SeriesKey) -> (&[f64], usize) {
    run.series(&key).map_or((&[], 0), |series| (&series.values, series.censored.len()))
}

#[test]
fn crusader_carries_every_phase_and_gives_one_way_delays() {
    let run = test(&start(Fault::None), &Trust::Host).unwrap();
    assert_eq!((protocol(&run), kinds(&run).len()), ("crusader", 5));
    check_load(&run);
    assert_eq!(run.notes, [], "{:?}", run.notes);
    let (round_trips, lost) = values(&run, SeriesKey::of(Metric::UdpRtt));
    let [up, down] = [Direction::Up, Direction::Down]
        .map(|direction| values(&run, SeriesKey::directed(Metric::OneWayDelay, direction)));
    assert!(round_trips.len() >= 40, "{} probes", round_trips.len());
    // Each direction omits the loss of the other.
    assert_eq!((lost, up.1, down.1), (2, 1, 1));
    assert_eq!((up.0.len(), down.0.len()), (round_trips.len() - 1, round_trips.len() - 1));
    let clock = run.instrument.clock_offset_s.unwrap();
    assert!(clock[1] < 0.01, "{clock:?}");
}

#[test]
fn arrivals_that_a_server_omits_give_no_losses() {
    let run = test(&start(Fault::Unreported), &Trust::Host).unwrap();
    let (round_trips, _) = values(&run, SeriesKey::of(Metric::UdpRtt));
    let (up, lost) = values(&run, SeriesKey::directed(Metric::OneWayDelay, Direction::Up));
    assert_eq!(lost, 0);
    let share = up.len() as f64 / round_trips.len() as f64;
    assert!((0.6..0.7).contains(&share), "{} of {}", up.len(), round_trips.len());
}

#[test]
fn each_refusal_is_one_clear_error() {
    for (url, expected) in [
        (start(Fault::Version), "version 4 of crusader's protocol (expected 3: crusader 0.1 or later)"),
        (start(Fault::Full), "no place for another client: restart crusader"),
        (start(Fault::Silent), "no answer from crusader within 2s"),
        ("crusader://127.0.0.1:1".to_owned(), "(is `crusader serve` running there?)"),
        ("crusader://".to_owned(), "no host in the URL"),
    ] {
        let error = test(&url, &Trust::Host).map(|run| run.title).unwrap_err().to_string();
        assert!(error.starts_with("crusader://") && error.ends_with(expected), "{error}");
    }
}

#[test]
fn a_server_that_ends_midway_leaves_what_was_measured() {
    let run = test(&start(Fault::Gone), &Trust::Host).unwrap();
    let Some(Interruption::NoFlowLeft { message, .. }) = &run.partial else { panic!("{:?}", run.partial) };
    assert_eq!(message, "the server closed the connection");
    let kept = run.phases.iter().filter(|phase| phase.end != PhaseEnd::Aborted).map(|phase| phase.kind);
    assert_eq!(kept.collect::<Vec<_>>(), [PhaseKind::Idle, PhaseKind::Down], "{:?}", run.notes);
}
