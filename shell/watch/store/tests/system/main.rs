//! Tests of the history: recorded data is returned, whatever happens in between.
mod clock;
mod crash;
mod damage;
mod events;
mod export;
mod full;
mod import;
mod keeping;
mod repair;
mod retention;
mod support;
mod version;
