//! `fathom fix --export`: prints the configuration of another router or program.
use super::{shape, show};
use crate::args::FixArgs;
use crate::failure::{Exit, Outcome};
use crate::terminal;
use fathom_app::fix::{ExportRequest, Platform, export};

/// Prints the configuration, or its document.
pub(super) fn run(args: &FixArgs, platform: Platform, device: &str) -> Outcome {
    let (shape, lan) = (shape(args, device), args.lan.clone());
    let exported = export(ExportRequest { platform, shape, lan, from: args.from.as_deref() })?;
    if args.json {
        return show::print_json(&exported.result);
    }
    terminal::print(&exported.text)?;
    Ok(Exit::Healthy)
}
