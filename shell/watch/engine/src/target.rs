//! A target as the thread that probes it has it.
use crate::report::SeriesSlot;
use fathom_watch_plan::Target;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// A command to a thread that probes.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// Probe this target from now on.
    Add(ProbedTarget),
    /// Stop probing the target with this number.
    Remove(u32),
    /// The resolved address of a target, or why there is none.
    Address(u32, Result<IpAddr, String>),
    /// Send nothing more, report what is known, and end.
    Stop,
}

/// A target and where its samples go.
#[derive(Clone, Debug)]
pub(crate) struct ProbedTarget {
    /// Its number in this process; it stays the same when the plan is read again.
    pub(crate) number: u32,
    pub(crate) target: Arc<Target>,
    /// The first of its series.
    pub(crate) slot: SeriesSlot,
    pub(crate) resolved: ResolvedAddress,
}

/// The resolved address of a host, and the previous one, from which replies may still come.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct ResolvedAddress {
    address: Option<IpAddr>,
    before: Option<IpAddr>,
    /// Why there is none.
    problem: String,
}

impl ResolvedAddress {
    /// Takes what the resolver found. A host that is no longer found keeps its address. True if it moved.
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
    /// Whether an answer may come from there.
    pub(crate) fn is_from(&self, from: Option<SocketAddr>) -> bool {
        let from = from.map(|from| from.ip());
        from.is_some() && (from == self.address || from == self.before)
    }
}
