//! The page, the HTTP API and `/metrics` of `fathom watch`.
//!
//! ```text
//!  thread "web"     one loop (tokio, current_thread): accepts, parses, checks, responds;
//!    |              reads no files
//!    |-- blocking   a few threads: queries of the history, the state of the targets
//! ```
//! Why only this crate uses an async runtime: `docs/adr/0009-a-runtime-for-the-page-alone.md`. The
//! API is described in `docs/openapi.json`.
#![deny(missing_docs)]

mod api;
mod app;
mod assets;
mod compare;
mod config;
mod dispatch;
mod findings;
mod first;
mod guard;
mod heatmap;
mod hub;
mod listen;
mod metrics;
mod now;
mod overview;
mod past;
mod period;
mod query;
mod range;
mod reply;
mod row;
mod samples;
mod secret;
mod server;
mod sessions;
mod shares;
mod smoke;
mod stored;

pub use config::{DEFAULT_LISTEN, WebConfig, WebError};
pub use fathom_certificate::Certificate;
pub use findings::{find_in_months, findings_json, zone_of};
pub use now::{HostNow, Live, TestNow, TestResult, Total};
pub use past::{Event, OpenPast, Past, Series};
pub use period::{Period, PeriodError, period_run};
pub use server::{Server, serve};
pub use stored::history;
