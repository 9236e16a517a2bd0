//! Sends requests and lists over a route socket.
use crate::error::{ApplyError, Cause};
use fathom_os::netlink::interface_index;
use fathom_os::route::RouteSocket;
use fathom_tc::{Answer, Dump, Link, Message, Object, Refusal, Request, answers, dump};
use std::collections::BTreeMap;
use std::time::Duration;

/// Timeout of a request. Only loading a module may take long.
const PATIENCE: Duration = Duration::from_secs(10);
/// Requests per datagram, so that their answers fit into the socket's buffer.
const BATCH: usize = 128;
/// Attempts to read a list that changes while it is being dumped.
const TRIES: u32 = 20;

/// The kernel, as seen from the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Kernel {
    socket: RouteSocket,
    sequence: u32,
}

impl Kernel {
    /// Opens a route socket.
    ///
    /// # Errors
    /// See `socket(2)`.
    pub fn open() -> Result<Kernel, ApplyError> {
        let socket = RouteSocket::open(PATIENCE).map_err(ApplyError::system("route socket"))?;
        Ok(Kernel { socket, sequence: 0 })
    }
    /// Executes all requests in as few batches as possible.
    ///
    /// # Errors
    /// The first refused request. The kernel has still tried those after it in the batch.
    pub fn run(&mut self, requests: &[Request]) -> Result<(), ApplyError> {
        // Later requests may name the interface that AddIfb creates.
        let makes_none = |before: &Request, _: &Request| !matches!(before, Request::AddIfb { .. });
        let mut batches = requests.chunk_by(makes_none).flat_map(|some| some.chunks(BATCH));
        batches.try_for_each(|batch| self.run_batch(batch))
    }
    fn run_batch(&mut self, batch: &[Request]) -> Result<(), ApplyError> {
        let (mut bytes, mut asked) = (Vec::new(), BTreeMap::new());
        for request in batch {
            self.sequence += 1;
            let message = request.encode(self.sequence, &|name| interface_index(name).ok());
            let message = message.map_err(|missing| ApplyError {
                doing: request.to_string(),
                cause: Cause::Missing(missing),
            })?;
            bytes.extend(message);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            asked.insert(self.sequence, request);
        }
        self.socket.send(&bytes).map_err(ApplyError::system("route socket: send"))?;
        let refused = self.acknowledgements(asked.keys().copied().collect())?;
        match refused.into_iter().next() {
            None => Ok(()),
            Some((sequence, refusal)) => {
                Err(ApplyError { doing: asked[&sequence].to_string(), cause: Cause::Refused(refusal) })
            }
        }
    }
    /// Waits for the answer to each request; returns the refused ones.
    fn acknowledgements(&self, mut open: Vec<u32>) -> Result<BTreeMap<u32, Refusal>, ApplyError> {
        let mut refused = BTreeMap::new();
        while !open.is_empty() {
            let datagram = self.receive()?;
            for (sequence, answer) in answers(&datagram) {
                match answer {
                    Answer::Done => open.retain(|one| *one != sequence),
                    Answer::Refused(refusal) if open.contains(&sequence) => {
                        open.retain(|one| *one != sequence);
                        refused.insert(sequence, refusal);
                    }
                    // A leftover of an abandoned list.
                    _ => {}
                }
            }
        }
        Ok(refused)
    }
    fn receive(&self) -> Result<Vec<u8>, ApplyError> {
        self.socket.receive().map_err(ApplyError::system("route socket: receive"))
    }
    /// Dumps a list and parses each entry with `read`; retries if it changed in the meantime.
    fn list<T>(
        &mut self,
        what: Dump,
        read: impl Fn(&Message<'_>) -> Option<T>,
    ) -> Result<Vec<T>, ApplyError> {
        for _ in 0..TRIES {
            if let Some(list) = self.try_list(what, &read)? {
                return Ok(list);
            }
        }
        Err(ApplyError::words(
            format!("list of {what:?}"),
            "another program keeps changing the list".to_owned(),
        ))
    }
    fn try_list<T>(
        &mut self,
        what: Dump,
        read: &impl Fn(&Message<'_>) -> Option<T>,
    ) -> Result<Option<Vec<T>>, ApplyError> {
        self.sequence += 1;
        self.socket.send(&dump(what, self.sequence)).map_err(ApplyError::system("route socket: send"))?;
        let (mut parts, mut is_whole) = (Vec::new(), true);
        loop {
            let datagram = self.receive()?;
            for (_, answer) in answers(&datagram).filter(|(sequence, _)| *sequence == self.sequence) {
                match answer {
                    Answer::Part(message) => parts.extend(read(&message)),
                    Answer::End => return Ok(is_whole.then_some(parts)),
                    // More of it may follow and is skipped by its sequence number.
                    Answer::Interrupted => is_whole = false,
                    Answer::Refused(refusal) => {
                        return Err(ApplyError {
                            doing: format!("list of {what:?}"),
                            cause: Cause::Refused(refusal),
                        });
                    }
                    Answer::Done => {}
                }
            }
            if !is_whole {
                return Ok(None);
            }
        }
    }
    /// Lists all interfaces.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn links(&mut self) -> Result<Vec<Link>, ApplyError> {
        self.list(Dump::Links, Link::read)
    }
    /// The interface named `name`.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn link(&mut self, name: &str) -> Result<Option<Link>, ApplyError> {
        Ok(self.links()?.into_iter().find(|link| link.name == name))
    }
    /// The qdiscs of an interface.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn qdiscs(&mut self, interface: u32) -> Result<Vec<Object>, ApplyError> {
        let own = |object: &Object| object.header.interface == interface;
        self.list(Dump::Qdiscs, |message| Object::read(message).filter(own))
    }
    /// The classes of an interface.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn classes(&mut self, interface: u32) -> Result<Vec<Object>, ApplyError> {
        self.list(Dump::Classes { interface }, Object::read)
    }
    /// The filters attached to `parent`.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn filters(&mut self, interface: u32, parent: u32) -> Result<Vec<Object>, ApplyError> {
        self.list(Dump::Filters { interface, parent }, Object::read)
    }
}
