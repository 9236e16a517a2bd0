//! Answers of the kernel: acknowledgments, errors, list entries and the end of a list.
use crate::message::{Message, flags, messages, types};
use crate::refusal::Refusal;

/// An answer of the kernel.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer<'a> {
    /// The request succeeded.
    Done,
    /// The request failed.
    Refused(Refusal),
    /// An entry of a list.
    Part(Message<'a>),
    /// The end of a list.
    End,
    /// The list changed while it was sent: request it again.
    Interrupted,
}

/// The answers in a datagram, each with the sequence number of its request.
pub fn answers(datagram: &[u8]) -> impl Iterator<Item = (u32, Answer<'_>)> {
    messages(datagram).map(|message| (message.sequence, read(message)))
}

fn read(message: Message<'_>) -> Answer<'_> {
    let is_interrupted = message.flags & flags::DUMP_INTERRUPTED != 0;
    match message.kind {
        types::ERROR | types::DONE => match Refusal::read(&message) {
            Some(refusal) => Answer::Refused(refusal),
            None if message.kind == types::ERROR => Answer::Done,
            None if is_interrupted => Answer::Interrupted,
            None => Answer::End,
        },
        _ if is_interrupted => Answer::Interrupted,
        _ => Answer::Part(message),
    }
}
