//! `fathom trace`: captures to a diagnosis.
use crate::args::{OutputArgs, TraceArgs, When};
use crate::failure::{Exit, Outcome};
use crate::{result, signal, terminal};
use fathom_app::output::check_names;
use fathom_app::trace::{self, CaptureInput, Exports, TraceRequest};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

/// Reads the captures, and shows what is in them.
pub(crate) fn run(args: &TraceArgs, when: When) -> Outcome {
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
    let cancel = match request.input {
        // Ctrl-C ends a capture, and its result is shown.
        CaptureInput::Interface { .. } => signal::cancel_token()?,
        CaptureInput::Files(_) => fathom_app::CancelToken::new(),
    };
    if let Some(into) = &args.anonymize {
        return anonymize(&request, into, &cancel);
    }
    // The end of the process gives its memory back at once and not flow by flow.
    let mut trace = ManuallyDrop::new(trace::analyze(&request, &cancel)?);
    // The result comes first: should a file not be written, it is not lost.
    let output = OutputArgs { output: others, ..args.output.clone() };
    let exit = result::deliver(&trace.run, &output, when)?;
    for written in trace.write_exports()? {
        terminal::note(&format!("wrote {}", written.display()));
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
fn anonymize(request: &TraceRequest, into: &Path, cancel: &fathom_app::CancelToken) -> Outcome {
    let copy = trace::anonymize(request, into, cancel)?;
    if let Some(trouble) = copy.trouble {
        terminal::note(&format!("fathom trace: {}: {trouble}", copy.name));
    }
    terminal::note(&format!(
        "wrote {}: the headers of {} frames, with other addresses",
        into.display(),
        copy.frames
    ));
    Ok(Exit::Healthy)
}
