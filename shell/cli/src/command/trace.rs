//! `fathom trace`: captures to a diagnosis.
use crate::args::{TraceArgs, When};
use crate::failure::{Failure, Outcome};
use crate::result;
use fathom_capture::dissect;
use fathom_metric::{CaptureSource, Run};
use fathom_tap::{Ending, Tap, TapError};
use fathom_trace::queue::QueueWatch;
use fathom_trace::{Times, Tracer};
use fathom_units::WallTime;
use std::ops::ControlFlow;
use std::path::Path;

/// Reads the capture, and shows what is in it.
pub(crate) fn run(args: &TraceArgs, when: When) -> Outcome {
    result::check_names(&args.output.output)?;
    let run = analyse(&args.file).map_err(failure)?;
    result::deliver(&run, &args.output, when)
}

fn failure(error: TapError) -> Failure {
    match error {
        TapError::Io { .. } => Failure::environment(error),
        _ => Failure::input(error),
    }
}

fn analyse(path: &Path) -> Result<Run, TapError> {
    let mut tap = Tap::open(path)?;
    let mut tracer = Tracer::new(QueueWatch::new());
    let mut wire_bytes = 0;
    let ending = tap.for_each(|number, frame| {
        wire_bytes += u64::from(frame.original_len);
        if let Ok(packet) = dissect(frame.link, frame.original_len, frame.bytes) {
            tracer.packet(Times { at: frame.at, frame: number }, &packet);
        }
        ControlFlow::Continue(())
    })?;
    let (flows, watch) = tracer.finish();
    let (first, last) = (flows.totalled.first_at.unwrap_or(0), flows.totalled.last_at);
    let source = CaptureSource {
        name: path.display().to_string(),
        frames: ending.frames,
        wire_bytes,
        duration_s: last.saturating_sub(first).max(0) as f64 / 1e9,
        defects: defects(&ending),
    };
    let mut run = fathom_trace::run(vec![source], &flows, &watch.finish());
    env!("CARGO_PKG_VERSION").clone_into(&mut run.tool_version);
    run.started = WallTime(first.max(0) as u64).to_string();
    run.host = fathom_drive::host();
    Ok(run)
}

fn defects(ending: &Ending) -> Vec<String> {
    ending.trouble.iter().map(|trouble| trouble.to_string()).collect()
}
