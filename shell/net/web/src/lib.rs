//! Server of a page: connections, TLS, passwords, sessions, and replies.
//!
//! ```text
//!  thread "web"     one loop (tokio, current_thread): accepts, parses, checks, responds;
//!    |              reads no files
//!    |-- blocking   a few threads (tokio::task::spawn_blocking): what the page reads
//! ```
//! A page implements [`Routes`], and [`serve`] serves it. The server responds by itself to
//! `/login`, `/logout`, `/icon.svg` and the files of [`About::assets`]. It calls [`Routes::get`]
//! only for a GET (or HEAD) of a client that has access.
//!
//! ```no_run
//! use fathom_web::{About, Asset, Refusal, Reply, Routes, WebConfig, page, quoted, serve};
//! use hyper::StatusCode;
//! use hyper::http::request::Parts;
//! use std::sync::Arc;
//!
//! struct Fleet;
//!
//! impl Routes for Fleet {
//!     const ABOUT: About = About {
//!         name: "fleet",
//!         command: "fathom fleet",
//!         style: "/fleet.css",
//!         assets: &[Asset { path: "/fleet.css", content_type: "text/css; charset=utf-8", bytes: b"" }],
//!         threads: 4,
//!     };
//!
//!     async fn get(self: &Arc<Self>, request: &Parts, asks_password: bool) -> Result<Reply, Refusal> {
//!         match request.uri.path() {
//!             "/" => Ok(page("<html><head></head></html>", "", asks_password, &request.headers)),
//!             path => {
//!                 Err(Refusal::new(StatusCode::NOT_FOUND, format!("{} does not exist", quoted(path))))
//!             }
//!         }
//!     }
//! }
//!
//! let server = serve(&WebConfig::default(), Arc::new(Fleet))?;
//! println!("http://{}", server.address);
//! # Ok::<(), fathom_web::WebError>(())
//! ```
//! A server without a page has the same limits of connections with [`connections`]. Why a page has
//! an asynchronous runtime: `docs/adr/0009-a-runtime-for-the-page-alone.md`.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod assets;
mod config;
pub mod connections;
mod dispatch;
mod guard;
mod listen;
mod lock;
mod query;
mod reply;
mod routes;
mod secret;
mod server;
mod sessions;
mod shares;

pub use assets::{Asset, page};
pub use config::{WebConfig, WebError};
pub use fathom_certificate::Certificate;
pub use lock::lock;
pub use query::{Query, decode, quoted};
pub use reply::{Age, Body, Refusal, Reply, Whole, document, no_store, pieces};
pub use routes::{About, Routes, Share};
pub use server::{Server, serve};
