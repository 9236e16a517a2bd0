//! One module per command.
pub(crate) mod audit;
pub(crate) mod buffer;
pub(crate) mod counterfactual;
pub(crate) mod demo;
pub(crate) mod fix;
pub(crate) mod gallery;
pub(crate) mod lab;
pub(crate) mod man;
pub(crate) mod ping;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod sim;
pub(crate) mod size;
pub(crate) mod sweep;
pub(crate) mod test;
pub(crate) mod trace;
pub(crate) mod watch;
