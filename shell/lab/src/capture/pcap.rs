//! A capture file of packets from their IP headers on.
use fathom_units::WallTime;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

#[derive(Debug)]
pub(crate) struct PcapFile {
    file: BufWriter<File>,
    origin: WallTime,
}

impl PcapFile {
    pub(crate) fn create(path: &Path, snaplen: u32, origin: WallTime) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(1 << 18, File::create(path)?);
        for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, snaplen, 101] {
            file.write_all(&word.to_le_bytes())?;
        }
        Ok(PcapFile { file, origin })
    }
    pub(crate) fn write(&mut self, at_ns: u64, wire_bytes: u32, bytes: &[u8]) -> io::Result<()> {
        let at = self.origin.0 + at_ns;
        for word in [(at / 1_000_000_000) as u32, (at % 1_000_000_000) as u32, bytes.len() as u32, wire_bytes]
        {
            self.file.write_all(&word.to_le_bytes())?;
        }
        self.file.write_all(bytes)
    }
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
