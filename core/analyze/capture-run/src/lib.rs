//! Converts the results of a capture to a [`Run`], like those of every other source.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod answers;
mod flow;
mod hop;
mod intake;
mod probed;
mod queue;
mod series;
mod unknown;

pub use hop::hops;
pub use intake::Intake;
pub use unknown::part;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_bottleneck::Queues;
use fathom_flow::{FlowSummary, Flows};
use fathom_run::{Capture, CaptureSource, Instrument, Run, SCHEMA_VERSION};

/// Maximum number of flows in a run: those with the most bytes.
const MAX_FLOWS: usize = 100;
const MAX_QUEUES: usize = 20;

/// Creates the run of a capture. The caller fills in version, start time and host.
pub fn run(sources: Vec<CaptureSource>, flows: &Flows, queues: &Queues) -> Run {
    let title = sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ");
    Run {
        schema_version: SCHEMA_VERSION,
        tool_version: String::new(),
        command: "trace".into(),
        started: String::new(),
        title,
        host: fathom_run::Host::default(),
        facts: Default::default(),
        phases: Vec::new(),
        series: series::all(flows, queues, MAX_QUEUES),
        instrument: Instrument::default(),
        partial: None,
        capture: Some(Box::new(capture(sources, flows, queues))),
        path: None,
        history: None,
        bursts: Vec::new(),
        switch: None,
        host_traffic: Vec::new(),
        notes: Vec::new(),
    }
}

fn capture(sources: Vec<CaptureSource>, flows: &Flows, queues: &Queues) -> Capture {
    let origin = flows.totalled.first_at.unwrap_or(0);
    let by_bytes = |flow: &&FlowSummary| {
        core::cmp::Reverse(flow.totals().iter().map(|side| side.unique_bytes).sum::<u64>())
    };
    let mut largest: Vec<&FlowSummary> = flows.flows.iter().collect();
    largest.sort_by_cached_key(by_bytes);
    let flows_of_run = largest.iter().take(MAX_FLOWS).map(|summary| flow::captured(summary, origin));
    let mut found: Vec<_> =
        queues.bottlenecks.iter().filter_map(|bottleneck| queue::captured(bottleneck, queues)).collect();
    found.extend(queues.probed.iter().map(probed::captured));
    found.sort_by(|a, b| b.delay.median_s.total_cmp(&a.delay.median_s));
    found.truncate(MAX_QUEUES);
    Capture {
        sources,
        flow_count: flows.flows.len() as u64 + flows.totalled.forgotten_flows,
        flows: flows_of_run.collect(),
        datagrams: probed::flows(queues, MAX_FLOWS),
        answers: answers::captured(&flows.probes),
        queues: found,
        hops: Vec::new(),
        unknown: unknown::unknown(queues),
    }
}
