//! The lab as its users see it.
use crate::{Child, LabError, LabReport};
use fathom_os::clock::Clock;
use fathom_scenario::LinePlan;
use fathom_units::Duration;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::process::Command;

/// An end of the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The user's.
    Client,
    /// The far one.
    Server,
}

/// What a lab needs to know beside the line.
#[derive(Clone, Debug)]
pub struct LabOptions {
    /// The run's clock: times of the report are on it.
    pub clock: Clock,
    /// Seed of everything random on the line.
    pub seed: u64,
    /// Congestion control of TCP senders on both sides, as the kernel spells it.
    pub congestion_control: String,
    /// Whether to give both sides an IPv6 address, if this kernel has IPv6.
    pub ipv6: bool,
    /// Time between two samples of the queues.
    pub sample_interval: Duration,
}

impl LabOptions {
    /// CUBIC, IPv6, a sample every 10 ms.
    #[must_use]
    pub fn new(clock: Clock, seed: u64) -> Self {
        LabOptions {
            clock,
            seed,
            congestion_control: "cubic".to_owned(),
            ipv6: true,
            sample_interval: Duration::from_millis(10),
        }
    }
}

/// Addresses of one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// From 198.18.0.0/15, the range for benchmarks (RFC 2544).
    pub v4: Ipv4Addr,
    /// From a unique local prefix (RFC 4193); `None` if switched off or unknown to this kernel.
    pub v6: Option<Ipv6Addr>,
}

/// A running line between two network namespaces. Dropping it ends it and every command in it.
#[derive(Debug)]
pub struct Lab {}

impl Lab {
    /// Makes both namespaces and starts the line between them.
    ///
    /// # Errors
    /// If the system refuses namespaces or TUN: the message says which setting and what to do.
    pub fn start(plan: &LinePlan, options: &LabOptions) -> Result<Lab, LabError> {
        let _ = (plan, options);
        unimplemented!()
    }
    /// Runs `work` on a fresh thread on `side`, and waits for it. Sockets that it makes stay there, as do threads it starts.
    ///
    /// # Errors
    /// If the thread cannot be started or moved.
    pub fn within<R: Send>(&self, side: Side, work: impl FnOnce() -> R + Send) -> Result<R, LabError> {
        let _ = (side, work);
        unimplemented!()
    }
    /// [`Lab::within`] the user's side.
    ///
    /// # Errors
    /// As [`Lab::within`].
    pub fn in_client<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, LabError> {
        self.within(Side::Client, work)
    }
    /// [`Lab::within`] the far side.
    ///
    /// # Errors
    /// As [`Lab::within`].
    pub fn in_server<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, LabError> {
        self.within(Side::Server, work)
    }
    /// Addresses of the user's side.
    #[must_use]
    pub fn client_address(&self) -> Addresses {
        unimplemented!()
    }
    /// Addresses of the far side.
    #[must_use]
    pub fn server_address(&self) -> Addresses {
        unimplemented!()
    }
    /// Takes the line down or up. While it is down, packets that arrive are lost and those in its queues wait.
    pub fn set_link(&self, up: bool) {
        let _ = up;
        unimplemented!()
    }
    /// Starts `command` on `side`, in a PID namespace of its own. Its standard streams are as `command` says.
    ///
    /// # Errors
    /// If the command cannot be started.
    pub fn spawn_command(&self, side: Side, command: Command) -> Result<Child, LabError> {
        let _ = (side, command);
        unimplemented!()
    }
    /// Ends the line and tells what it saw.
    ///
    /// # Errors
    /// If the line failed while it ran.
    pub fn finish(self) -> Result<LabReport, LabError> {
        unimplemented!()
    }
}
