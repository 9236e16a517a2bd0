//! `fathom trace`: captures to a diagnosis.
mod extra;
mod input;
mod page;
mod path;
mod read;

use crate::args::{Export, TraceArgs, When};
use crate::failure::{Failure, Outcome};
use crate::{result, terminal};
use extra::Extras;
use fathom_bottleneck::Queues;
use fathom_capture::{Anonymizer, LinkType, dissect};
use fathom_diagnose::diagnose;
use fathom_flow::{Flows, Tracer};
use fathom_run::Run;
use fathom_units::WallTime;
use input::Input;
use path::PathOf;
use read::{Read, bounds, pass, read};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

/// Reads the captures, and shows what is in them.
pub(crate) fn run(args: &TraceArgs, when: When) -> Outcome {
    let (pages, others): (Vec<PathBuf>, Vec<PathBuf>) =
        args.output.output.iter().cloned().partition(|path| is_page(path));
    result::check_names(&args.output.output)?;
    refuse(args)?;
    let extras = Extras::new(args, &pages)?;
    let mut input = Input::of(args)?;
    if let Some(into) = &args.anonymize {
        return anonymize(&mut input, into);
    }
    let mut path = PathOf::new(args);
    let Read { source, first_at, flows, queues } = read(&mut input, &mut path, args.threads)?;
    // They are needed until the process ends, which gives their memory back at once and not flow by flow.
    let (flows, queues) = (ManuallyDrop::new(flows), ManuallyDrop::new(queues));
    let sources = std::iter::once(Ok(source)).chain(path.read_others()).collect::<Result<_, _>>()?;
    let mut run = fathom_capture_run::run(sources, &flows, &queues);
    env!("CARGO_PKG_VERSION").clone_into(&mut run.tool_version);
    run.started = WallTime(first_at.max(0) as u64).to_string();
    run.host = fathom_client::host();
    path.add_to(&mut run)?;
    // What was concluded comes first: should a file not be written, it is not lost.
    let output = crate::args::OutputArgs { output: others, ..args.output.clone() };
    let exit = result::deliver(&run, &output, when)?;
    write_extras(extras, &mut input, &flows, &queues, &run)?;
    Ok(exit)
}

/// What would lose something that is there, or could not be read.
fn refuse(args: &TraceArgs) -> Result<(), Failure> {
    if args.files.iter().filter(|file| input::is_stdin(file)).count() > 1 {
        return Err(Failure::input("standard input can be one capture only"));
    }
    // Before the first is read, which may take long.
    for file in args.files.iter().skip(1).filter(|file| !input::is_stdin(file)) {
        file.metadata().map_err(|error| {
            Failure::environment(format_args!("{}: cannot open it: {error}", file.display()))
        })?;
    }
    let into = args.output.output.iter().chain(&args.anonymize).chain(args.export.iter().map(Export::path));
    match into.clone().find(|path| args.files.iter().any(|file| is_same(file, path))) {
        Some(path) => Err(Failure::input(format_args!(
            "{}: is read, and would be written over\n  try: another name for what is written",
            path.display()
        ))),
        None => Ok(()),
    }
}

fn is_same(file: &Path, other: &Path) -> bool {
    file.canonicalize().is_ok_and(|file| other.canonicalize().is_ok_and(|other| file == other))
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html"))
}

/// Another pass, for what needs every packet of chosen flows.
fn write_extras(
    mut extras: Extras,
    input: &mut Input,
    flows: &Flows,
    queues: &Queues,
    run: &Run,
) -> Result<(), Failure> {
    if extras.is_empty() {
        return Ok(());
    }
    let mut tracer = Tracer::second_pass(extras.sinks(flows)?, bounds(), flows);
    pass(input, |times, packet| tracer.packet(times, packet))?;
    let (_, sinks) = tracer.finish();
    for written in extras.write(sinks, flows, |recorder| page::page(recorder, queues, run, &diagnose(run)))? {
        terminal::note(&format!("wrote {}", written.display()));
    }
    Ok(())
}

/// Writes a copy that can be shared.
fn anonymize(input: &mut Input, into: &Path) -> Outcome {
    let key = random_key()?;
    let mut anonymizer = None;
    let mut file = None;
    let mut bytes = Vec::new();
    let mut result = Ok(());
    let mut frames = 0_u64;
    let ending = input.for_each(|_, frame| {
        let found = dissect(frame.link, frame.original_len, frame.bytes);
        let anonymizer = anonymizer.get_or_insert_with(|| {
            let new = Anonymizer::new(key, frame.link);
            bytes.extend(new.header());
            new
        });
        anonymizer.write(frame, &found, &mut bytes);
        frames += 1;
        if result.is_ok() {
            result = extra::append(&mut file, into, &bytes);
        }
        bytes.clear();
    })?;
    // A capture without frames still has a header.
    if anonymizer.is_none() {
        bytes.extend(Anonymizer::new(key, LinkType::RAW).header());
    }
    let written =
        result.and_then(|()| extra::append(&mut file, into, &bytes)).and_then(|()| extra::flush(file));
    written.map_err(|error| extra::unwritten(into, &error))?;
    if let Some(trouble) = ending.trouble {
        terminal::note(&format!("fathom trace: {}: {trouble}", input.name()));
    }
    terminal::note(&format!(
        "wrote {}: the headers of {frames} frames, with other addresses",
        into.display()
    ));
    Ok(crate::failure::Exit::Healthy)
}

/// One that nobody knows, and that is not kept.
fn random_key() -> Result<[u8; 16], Failure> {
    let mut key = [0; 16];
    getrandom::fill(&mut key).map_err(Failure::environment)?;
    Ok(key)
}
