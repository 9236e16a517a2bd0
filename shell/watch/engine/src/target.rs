//! Targets as the probing threads see them.
use crate::report::SeriesSlot;
use fathom_watch_plan::Target;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// A command to a probing thread.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// Start probing this target.
    Add(ProbedTarget),
    /// Stop probing the target with this number.
    Remove(u32),
    /// The resolved address of a target, or why there is none.
    Address(u32, Result<IpAddr, String>),
    /// Stop sending, report what is known, and end.
    Stop,
}

/// A target and the slot of its samples.
#[derive(Clone, Debug)]
pub(crate) struct ProbedTarget {
    /// Number of the target in this process; it does not change on reload.
    pub(crate) number: u32,
    pub(crate) target: Arc<Target>,
    /// Slot of its first series.
    pub(crate) slot: SeriesSlot,
    pub(crate) resolved: ResolvedAddress,
}

/// The resolved address of a host, and the previous one, from which replies may still come.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct ResolvedAddress {
    address: Option<IpAddr>,
    before: Option<IpAddr>,
    /// Why there is no address.
    problem: String,
}

impl ResolvedAddress {
    /// Applies a result of the resolver. After a failure the old address is kept. Returns whether
    /// the address changed.
    pub(crate) fn take(&mut self, found: Result<IpAddr, String>) -> bool {
        match found {
            Ok(address) if self.address == Some(address) => false,
            Ok(address) => {
                self.before = self.address.replace(address);
                true
            }
            Err(problem) => {
                self.problem = problem;
                false
            }
        }
    }
    pub(crate) fn address(&self) -> Result<IpAddr, &str> {
        self.address.ok_or(if self.problem.is_empty() { "the name is being resolved" } else { &self.problem })
    }
    /// Whether a reply may come from this address.
    pub(crate) fn is_from(&self, from: Option<SocketAddr>) -> bool {
        let from = from.map(|from| from.ip());
        from.is_some() && (from == self.address || from == self.before)
    }
}
