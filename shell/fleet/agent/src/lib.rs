//! An agent's side of a fleet: it enrolls with a token, keeps its identity in a file, and replaces
//! its key once a day.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod enroll;
mod error;
mod gateway;
mod identity;
mod keeper;
mod pin;

pub use enroll::{Enrollment, Trust, enroll};
pub use error::AgentError;
pub use fathom_fleet_admission::{Labels, SiteName};
pub use identity::Identity;
pub use keeper::KeyKeeper;
