//! The thread that writes capture files, so that the line never waits for a disk.
use super::block::{Block, Head};
use crate::LabError;
use crate::network::system;
use fathom_capture::{LinkType, pcap_header, pcap_record_header};
use fathom_units::WallTime;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

/// Number of blocks: some tenths of a second of traffic on a fast line.
const BLOCKS: usize = 32;

/// Handle of the writer thread.
#[derive(Debug)]
pub(crate) struct Writer {
    /// Holds at most [`BLOCKS`] blocks, because no more exist.
    full: Sender<Block>,
    empty: Receiver<Block>,
    thread: JoinHandle<io::Result<()>>,
}

impl Writer {
    /// Creates the files `names` in `directory`; their times count from `origin`.
    pub(crate) fn start(directory: &Path, names: &[String], origin: WallTime) -> Result<Self, LabError> {
        let failed = |path: &Path, source| LabError::System {
            doing: format!("create the capture {}", path.display()),
            source,
        };
        fs::create_dir_all(directory).map_err(|e| failed(directory, e))?;
        let make = |name: &String| {
            let path = directory.join(name);
            CaptureFile::create(&path, origin).map_err(|e| failed(&path, e))
        };
        let files = names.iter().map(make).collect::<Result<Vec<_>, _>>()?;
        let (full, to_write) = channel();
        let (written, empty) = channel();
        for _ in 0..BLOCKS {
            // The receiver still exists.
            let _ = written.send(Block::new());
        }
        let named = thread::Builder::new().name("lab-capture".into());
        let thread = named.spawn(move || write_all(files, &to_write, &written));
        Ok(Writer { full, empty, thread: thread.map_err(system("start the thread that writes captures"))? })
    }
    /// An empty block, if one is available.
    pub(crate) fn empty(&self) -> Option<Block> {
        self.empty.try_recv().ok()
    }
    /// Queues `block` for writing.
    pub(crate) fn write(&self, block: Block) {
        // If the thread ended early, `finish` reports why.
        let _ = self.full.send(block);
    }
    /// Waits until everything is written.
    pub(crate) fn finish(self) -> Result<(), LabError> {
        drop(self.full);
        let ended = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        ended.map_err(system("write the captures"))
    }
}

fn write_all(
    mut files: Vec<CaptureFile>,
    to_write: &Receiver<Block>,
    written: &Sender<Block>,
) -> io::Result<()> {
    for mut block in to_write {
        for (head, bytes) in block.packets() {
            if let Some(file) = files.get_mut(head.point as usize) {
                file.write(head, bytes)?;
            }
        }
        block.clear();
        // At the end, nobody takes the block back.
        let _ = written.send(block);
    }
    files.iter_mut().try_for_each(|file| file.file.flush())
}

/// A capture file of packets that start at the IP header.
#[derive(Debug)]
struct CaptureFile {
    file: BufWriter<File>,
    /// Wall time at zero of the run's clock.
    origin: WallTime,
}

impl CaptureFile {
    fn create(path: &Path, origin: WallTime) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(1 << 18, File::create(path)?);
        file.write_all(&pcap_header(LinkType::RAW))?;
        Ok(CaptureFile { file, origin })
    }
    fn write(&mut self, head: Head, bytes: &[u8]) -> io::Result<()> {
        let at = i64::try_from(self.origin.0 + head.at_ns).unwrap_or(i64::MAX);
        self.file.write_all(&pcap_record_header(at, head.wire_bytes, head.stored_bytes))?;
        self.file.write_all(bytes)
    }
}
