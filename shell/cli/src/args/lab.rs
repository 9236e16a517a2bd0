//! Flags of `fathom lab`.
use super::OutputArgs;
use clap::Args;
use fathom_qdisc::Spec;
use std::ffi::OsString;
use std::path::PathBuf;

/// Run a program behind an emulated line
///
/// With COMMAND, runs it in a network namespace. Its packets pass the emulated line to the remote
/// end, where `fathom serve` runs. The variables FATHOM_SERVER and FATHOM_CLIENT of COMMAND hold
/// the two addresses. Shows how many packets each queue forwarded, dropped and marked. Without
/// COMMAND, starts a shell. The exit code is that of COMMAND.
///
/// With SCENARIO, runs the load of the scenario over its line with real kernel TCP, and shows the
/// result as `fathom test` does.
///
/// Works without root where the kernel allows user namespaces.
#[derive(Args, Debug)]
pub(crate) struct LabArgs {
    /// Scenario whose load is run: a built-in name or a file
    #[arg(value_name = "SCENARIO", conflicts_with_all = ["line", "far", "capture", "program"])]
    pub(crate) scenario: Option<String>,
    /// Emulated line for COMMAND
    ///
    /// The name of a built-in line (see --list) or a scenario file.
    #[arg(long, default_value = "dsl", value_name = "NAME|FILE")]
    pub(crate) line: String,
    /// Replace the queue of every bottleneck
    ///
    /// A queue discipline with its parameters, as in `fq_codel` or `fifo limit 100ms`.
    #[arg(long, value_name = "QUEUE")]
    pub(crate) queue: Option<Spec>,
    /// Congestion control
    ///
    /// Congestion control used at both ends (set per route).
    #[arg(long, default_value = "cubic", value_name = "NAME")]
    pub(crate) congestion_control: String,
    /// Also run a shell command at the remote end
    ///
    /// Passed to /bin/sh, as in 'iperf3 -s'. `fathom serve` runs there in any case.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) far: Option<String>,
    /// Random seed
    ///
    /// For packet loss, reordering and flow hashes.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// List the built-in lines
    #[arg(long)]
    pub(crate) list: bool,
    /// Program to run at the local end [default: a shell]
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) program: Vec<OsString>,
    #[command(flatten)]
    pub(crate) capture: CaptureArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Flags of the packet captures of a lab.
#[derive(Args, Debug)]
#[command(next_help_heading = "Capture options")]
pub(crate) struct CaptureArgs {
    /// Capture all packets to files in DIR
    ///
    /// Writes one capture for each end of the path and for each end of every link, and truth.json
    /// with what the queues really did.
    #[arg(long, value_name = "DIR")]
    pub(crate) capture: Option<PathBuf>,
    /// Bytes to capture of each packet
    ///
    /// Counted from the IP header.
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(60..=65_535), value_name = "BYTES", requires = "capture")]
    pub(crate) snaplen: u32,
    /// Capture super-packets at the ends of the path
    ///
    /// Shows packets as a host with a segmenting and coalescing network card (TSO, GRO) captures
    /// them.
    #[arg(long, requires = "capture")]
    pub(crate) super_packets: bool,
}
