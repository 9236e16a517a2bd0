//! A connection on which an application requests one object after the other.
use crate::error::{CLOSED, UNEXPECTED};
use crate::flows::{Answer, accepted, flow_request};
use crate::peer::FlowPlan;
use crate::probes::{Target, start_connection};
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::poll::PollFd;
use fathom_os::socket::{discard, reset};
use fathom_probe::protocol::{FIRST_LINE_LIMIT_BYTES, FlowLoad, LineReader, Ticket, object_request};
use fathom_scenario::PAGE_REQUEST;
use fathom_units::{Bytes, Direction};
use portable_atomic::AtomicU64;
use socket2::Socket;
use std::io::{ErrorKind, Read, Write};
use std::sync::atomic::Ordering;

/// Bytes received per call.
const RECEIVE_BYTES: u64 = 1 << 20;

pub(super) struct Connection {
    socket: Socket,
    /// What the kernel has not accepted yet; at first everything, until the connection exists.
    unsent: Vec<u8>,
    /// The server's answer to the first line, until it has arrived.
    answer: Option<LineReader>,
    /// Bytes of the requested object that have not arrived; 0 if none is requested.
    left: u64,
}

impl Connection {
    /// Starts to connect; the first request follows the first line at once.
    pub(super) fn open(target: Target, session: Ticket, number: u32, object: Bytes) -> Result<Self, String> {
        let flow = FlowPlan {
            number,
            direction: Direction::Down,
            congestion_control: "-".to_owned(),
            segment_bytes: None,
            class: target.dscp << 2,
            reply_class: 0,
            load: Some(FlowLoad::Objects),
        };
        let line = flow_request(&flow, session)?;
        let mut connection = Connection {
            socket: start_connection(target).map_err(|e| without_code(&e))?,
            unsent: format!("{line}\n").into_bytes(),
            answer: Some(LineReader::new(FIRST_LINE_LIMIT_BYTES)),
            left: 0,
        };
        connection.request(object);
        Ok(connection)
    }
    /// Ends it at once, so that nothing that was sent remains as load.
    pub(super) fn reset(self) {
        // Fails only if the connection has ended.
        drop(reset(self.socket));
    }
    /// Requests an object of this size.
    pub(super) fn request(&mut self, object: Bytes) {
        self.unsent.extend(object_request(object, PAGE_REQUEST.get() as usize));
        self.left = object.get();
    }
    /// The event that it waits for.
    pub(super) fn interest(&self) -> Option<PollFd<'_>> {
        let fd = self.socket.as_fd();
        match (self.unsent.is_empty(), self.left) {
            (false, _) => Some(PollFd::writable(fd)),
            (true, 0) => None,
            (true, _) => Some(PollFd::readable(fd)),
        }
    }
    /// Sends and receives what is possible now, and counts what arrives. True when the requested
    /// object is complete.
    pub(super) fn advance(&mut self, moved: &AtomicU64) -> Result<bool, String> {
        if self.left == 0 {
            return Ok(false);
        }
        while !self.unsent.is_empty() {
            match (&self.socket).write(&self.unsent) {
                Ok(length) => drop(self.unsent.drain(..length)),
                Err(error) => return unless_would_block(&error),
            }
        }
        while self.left > 0 {
            let received = match &mut self.answer {
                Some(_) => self.read_answer()?,
                None => match discard(self.socket.as_fd(), self.left.min(RECEIVE_BYTES) as usize) {
                    Ok(0) => return Err(CLOSED.to_owned()),
                    Ok(length) => Some(length as u64),
                    Err(error) => return unless_would_block(&error),
                },
            };
            let Some(received) = received else { return Ok(false) };
            moved.fetch_add(received, Ordering::Relaxed);
            self.left = self.left.saturating_sub(received);
        }
        Ok(true)
    }
    /// Reads the server's answer, and returns how many bytes of the object followed it; `None` if
    /// nothing has arrived.
    fn read_answer(&mut self) -> Result<Option<u64>, String> {
        let Some(lines) = &mut self.answer else { return Ok(None) };
        let mut buffer = [0; FIRST_LINE_LIMIT_BYTES];
        match (&self.socket).read(&mut buffer) {
            Ok(0) => return Err(CLOSED.to_owned()),
            Ok(length) => lines.push(&buffer[..length]),
            Err(error) => return unless_would_block(&error).map(|_| None),
        }
        let Some(line) = lines.next_line().map_err(|e| e.to_string())? else { return Ok(None) };
        if let Answer::Udp(_) = accepted(&line)? {
            return Err(UNEXPECTED.to_owned());
        }
        let after = lines.held().len() as u64;
        self.answer = None;
        Ok(Some(after))
    }
}

/// `Ok` if the call only found nothing to do. A connection that does not exist yet is not ready
/// either.
fn unless_would_block(error: &std::io::Error) -> Result<bool, String> {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::NotConnected => Ok(false),
        _ => Err(without_code(error)),
    }
}
