//! A shaper as the configuration of another router or program. It changes nothing here.
use super::{FixFailure, FixResult};
use crate::AppError;
use fathom_diagnose::{FixEvidence, diagnose, diagnose_fix};
use fathom_prose::{recommended_rates, recommended_round_trip};
use fathom_report::{ExportData, FixData};
use fathom_shaper::{ShapeRequest, ShaperKind};
use fathom_shaper_export::{Line, Platform, QueueKind, export as configuration};
use fathom_units::{PerDirection, Rate};
use std::path::Path;

/// A request for a configuration.
pub struct ExportRequest<'a> {
    /// What is to be configured.
    pub platform: Platform,
    /// The shaper. Its interface is that of the platform.
    pub shape: ShapeRequest,
    /// The platform's interface to the local network.
    pub lan: Option<String>,
    /// A result of `fathom test`, for rates and a round-trip time that are not given.
    pub from: Option<&'a Path>,
}

/// A configuration.
#[derive(Debug)]
pub struct Exported {
    /// The result as a document.
    pub result: FixResult,
    /// The configuration.
    pub text: String,
}

/// Writes the configuration of a shaper.
///
/// # Errors
/// If the result cannot be read, there is no rate, or the platform cannot shape so.
pub fn export(request: ExportRequest<'_>) -> Result<Exported, AppError> {
    let ExportRequest { platform, shape, lan, from } = request;
    let measured = from.map(|file| fathom_store::load_any(file).map_err(AppError::Load)).transpose()?;
    let advice = measured.map(|run| diagnose(&run)).unwrap_or_default();
    let found = recommended_rates(&advice);
    let rates = PerDirection { up: shape.up.or(found.up), down: shape.down.or(found.down) };
    if rates == PerDirection::default() {
        return Err(FixFailure::NoRates.into());
    }
    let line = Line {
        wan: shape.device,
        lan,
        rates,
        framing: shape.framing,
        round_trip: shape.round_trip.or_else(|| recommended_round_trip(&advice)),
        queue: shape.shaper.map(queue),
    };
    let exported = configuration(platform, &line).map_err(FixFailure::Export)?;
    let data = ExportData {
        platform: platform.name(),
        rates_bits_per_second: exported.rates.map(|rate| rate.map(Rate::as_bits_per_second)),
        configuration: exported.text.clone(),
    };
    let evidence = FixEvidence {
        interface: &line.wan,
        before: None,
        after: None,
        is_shaped: false,
        checks: &[],
        conflicts: &[],
    };
    let data = FixData { interface: Some(line.wan.clone()), export: Some(data), ..FixData::default() };
    let diagnosis = diagnose_fix(&evidence);
    Ok(Exported { result: FixResult { headline: headline(platform), diagnosis, data }, text: exported.text })
}

fn headline(platform: Platform) -> String {
    format!("A configuration of {}. Nothing was changed.", platform.title())
}

/// What is like a shaper of this host elsewhere.
const fn queue(kind: ShaperKind) -> QueueKind {
    match kind {
        ShaperKind::CakeMq | ShaperKind::Cake => QueueKind::Cake,
        ShaperKind::HtbFqCodel => QueueKind::FqCodel,
        ShaperKind::FlowHash => QueueKind::Fair,
        ShaperKind::Tbf => QueueKind::Short,
    }
}
