//! Reading never panics, loops or buffers without bound. Fuzz targets `pcap` and `pcapng`, too.
use fathom_capture::{CaptureError, MAX_STORED_BYTES, Reader, Step};

/// Contents of a file: frames and statistics as text, and the final error.
pub(crate) type Story = (Vec<String>, Option<CaptureError>);

/// Reads all of `bytes`, passing at most what the reader asked for plus `chunk` bytes.
pub(crate) fn read(bytes: &[u8], chunk: usize) -> Story {
    let (mut reader, mut story) = (Reader::new(), Vec::new());
    let (mut start, mut end) = (0, chunk.min(bytes.len()));
    loop {
        match reader.step(&bytes[start..end]) {
            Err(error) => return (story, Some(error)),
            Ok((used, Step::NeedMore(need))) => {
                assert!(used == 0 && need > end - start, "asks for {need} of {}", end - start);
                assert!(need <= MAX_STORED_BYTES + (128 << 10), "gathers {need}");
                if end == bytes.len() {
                    break;
                }
                end = (start + need.max(chunk)).min(bytes.len());
            }
            Ok((used, step)) => {
                assert_eq!(reader.offset(), (start + used) as u64);
                start += used;
                assert!(start <= end);
                if let Step::Frame(frame) = step {
                    assert!(frame.original_len as usize >= frame.bytes.len());
                    assert!(frame.at.unsigned_abs() < 1 << 62, "{}", frame.at);
                }
                if step != Step::Other {
                    story.push(format!("{step:?}"));
                }
            }
        }
    }
    story.extend(reader.finish(&bytes[start..]).map(|cut| cut.to_string()));
    (story, None)
}

/// The result does not depend on the chunk size.
pub(crate) fn check(bytes: &[u8]) {
    let whole = read(bytes, bytes.len());
    for chunk in [1, 7, 4096] {
        let mut pieces = read(bytes, chunk);
        // What is left in a skipped block at the end of the file depends on the chunks.
        if pieces != whole {
            pieces.0.pop();
            assert_eq!(pieces.0, whole.0[..whole.0.len().saturating_sub(1)], "{chunk}");
        }
    }
}
