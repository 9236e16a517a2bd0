//! Whether ECN survives on the path to a host, or to many.
mod dispatch;
mod list;
mod store;
mod survey;

pub use survey::{Progress, SurveyRequest, SurveyResult, survey};

use crate::{AppError, CancelToken, ExitClass};
use fathom_client::{Family, resolve_server};
use fathom_diagnose::Diagnosis;
use fathom_ecn::{Report, Summary};
use fathom_ecn_sockets::{EcnError, Extent, test};
use fathom_os::clock::Clock;
use fathom_report::{CommandDocument, Detail, Style, command_document};
use serde_json::{Value, json};
use std::net::{SocketAddr, SocketAddrV4};

/// The judgment of a path.
#[derive(Clone, Debug)]
pub struct EcnResult {
    host: String,
    report: Report,
}

/// Tests the path to a host, `HOST` or `HOST:PORT`, with connections to its port. `progress` gets
/// the number of known hops.
///
/// # Errors
/// If the host has no IPv4 address, or this process may not open raw sockets.
pub fn run(
    host: &str,
    port: u16,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(usize),
) -> Result<EcnResult, AppError> {
    let address = resolve(host, port)?;
    let tested = test(address, Extent::Path, Clock::start(), cancel.flag(), progress)?;
    Ok(EcnResult { host: host.to_owned(), report: tested.report })
}

/// The first IPv4 address of a host.
fn resolve(host: &str, port: u16) -> Result<SocketAddrV4, AppError> {
    let found = resolve_server(host, port, Some(Family::V4))?;
    let v4 = |address: &SocketAddr| match address {
        SocketAddr::V4(v4) => Some(*v4),
        SocketAddr::V6(_) => None,
    };
    let first = found.iter().find_map(v4);
    Ok(first.ok_or_else(|| EcnError::Socket(std::io::ErrorKind::AddrNotAvailable.into()))?)
}

impl EcnResult {
    /// The headline, and with [`Detail::Normal`] or more a table.
    #[must_use]
    pub fn screen(&self, (style, columns): (Style, u16)) -> String {
        match style.detail {
            Detail::Quiet => self.headline() + "\n",
            Detail::Normal | Detail::Verbose => {
                fathom_ecn_report::ecn(&self.host, &self.report, columns, style)
            }
        }
    }
    fn headline(&self) -> String {
        fathom_ecn_report::ecn_headline(&self.host, &self.report)
    }
    /// The JSON document.
    #[must_use]
    pub fn document(&self) -> CommandDocument {
        let data = ecn_data(&self.host, &self.report);
        command_document("ecn", self.headline(), &Diagnosis::default(), ("ecn", data))
    }
    /// The exit class: whether a problem was found.
    #[must_use]
    pub fn exit_class(&self) -> ExitClass {
        match self.report.summary() {
            Summary::Survives => ExitClass::Healthy,
            Summary::Blocked | Summary::Altered => ExitClass::Bloated,
            Summary::NoAnswer | Summary::Unknown => ExitClass::NoResult,
        }
    }
}

/// The data of the JSON document.
fn ecn_data(host: &str, report: &Report) -> Value {
    let hops: Vec<Value> = report
        .hops
        .iter()
        .map(|(number, address)| json!({ "number": number, "address": address.map(|a| a.to_string()) }))
        .collect();
    json!({
        "host": host,
        "host_hop": report.host_hop,
        "hops": hops,
        "summary": report.summary(),
        "classic_agreed": report.has_classic(),
        "accurate_agreed": report.accurate_reply.map(|_| report.accurate_codepoint().is_some()),
        "port_closed": report.is_port_closed,
        "intercepted_at": report.intercepted_at.map(|address| address.to_string()),
        "findings": report.findings,
    })
}
