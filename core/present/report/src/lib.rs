//! Run to text, HTML, SVG, CSV, Flent: pure rendering. Nothing is concluded here.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod audit;
mod axis;
mod bursts;
mod captured;
mod chart;
mod compare;
mod csv;
mod curve;
mod doctor;
pub mod document;
mod fix;
mod fleet;
mod flent;
mod flows;
mod gallery;
mod html;
mod live;
pub mod look;
mod path;
mod path_chart;
mod path_live;
mod path_screen;
mod path_svg;
mod ping;
mod provider;
mod quantity;
mod rows;
mod scatter;
mod screen;
mod sections;
mod size;
mod svg;
mod sweep;
mod watch;
mod workloads;

use fathom_diagnose::Diagnosis;
use fathom_run::Run;

pub use audit::{Audited, audit};
pub use compare::compare;
pub use csv::{csv, quoted};
pub use doctor::{Ability, Check, doctor, doctor_headline};
pub use document::{Brief, CommandDocument, Document, brief, command_document, document, judged_document};
pub use fathom_layout::{Detail, Style};
pub use fathom_prose::Origin;
pub use fix::{ExportData, FixData, FixOutcome, fix_baseline, fix_screen, phases, searches};
pub use fleet::{
    BuffersScreen, FleetScreen, SiteScreen, buffers_screen, buffers_summary, changes_screen, changes_summary,
    fleet_screen, site_screen, together_screen, trend_screen, trend_summary,
};
pub use flent::flent;
pub use gallery::{ClaimRow, Exhibit, claims, claims_in_short, exhibit_charts, gallery};
pub use html::html;
pub use live::LiveView;
pub use path_live::{PathHop, PathView};
pub use path_screen::path_screen;
pub use ping::{PingCounts, PingView};
pub use provider::provider_page;
pub use scatter::{BufferPoint, buffer_points, scatter};
pub use screen::summary;
pub use size::{size, size_cases, size_headline};
pub use svg::svg;
pub use sweep::sweep_page;
pub use watch::{Patterns, RecentStatus, patterns_screen, recent_screen};

/// One run of a comparison, with the name that the user gave it.
pub type Named<'a> = (&'a str, &'a Run, &'a Diagnosis);
