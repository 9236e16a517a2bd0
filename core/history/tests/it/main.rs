//! Integration tests of `fathom-history`.
mod chunk_bytes;
mod chunks;
mod columns;
mod corpus;
mod scale;
mod sketch;
mod support;
