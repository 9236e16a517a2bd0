//! One pass over the frames of a capture.
use super::input::Input;
use crate::AppError;
use fathom_capture::Packet;
use fathom_capture_run::Intake;
use fathom_flow::Times;
use fathom_run::CaptureSource;

/// Calls `visit` with each packet, once even if it was captured several times. Returns the source
/// and the timestamp of its first frame.
pub(super) fn pass(
    input: &mut Input,
    mut visit: impl FnMut(Times, &Packet<'_>),
) -> Result<(CaptureSource, i64), AppError> {
    let mut intake = Intake::new();
    let ending = input.for_each(|number, frame| intake.frame(number, frame, &mut visit))?;
    let unread = ending.trouble.map(|why| why.to_string());
    Ok(intake.finish(input.name(), &ending.contents, unread))
}
