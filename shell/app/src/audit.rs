//! Audits a host: reads its files, finds its queue points and the worst delay of each.
use crate::{AppError, CancelToken};
use fathom_audit::{Facts, KnownRates, Observed, Tree, audit};
use fathom_audit_facts::{
    RemoteError, add_all, add_flowtables, add_qdiscs, add_unsent, add_wifi, files, remote, sampled,
};
use fathom_diagnose::{Diagnosis, diagnose_audit};
use fathom_report::{CommandDocument, command_document};
use fathom_run::HostAudit;
use fathom_units::{Duration, Rate, Time};
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fmt, io};

/// Time between two samples. A queue that fills and drains in less time is not a problem.
const SAMPLE_EVERY: std::time::Duration = std::time::Duration::from_millis(50);

/// The source of the files of a host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AuditSource {
    /// This host. It can be observed for a time, while something loads it.
    Local {
        /// Maximum duration of the observation.
        observe: Option<Duration>,
    },
    /// Another host, through a remote shell.
    Remote {
        /// Address of the host, as the remote shell accepts it.
        host: String,
        /// Remote shell command, with its arguments.
        rsh: String,
        /// Maximum time to read the files.
        timeout: Duration,
    },
    /// A directory with the saved files of a host.
    Directory(PathBuf),
}

/// A rate that the user knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedRate {
    /// The interface. `None` is the link beyond the interface with the default route.
    pub interface: Option<String>,
    /// The rate.
    pub rate: Rate,
}

/// A request to audit a host.
#[derive(Clone, Debug)]
pub struct AuditRequest {
    /// The source of the files.
    pub source: AuditSource,
    /// Rates that no file contains. The last one of each interface counts.
    pub rates: Vec<NamedRate>,
    /// Directory to which the files are saved.
    pub save: Option<PathBuf>,
}

/// An event that the caller can show before the result.
#[derive(Debug)]
pub enum AuditEvent<'a> {
    /// The kernel does not list its queue disciplines. The audit assumes the defaults.
    QdiscsUnknown(io::Error),
    /// `/sys` shows another network namespace than that of this process.
    OtherNamespace,
    /// The files were saved.
    Saved {
        /// Number of files.
        files: usize,
        /// The directory.
        directory: &'a Path,
    },
}

/// Why a host could not be audited.
#[derive(Debug)]
pub enum AuditError {
    /// The files of another host could not be read.
    Remote(RemoteError),
    /// There are no network interfaces.
    NoInterfaces {
        /// The host or the directory.
        source: String,
    },
    /// A rate names an interface that the host does not have.
    UnknownInterface {
        /// The name.
        name: String,
        /// The interfaces of the host.
        known: Vec<String>,
    },
    /// A file could not be saved.
    Save {
        /// The file.
        path: String,
        /// The system error.
        source: io::Error,
    },
}

impl fmt::Display for AuditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuditError::Remote(error) => error.fmt(f),
            AuditError::NoInterfaces { source } => {
                write!(f, "{source}: no network interfaces below sys/class/net")
            }
            AuditError::UnknownInterface { name, known } => {
                write!(f, "--rate {name}=...: unknown interface (known: {})", known.join(", "))
            }
            AuditError::Save { path, source } => {
                write!(f, "cannot write {path}: {source}\n  try: --save DIR elsewhere")
            }
        }
    }
}

/// The audited host and its diagnosis.
#[derive(Clone, PartialEq, Debug)]
pub struct AuditOutcome {
    /// The host and its interfaces.
    pub host: HostAudit,
    /// A finding for each queue point.
    pub diagnosis: Diagnosis,
}

impl AuditOutcome {
    /// The JSON document.
    #[must_use]
    pub fn document(&self) -> CommandDocument {
        let headline = fathom_prose::audit_verdict(&self.diagnosis).headline;
        command_document("audit", headline, &self.diagnosis, ("audit", &self.host))
    }
}

/// Reads a host, observes it if requested, and diagnoses its queue points. Cancelling ends the
/// observation early.
///
/// # Errors
/// If files cannot be read or saved, or a rate names an unknown interface.
pub fn run(
    request: &AuditRequest,
    cancel: &CancelToken,
    events: &mut dyn FnMut(AuditEvent<'_>),
) -> Result<AuditOutcome, AppError> {
    let tree = read(&request.source, events)?;
    if let Some(directory) = &request.save {
        let files = fathom_audit_facts::save(&tree, directory)
            .map_err(|(path, source)| AuditError::Save { path, source })?;
        events(AuditEvent::Saved { files, directory });
    }
    let facts = Facts::of(&tree);
    if facts.interfaces.is_empty() {
        return Err(AuditError::NoInterfaces { source: name(&request.source) }.into());
    }
    let known = known_rates(&request.rates, &facts)?;
    let observed = match request.source {
        AuditSource::Local { observe: Some(time) } => Some(observe(time, cancel)),
        _ => None,
    };
    let mut audit = audit(&facts, &known, observed.as_ref());
    if let AuditSource::Remote { host, .. } = &request.source {
        audit.host.host = Some(host.clone());
    }
    Ok(AuditOutcome { diagnosis: diagnose_audit(&audit), host: audit.host })
}

fn name(source: &AuditSource) -> String {
    match source {
        AuditSource::Local { .. } => "/".to_owned(),
        AuditSource::Remote { host, .. } => host.clone(),
        AuditSource::Directory(path) => path.display().to_string(),
    }
}

fn read(source: &AuditSource, events: &mut dyn FnMut(AuditEvent<'_>)) -> Result<Tree, AuditError> {
    match source {
        AuditSource::Remote { host, rsh, timeout } => {
            let timeout = std::time::Duration::from_nanos(timeout.as_nanos());
            return remote(rsh, host, timeout).map_err(AuditError::Remote);
        }
        AuditSource::Directory(path) => return Ok(files(path)),
        AuditSource::Local { .. } => {}
    }
    let mut tree = files(Path::new("/"));
    match add_all(&mut tree) {
        Err(error) => events(AuditEvent::QdiscsUnknown(error)),
        Ok(false) => events(AuditEvent::OtherNamespace),
        Ok(true) => {}
    }
    // A kernel without Wi-Fi or nf_tables has nothing to report; configuration files still can.
    let _ = add_wifi(&mut tree);
    let _ = add_flowtables(&mut tree);
    Ok(tree)
}

fn known_rates(rates: &[NamedRate], facts: &Facts) -> Result<KnownRates, AuditError> {
    let mut known = KnownRates::default();
    let names = || facts.interfaces.iter().map(|interface| interface.name.clone());
    for NamedRate { interface, rate } in rates {
        match interface {
            None => known.line = Some(*rate),
            Some(name) if names().any(|other| other == *name) => {
                known.interfaces.insert(name.clone(), *rate);
            }
            Some(name) => {
                return Err(AuditError::UnknownInterface { name: name.clone(), known: names().collect() });
            }
        }
    }
    Ok(known)
}

/// Samples the queues until the time is over or the token is cancelled.
fn observe(time: Duration, cancel: &CancelToken) -> Observed {
    let start = Instant::now();
    let mut observed = Observed::default();
    while start.elapsed().as_nanos() < u128::from(time.as_nanos()) && !cancel.is_cancelled() {
        let begun = Instant::now();
        let mut tree = sampled(Path::new("/"));
        // Queues that this kernel does not report are not observed; their queue points say so.
        let _ = add_qdiscs(&mut tree);
        let _ = add_unsent(&mut tree);
        let now = Time::from_nanos(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        observed.add(&tree, now);
        std::thread::sleep(SAMPLE_EVERY.saturating_sub(begun.elapsed()));
    }
    observed
}
