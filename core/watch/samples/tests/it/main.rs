//! Integration tests of `fathom-watch-samples`.
mod chunk_bytes;
mod chunks;
mod columns;
mod corpus;
mod scale;
mod sketch;
mod support;
