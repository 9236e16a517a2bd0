//! Reads ahead in a separate thread, so that reading and processing overlap.
use crate::packing::Source;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Bytes per read.
const CHUNK_BYTES: usize = 256 << 10;
/// Chunks that may wait for each reader, to absorb small pauses of either side.
const CHUNKS: usize = 4;

/// A buffer and the number of valid bytes in it.
type Chunk = (Vec<u8>, usize);

/// A reader of the bytes that were read ahead.
struct Ahead {
    chunks: Receiver<io::Result<Arc<Chunk>>>,
    current: Arc<Chunk>,
    start: usize,
}

/// Reads `source` ahead in a thread; returns `source` itself if no thread can be started.
pub(crate) fn ahead(source: Source) -> Source {
    match read_ahead(source) {
        Ok([reader]) => Box::new(reader),
        Err(source) => source,
    }
}

/// Two readers that each return all of `source` and must be read concurrently; only `source` itself
/// if no thread can be started.
pub(crate) fn tee(source: Source) -> (Source, Option<Source>) {
    match read_ahead(source) {
        Ok([first, second]) => (Box::new(first), Some(Box::new(second))),
        Err(source) => (source, None),
    }
}

/// The thread ends at the end of `source`, or when no reader is left.
fn read_ahead<const READERS: usize>(source: Source) -> Result<[Ahead; READERS], Source> {
    let mut sides = Vec::new();
    let readers = [(); READERS].map(|()| {
        let (side, reader) = sync_channel(CHUNKS);
        sides.push(side);
        reader
    });
    // Passed through a channel, so that the source is not lost if the thread cannot be started.
    let (source_in, source_out) = sync_channel::<Source>(1);
    let read = move || {
        if let Ok(received) = source_out.recv() {
            run(received, sides);
        }
    };
    if thread::Builder::new().name("read ahead".into()).spawn(read).is_err() {
        return Err(source);
    }
    source_in.send(source).map_err(|returned| returned.0)?;
    Ok(readers.map(|chunks| Ahead { chunks, current: Arc::default(), start: 0 }))
}

fn run(mut source: Source, mut sides: Vec<SyncSender<io::Result<Arc<Chunk>>>>) {
    let mut all: Vec<Arc<Chunk>> = Vec::new();
    while !sides.is_empty() {
        // Reuse a chunk that no reader holds.
        let mut chunk = match all.iter().position(|chunk| Arc::strong_count(chunk) == 1) {
            Some(place) => all.swap_remove(place),
            None => Arc::new((vec![0; CHUNK_BYTES], 0)),
        };
        let Some((bytes, length)) = Arc::get_mut(&mut chunk) else { continue };
        match source.read(bytes) {
            Ok(0) => return,
            Ok(read) => {
                *length = read;
                sides.retain(|side| side.send(Ok(Arc::clone(&chunk))).is_ok());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                sides.iter().for_each(|side| drop(side.send(Err(same(&error)))));
                return;
            }
        }
        all.push(chunk);
    }
}

/// A copy of the error.
fn same(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

impl Read for Ahead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.start == self.current.1 {
            // The other end is dropped at the end of the source.
            let Ok(next) = self.chunks.recv() else { return Ok(0) };
            (self.current, self.start) = (next?, 0);
        }
        let ready = self.current.0.get(self.start..self.current.1).unwrap_or_default();
        let length = ready.len().min(into.len());
        into[..length].copy_from_slice(&ready[..length]);
        self.start += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a few bytes at a time, then an error.
    struct Failing(u8);

    impl Read for Failing {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            match self.0 {
                1 => Err(io::ErrorKind::Interrupted.into()),
                50 => Err(io::Error::from_raw_os_error(5)),
                step => {
                    into[..100].fill(step);
                    Ok(100)
                }
            }
        }
    }

    fn all(mut reader: Source) -> (Vec<u8>, Option<i32>) {
        let mut bytes = Vec::new();
        let error = reader.read_to_end(&mut bytes).err();
        (bytes, error.and_then(|error| error.raw_os_error()))
    }

    #[test]
    fn each_reader_has_all_bytes_and_the_error() {
        let expected: Vec<u8> = (2..50).flat_map(|step| [step; 100]).collect();
        assert_eq!(all(ahead(Box::new(Failing(0)))), (expected.clone(), Some(5)));
        let (first, second) = tee(Box::new(Failing(0)));
        let other = thread::spawn(move || all(second.unwrap()));
        assert_eq!(all(first), (expected.clone(), Some(5)));
        assert_eq!(other.join().unwrap(), (expected, Some(5)));
    }

    #[test]
    fn one_that_is_given_up_holds_up_no_other() {
        let (first, second) = tee(Box::new(Failing(0)));
        drop(second);
        assert_eq!(all(first).0.len(), 4800);
    }
}
