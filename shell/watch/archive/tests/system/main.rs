//! From a history to object stores: folders, a simulated HTTP server that fails, and a real S3
//! server.
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod clock;
mod folder;
mod http;
mod killed;
mod objects;
mod past;
mod receiver;
mod s3;
mod site;
