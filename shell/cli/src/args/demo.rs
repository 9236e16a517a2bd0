//! Flags of `fathom demo`.
use clap::Args;
use std::path::PathBuf;

#[cfg(not(feature = "lab"))]
const SIMULATED: &str = "Show bufferbloat in a simulation";
#[cfg(not(feature = "lab"))]
const IN_A_SIMULATION: &str = "\
    Simulates two uploads: one through the oversized buffer that many modems have, one through a managed \
    queue. Shows both results side by side and writes a report as an HTML page. On Linux, the same demo \
    uploads with real TCP through an emulated line.";

/// Show bufferbloat on this machine in a minute
///
/// Uploads twice with real kernel TCP through a line that is emulated on this machine: once with
/// the oversized buffer that many modems have, once with a managed queue. Shows both results side
/// by side and writes a report as an HTML page. Nothing leaves this machine. Works without root
/// where the kernel allows user namespaces.
#[derive(Args, Debug)]
#[cfg_attr(not(feature = "lab"), command(about = SIMULATED, long_about = format!("{SIMULATED}\n\n{IN_A_SIMULATION}")))]
pub(crate) struct DemoArgs {
    /// Emulated line
    ///
    /// The name of a built-in line (see `fathom lab --list`) or a scenario file.
    #[arg(long, default_value = fathom_app::demo::LINE, value_name = "NAME|FILE")]
    pub(crate) line: String,
    /// Queue of the second run
    ///
    /// A queue discipline with its parameters, as in `fq_codel` or `codel target 5ms`.
    /// docs/queues.md lists them. Default: fq_codel target 10ms.
    #[arg(long, default_value = fathom_app::demo::QUEUE, value_name = "QUEUE", hide_default_value = true)]
    pub(crate) queue: String,
    /// TCP flows of the upload
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64), value_name = "N")]
    pub(crate) flows: u32,
    /// Congestion control
    #[arg(long, default_value = "cubic", value_name = "NAME")]
    pub(crate) congestion_control: String,
    /// Directory for the report
    ///
    /// The report is an HTML page; both results are saved with it.
    #[arg(long, default_value = fathom_app::demo::FOLDER, value_name = "DIR", help_heading = "Output options")]
    pub(crate) output_dir: PathBuf,
    /// Write no files
    #[arg(long, help_heading = "Output options")]
    pub(crate) no_save: bool,
    /// Print both results as lines of JSON
    #[arg(long, help_heading = "Output options")]
    pub(crate) json: bool,
}
