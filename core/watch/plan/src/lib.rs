//! The configuration of `fathom watch`: targets, schedules and alert rules.
//!
//! ```
//! let text = "[[target]]\nname = 'router'\nhost = '192.0.2.1'";
//! let plan = fathom_watch_plan::parse(text, "watch.toml").unwrap();
//! println!("{} packets/s", plan.packets_per_second());
//! ```
//! `docs/watch.md` describes every key.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod alert_table;
mod archive;
mod error;
mod file;
mod line_test;
mod now;
mod own;
mod plan;
mod push;
mod receiver_table;
mod relay_table;
mod section;
mod settings;
mod site;
mod target;
mod url;

pub use archive::{Archive, ArchivePlace};
pub use error::PlanError;
pub use file::{MAX_FILE_BYTES, parse, toml_string};
pub use line_test::{LineTest, TEST_BUFFERS, TEST_DELAYS, TEST_RATES, is_of_test};
pub use now::{LastMinute, RouterNow, TargetNow, WINDOW};
pub use own::{OwnState, OwnTrouble};
pub use plan::Plan;
pub use push::{Push, PushHistogram, PushKind, check_label, is_header};
pub use settings::MIN_SIZE;
pub use site::{SITE_LABEL, Site};
pub use target::{Family, ProbeOptions, Protocol, Target};
pub use url::Url;
