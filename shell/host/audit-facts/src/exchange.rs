//! One request to the kernel and the whole of its answer, asked again if the list changed meanwhile.
use fathom_os::dump::{self, Part};
use fathom_tc::{Answer, Message, answers};
use std::io;

/// A list that changes each time it is told is given up.
const ATTEMPTS: usize = 4;

/// A message that outlives its datagram.
pub(crate) struct Told {
    kind: u16,
    pub(crate) body: Vec<u8>,
}

impl Told {
    pub(crate) fn message(&self) -> Message<'_> {
        Message { kind: self.kind, flags: 0, sequence: 0, body: &self.body }
    }
}

/// How an answer ended.
enum End {
    Whole,
    Changed,
    Refused(io::Error),
}

/// All parts of a list.
pub(crate) fn list(part: Part, request: &[u8]) -> io::Result<Vec<Told>> {
    exchange(part, request, false)
}

/// The one message that is answered to a request that asks for no list.
pub(crate) fn one(part: Part, request: &[u8]) -> io::Result<Option<Told>> {
    exchange(part, request, true).map(|told| told.into_iter().next())
}

fn exchange(part: Part, request: &[u8], is_one: bool) -> io::Result<Vec<Told>> {
    for _ in 0..ATTEMPTS {
        let mut told = Vec::new();
        let mut end = None;
        dump::list(part, request, |datagram| {
            end = take(datagram, &mut told);
            end.is_some() || (is_one && !told.is_empty())
        })?;
        match end {
            None | Some(End::Whole) => return Ok(told),
            Some(End::Refused(error)) => return Err(error),
            Some(End::Changed) => {}
        }
    }
    Err(io::Error::other("the list changes faster than it is told"))
}

/// Takes up the parts of a datagram; gives the end, if it is in it.
fn take(datagram: &[u8], told: &mut Vec<Told>) -> Option<End> {
    for (_, answer) in answers(datagram) {
        match answer {
            Answer::Part(message) => told.push(Told { kind: message.kind, body: message.body.to_vec() }),
            Answer::End | Answer::Done => return Some(End::Whole),
            Answer::Interrupted => return Some(End::Changed),
            Answer::Refused(refusal) => {
                return Some(End::Refused(io::Error::from_raw_os_error(refusal.errno)));
            }
        }
    }
    None
}
