//! Sends a request to the kernel and reads the complete answer, retrying if the list changed in the
//! meantime.
use fathom_os::dump::{self, Part};
use fathom_tc::{Answer, Message, answers};
use std::io;

/// Maximum attempts for a list that keeps changing.
const ATTEMPTS: usize = 4;

/// A message copied from its datagram.
pub(crate) struct Reply {
    kind: u16,
    pub(crate) body: Vec<u8>,
}

impl Reply {
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

/// All entries of a list.
pub(crate) fn list(part: Part, request: &[u8]) -> io::Result<Vec<Reply>> {
    exchange(part, request, false)
}

/// The single message that answers a request other than a dump.
pub(crate) fn one(part: Part, request: &[u8]) -> io::Result<Option<Reply>> {
    exchange(part, request, true).map(|replies| replies.into_iter().next())
}

fn exchange(part: Part, request: &[u8], is_one: bool) -> io::Result<Vec<Reply>> {
    for _ in 0..ATTEMPTS {
        let mut replies = Vec::new();
        let mut end = None;
        dump::list(part, request, |datagram| {
            end = take(datagram, &mut replies);
            end.is_some() || (is_one && !replies.is_empty())
        })?;
        match end {
            None | Some(End::Whole) => return Ok(replies),
            Some(End::Refused(error)) => return Err(error),
            Some(End::Changed) => {}
        }
    }
    Err(io::Error::other("another program keeps changing the list"))
}

/// Appends the messages of a datagram; returns the end of the answer, if it is included.
fn take(datagram: &[u8], replies: &mut Vec<Reply>) -> Option<End> {
    for (_, answer) in answers(datagram) {
        match answer {
            Answer::Part(message) => replies.push(Reply { kind: message.kind, body: message.body.to_vec() }),
            Answer::End | Answer::Done => return Some(End::Whole),
            Answer::Interrupted => return Some(End::Changed),
            Answer::Refused(refusal) => {
                return Some(End::Refused(io::Error::from_raw_os_error(refusal.errno)));
            }
        }
    }
    None
}
