//! Requests and lists over a route socket.
use crate::error::{ApplyError, Cause};
use fathom_os::netlink::interface_index;
use fathom_os::route::RouteSocket;
use fathom_tc::{Answer, Dump, Link, Message, Object, Refusal, Request, answers, dump};
use std::collections::BTreeMap;
use std::time::Duration;

/// No request here takes the kernel longer, unless it loads a module for it.
const PATIENCE: Duration = Duration::from_secs(10);
/// Requests in one datagram: so that their answers fit into the socket's buffer.
const BATCH: usize = 128;
/// A list that changes while it is told is asked for again, as often as this.
const TRIES: u32 = 20;

/// The kernel of this machine, in the network namespace of the thread that opened it.
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
    /// Does all of the requests, as many as possible in one step of the kernel's.
    ///
    /// # Errors
    /// The first that was refused; those behind it in its batch have been tried all the same.
    pub fn run(&mut self, requests: &[Request]) -> Result<(), ApplyError> {
        // What follows may name the interface that one of them makes.
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
    /// Waits until each of the requests is answered; gives those that were refused.
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
                    // Of a list that was given up.
                    _ => {}
                }
            }
        }
        Ok(refused)
    }
    fn receive(&self) -> Result<Vec<u8>, ApplyError> {
        self.socket.receive().map_err(ApplyError::system("route socket: receive"))
    }
    /// A list, each part read by `read`; asked for again if it changed meanwhile.
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
            format!("it changed under each of {TRIES} readings; something alters it all the time"),
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
                    // More of it may come; it is passed over by its number.
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
    /// All interfaces.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn links(&mut self) -> Result<Vec<Link>, ApplyError> {
        self.list(Dump::Links, Link::read)
    }
    /// The interface of this name.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn link(&mut self, name: &str) -> Result<Option<Link>, ApplyError> {
        Ok(self.links()?.into_iter().find(|link| link.name == name))
    }
    /// Queue disciplines of an interface.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn qdiscs(&mut self, interface: u32) -> Result<Vec<Object>, ApplyError> {
        let own = |object: &Object| object.header.interface == interface;
        self.list(Dump::Qdiscs, |message| Object::read(message).filter(own))
    }
    /// Classes of an interface.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn classes(&mut self, interface: u32) -> Result<Vec<Object>, ApplyError> {
        self.list(Dump::Classes { interface }, Object::read)
    }
    /// Filters that `parent` asks.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn filters(&mut self, interface: u32, parent: u32) -> Result<Vec<Object>, ApplyError> {
        self.list(Dump::Filters { interface, parent }, Object::read)
    }
}
