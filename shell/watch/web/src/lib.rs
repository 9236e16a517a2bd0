//! The page, the HTTP API and `/metrics` of `fathom watch`.
//!
//! The server itself is `fathom-web`. Its few threads that block run the queries of the history and
//! read the state of the targets. The API is described in `docs/openapi.json`.
#![deny(missing_docs)]

mod api;
mod app;
mod assets;
mod compare;
mod dispatch;
mod findings;
mod first;
mod heatmap;
mod hub;
mod metrics;
mod now;
mod overview;
mod past;
mod period;
mod range;
mod row;
mod samples;
mod server;
mod smoke;
mod stored;

pub use findings::{find_in_months, findings_json, zone_of};
pub use now::{HostNow, Live, TestNow, TestResult, Total};
pub use past::{Event, OpenPast, Past, Series};
pub use period::{Period, PeriodError, period_run};
pub use server::{DEFAULT_LISTEN, serve};
pub use stored::history;
