//! Counts complete HTTP responses in a stream.
use crate::protocol::{HttpError, parse_response};
use alloc::vec::Vec;

/// Longest accepted body of a response to a probe.
const BODY_LIMIT_BYTES: usize = 64 * 1024;

/// Partially received responses of one connection.
#[derive(Clone, Default, Debug)]
pub struct Answers {
    held: Vec<u8>,
}

impl Answers {
    /// Appends received bytes and returns how many responses they completed.
    ///
    /// # Errors
    /// If they are not a response with status 200 and a body of at most 64 KiB. The connection
    /// cannot be used afterwards.
    pub fn push(&mut self, bytes: &[u8]) -> Result<usize, HttpError> {
        self.held.extend_from_slice(bytes);
        let (mut used, mut complete) = (0, 0);
        while let Some((answer, head)) = parse_response(&self.held[used..])? {
            if answer.status != 200 || answer.body_bytes > BODY_LIMIT_BYTES {
                return Err(HttpError::Malformed);
            }
            if self.held.len() - used < head + answer.body_bytes {
                break;
            }
            used += head + answer.body_bytes;
            complete += 1;
        }
        self.held.drain(..used);
        Ok(complete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::http_response;

    #[test]
    fn counts_pipelined_responses_split_anywhere() {
        let stream: Vec<u8> = (0..5).flat_map(|_| http_response(200, "text/plain", b"x")).collect();
        for size in [1, 2, 7, 50, 1_000] {
            let mut answers = Answers::default();
            let count: usize = stream.chunks(size).map(|part| answers.push(part).unwrap()).sum();
            assert_eq!(count, 5, "in parts of {size}");
        }
    }

    #[test]
    fn other_bytes_end_the_connection() {
        assert!(Answers::default().push(b"hello world\r\n\r\n").is_err());
        assert!(Answers::default().push(&http_response(404, "text/plain", b"no")).is_err());
        let endless = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n";
        assert!(Answers::default().push(endless).is_err());
    }
}
