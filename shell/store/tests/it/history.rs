//! The history of a watch: what was recorded comes back, whatever happens in between.
mod keeping;
mod support;
