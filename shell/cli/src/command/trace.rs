//! `fathom trace`: analyzes packet captures.
use crate::args::{OutputArgs, TraceArgs};
use crate::failure::{Exit, Outcome};
use crate::terminal::{Console, warn};
use crate::{result, signal};
use fathom_app::CancelToken;
use fathom_app::output::check_names;
use fathom_app::trace::{self, CaptureInput, Exports, TraceRequest};
use fathom_text::counted;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

/// Analyzes the captures and shows the diagnosis.
pub(crate) fn run(args: &TraceArgs, console: Console) -> Outcome {
    let (pages, others): (Vec<PathBuf>, Vec<PathBuf>) =
        args.output.output.iter().cloned().partition(|path| is_page(path));
    check_names(&args.output.output)?;
    let request = TraceRequest {
        input: input(args),
        is_one_clock: args.one_clock,
        threads: args.threads,
        exports: Exports { pages, others: args.export.clone(), flows: args.flow.clone() },
        outputs: others.iter().chain(&args.anonymize).cloned().collect(),
    };
    // Ctrl-C ends the reading; the result of what was read is shown.
    let cancel = signal::cancel_token()?;
    if let Some(into) = &args.anonymize {
        return anonymize(&request, into, &cancel, console);
    }
    // The process ends soon: freeing each flow one by one would only take time.
    let mut trace = ManuallyDrop::new(trace::analyze(&request, &cancel)?);
    result::warn_if_partial("trace", &trace.run);
    // The result is printed first: it is not lost if a file cannot be written.
    let output = OutputArgs { output: others, ..args.output.clone() };
    let exit = result::deliver(&trace.run, &output, console)?;
    for written in trace.write_exports()? {
        console.note(&format!("wrote {}", written.display()));
    }
    Ok(exit)
}

fn input(args: &TraceArgs) -> CaptureInput {
    match &args.interface {
        Some(name) => {
            CaptureInput::Interface { name: name.clone(), snaplen: args.snaplen, duration: args.duration }
        }
        None => CaptureInput::Files(args.files.clone()),
    }
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html"))
}

/// Writes a copy that can be shared.
fn anonymize(request: &TraceRequest, into: &Path, cancel: &CancelToken, console: Console) -> Outcome {
    let copy = trace::anonymize(request, into, cancel)?;
    let exit = match &copy.trouble {
        Some(_) => Exit::Environment,
        None if copy.frames == 0 => Exit::NoResult,
        None => Exit::Healthy,
    };
    if let Some(trouble) = copy.trouble {
        warn(&format!("fathom trace: partial result: {}: {trouble}", copy.name));
    }
    console.note(&format!(
        "wrote {}: the headers of {}, with other addresses",
        into.display(),
        counted(copy.frames, "frame", "frames")
    ));
    Ok(exit)
}
