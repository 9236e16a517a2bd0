//! Downloads over HTTP/3, with probes on the connection that carries the load.
use super::http3::{Quic, QuicPlan};
use super::multiplexed::{PROBE_EVERY, WAITING};
use crate::tls::cause;
use fathom_client::Meter;
use fathom_os::clock::Clock;
use fathom_os::fd::AsFd;
use fathom_os::local::LocalStream;
use fathom_os::poll::{self, PollFd};
use fathom_os::socket::set_receive_buffer;
use fathom_units::{Duration, Time};
use quinn_proto::StreamId;
use socket2::SockRef;
use std::io::{ErrorKind, Read};
use std::net::UdpSocket;

/// Most datagrams that are received before acknowledgments are sent.
const BATCH: usize = 32;
/// Largest datagram that this host announces (`max_udp_payload_size` of quinn-proto).
const DATAGRAM_BYTES: usize = 1_472;
/// Smaller ones lose datagrams only while this thread does not run.
const RECEIVE_BUFFER_BYTES: u32 = 4 << 20;

/// A download with probes.
pub(crate) struct Download {
    pub(crate) plan: QuicPlan,
    pub(crate) socket: UdpSocket,
    /// Ends the download when its other end is shut down.
    pub(crate) stop: LocalStream,
    /// Requests of the load and of a probe.
    pub(crate) large: Vec<u8>,
    pub(crate) small: Vec<u8>,
    /// Longest wait for the handshake.
    pub(crate) patience: Duration,
    pub(crate) clock: Clock,
}

impl Download {
    /// Downloads until it is stopped, or the connection ends.
    pub(crate) fn run(self, meter: &Meter) -> Result<(), String> {
        self.socket.set_nonblocking(true).map_err(|error| cause(&error))?;
        let _ = set_receive_buffer(&SockRef::from(&self.socket), RECEIVE_BUFFER_BYTES);
        let quic = self.plan.start()?;
        let due = self.clock.now();
        let mut transfer = Transfer { download: self, quic, load: None, waiting: Vec::new(), due };
        let ended = transfer.run(meter);
        transfer.end(meter);
        ended
    }
}

/// The load's stream, and what arrived of its header.
struct Load {
    stream: StreamId,
    head: Option<Vec<u8>>,
}

/// A probe that waits for its response.
struct Waiting {
    stream: StreamId,
    sent: Time,
    response: Vec<u8>,
}

struct Transfer {
    download: Download,
    quic: Quic,
    load: Option<Load>,
    waiting: Vec<Waiting>,
    /// When the next probe is sent.
    due: Time,
}

impl Transfer {
    fn run(&mut self, meter: &Meter) -> Result<(), String> {
        let until = self.download.clock.now() + self.download.patience;
        loop {
            self.send()?;
            let due = if self.quic.is_connected() { self.due } else { until };
            if self.wait(due)? {
                return Err("the connection ended during a download".to_owned());
            }
            self.receive()?;
            if self.quic.is_connected() {
                self.request()?;
                self.read_load(meter)?;
                self.read_probes(meter)?;
            } else if self.download.clock.now() >= until {
                return Err(self.unanswered());
            }
        }
    }
    fn unanswered(&self) -> String {
        let port = self.download.socket.peer_addr().map_or(0, |server| server.port());
        format!("no QUIC within {} (check that the firewall allows UDP port {port})", self.download.patience)
    }
    fn send(&mut self) -> Result<(), String> {
        while let Some(datagram) = self.quic.take_output() {
            match self.download.socket.send(&datagram) {
                // A full queue of this host, as a loss on the path.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                sent => drop(sent.map_err(|error| cause(&error))?),
            }
        }
        Ok(())
    }
    /// Waits for a datagram, or a timer of QUIC, until `due`; returns whether the download was
    /// stopped.
    fn wait(&mut self, due: Time) -> Result<bool, String> {
        let wait = due.saturating_since(self.download.clock.now());
        let wait = self.quic.wait().map_or(wait, |of_quic| of_quic.min(wait));
        let mut fds =
            [PollFd::readable(self.download.socket.as_fd()), PollFd::readable(self.download.stop.as_fd())];
        poll::wait(&mut fds, Some(wait)).map_err(|error| cause(&error))?;
        Ok(fds[1].is_ready() && matches!(self.download.stop.read(&mut [0]), Ok(0)))
    }
    fn receive(&mut self) -> Result<(), String> {
        let mut bytes = [0; DATAGRAM_BYTES];
        for _ in 0..BATCH {
            match self.download.socket.recv(&mut bytes) {
                Ok(length) => self.quic.advance(Some(&bytes[..length]))?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(cause(&error)),
            }
        }
        self.quic.advance(None)
    }
    fn request(&mut self) -> Result<(), String> {
        if self.load.is_none() {
            let stream = self.quic.request(&self.download.large)?;
            self.load = Some(Load { stream, head: Some(Vec::new()) });
        }
        let now = self.download.clock.now();
        if now >= self.due {
            self.due = now + PROBE_EVERY;
            if self.waiting.len() < WAITING {
                let stream = self.quic.request(&self.download.small)?;
                self.waiting.push(Waiting { stream, sent: now, response: Vec::new() });
            }
        }
        Ok(())
    }
    fn read_load(&mut self, meter: &Meter) -> Result<(), String> {
        let Some(load) = &mut self.load else { return Ok(()) };
        if let Some(head) = &mut load.head {
            match self.quic.read(load.stream, head)? {
                Some(200) => {
                    meter.add_received(head.len() as u64);
                    load.head = None;
                }
                Some(status) => return Err(format!("the server responds with status {status}")),
                None => return Ok(()),
            }
        }
        let (bytes, is_over) = self.quic.discard(load.stream)?;
        meter.add_received(bytes);
        if is_over {
            self.load = None;
        }
        Ok(())
    }
    fn read_probes(&mut self, meter: &Meter) -> Result<(), String> {
        let (now, mut read) = (self.download.clock.now(), Ok(()));
        self.waiting.retain_mut(|probe| match self.quic.read(probe.stream, &mut probe.response) {
            Ok(None) => true,
            Ok(Some(200)) => {
                meter.add_answered(probe.sent, now.saturating_since(probe.sent));
                false
            }
            // Another object than asked for, as with HTTP/2.
            Ok(Some(_)) => false,
            Err(error) => {
                read = Err(error);
                true
            }
        });
        read
    }
    /// Closes the connection, so that the server sends no more.
    fn end(&mut self, meter: &Meter) {
        let now = self.download.clock.now();
        self.waiting
            .iter()
            .for_each(|probe| meter.add_unanswered(probe.sent, now.saturating_since(probe.sent)));
        self.quic.close();
        let _ = self.send();
    }
}
