//! ICMP echo by `IcmpSendEcho2Ex`, which needs no permission.
//!
//! The system reports replies and errors only to the thread that sent the request, while it sleeps.
//! So a separate thread sends the requests, and queues replies and errors as the echo sockets of
//! Linux do: as whole ICMP messages. A byte on a local socket says that there are some.
use crate::clock::wall_now;
pub use crate::echo_error::{ALLOW_ECHO, EchoSocketError};
use crate::fd::{AsFd, BorrowedFd};
use crate::mmsg::{IcmpRefusal, Inbox, Notice, Stored};
use crate::received::{Departure, QueueEntry, Received, SentStamp, Stamping};
use crate::sched::raise_priority;
use crate::socket::no_class;
use crate::timestamp::Batch;
use fathom_units::WallTime;
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::windows::io::AsRawHandle;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use windows_sys::Win32::Foundation::{ERROR_IO_PENDING, HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::NetworkManagement::IpHelper::{
    ICMP_ECHO_REPLY, IP_DEST_ADDR_UNREACHABLE, IP_DEST_HOST_UNREACHABLE, IP_DEST_NET_UNREACHABLE,
    IP_DEST_NO_ROUTE, IP_DEST_PORT_UNREACHABLE, IP_DEST_PROHIBITED, IP_DEST_PROT_UNREACHABLE,
    IP_HOP_LIMIT_EXCEEDED, IP_OPTION_INFORMATION, IP_PACKET_TOO_BIG, IP_PARAM_PROBLEM, IP_PARAMETER_PROBLEM,
    IP_REASSEMBLY_TIME_EXCEEDED, IP_SOURCE_QUENCH, IP_SUCCESS, IP_TTL_EXPIRED_REASSEM,
    IP_TTL_EXPIRED_TRANSIT, Icmp6CreateFile, Icmp6ParseReplies, Icmp6SendEcho2, IcmpCloseHandle,
    IcmpCreateFile, IcmpParseReplies, IcmpSendEcho2Ex,
};
use windows_sys::Win32::Networking::WinSock::{AF_INET6, IN6_ADDR, IN6_ADDR_0, SOCKADDR_IN6, SOCKADDR_IN6_0};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;
use windows_sys::Win32::System::Threading::{INFINITE, QueueUserAPC, SleepEx};

/// Type, code, checksum, identifier and sequence number.
const HEADER_BYTES: usize = 8;
/// Requests and replies that wait: more than any caller sends in the longest patience.
const MOST_WAITING: usize = 16_384;
/// The longest wait for a reply: as the queues that Fathom looks for, up to 100 s.
const PATIENCE_MS: u32 = 120_000;
/// Hop limit of requests unless another is set, as of Windows.
const HOP_LIMIT: u8 = 128;
/// Length of ICMPV6_ECHO_REPLY. Source: ipexport.h.
const REPLY_V6_BYTES: usize = 36;
/// What the system adds to the data of a reply and its header: an ICMP error, and its status.
const EXTRA_BYTES: usize = 8 + size_of::<IO_STATUS_BLOCK>();

/// Sends ICMP echo requests.
#[derive(Debug)]
pub struct EchoSocket {
    /// As on Linux: the system sets the identifier, and delivers only matching replies.
    pub kernel_matches: bool,
    is_ipv6: bool,
    shared: Arc<Shared>,
    /// Readable when something is queued.
    bell: UdpSocket,
    jobs: Option<SyncSender<Job>>,
    sender: JoinHandle<()>,
    peer: OnceLock<SocketAddr>,
    hop_limit: AtomicU8,
    has_stamps: AtomicBool,
    has_errors: AtomicBool,
}

/// Queues between the thread and the caller.
#[derive(Debug)]
struct Shared {
    queues: Mutex<Queues>,
    ringer: UdpSocket,
}

#[derive(Debug, Default)]
struct Queues {
    replies: VecDeque<Message>,
    errors: VecDeque<Entry>,
    next_id: u32,
}

/// A reply, or the request that an error is about.
#[derive(Debug)]
struct Message {
    bytes: Vec<u8>,
    /// Sender of the reply, or the destination of the request.
    from: SocketAddr,
    stamp: WallTime,
    hop_limit: Option<u8>,
}

#[derive(Debug)]
enum Entry {
    Stamp(SentStamp),
    Refused(IcmpRefusal, Message),
}

/// A request, and where its sender waits for the result of the call.
struct Job {
    request: Vec<u8>,
    to: SocketAddr,
    hop_limit: u8,
    has_stamp: bool,
    has_errors: bool,
    done: SyncSender<io::Result<()>>,
}

/// A request on its way; the system writes the reply to `buffer`.
struct Waiting {
    shared: Arc<Shared>,
    request: Vec<u8>,
    to: SocketAddr,
    has_errors: bool,
    /// In words, for alignment.
    buffer: Vec<u64>,
}

/// Starts the thread that sends.
///
/// # Errors
/// If the system refuses.
pub fn echo_socket(is_ipv6: bool) -> Result<EchoSocket, EchoSocketError> {
    open(is_ipv6).map_err(EchoSocketError::Io)
}

fn open(is_ipv6: bool) -> io::Result<EchoSocket> {
    let bell = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let ringer = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    ringer.connect(bell.local_addr()?)?;
    bell.connect(ringer.local_addr()?)?;
    bell.set_nonblocking(true)?;
    ringer.set_nonblocking(true)?;
    let shared = Arc::new(Shared { queues: Mutex::default(), ringer });
    let (jobs, inbox) = sync_channel(1);
    let handle = Handle::open(is_ipv6)?;
    let of_thread = Arc::clone(&shared);
    let sender =
        std::thread::Builder::new().name("echo".into()).spawn(move || run(&handle, &inbox, &of_thread))?;
    Ok(EchoSocket {
        kernel_matches: true,
        is_ipv6,
        shared,
        bell,
        jobs: Some(jobs),
        sender,
        peer: OnceLock::new(),
        hop_limit: AtomicU8::new(HOP_LIMIT),
        has_stamps: AtomicBool::new(false),
        has_errors: AtomicBool::new(false),
    })
}

impl EchoSocket {
    /// Sets where [`EchoSocket::send`] sends to.
    ///
    /// # Errors
    /// None.
    pub fn connect(&self, to: SocketAddr) -> io::Result<()> {
        let _ = self.peer.set(to);
        Ok(())
    }
    /// Prepares a burst of requests to a host.
    ///
    /// # Errors
    /// As [`EchoSocket::set_dscp`], if the traffic class is not 0.
    pub fn prepare_burst(&self, to: SocketAddr, class: u8, _buffer_bytes: u32) -> io::Result<()> {
        self.connect(to)?;
        if class == 0 { Ok(()) } else { Err(no_class()) }
    }
    /// Sets the DSCP of requests.
    ///
    /// # Errors
    /// If it is not 0: Windows ignores it.
    pub fn set_dscp(&self, dscp: u8) -> io::Result<()> {
        if dscp == 0 { Ok(()) } else { Err(no_class()) }
    }
    /// Sets the hop limit (IPv4: TTL) of requests sent from now on.
    ///
    /// # Errors
    /// None.
    pub fn set_hop_limit(&self, hops: u8) -> io::Result<()> {
        self.hop_limit.store(hops, Relaxed);
        Ok(())
    }
    /// Queues ICMP errors about requests.
    ///
    /// # Errors
    /// None.
    pub fn queue_errors(&self) -> io::Result<()> {
        self.has_errors.store(true, Relaxed);
        Ok(())
    }
    /// Enables timestamps of departures; replies always have one, and their hop limit where there
    /// is one.
    ///
    /// # Errors
    /// None.
    pub fn enable(&self, stamping: Stamping) -> io::Result<()> {
        self.has_stamps.store(stamping == Stamping::Both, Relaxed);
        Ok(())
    }
    /// Sends a request to the connected host.
    ///
    /// # Errors
    /// See `IcmpSendEcho2Ex`; `NotConnected` without a host.
    pub fn send(&self, request: &[u8]) -> io::Result<usize> {
        let to = self.peer.get().copied().ok_or(io::ErrorKind::NotConnected)?;
        self.send_to(request, to)
    }
    /// Sends a request to a host.
    ///
    /// # Errors
    /// See `IcmpSendEcho2Ex`.
    pub fn send_to(&self, request: &[u8], to: SocketAddr) -> io::Result<usize> {
        if to.is_ipv6() != self.is_ipv6 || request.len() < HEADER_BYTES {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (done, called) = sync_channel(1);
        let job = Job {
            request: request.to_vec(),
            to,
            hop_limit: self.hop_limit.load(Relaxed),
            has_stamp: self.has_stamps.load(Relaxed),
            has_errors: self.has_errors.load(Relaxed),
            done,
        };
        // The thread does not end before this socket.
        let ended = io::ErrorKind::BrokenPipe;
        let jobs = self.jobs.as_ref().ok_or(ended)?;
        jobs.send(job).map_err(|_| ended)?;
        wake(&self.sender);
        called.recv().map_err(|_| ended)??;
        Ok(request.len())
    }
    /// Is readable when there is a reply or an error.
    #[must_use]
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        AsFd::as_fd(&self.bell)
    }
    /// Takes a reply.
    ///
    /// # Errors
    /// `WouldBlock` if there is none.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Received> {
        let message = self.take(|queues| queues.replies.pop_front())?;
        let length = copy(&message.bytes, buffer);
        let (from, stamp, hop_limit) = (Some(message.from), Some(message.stamp), message.hop_limit);
        Ok(Received { length, from, stamp, to: None, hop_limit, class: None })
    }
    /// Takes a timestamp or an error, and the request that it is about.
    ///
    /// # Errors
    /// `WouldBlock` if there is none.
    pub fn queue_entry(&self, buffer: &mut [u8]) -> io::Result<QueueEntry> {
        Ok(match self.take(|queues| queues.errors.pop_front())? {
            Entry::Stamp(stamp) => QueueEntry::Stamp(stamp),
            Entry::Refused(refusal, request) => QueueEntry::Refused(refusal, copy(&request.bytes, buffer)),
        })
    }
    /// Takes replies. Returns their number, which may be 0.
    ///
    /// # Errors
    /// None.
    pub fn receive_into(&self, inbox: &mut Inbox) -> io::Result<usize> {
        inbox.fill(|buffer| {
            let message = self.take(|queues| queues.replies.pop_front())?;
            Ok(stored(&message, copy(&message.bytes, buffer), None))
        })
    }
    /// Takes replies. Returns their number.
    ///
    /// # Errors
    /// `WouldBlock` if there are none.
    pub fn receive_batch(&self, batch: &mut Batch) -> io::Result<usize> {
        batch.fill(|buffer| self.receive(buffer))
    }
    /// Takes errors. Returns their number, which may be 0.
    ///
    /// # Errors
    /// None.
    pub fn receive_errors_into(&self, inbox: &mut Inbox) -> io::Result<usize> {
        inbox.fill(|buffer| match self.take(|queues| queues.errors.pop_front())? {
            Entry::Stamp(sent) => {
                let notice = Some(Notice::Queued);
                Ok(Stored { stamp: Some(sent.stamp), notice, ..Stored::default() })
            }
            Entry::Refused(refusal, request) => {
                Ok(stored(&request, copy(&request.bytes, buffer), Some(Notice::Refused(refusal))))
            }
        })
    }
    /// Takes from the queues. When nothing is left in them, the bell is silent.
    fn take<T>(&self, from: impl FnOnce(&mut Queues) -> Option<T>) -> io::Result<T> {
        let mut queues = lock(&self.shared.queues);
        let taken = from(&mut queues);
        if queues.replies.is_empty() && queues.errors.is_empty() {
            // While the lock is held, nobody rings.
            while self.bell.recv(&mut [0; 8]).is_ok() {}
        }
        taken.ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }
}

impl Drop for EchoSocket {
    fn drop(&mut self) {
        // The thread ends when the last request has its reply, or none.
        self.jobs = None;
        wake(&self.sender);
    }
}

fn lock(queues: &Mutex<Queues>) -> MutexGuard<'_, Queues> {
    queues.lock().unwrap_or_else(PoisonError::into_inner)
}

fn copy(bytes: &[u8], buffer: &mut [u8]) -> usize {
    let length = bytes.len().min(buffer.len());
    buffer[..length].copy_from_slice(&bytes[..length]);
    length
}

fn stored(message: &Message, length: usize, notice: Option<Notice>) -> Stored {
    let (from, stamp) = (Some(message.from), Some(message.stamp));
    Stored { length, from, stamp, notice, hop_limit: message.hop_limit, class: None }
}

/// Ends the sleep of the thread.
fn wake(thread: &JoinHandle<()>) {
    unsafe extern "system" fn nothing(_: usize) {}
    // SAFETY: the handle is that of a thread whose `JoinHandle` is there; the function accesses
    // nothing.
    unsafe { QueueUserAPC(Some(nothing), thread.as_raw_handle(), 0) };
}

impl Shared {
    fn push(&self, add: impl FnOnce(&mut Queues)) {
        let mut queues = lock(&self.queues);
        if queues.replies.len() + queues.errors.len() < MOST_WAITING {
            add(&mut queues);
            // If there is no room, the bell rings already.
            let _ = self.ringer.send(&[0]);
        }
    }
}

/// Access to ICMP.
struct Handle {
    handle: HANDLE,
    is_ipv6: bool,
}

// SAFETY: the handle of a file may be used by any thread.
unsafe impl Send for Handle {}

impl Handle {
    fn open(is_ipv6: bool) -> io::Result<Self> {
        // SAFETY: both only open a device.
        let handle = unsafe { if is_ipv6 { Icmp6CreateFile() } else { IcmpCreateFile() } };
        if handle == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error());
        }
        Ok(Handle { handle, is_ipv6 })
    }
    /// Calls the system, which calls [`completed`] at the end if this is no error.
    fn call(&self, waiting: *mut Waiting, hop_limit: u8) -> io::Result<()> {
        // SAFETY: the caller has it from a box that nobody else has.
        let Waiting { request, to, buffer, .. } = unsafe { &mut *waiting };
        let data = &request[HEADER_BYTES..];
        let options = IP_OPTION_INFORMATION { Ttl: hop_limit, ..Default::default() };
        let (data, length) = (data.as_ptr().cast(), u16::try_from(data.len()).unwrap_or(u16::MAX));
        let room = u32::try_from(size_of_val(buffer.as_slice())).unwrap_or(u32::MAX);
        let reply = buffer.as_mut_ptr().cast();
        let none = core::ptr::null_mut();
        // SAFETY: the request, its options and the buffer have the lengths that are given. Request
        // and buffer belong to the box, which lives until `completed`; the system copies addresses
        // and options.
        let count = unsafe {
            match *to {
                SocketAddr::V4(to) => IcmpSendEcho2Ex(
                    self.handle,
                    none,
                    Some(completed),
                    waiting.cast(),
                    0,
                    u32::from_ne_bytes(to.ip().octets()),
                    data,
                    length,
                    &raw const options,
                    reply,
                    room,
                    PATIENCE_MS,
                ),
                SocketAddr::V6(to) => {
                    let from = SOCKADDR_IN6 { sin6_family: AF_INET6, ..Default::default() };
                    let address = IN6_ADDR { u: IN6_ADDR_0 { Byte: to.ip().octets() } };
                    let to = SOCKADDR_IN6 {
                        sin6_family: AF_INET6,
                        sin6_addr: address,
                        Anonymous: SOCKADDR_IN6_0 { sin6_scope_id: to.scope_id() },
                        ..Default::default()
                    };
                    Icmp6SendEcho2(
                        self.handle,
                        none,
                        Some(completed),
                        waiting.cast(),
                        &raw const from,
                        &raw const to,
                        data,
                        length,
                        &raw const options,
                        reply,
                        room,
                        PATIENCE_MS,
                    )
                }
            }
        };
        let error = io::Error::last_os_error();
        if count == 0 && error.raw_os_error() != Some(ERROR_IO_PENDING.cast_signed()) {
            return Err(error);
        }
        Ok(())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: it is open, and closed only here.
        unsafe { IcmpCloseHandle(self.handle) };
    }
}

/// The thread: sends, and sleeps so that the system can call [`completed`].
fn run(handle: &Handle, jobs: &Receiver<Job>, shared: &Arc<Shared>) {
    let _ = raise_priority();
    loop {
        match jobs.try_recv() {
            Ok(job) => {
                let done = job.done.clone();
                // Nobody waits any more after the end.
                let _ = done.send(send(handle, job, shared));
            }
            // This thread has one, and each request on its way.
            Err(TryRecvError::Disconnected) if Arc::strong_count(shared) == 1 => return,
            // SAFETY: it only sleeps; what it calls meanwhile is safe by itself.
            Err(_) => drop(unsafe { SleepEx(INFINITE, 1) }),
        }
    }
}

fn send(handle: &Handle, job: Job, shared: &Arc<Shared>) -> io::Result<()> {
    let header = if handle.is_ipv6 { REPLY_V6_BYTES } else { size_of::<ICMP_ECHO_REPLY>() };
    let bytes = header + job.request.len() + EXTRA_BYTES;
    let waiting = Box::into_raw(Box::new(Waiting {
        shared: Arc::clone(shared),
        request: job.request,
        to: job.to,
        has_errors: job.has_errors,
        buffer: vec![0; bytes.div_ceil(size_of::<u64>())],
    }));
    let called = wall_now();
    if let Err(error) = handle.call(waiting, job.hop_limit) {
        // SAFETY: after an error the system does not have it.
        drop(unsafe { Box::from_raw(waiting) });
        return Err(error);
    }
    if job.has_stamp {
        shared.push(|queues| {
            let sent = SentStamp { id: queues.next_id, departure: Departure::Queued, stamp: called };
            queues.next_id = queues.next_id.wrapping_add(1);
            queues.errors.push_back(Entry::Stamp(sent));
        });
    }
    Ok(())
}

/// Called by the system, in the thread that sleeps, when a request has a reply, an error, or none
/// in time.
unsafe extern "system" fn completed(context: *mut core::ffi::c_void, _: *mut IO_STATUS_BLOCK, _: u32) {
    let stamp = wall_now();
    // SAFETY: the context of the call, which the system gives back once.
    let waiting = unsafe { Box::from_raw(context.cast::<Waiting>()) };
    let Some(result) = result(&waiting) else { return };
    let Waiting { shared, mut request, to, has_errors, .. } = *waiting;
    match result {
        Outcome::Reply { from, data, hop_limit } => {
            request.truncate(HEADER_BYTES);
            request[0] = if to.is_ipv6() { 129 } else { 0 };
            request.extend(data);
            let message = Message { bytes: request, from: SocketAddr::new(from, 0), stamp, hop_limit };
            shared.push(|queues| queues.replies.push_back(message));
        }
        Outcome::Refused(refusal) if has_errors => {
            let message = Message { bytes: request, from: to, stamp, hop_limit: None };
            shared.push(|queues| queues.errors.push_back(Entry::Refused(refusal, message)));
        }
        Outcome::Refused(_) => {}
    }
}

/// How a request ended.
#[derive(Debug)]
enum Outcome {
    Reply { from: IpAddr, data: Vec<u8>, hop_limit: Option<u8> },
    Refused(IcmpRefusal),
}

/// `None` without an answer.
fn result(waiting: &Waiting) -> Option<Outcome> {
    if waiting.to.is_ipv6() { result_v6(waiting) } else { result_v4(waiting) }
}

fn result_v4(waiting: &Waiting) -> Option<Outcome> {
    let (buffer, room) = (waiting.buffer.as_ptr(), room(&waiting.buffer));
    // SAFETY: the buffer is as long as said, aligned, and longer than a reply, for which any bits
    // are valid.
    let (count, reply) = unsafe {
        (IcmpParseReplies(buffer.cast_mut().cast(), room), buffer.cast::<ICMP_ECHO_REPLY>().read())
    };
    let from = IpAddr::from(Ipv4Addr::from(reply.Address.to_ne_bytes()));
    if count == 0 {
        return None;
    }
    if reply.Status != IP_SUCCESS {
        let (icmp_type, code) = type_and_code(reply.Status, false)?;
        return Some(Outcome::Refused(IcmpRefusal { by: Some(from), icmp_type, code }));
    }
    let at = (reply.Data as usize).checked_sub(buffer as usize)?;
    let data = bytes_of(&waiting.buffer).get(at..at + usize::from(reply.DataSize))?.to_vec();
    let hop_limit = Some(reply.Options.Ttl).filter(|hops| *hops > 0);
    Some(Outcome::Reply { from, data, hop_limit })
}

fn result_v6(waiting: &Waiting) -> Option<Outcome> {
    // Layout of ICMPV6_ECHO_REPLY, whose address is packed. Source: ipexport.h.
    const ADDRESS_AT: usize = 6;
    const STATUS_AT: usize = 28;
    let (buffer, room) = (waiting.buffer.as_ptr(), room(&waiting.buffer));
    // SAFETY: the buffer is as long as said.
    let count = unsafe { Icmp6ParseReplies(buffer.cast_mut().cast(), room) };
    let bytes = bytes_of(&waiting.buffer);
    let octets: [u8; 16] = bytes.get(ADDRESS_AT..ADDRESS_AT + 16)?.try_into().ok()?;
    let status = u32::from_ne_bytes(bytes.get(STATUS_AT..STATUS_AT + 4)?.try_into().ok()?);
    let from = IpAddr::from(Ipv6Addr::from(octets));
    if count == 0 {
        return None;
    }
    if status != IP_SUCCESS {
        let (icmp_type, code) = type_and_code(status, true)?;
        return Some(Outcome::Refused(IcmpRefusal { by: Some(from), icmp_type, code }));
    }
    // The data follows, as long as that of the request.
    let length = waiting.request.len() - HEADER_BYTES;
    let data = bytes.get(REPLY_V6_BYTES..REPLY_V6_BYTES + length)?.to_vec();
    Some(Outcome::Reply { from, data, hop_limit: None })
}

fn room(buffer: &[u64]) -> u32 {
    u32::try_from(size_of_val(buffer)).unwrap_or(u32::MAX)
}

fn bytes_of(words: &[u64]) -> &[u8] {
    // SAFETY: all bytes of integers are initialized, and bytes need no alignment.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// Type and code of the ICMP message behind a status (RFC 792, RFC 4443); `None` if there was none.
const fn type_and_code(status: u32, is_ipv6: bool) -> Option<(u8, u8)> {
    Some(match (status, is_ipv6) {
        (IP_DEST_NET_UNREACHABLE, false) => (3, 0),
        (IP_DEST_HOST_UNREACHABLE, false) => (3, 1),
        (IP_DEST_PROT_UNREACHABLE, false) => (3, 2),
        (IP_DEST_PORT_UNREACHABLE, false) => (3, 3),
        (IP_PACKET_TOO_BIG, false) => (3, 4),
        (IP_SOURCE_QUENCH, false) => (4, 0),
        (IP_TTL_EXPIRED_TRANSIT, false) => (11, 0),
        (IP_TTL_EXPIRED_REASSEM, false) => (11, 1),
        (IP_PARAM_PROBLEM, false) => (12, 0),
        (IP_DEST_NO_ROUTE, true) => (1, 0),
        (IP_DEST_PROHIBITED, true) => (1, 1),
        (IP_DEST_ADDR_UNREACHABLE, true) => (1, 3),
        (IP_DEST_PORT_UNREACHABLE, true) => (1, 4),
        (IP_PACKET_TOO_BIG, true) => (2, 0),
        (IP_HOP_LIMIT_EXCEEDED, true) => (3, 0),
        (IP_REASSEMBLY_TIME_EXCEEDED, true) => (3, 1),
        (IP_PARAMETER_PROBLEM, true) => (4, 0),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poll::{self, PollFd};
    use fathom_units::Duration;

    #[test]
    fn a_reply_has_the_data_of_its_request() {
        let socket = echo_socket(false).unwrap();
        socket.connect("127.0.0.1:0".parse().unwrap()).unwrap();
        socket.enable(Stamping::Both).unwrap();
        let mut buffer = [0; 64];
        assert_eq!(socket.receive(&mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let request = [8, 0, 0, 0, 1, 2, 3, 4, b'f', b'a', b't', b'h', b'o', b'm'];
        assert_eq!(socket.send(&request).unwrap(), request.len());
        let mut reply = None;
        while reply.is_none() {
            let found = poll::wait(&mut [PollFd::readable(socket.as_fd())], Some(Duration::from_secs(5)));
            assert_eq!(found.unwrap(), 1, "no reply within 5 s");
            assert!(!matches!(socket.queue_entry(&mut buffer), Ok(QueueEntry::Refused(..))));
            reply = socket.receive(&mut buffer).ok();
        }
        let reply = reply.unwrap();
        assert_eq!((reply.length, &buffer[4..reply.length]), (request.len(), &request[4..]));
        assert_eq!((buffer[0], reply.from), (0, Some("127.0.0.1:0".parse().unwrap())));
        let silent = poll::wait(&mut [PollFd::readable(socket.as_fd())], Some(Duration::ZERO));
        assert_eq!(silent.unwrap(), 0);
    }
}
