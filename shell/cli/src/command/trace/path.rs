//! Several captures of one path.
use super::input::of_file;
use crate::args::TraceArgs;
use crate::failure::Failure;
use fathom_capture::dissect;
use fathom_metric::Run;
use fathom_trace::path::{Captures, Rewritten, Settings};
use fathom_trace::{Times, hops};
use std::collections::HashSet;
use std::path::PathBuf;

/// Adds to `run` what the captures together tell of their path; nothing for one capture.
pub(super) fn add(run: &mut Run, args: &TraceArgs) -> Result<(), Failure> {
    if args.files.len() < 2 {
        return Ok(());
    }
    let rewritten = if args.nat { Rewritten::Addresses } else { Rewritten::Nothing };
    let settings = Settings { rewritten, is_one_clock: args.one_clock, ..Settings::default() };
    let mut captures = Captures::new(args.files.len(), settings);
    for (number, file) in args.files.iter().enumerate() {
        of_file(file, |frame_number, frame| {
            if let Ok(packet) = dissect(frame.link, frame.original_len, frame.bytes) {
                captures.packet(number, &packet, Times { at: frame.at, frame: frame_number });
            }
        })?;
    }
    let report = captures.finish().map_err(Failure::input)?;
    if let Some(capture) = &mut run.capture {
        capture.hops = hops(&report, &names(&args.files));
    }
    Ok(())
}

/// File names, or whole paths where these are not enough to tell files apart.
fn names(files: &[PathBuf]) -> Vec<String> {
    let short = |file: &PathBuf| file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    let distinct: HashSet<String> = files.iter().map(short).collect();
    let name =
        |file: &PathBuf| if distinct.len() == files.len() { short(file) } else { file.display().to_string() };
    files.iter().map(name).collect()
}
