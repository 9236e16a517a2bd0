//! Endpoints of the tests: a UDP echo, pings with kernel timestamps, TCP connections.
use fathom_lab::Lab;
use fathom_os::clock::wall_now;
use fathom_os::echo::echo_socket;
use fathom_os::timestamp::{self, Stamping};
use fathom_units::WallTime;
use socket2::Socket;
use std::collections::HashMap;
use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// An echo server on the server side, and a client socket connected to it.
pub(crate) struct Echo {
    pub(crate) client: UdpSocket,
    stop: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Echo {
    pub(crate) fn start(lab: &Lab) -> Echo {
        let far = IpAddr::V4(lab.server_address().v4);
        let server = lab.in_server(|| UdpSocket::bind((far, 0)).unwrap()).unwrap();
        server.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let client = lab.in_client(|| UdpSocket::bind((lab.client_address().v4, 0)).unwrap()).unwrap();
        client.connect(server.local_addr().unwrap()).unwrap();
        client.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let server = std::thread::spawn(move || {
            let mut bytes = [0; 2048];
            while !stopped.load(Ordering::Relaxed) {
                if let Ok((length, from)) = server.recv_from(&mut bytes) {
                    server.send_to(&bytes[..length], from).unwrap();
                }
            }
        });
        Echo { client, stop, server: Some(server) }
    }
    /// One round trip; `None` if no reply arrived within half a second.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        let begin = Instant::now();
        self.client.send(b"echo").unwrap();
        let mut answer = [0; 2048];
        self.client.recv(&mut answer).ok().map(|_| begin.elapsed())
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

/// Bytes of the IP packet of a ping.
pub(crate) const PING_BYTES: usize = 20 + PING_MESSAGE_BYTES;
const PING_MESSAGE_BYTES: usize = 64;

/// Round-trip times of ICMP echoes at this interval, ascending. The server's kernel replies and the
/// client's kernel timestamps the reply, so only the line's thread is involved: on a busy machine
/// others are late.
pub(crate) fn pings(lab: &Lab, count: u16, interval: Duration) -> Vec<Duration> {
    let opened = lab.in_client(|| echo_socket(false).unwrap()).unwrap();
    assert!(opened.kernel_matches, "a lab allows ICMP sockets without privilege");
    timestamp::enable(opened.socket.as_fd(), Stamping::Arrivals).unwrap();
    let target = SocketAddr::new(lab.server_address().v4.into(), 0).into();
    let (mut sent, mut round_trips) = (HashMap::new(), Vec::new());
    for sequence in 0..count {
        let mut message = [0; PING_MESSAGE_BYTES];
        // Echo request; the kernel sets checksum and identifier.
        message[0] = 8;
        message[6..8].copy_from_slice(&sequence.to_be_bytes());
        let before = wall_now();
        opened.socket.send_to(&message, &target).unwrap();
        // If the thread was interrupted here, the send time is unknown.
        if wall_now().0 - before.0 < 500_000 {
            sent.insert(sequence, before);
        }
        std::thread::sleep(interval);
        collect(&opened.socket, &sent, &mut round_trips);
    }
    std::thread::sleep(Duration::from_millis(200));
    collect(&opened.socket, &sent, &mut round_trips);
    round_trips.sort_unstable();
    round_trips
}

fn collect(socket: &Socket, sent: &HashMap<u16, WallTime>, round_trips: &mut Vec<Duration>) {
    let mut bytes = [0; 256];
    while let Ok(received) = timestamp::receive(socket.as_fd(), &mut bytes) {
        let sequence = u16::from_be_bytes([bytes[6], bytes[7]]);
        if let (Some(begin), Some(end)) = (sent.get(&sequence), received.stamp) {
            round_trips.push(Duration::from_nanos(end.0 - begin.0));
        }
    }
}

/// A connection from the client, and its server end.
pub(crate) fn connect(lab: &Lab, v6: bool) -> (TcpStream, TcpStream) {
    let address: IpAddr =
        if v6 { lab.server_address().v6.unwrap().into() } else { lab.server_address().v4.into() };
    let listener = lab.in_server(|| TcpListener::bind(SocketAddr::new(address, 0)).unwrap()).unwrap();
    let to = listener.local_addr().unwrap();
    let client = lab.in_client(|| TcpStream::connect(to).unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

/// Counts received bytes until `until` or the end.
pub(crate) fn count_until(stream: &mut TcpStream, until: Instant) -> usize {
    let (mut buffer, mut total) = (vec![0; 65_536], 0);
    while Instant::now() < until {
        match stream.read(&mut buffer).unwrap() {
            0 => break,
            length => total += length,
        }
    }
    total
}
