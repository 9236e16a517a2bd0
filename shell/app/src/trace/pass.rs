//! One pass over the frames of a capture.
use super::input::Input;
use crate::AppError;
use fathom_capture::{Frame, NotIp, Packet, Quality, dissect, dissect_fast};
use fathom_flow::Times;
use fathom_run::{CaptureDefect, CaptureSource};

/// Calls `visit` with each packet, once even if it was captured several times. Returns the source
/// and the timestamp of its first frame.
pub(super) fn pass(
    input: &mut Input,
    mut visit: impl FnMut(Times, &Packet<'_>),
) -> Result<(CaptureSource, i64), AppError> {
    let mut quality = Quality::new();
    let ending =
        input.for_each(|number, frame| match dissect_fast(frame.link, frame.original_len, frame.bytes) {
            Some(packet) => take(&mut quality, number, frame, &Ok(packet), &mut visit),
            None => take_unusual(&mut quality, number, frame, &mut visit),
        })?;
    ending.tell(&mut quality);
    let (first_at, last_at) = quality.from_to();
    let unreadable = ending.trouble.map(|why| CaptureDefect::Unreadable { message: why.to_string() });
    let source = CaptureSource {
        name: input.name(),
        frames: quality.frames,
        wire_bytes: quality.wire_bytes,
        duration_s: last_at.saturating_sub(first_at).max(0) as f64 / 1e9,
        defects: quality.defects().into_iter().chain(unreadable).collect(),
    };
    Ok((source, first_at))
}

/// Counts a frame, and passes its packet to `visit` unless it is a copy.
#[inline(always)]
fn take(
    quality: &mut Quality,
    number: u64,
    frame: &Frame<'_>,
    found: &Result<Packet<'_>, NotIp>,
    visit: &mut impl FnMut(Times, &Packet<'_>),
) {
    quality.frame(number, frame, found);
    if let Ok(packet) = found
        && !quality.is_copy(frame, packet)
    {
        visit(Times { at: quality.steadied(frame.at), frame: number }, packet);
    }
}

/// Takes a frame that the fast dissection does not handle. A separate function keeps the fast path
/// small and inlined.
#[inline(never)]
fn take_unusual(
    quality: &mut Quality,
    number: u64,
    frame: &Frame<'_>,
    visit: &mut impl FnMut(Times, &Packet<'_>),
) {
    take(quality, number, frame, &dissect(frame.link, frame.original_len, frame.bytes), visit);
}
