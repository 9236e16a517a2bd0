//! Observes which processes have the sockets of this host during a capture.
use crate::processes::owners;
use crate::sockets::{Transport, sockets};
use fathom_run::Process;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Interval of readings. Connections that live shorter may be missed, but they fill no queue for
/// long.
const EVERY: Duration = Duration::from_secs(1);

/// A thread that reads the sockets of this network namespace.
pub struct ProgramObserver {
    stop: Sender<()>,
    thread: JoinHandle<Programs>,
}

/// Processes by their sockets.
#[derive(Debug, Default)]
pub struct Programs {
    /// By protocol and local end.
    ends: BTreeMap<(Transport, SocketAddr), Process>,
    /// Sockets whose process was looked for.
    inodes: BTreeSet<u32>,
}

impl ProgramObserver {
    /// Starts to observe.
    pub fn start() -> Self {
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            let mut programs = Programs::default();
            loop {
                programs.read();
                if stopped.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout) {
                    programs.read();
                    return programs;
                }
            }
        });
        ProgramObserver { stop, thread }
    }
    /// What was observed; nothing if the kernel does not list its sockets.
    pub fn finish(self) -> Programs {
        drop(self.stop);
        self.thread.join().unwrap_or_default()
    }
}

impl Programs {
    /// The process that had the end `end` of a flow, if it is on this host and known. UDP sockets
    /// often have no address, and then those of this host.
    pub fn of(&self, transport: Transport, end: SocketAddr) -> Option<&Process> {
        let with = |ip: IpAddr| self.ends.get(&(transport, SocketAddr::new(ip, end.port())));
        let unspecified = || [IpAddr::from([0; 4]), IpAddr::from([0; 16])].into_iter().find_map(with);
        with(end.ip()).or_else(|| unspecified().filter(|_| transport == Transport::Udp && is_own(end.ip())))
    }
    /// Adds the sockets that are new.
    fn read(&mut self) {
        let list =
            |transport| sockets(transport).unwrap_or_default().into_iter().map(move |one| (transport, one));
        let all: Vec<_> = [Transport::Tcp, Transport::Udp].into_iter().flat_map(list).collect();
        let inodes = all.iter().map(|(_, one)| one.inode);
        let new: BTreeSet<u32> = inodes.filter(|inode| *inode != 0 && !self.inodes.contains(inode)).collect();
        if new.is_empty() {
            return;
        }
        let owners = owners(&new);
        for (transport, socket) in all {
            if let Some(process) = owners.get(&socket.inode) {
                self.ends.insert((transport, socket.local), process.clone());
            }
        }
        self.inodes.extend(new);
    }
}

/// Whether an address is one of this network namespace: sockets can be bound to no other.
fn is_own(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_process_of_a_connection_and_of_a_datagram() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("0.0.0.0:0").unwrap();
        let observer = ProgramObserver::start();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let programs = observer.finish();
        let own = std::process::id();
        let tcp = near.local_addr().unwrap();
        assert_eq!(programs.of(Transport::Tcp, tcp).map(|process| process.id), Some(own));
        let end = |ip: [u8; 4]| SocketAddr::new(ip.into(), udp.local_addr().unwrap().port());
        let [here, elsewhere] = [end([127, 0, 0, 1]), end([192, 0, 2, 1])];
        assert_eq!(programs.of(Transport::Udp, here).map(|process| process.id), Some(own));
        assert_eq!(programs.of(Transport::Udp, elsewhere), None, "the same port of another host");
        assert_eq!(programs.of(Transport::Tcp, here), None, "another protocol");
    }
}
