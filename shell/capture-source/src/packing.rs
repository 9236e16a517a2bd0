//! Compression formats. Data is decompressed while it is read; concatenated members form one
//! stream.
use std::io::{self, BufRead, BufReader, Read};

/// Bytes per read of a compressed file.
const BUFFER_BYTES: usize = 128 << 10;
/// Limit of the dictionary of an xz file: four times the need of its strongest preset, in KiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;

/// Any byte source.
pub(crate) type Source = Box<dyn Read + Send>;

/// Decompresses `packed` if its first bytes show a known compression format; otherwise returns
/// `packed` itself.
pub(crate) fn unpack(begins: &[u8], packed: Source) -> Result<Source, Source> {
    let buffered = |source| BufReader::with_capacity(BUFFER_BYTES, source);
    Ok(match begins {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(packed))),
        // A frame, or a skippable frame.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            let unread = |(source, _)| -> Source { Box::new(source) };
            Box::new(zstd::Decoder::try_with_buffer(buffered(packed)).map_err(unread)?)
        }
        [0x04, 0x22, 0x4d, 0x18, ..] => {
            Box::new(Lz4(Some(lz4_flex::frame::FrameDecoder::new(buffered(packed)))))
        }
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            Box::new(lzma_rust2::XzReader::new_mem_limit(buffered(packed), true, XZ_MEMORY_KIB))
        }
        _ => return Err(packed),
    })
}

/// Reads lz4 frames. The decoder reports the end of each frame as the end of the stream, and does
/// not support another block size after it.
struct Lz4(Option<lz4_flex::frame::FrameDecoder<BufReader<Source>>>);

impl Read for Lz4 {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(frame) = &mut self.0 {
            let read = frame.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            if frame.get_mut().fill_buf()?.is_empty() {
                return Ok(0);
            }
            let ended = self.0.take().map(lz4_flex::frame::FrameDecoder::into_inner);
            self.0 = ended.map(lz4_flex::frame::FrameDecoder::new);
        }
        Ok(0)
    }
}
