//! One module a subcommand.
pub(crate) mod demo;
pub(crate) mod lab;
pub(crate) mod man;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod test;
