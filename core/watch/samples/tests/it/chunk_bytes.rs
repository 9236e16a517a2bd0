//! Any bytes are decoded or refused, and decoded data is a fixed point. Also run by a fuzzer.
use fathom_watch_samples::{Chunk, Frame, Windows, seal};

pub(super) fn check(bytes: &[u8]) {
    // Unchanged, and with a valid checksum, which a fuzzer would not find.
    both(bytes);
    both(&seal(bytes.to_vec()));
}

fn both(bytes: &[u8]) {
    if let Ok(chunk) = Chunk::decode(bytes) {
        assert_eq!(Chunk::decode(&chunk.encode()), Ok(chunk));
    }
    if let Ok(windows) = Windows::decode(bytes) {
        assert_eq!(Windows::decode(&windows.encode()), Ok(windows));
    }
    if let Ok(frame) = Frame::decode(bytes) {
        assert_eq!(Frame::decode(&frame.encode()), Ok(frame));
    }
}
