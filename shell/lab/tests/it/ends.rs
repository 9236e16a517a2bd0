//! Programs of the tests: a UDP echo with its round-trip times, TCP connections.
use fathom_lab::Lab;
use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes of an echo's UDP payload, and of the IP packet around it.
pub(crate) const ECHO_BYTES: usize = 32;
pub(crate) const ECHO_PACKET_BYTES: usize = ECHO_BYTES + 28;

/// A server of echoes on the far side, and a socket of the user's side that is connected to it.
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
    /// One round trip; `None` if no answer came in half a second.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        let begin = Instant::now();
        self.client.send(&[7; ECHO_BYTES]).unwrap();
        let mut answer = [0; 2048];
        self.client.recv(&mut answer).ok().map(|_| begin.elapsed())
    }
    /// Round trips, one each `interval`, ascending.
    pub(crate) fn round_trips(&self, count: u32, interval: Duration) -> Vec<Duration> {
        let begin = Instant::now();
        let mut all: Vec<Duration> = (1..=count)
            .filter_map(|i| {
                let round_trip = self.round_trip();
                std::thread::sleep((interval * i).saturating_sub(begin.elapsed()));
                round_trip
            })
            .collect();
        all.sort_unstable();
        all
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

/// A connection from the user's side, and its far end.
pub(crate) fn connect(lab: &Lab, v6: bool) -> (TcpStream, TcpStream) {
    let address: IpAddr =
        if v6 { lab.server_address().v6.unwrap().into() } else { lab.server_address().v4.into() };
    let listener = lab.in_server(|| TcpListener::bind(SocketAddr::new(address, 0)).unwrap()).unwrap();
    let to = listener.local_addr().unwrap();
    let client = lab.in_client(|| TcpStream::connect(to).unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

/// Reads and counts until `until` or the end.
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
