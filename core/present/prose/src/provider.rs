//! What a provider's support needs to know of a result: what was excluded, how to see it without
//! this program, and what would help.
use crate::phase::{doing, noun};
use crate::verdict::headline_increase;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::{Diagnosis, Health};
use fathom_run::{Conclusion, Fact, FindingKind, FirstLink, LatencyIncrease, QueueLocation, Run, threshold};
use fathom_text::{bytes, milliseconds, rate};
use fathom_units::Direction;

/// Statements for a provider, each a list of sentences.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// Causes in the customer's home that are excluded, and why.
    pub excluded: Vec<String>,
    /// Steps that show the same without this program.
    pub steps: Vec<String>,
    /// What would remove the delay.
    pub requests: Vec<String>,
}

/// The evidence of a bloated line; `None` if this result shows none.
pub fn evidence_for_provider(run: &Run, diagnosis: &Diagnosis) -> Option<Evidence> {
    let increase = headline_increase(diagnosis).filter(|_| diagnosis.health == Health::Bloated)?;
    Some(Evidence {
        excluded: excluded(run, diagnosis),
        steps: steps(run, increase),
        requests: requests(diagnosis),
    })
}

fn excluded(run: &Run, diagnosis: &Diagnosis) -> Vec<String> {
    let has = |kind: FindingKind| diagnosis.findings.iter().any(|finding| finding.kind() == kind);
    let mut all = Vec::new();
    match run.path.as_ref().and_then(|path| path.first_link) {
        Some(FirstLink::Wired) => all.push("Wi-Fi: the computer was connected by cable.".to_string()),
        Some(FirstLink::Wifi) => all.extend(beyond_home(diagnosis).map(|location| {
            format!("Wi-Fi: hop {} answered without the delay during the load.", location.near_hop)
        })),
        None => {}
    }
    if !has(FindingKind::Instrument) {
        all.push("The computer: its timers and its processors were not late or busy.".to_string());
    }
    if !has(FindingKind::OtherTraffic) {
        all.push("Other devices: nothing waited before the load of the test.".to_string());
    }
    if !has(FindingKind::ProbeLoss) && !has(FindingKind::Outage) {
        all.push("Errors on the line: no probes were lost, and no outages occurred.".to_string());
    }
    all
}

/// A queue that is not between the computer and the first router.
fn beyond_home(diagnosis: &Diagnosis) -> Option<&QueueLocation> {
    diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::QueueLocation(location) if location.near_hop > 0 => Some(location),
        _ => None,
    })
}

fn steps(run: &Run, increase: &LatencyIncrease) -> Vec<String> {
    let address = run.facts.get(&Fact::Address).map_or("a server", |address| address.as_str());
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let load = doing(increase.phase);
    Vec::from([
        format!(
            "On a computer connected by cable, while nothing else uses the line, run ping {host}: {} (median).",
            milliseconds(increase.idle_p50_s)
        ),
        format!(
            "{load} at full speed for 30 s raises the same ping to {} (median), {} (p90).",
            milliseconds(increase.loaded_p50_s),
            milliseconds(increase.loaded_p90_s)
        ),
        "End the load. The ping falls again within seconds.".to_string(),
    ])
}

/// A buffer that delays packets for as long as hardly anyone notices, or an AQM.
fn requests(diagnosis: &Diagnosis) -> Vec<String> {
    let sizes = diagnosis.findings.iter().filter_map(|finding| match &finding.conclusion {
        Conclusion::BufferSize(size) if size.is_bloated => Some((finding.direction?, size)),
        _ => None,
    });
    let mut all: Vec<String> = sizes
        .map(|(direction, size)| {
            let enough = threshold::MODEST_S * size.rate_bits_per_second / 8.0;
            let equipment = match direction {
                Direction::Up => "the modem",
                Direction::Down => "the provider's end of the line",
            };
            format!(
                "Reduce the {} buffer of {equipment} from {} to {}: {} at {}.",
                noun(direction),
                bytes(size.ip_bytes),
                bytes(enough),
                milliseconds(threshold::MODEST_S),
                rate(size.rate_bits_per_second)
            )
        })
        .collect();
    all.push(
        "Or turn on active queue management there (RFC 7567): CoDel, PIE, FQ-CoDel or CAKE; on cable, DOCSIS-PIE (RFC 8034)."
            .to_string(),
    );
    all
}
