//! Frames: the samples of all series over a few seconds, for the journal of a store.
use crate::bytes::{DecodeError, Reader, Writer};
use crate::chunk::{decode_codes, decode_marks, decode_times, encode_codes, encode_marks, encode_times};
use crate::{Chunk, Stored};
use alloc::vec::Vec;

const KIND: u8 = b'j';

/// Bytes of the smallest entry: the series and three counts.
const MIN_BYTES: usize = 4;

/// The new data of one series.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Entry {
    /// Number of the series.
    pub series: u32,
    /// New samples.
    pub new: Chunk,
    /// Lost samples of earlier frames that received another code: see [`Chunk::amend`].
    pub amended: Vec<Stored>,
}

/// The new data of all series over a few seconds. The codes of all series are stored together,
/// because those of one are too few to compress.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Frame {
    /// Entries in the order in which they apply.
    pub entries: Vec<Entry>,
}

impl Frame {
    /// Encodes the frame, with version and checksum.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new(KIND);
        out.number(self.entries.len() as u64);
        for entry in &self.entries {
            out.number(u64::from(entry.series));
            encode_times(&entry.new.samples, &mut out);
            encode_marks(&entry.new.marks, &mut out);
            encode_times(&entry.amended, &mut out);
        }
        encode_codes(self.entries.iter().flat_map(|e| e.new.samples.iter().chain(&e.amended)), &mut out);
        out.finish()
    }
    /// Decodes the output of [`Frame::encode`].
    ///
    /// # Errors
    /// Refuses any other bytes.
    pub fn decode(bytes: &[u8]) -> Result<Frame, DecodeError> {
        let mut from = Reader::open(bytes, KIND)?;
        let announced = from.number()?;
        if announced > (from.left() / MIN_BYTES) as u64 {
            return Err(DecodeError::Count(announced));
        }
        let (mut entries, mut samples) = (Vec::new(), 0_usize);
        for _ in 0..announced {
            let entry = decode_entry(&mut from)?;
            // The codes of all entries follow. Without this check, short entries that announce many
            // samples could exhaust memory.
            samples += entry.new.samples.len() + entry.amended.len();
            if samples > from.left() / 2 {
                return Err(DecodeError::Count(samples as u64));
            }
            entries.push(entry);
        }
        let all = entries.iter_mut().flat_map(|e: &mut Entry| e.new.samples.iter_mut().chain(&mut e.amended));
        decode_codes(all.collect::<Vec<_>>().into_iter(), &mut from)?;
        from.end()?;
        Ok(Frame { entries })
    }
}

fn decode_entry(from: &mut Reader<'_>) -> Result<Entry, DecodeError> {
    let number = from.number()?;
    let series = u32::try_from(number).map_err(|_| DecodeError::Count(number))?;
    let new = Chunk { samples: decode_times(from)?, marks: decode_marks(from)? };
    Ok(Entry { series, new, amended: decode_times(from)? })
}
