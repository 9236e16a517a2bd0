//! Many pages at once: opens data channels to `fathom serve` and answers its probes, without load.
//! Used by bench/sessions.py.
//!
//!   sessions ADDRESS:PORT COUNT SECONDS
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench that fails ends")]

use fathom_browser::{ECHO_BYTES, Echo, PROBE_BYTES};
use fathom_os::poll::{self, PollFd};
use socket2::{Domain, Socket, Type};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};
use str0m::change::SdpAnswer;
use str0m::channel::{ChannelConfig, ChannelId, Reliability};
use str0m::net::{Protocol, Receive};
use str0m::{Candidate, Event, Input, Output, Rtc, RtcConfig};

/// Longest wait for datagrams: the timers of the channels have milliseconds.
const STEP: fathom_units::Duration = fathom_units::Duration::from_millis(1);

/// A page.
struct Page {
    rtc: Rtc,
    socket: UdpSocket,
    local: SocketAddr,
    channel: Option<ChannelId>,
    wake: Instant,
    received: u32,
}

impl Page {
    /// Each has its own network, as the pages of different households.
    fn open(server: SocketAddr, number: usize) -> Page {
        let own = Ipv4Addr::new(127, 1, u8::try_from(number).unwrap(), 1);
        let socket = UdpSocket::bind((own, 0)).unwrap();
        socket.set_nonblocking(true).unwrap();
        let local = socket.local_addr().unwrap();
        let provider = Arc::new(str0m::crypto::from_feature_flags());
        let mut rtc = RtcConfig::new().set_crypto_provider(provider).build(Instant::now());
        rtc.add_local_candidate(Candidate::host(local, "udp").unwrap());
        let mut change = rtc.sdp_api();
        change.add_channel_with_config(ChannelConfig {
            label: "probes".to_owned(),
            ordered: false,
            reliability: Reliability::MaxRetransmits { retransmits: 0 },
            ..ChannelConfig::default()
        });
        let (offer, pending) = change.apply().unwrap();
        let answer = begin(own, server, &offer.to_sdp_string());
        rtc.sdp_api().accept_answer(pending, SdpAnswer::from_sdp_string(&answer).unwrap()).unwrap();
        Page { rtc, socket, local, channel: None, wake: Instant::now(), received: 0 }
    }
    fn step(&mut self, epoch: Instant) {
        let mut buffer = [0; 2_000];
        while let Ok((length, source)) = self.socket.recv_from(&mut buffer) {
            let Ok(contents) = buffer[..length].try_into() else { continue };
            let received = Receive { proto: Protocol::Udp, source, destination: self.local, contents };
            self.rtc.handle_input(Input::Receive(Instant::now(), received)).unwrap();
            self.drain(epoch);
        }
        if Instant::now() >= self.wake {
            self.rtc.handle_input(Input::Timeout(Instant::now())).unwrap();
            self.drain(epoch);
        }
    }
    fn drain(&mut self, epoch: Instant) {
        loop {
            match self.rtc.poll_output().unwrap() {
                Output::Timeout(at) => {
                    self.wake = at;
                    return;
                }
                Output::Transmit(datagram) => {
                    let _ = self.socket.send_to(&datagram.contents, datagram.destination);
                }
                Output::Event(Event::ChannelOpen(id, _)) => self.channel = Some(id),
                Output::Event(Event::ChannelData(data)) if data.data.len() == PROBE_BYTES => {
                    self.received += 1;
                    let echo = self.echo(&data.data, epoch);
                    let mut channel = self.rtc.channel(data.id).unwrap();
                    let _ = channel.write(true, &echo);
                }
                Output::Event(_) => {}
            }
        }
    }
    fn echo(&self, probe: &[u8], epoch: Instant) -> [u8; ECHO_BYTES] {
        let us = epoch.elapsed().as_micros() as u64;
        let sequence = u32::from_be_bytes(probe[4..8].try_into().unwrap());
        let received = self.received;
        let echo = Echo {
            sequence,
            received,
            received_us: us,
            sent_us: us,
            down_bytes: 0,
            counted_us: us,
            late_us: 0,
            is_hidden: false,
        };
        echo.encode()
    }
}

/// Starts a test; returns the answer to the offer.
fn begin(own: Ipv4Addr, server: SocketAddr, offer: &str) -> String {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((own, 0)).into()).unwrap();
    socket.connect(&server.into()).unwrap();
    let mut stream = TcpStream::from(socket);
    let length = offer.len();
    let head = format!(
        "POST /page/test HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(offer.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (status, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(status.starts_with("HTTP/1.1 200"), "{response}");
    body.split_once('\n').unwrap().1.to_owned()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [server, count, seconds] = arguments.as_slice() else { panic!("ADDRESS:PORT COUNT SECONDS") };
    let (server, count): (SocketAddr, usize) = (server.parse().unwrap(), count.parse().unwrap());
    let epoch = Instant::now();
    let mut pages: Vec<Page> = Vec::new();
    let mut until = None;
    let mut before = HashMap::new();
    loop {
        if pages.len() < count {
            pages.push(Page::open(server, pages.len()));
        }
        pages.iter_mut().for_each(|page| page.step(epoch));
        let open = pages.iter().filter(|page| page.channel.is_some()).count();
        if until.is_none() && open == count {
            until = Some(Instant::now() + Duration::from_secs(seconds.parse().unwrap()));
            before = pages.iter().enumerate().map(|(n, page)| (n, page.received)).collect();
            println!("open");
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
        let mut fds: Vec<PollFd<'_>> =
            pages.iter().map(|page| PollFd::readable(page.socket.as_fd())).collect();
        poll::wait(&mut fds, Some(STEP)).unwrap();
    }
    let answered: u32 = pages.iter().enumerate().map(|(n, page)| page.received - before[&n]).sum();
    println!("{answered}");
}
