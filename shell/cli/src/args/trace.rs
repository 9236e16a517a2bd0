//! Flags of `fathom trace`.
use super::OutputArgs;
use clap::Args;
use fathom_app::trace::{Export, ExportForm};
use fathom_units::Duration;
use std::path::PathBuf;

/// Analyze a packet capture: bottleneck, buffer, who filled it
///
/// Locates the bottleneck queue and shows its size, the flows that filled it and the flows that it
/// delayed. Reads pcap and pcapng files, also compressed with gzip, zstd, lz4 or xz. With several
/// captures of the same path and time, it also shows what happened to the packets between them; the
/// diagnosis is that of the first capture.
///
/// Capture on the host that is slow, or on its router, while it is slow. 128 bytes of each packet
/// are enough. TCP timestamps help: they show on which side of the capture point the queue is.
///
/// Ctrl-C ends a live capture; what was captured until then is analyzed.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true)]
pub(crate) struct TraceArgs {
    /// Capture files; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "interface")]
    pub(crate) files: Vec<PathBuf>,
    /// The captures share one clock
    ///
    /// Uses their timestamps as they are, without clock correction.
    #[arg(long)]
    pub(crate) one_clock: bool,
    /// Analysis threads: 1 or 2 [default: automatic]
    ///
    /// Does not affect the result.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2), conflicts_with = "interface")]
    pub(crate) threads: Option<u8>,
    /// Capture packets on this interface now
    ///
    /// Captures until Ctrl-C or the end of --duration. `any` captures on all interfaces.
    #[arg(short, long, value_name = "NAME", conflicts_with = "files", help_heading = "Live capture")]
    pub(crate) interface: Option<String>,
    /// Stop the capture after this time
    #[arg(
        long,
        value_name = "TIME",
        requires = "interface",
        conflicts_with = "files",
        help_heading = "Live capture"
    )]
    pub(crate) duration: Option<Duration>,
    /// Bytes to capture of each frame
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(128..=65_535), value_name = "BYTES", requires = "interface", conflicts_with = "files",
        help_heading = "Live capture")]
    pub(crate) snaplen: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Also write another tool's format (repeatable)
    ///
    /// xplot=DIR, tcptrace=FILE, tstat=FILE, pping=FILE or qlog=DIR.
    #[arg(long, value_parser = export, value_name = "FORMAT=PATH", help_heading = "Output options")]
    pub(crate) export: Vec<Export>,
    /// Flow in the page, graphs and qlog (repeatable)
    ///
    /// The number of a flow, as the table shows it. Default: the 8 largest flows.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Output options")]
    pub(crate) flow: Vec<u32>,
    /// Write a copy to share, without a diagnosis
    ///
    /// The copy has only packet headers, with other addresses. It gives the same diagnosis.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "export", "json"],
        help_heading = "Output options")]
    pub(crate) anonymize: Option<PathBuf>,
}

/// Names of the formats of `--export`.
const EXPORTS: [(&str, ExportForm); 5] = [
    ("xplot", ExportForm::Xplot),
    ("tcptrace", ExportForm::Tcptrace),
    ("tstat", ExportForm::Tstat),
    ("pping", ExportForm::Pping),
    ("qlog", ExportForm::Qlog),
];

/// Parses `FORMAT=PATH`.
fn export(text: &str) -> Result<Export, String> {
    let (name, path) = text.split_once('=').unwrap_or((text, ""));
    let Some((_, form)) = EXPORTS.into_iter().find(|(known, _)| *known == name) else {
        let known = EXPORTS.map(|(known, _)| known);
        let guess = fathom_text::nearest(name, &known);
        let guess = guess.map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
        return Err(format!("unknown format {name:?} ({guess}known: {})", known.join(", ")));
    };
    if path.is_empty() {
        return Err(format!("{name} needs a path, as in {name}=PATH"));
    }
    Ok(Export { form, path: PathBuf::from(path) })
}
