//! Flags of `fathom doctor`.
use clap::Args;

/// Show what this machine can measure, and how to enable the rest
///
/// Tries what the commands need: kernel timestamps, the accuracy of waits, CPU for the load of a
/// test, ICMP, raw sockets, packet capture, congestion controls, open files, network namespaces and
/// shapers. Takes two seconds and sends nothing to other hosts.
#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}
