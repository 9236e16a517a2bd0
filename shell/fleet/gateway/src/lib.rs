//! The gateway of a fleet: agents send series and objects to it with a key that can be revoked. It
//! authenticates, checks and limits them, and forwards series to an engine, whose credentials no
//! agent has. Nothing can be read through it.
//!
//! ```text
//!  threads "gateway"    one loop each (tokio, current_thread): accept, parse, authenticate
//!    |-- blocking       check and forward a request, write an object, change the registry
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod admin;
mod api;
mod body;
mod caller;
mod config;
mod counts;
mod event;
mod forward;
mod gateway;
mod journal;
mod listen;
mod objects;
mod places;
mod registry_file;
mod reply;
mod secrets;
mod sites;
mod write;

pub use admin::{Admin, TokenRequest};
pub use config::{Engine, GatewayConfig, GatewayError};
pub use event::{Event, EventKind};
pub use fathom_certificate::Certificate;
pub use fathom_fleet_admission::{Labels, Limits, RegistryError, Site, SiteName};
pub use gateway::Gateway;
pub use registry_file::{ChangeError, StateError};
