//! Scenario files: TOML to a validated [`Plan`], and the built-in lines.
//!
//! ```
//! let text = fathom_scenario::builtin("dsl").unwrap();
//! let plan = fathom_scenario::parse(text, "dsl.toml").unwrap();
//! println!("{}: {} hops", plan.name, plan.line.hops.len());
//! ```
//!
//! A file looks like this; `docs/scenarios.md` describes every field.
//! ```toml
//! name = "home"
//! about = "What it shows"
//! source = "Where the numbers come from"
//!
//! [[hop]]
//! name = "access"
//! up = { rate = "3mbit", delay = "10ms", queue = "fifo limit 375000b" }
//! down = { rate = "50mbit", delay = "10ms", queue = "fifo limit 256p" }
//!
//! [load]
//! up_flows = 1
//! duration = "20s"
//!
//! [expect]
//! idle_latency = ["20ms", "30ms"]
//! max_working_latency = ["900ms", "1050ms"]
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod application;
mod axis;
mod builtin;
mod claim;
mod error;
mod field;
mod file;
mod grid;
mod page_load;
mod plan;
mod playback;
mod plugin;
mod queue_series;
mod radio_file;
mod run;
mod settings;
mod side_file;
mod timetable;
mod trace_file;
mod workload;
mod workload_file;

pub use application::{APPLICATIONS, Role, applications, refusal};
pub use axis::{Axis, AxisError};
pub use builtin::{BUILTIN_NAMES, builtin, builtin_plan, gallery_names};
pub use claim::{Arithmetic, Check, Claim};
pub use error::ScenarioError;
pub use file::{parse, parse_with_files};
pub use grid::Grid;
pub use page_load::{PageLoad, PageStep};
pub use plan::{Expect, HopPlan, LatencyRange, LinePlan, MAX_HOPS, Plan};
pub use playback::Playback;
pub use plugin::PluginValue;
pub use queue_series::QueueSeries;
pub use settings::{Setting, with_settings};
pub use timetable::{Departure, Timetable, UDP_HEADERS};
pub use trace_file::{Files, TRACE_NAMES};
pub use workload::{
    CALL_EVERY, CALL_PACKET, CONGESTION_CONTROLS, EdgePlan, LoadPlan, MAX_RATES, PAGE_REQUEST, PagePlan,
    RunPlan, START_WITHIN, Spacing, TransportPlan, VideoPlan, WorkloadKind, WorkloadPlan, load_kind, loads,
};
