//! The thread that writes the capture files: the line never waits for a disk.
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

/// Blocks in circulation: some tenths of a second of a fast line.
const BLOCKS: usize = 32;

/// The line's hold on the thread.
#[derive(Debug)]
pub(crate) struct Writer {
    /// Never more than [`BLOCKS`], as there are no more.
    full: Sender<Block>,
    empty: Receiver<Block>,
    thread: JoinHandle<io::Result<()>>,
}

impl Writer {
    /// Makes the files `names` in `directory`; times in them are counted from `origin`.
    pub(crate) fn start(directory: &Path, names: &[String], origin: WallTime) -> Result<Self, LabError> {
        let failed = |path: &Path, source| LabError::System {
            doing: format!("make the capture {}", path.display()),
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
            // The other end is here.
            let _ = written.send(Block::new());
        }
        let named = thread::Builder::new().name("lab-capture".into());
        let thread = named.spawn(move || write_all(files, &to_write, &written));
        Ok(Writer { full, empty, thread: thread.map_err(system("start the thread that writes captures"))? })
    }
    /// A block to fill, if the thread has one to spare.
    pub(crate) fn empty(&self) -> Option<Block> {
        self.empty.try_recv().ok()
    }
    /// Has `block` written.
    pub(crate) fn write(&self, block: Block) {
        // A thread that ended early tells why in `finish`.
        let _ = self.full.send(block);
    }
    /// Waits until all is written.
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
        // At the end nobody takes it.
        let _ = written.send(block);
    }
    files.iter_mut().try_for_each(|file| file.file.flush())
}

/// A file of packets from their IP headers on.
#[derive(Debug)]
struct CaptureFile {
    file: BufWriter<File>,
    /// What the run's clock calls zero.
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
