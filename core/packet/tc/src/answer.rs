//! What the kernel answers: acknowledgements, refusals, the parts of a list and its end.
use crate::message::{Message, flags, messages, types};
use crate::refusal::Refusal;

/// One answer.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer<'a> {
    /// The request was done.
    Done,
    /// It was not.
    Refused(Refusal),
    /// A part of a list.
    Part(Message<'a>),
    /// The end of a list.
    End,
    /// The end, or a part, of a list that changed while it was told: it has to be asked for again.
    Interrupted,
}

/// The answers in a datagram, each with the number of its request.
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
