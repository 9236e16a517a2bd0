//! Unpacking in a thread of its own, ahead of whoever reads: the two together take as long as the slower.
use crate::packing::Source;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Bytes that are unpacked at once.
const CHUNK_BYTES: usize = 256 << 10;
/// Chunks that wait to be read: enough that neither side waits for the other's every breath.
const CHUNKS: usize = 4;

/// Bytes, of which so many count.
type Chunk = (Vec<u8>, usize);

/// What the other end of the channels unpacks.
struct Ahead {
    chunks: Receiver<io::Result<Chunk>>,
    /// Chunks that were read go back, to be used again.
    emptied: Sender<Vec<u8>>,
    current: Chunk,
    start: usize,
}

/// A reader of `source`, which is read ahead; of `source` itself if there can be no further thread. The thread ends with `source`, or
/// at the first chunk that nobody wants.
pub(crate) fn ahead(source: Source) -> Source {
    let (chunk_in, chunk_out) = sync_channel(CHUNKS);
    let (empty_in, empty_out) = channel();
    // So that there still is a source if the thread cannot be made.
    let (source_in, source_out) = sync_channel::<Source>(1);
    let unpack = move || {
        if let Ok(received) = source_out.recv() {
            run(received, &chunk_in, &empty_out);
        }
    };
    if thread::Builder::new().name("unpack".into()).spawn(unpack).is_err() {
        return source;
    }
    match source_in.send(source) {
        Ok(()) => {
            Box::new(Ahead { chunks: chunk_out, emptied: empty_in, current: (Vec::new(), 0), start: 0 })
        }
        Err(returned) => returned.0,
    }
}

fn run(mut source: Source, chunks: &SyncSender<io::Result<Chunk>>, emptied: &Receiver<Vec<u8>>) {
    loop {
        let mut bytes = emptied.try_recv().unwrap_or_else(|_| vec![0; CHUNK_BYTES]);
        let read = match source.read(&mut bytes) {
            Ok(0) => return,
            Ok(length) => Ok((bytes, length)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = read.is_err();
        if chunks.send(read).is_err() || failed {
            return;
        }
    }
}

impl Read for Ahead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.start == self.current.1 {
            // The other end is gone when there is no more.
            let Ok(next) = self.chunks.recv() else { return Ok(0) };
            let (emptied, _) = std::mem::replace(&mut self.current, next?);
            self.start = 0;
            if !emptied.is_empty() {
                // Nobody wants it at the end.
                let _ = self.emptied.send(emptied);
            }
        }
        let ready = self.current.0.get(self.start..self.current.1).unwrap_or_default();
        let length = ready.len().min(into.len());
        into[..length].copy_from_slice(&ready[..length]);
        self.start += length;
        Ok(length)
    }
}
