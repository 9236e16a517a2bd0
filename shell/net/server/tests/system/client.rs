//! A minimal client, and a server that must not panic.
use fathom_pages::{Judge, Judged};
use fathom_probe::protocol::{
    ClientMessage, FirstLine, LineReader, Mac, Nonce, ServerMessage, SessionId, SessionKey, Ticket, Token,
    UDP_PROBE_BYTES, UdpProbe,
};
use fathom_run::Run;
use fathom_server::{Config, Event, Refusal, Server, Stats};
use fathom_units::Duration;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::{Duration as StdDuration, Instant};

/// Longer than any operation takes on a busy machine.
pub(crate) const PATIENCE: StdDuration = StdDuration::from_secs(10);
/// Long enough to conclude that no reply is coming.
pub(crate) const SILENCE: StdDuration = StdDuration::from_millis(200);

pub(crate) struct TestServer(Server);

/// A server on both loopback addresses with default settings, modified by `change`.
pub(crate) fn serve(change: impl FnOnce(&mut Config)) -> TestServer {
    let listen = vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    let mut config = Config { listen, port: 0, patience: Duration::from_secs(2), ..Config::default() };
    change(&mut config);
    TestServer(Server::start(config).unwrap())
}

/// The run itself.
struct Runs;

impl Judge for Runs {
    fn judge(&self, run: &Run) -> Judged {
        let json = serde_json::to_string(run).unwrap();
        let page = format!("<title>-</title><p>{}</p><script>0</script>", run.phases.len());
        Judged { brief: json.clone(), json, page, ..Judged::default() }
    }
}

/// As [`serve`], with the page for browsers.
pub(crate) fn serve_page(change: impl FnOnce(&mut Config)) -> TestServer {
    let listen = vec![Ipv4Addr::LOCALHOST.into()];
    let mut config = Config { listen, port: 0, patience: Duration::from_secs(2), ..Config::default() };
    change(&mut config);
    TestServer(Server::start_with_page(config, Arc::new(Runs)).unwrap())
}

impl TestServer {
    pub(crate) fn at(&self, ip: &str) -> SocketAddr {
        SocketAddr::new(ip.parse().unwrap(), self.0.local_port())
    }
    pub(crate) fn v4(&self) -> SocketAddr {
        self.at("127.0.0.1")
    }
    pub(crate) fn addresses(&self) -> &[IpAddr] {
        self.0.local_addresses()
    }
    pub(crate) fn stats(&self) -> Stats {
        self.0.stats()
    }
    pub(crate) fn events(&self) -> Vec<Event> {
        self.0.events()
    }
    pub(crate) fn refused(&self, reason: Refusal) -> u64 {
        self.stats().refused.get(&reason).copied().unwrap_or(0)
    }
    /// Waits until the counters match.
    pub(crate) fn until(&self, what: &str, is_so: impl Fn(&Stats) -> bool) {
        let start = Instant::now();
        while !is_so(&self.stats()) {
            assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}; {:?}", self.stats());
            std::thread::sleep(StdDuration::from_millis(5));
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.stats().panics, 0, "a thread of the server panicked");
        }
    }
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect_timeout(&address, PATIENCE).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// What the server sends after `words`, until it closes or resets the connection.
pub(crate) fn exchange(address: SocketAddr, words: &[u8]) -> Vec<u8> {
    let mut stream = connect(address);
    // The server may already have closed the connection.
    let _ = stream.write_all(words);
    read_to_close(&mut stream)
}

pub(crate) fn read_to_close(stream: &mut TcpStream) -> Vec<u8> {
    let (mut all, mut buffer) = (Vec::new(), [0; 65536]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return all,
            Ok(got) => all.extend_from_slice(&buffer[..got]),
            Err(e) if e.kind() == ErrorKind::ConnectionReset => return all,
            // A read with a time limit ends if the process is stopped and goes on.
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => panic!("connection neither closed nor reset: {e}; so far {} bytes", all.len()),
        }
    }
}

/// One line; leaves the rest unread.
pub(crate) fn read_line(stream: &mut TcpStream) -> String {
    let (mut line, mut byte) = (Vec::new(), [0]);
    loop {
        stream.read_exact(&mut byte).unwrap();
        if byte == *b"\n" {
            return String::from_utf8(line).unwrap();
        }
        line.push(byte[0]);
    }
}

pub(crate) struct Control {
    pub(crate) stream: TcpStream,
    pub(crate) address: SocketAddr,
    lines: LineReader,
    pub(crate) session: SessionId,
    pub(crate) hello: ServerMessage,
}

impl Control {
    pub(crate) fn open(address: SocketAddr) -> Control {
        Control::try_open(address, "FATHOM/1 CONTROL\n").unwrap_or_else(|m| panic!("refused: {m:?}"))
    }
    pub(crate) fn try_open(address: SocketAddr, first_line: &str) -> Result<Control, ServerMessage> {
        Control::over(connect(address), first_line)
    }
    pub(crate) fn over(mut stream: TcpStream, first_line: &str) -> Result<Control, ServerMessage> {
        let address = stream.peer_addr().unwrap();
        stream.write_all(first_line.as_bytes()).unwrap();
        let mut lines = LineReader::new(65536);
        match next_message(&mut stream, &mut lines) {
            Some(hello @ ServerMessage::Hello { session, .. }) => {
                Ok(Control { stream, address, lines, session, hello })
            }
            other => Err(other.expect("a line before the end")),
        }
    }
    pub(crate) fn say(&mut self, message: &ClientMessage) {
        self.stream.write_all(&message.to_line()).unwrap();
    }
    /// The next message; `None` at the end of the connection.
    pub(crate) fn next(&mut self) -> Option<ServerMessage> {
        next_message(&mut self.stream, &mut self.lines)
    }
    /// The next message that is no report.
    pub(crate) fn last(&mut self) -> Option<ServerMessage> {
        loop {
            match self.next() {
                Some(ServerMessage::Report { .. } | ServerMessage::Hops { .. }) => {}
                other => return other,
            }
        }
    }
    /// Ends the session. Returns bytes up and down, and datagrams received and refused.
    pub(crate) fn bye(&mut self) -> (u64, u64, u64, u64) {
        self.say(&ClientMessage::Bye {});
        match self.last() {
            Some(ServerMessage::Bye { up_bytes, down_bytes, udp_received, udp_refused }) => {
                (up_bytes, down_bytes, udp_received, udp_refused)
            }
            other => panic!("{other:?} instead of bye"),
        }
    }
    /// Opens a flow; returns it with the server's response.
    pub(crate) fn flow(&self, number: u32, rest: &str) -> (TcpStream, String) {
        let mut stream = connect(self.address);
        writeln!(stream, "FATHOM/1 FLOW {} {number} {rest}", self.session).unwrap();
        let answer = read_line(&mut stream);
        (stream, answer)
    }
    pub(crate) fn udp(&self) -> UdpSocket {
        udp(self.stream.local_addr().unwrap().ip(), self.address)
    }
}

fn next_message(stream: &mut TcpStream, lines: &mut LineReader) -> Option<ServerMessage> {
    loop {
        if let Some(line) = lines.next_line().unwrap() {
            return Some(ServerMessage::parse(&line).unwrap());
        }
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer).expect("a line, or the end") {
            0 => return None,
            got => lines.push(&buffer[..got]),
        }
    }
}

/// A socket at `local`, connected to `server`.
pub(crate) fn udp(local: IpAddr, server: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind((local, 0)).unwrap();
    socket.connect(server).unwrap();
    socket
}

/// The reply to `probe` within `patience`.
pub(crate) fn ask(socket: &UdpSocket, datagram: &[u8], patience: StdDuration) -> Option<UdpProbe> {
    socket.set_read_timeout(Some(patience)).unwrap();
    socket.send(datagram).unwrap();
    let mut buffer = [0; 2 * UDP_PROBE_BYTES];
    let got = socket.recv(&mut buffer).ok()?;
    Some(UdpProbe::decode(&buffer[..got]).unwrap())
}

/// A session with a server that requires a token.
pub(crate) struct Authentic {
    pub(crate) stream: TcpStream,
    pub(crate) ticket: Ticket,
    /// The server's proof.
    pub(crate) mac: Option<Mac>,
}

impl Authentic {
    /// A connection that was challenged, and the key to answer with.
    pub(crate) fn challenged(address: SocketAddr, token: &Token) -> (Authentic, SessionKey) {
        Authentic::challenged_over(connect(address), token)
    }
    fn challenged_over(mut stream: TcpStream, token: &Token) -> (Authentic, SessionKey) {
        let nonce = Nonce([6; 16]);
        let line = FirstLine::Control { proof: Some(token.prove(nonce)) };
        stream.write_all(format!("{line}\n").as_bytes()).unwrap();
        let challenge = ServerMessage::parse(read_line(&mut stream).as_bytes()).unwrap();
        let ServerMessage::Challenge { nonce: theirs } = challenge else { panic!("{challenge:?}") };
        let ticket = Ticket { id: SessionId([0; 16]), key: None };
        (Authentic { stream, ticket, mac: None }, token.session_key(nonce, theirs))
    }
    pub(crate) fn open(address: SocketAddr, token: &Token) -> Authentic {
        Authentic::over(connect(address), token)
    }
    pub(crate) fn over(stream: TcpStream, token: &Token) -> Authentic {
        let (mut open, key) = Authentic::challenged_over(stream, token);
        open.stream.write_all(&ClientMessage::Response { mac: key.of_client() }.to_line()).unwrap();
        let hello = ServerMessage::parse(read_line(&mut open.stream).as_bytes()).unwrap();
        let ServerMessage::Hello { session, mac, .. } = hello else { panic!("{hello:?}") };
        Authentic { ticket: Ticket { id: session, key: Some(key) }, mac, ..open }
    }
}
