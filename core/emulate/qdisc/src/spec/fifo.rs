//! The text form of `fifo`.
use super::words::{Exact, Words, limit, refuse};
use super::{SpecError, Text};
use crate::{DropFrom, FifoParams, Limit};
use core::fmt;

impl Text for FifoParams {
    const NAME: &'static str = "fifo";
    const WORDS: &'static str = "limit drop";
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let (mut max, mut from) = (None, None);
        while let Some(word) = words.next_known()? {
            let value = words.value(word)?;
            match (word, value) {
                ("limit", _) => max = Some(limit(value)?),
                (_, "tail") => from = Some(DropFrom::Tail),
                (_, "head") => from = Some(DropFrom::Head),
                _ => return Err(refuse(word, value, "head or tail")),
            }
        }
        let limit = max.ok_or(SpecError::NoLimit)?;
        let by_time = matches!(limit, Limit::Sojourn(_));
        if by_time && from == Some(DropFrom::Tail) {
            return Err(SpecError::TailOfTime);
        }
        let usual = if by_time { DropFrom::Head } else { DropFrom::Tail };
        Ok(FifoParams { limit, drop_from: from.unwrap_or(usual) })
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " limit {}", self.limit)?;
        match self.drop_from {
            DropFrom::Tail => Ok(()),
            DropFrom::Head => f.write_str(" drop head"),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Packets(packets) => write!(f, "{packets}p"),
            Limit::Bytes(bytes) => write!(f, "{}b", bytes.get()),
            Limit::Sojourn(time) => write!(f, "{}", Exact(*time)),
        }
    }
}
