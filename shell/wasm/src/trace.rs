//! Analyzes a capture that arrives in parts, twice: the second time for the packets on the page.
use fathom_bottleneck::{QueueWatch, Queues};
use fathom_capture::{Feed, Frame};
use fathom_capture_run::Intake;
use fathom_diagnose::diagnose;
use fathom_flow::{Bounds, Followed, SHARDS, Shard, Shards, Tracer, missed_data, missing_directions};
use fathom_report::document;
use fathom_run::{Interruption, Run};
use fathom_trace_page::{Limits, PICTURES, Recorder};
use fathom_units::WallTime;
use std::ops::ControlFlow;

use crate::Output;

/// A capture that is being analyzed: its flows and queues.
pub struct Trace {
    name: String,
    bounds: Bounds,
    file: File,
    shards: Box<Shards<QueueWatch>>,
}

/// The same capture from its start, for the packets of the largest flows.
pub struct SecondPass {
    file: File,
    tracer: Box<Tracer<Recorder>>,
    found: Found,
}

/// Result of the first pass.
struct Found {
    run: Run,
    queues: Queues,
}

/// How far a file has been read.
struct File {
    feed: Feed,
    intake: Intake,
    /// Bytes that the next step needs.
    need: usize,
    /// Why the rest cannot be read.
    unread: Option<String>,
}

impl File {
    fn new() -> Self {
        File { feed: Feed::new(), intake: Intake::new(), need: 1, unread: None }
    }
    fn push(
        &mut self,
        mut bytes: &[u8],
        mut visit: impl FnMut(fathom_flow::Times, &fathom_capture::Packet<'_>),
    ) -> Result<(), String> {
        let intake = &mut self.intake;
        let mut take = |number: u64, frame: &Frame<'_>| {
            intake.frame(number, frame, &mut visit);
            ControlFlow::Continue(())
        };
        while !bytes.is_empty() && self.unread.is_none() {
            let room = self.feed.room(self.need);
            let (part, rest) = bytes.split_at(bytes.len().min(room.len()));
            room[..part.len()].copy_from_slice(part);
            self.feed.filled(part.len());
            bytes = rest;
            match self.feed.frames(&mut take) {
                Ok(ControlFlow::Continue(need)) => self.need = need,
                Ok(ControlFlow::Break(())) => {}
                Err(error) if self.feed.is_at_start() => return Err(error.to_string()),
                Err(error) => self.unread = Some(error.to_string()),
            }
        }
        Ok(())
    }
}

impl Trace {
    /// Starts to analyze the capture `name`. The seed should be unpredictable, so that no file can
    /// make the analysis slow.
    #[must_use]
    pub fn new(name: &str, seed: u64) -> Self {
        let bounds = Bounds { hash_seed: seed, ..Bounds::default() };
        let shards = Box::new(Shards::new(Shard::all(bounds, || QueueWatch::one_of(SHARDS))));
        Trace { name: name.to_owned(), bounds, file: File::new(), shards }
    }
    /// Takes the next bytes of the file.
    ///
    /// # Errors
    /// If it is not a capture.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.file.push(bytes, |times, packet| self.shards.packet(times, packet))
    }
    /// At the end of the file, or where it cannot be read further, and why: expects it once more,
    /// from its start.
    ///
    /// # Errors
    /// If it was not a capture.
    pub fn rewind(self, unread: Option<String>) -> Result<SecondPass, String> {
        let Trace { name, bounds, mut file, shards } = self;
        let cut = file.feed.cut().map(|cut| cut.to_string());
        if file.feed.is_at_start() {
            let short = file.feed.short().map(|short| short.to_string());
            return Err(short.or(cut).unwrap_or("it is empty".into()));
        }
        let unread = file.unread.or(unread).or(cut);
        let (mut source, first_at) = file.intake.finish(name.clone(), &file.feed.contents(), unread.clone());
        let (flows, watches) = Followed::join(shards.finish());
        let queues = QueueWatch::join(watches).finish();
        source.defects.extend(missing_directions(&flows));
        source.defects.extend(missed_data(&flows));
        let mut run = fathom_capture_run::run(vec![source], &flows, &queues);
        env!("CARGO_PKG_VERSION").clone_into(&mut run.tool_version);
        run.started = WallTime(first_at.max(0) as u64).to_string();
        run.partial = unread.map(|message| Interruption::CaptureUnreadable { capture: name, message });
        let recorder = Recorder::new(&flows.largest(PICTURES), Limits::default(), flows.totalled.first_at);
        let tracer = Box::new(Tracer::second_pass(recorder, bounds, &flows));
        Ok(SecondPass { file: File::new(), tracer, found: Found { run, queues } })
    }
}

impl SecondPass {
    /// Takes the next bytes of the file.
    ///
    /// # Errors
    /// If it is another file, and not a capture.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.file.push(bytes, |times, packet| self.tracer.packet(times, packet))
    }
    /// At the end of the file: the document, as of `fathom trace --json`, and the page.
    #[must_use]
    pub fn finish(self) -> Output {
        let Found { run, queues } = self.found;
        let (_, recorder) = self.tracer.finish();
        let diagnosis = diagnose(&run);
        let page = fathom_trace_page::page(recorder, &queues, &run, &diagnosis);
        Output { document: crate::json(&document(&run, &diagnosis)), page }
    }
}
