//! The server that other hosts test against.
use crate::{AppError, CancelToken};
use fathom_discovery::announce;
use fathom_os::confine::drop_rights;
use fathom_os::files::raise_limit;
pub use fathom_os::process::host_name;
use fathom_pages::{Judge, Judged};
use fathom_run::Run;
pub use fathom_server::{
    Config, Event, IPERF3_PORT, IRTT_PORT, STAMP_PORT, Server, SessionEnd, Stats, WebConfig,
};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Time between two checks for cancellation.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Judges the runs of browsers as those of the command line.
struct Diagnoses;

impl Judge for Diagnoses {
    fn judge(&self, run: &Run) -> Judged {
        let diagnosis = fathom_diagnose::diagnose(run);
        let document = fathom_report::document(run, &diagnosis);
        let brief = fathom_report::brief(run, &diagnosis);
        Judged {
            brief: serde_json::to_string(&brief).unwrap_or_default(),
            // A document has numbers and text only, which JSON can hold.
            json: serde_json::to_string(&document).unwrap_or_default(),
            page: fathom_report::html(&[(run, &diagnosis)]),
        }
    }
}

/// What a running server reports.
pub enum Progress<'a> {
    /// It is listening.
    Ready(&'a Server),
    /// Something happened.
    Event(Event),
    /// It could not be announced on the local network.
    NotAnnounced(io::Error),
    /// The rights that it does not need could not be dropped.
    NotConfined(io::Error),
}

/// Serves until it is cancelled. Before, the calling thread drops the rights to write files, to run
/// programs, and to make system calls that a server does not need. With `is_announced`, hosts of
/// the local network can find it.
///
/// # Errors
/// If the addresses cannot be bound.
pub fn run(
    config: Config,
    is_announced: bool,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Stats, AppError> {
    // With the usual 1,024, a few clients with many flows would leave none for others. If the
    // system refuses, connections beyond its limit wait in the backlog.
    let _ = raise_limit();
    if let Err(error) = drop_rights(&[]) {
        progress(Progress::NotConfined(error));
    }
    let (addresses, requires_token) = (config.listen.clone(), config.token.is_some());
    let server = Server::start_with_page(config, Arc::new(Diagnoses))?;
    progress(Progress::Ready(&server));
    // Withdrawn when it is dropped.
    let _announcement = is_announced
        .then(|| announce(&host_name(), &addresses, server.local_port(), requires_token))
        .transpose()
        .unwrap_or_else(|error| {
            progress(Progress::NotAnnounced(error));
            None
        });
    while !cancel.is_cancelled() {
        std::thread::sleep(LOOK_EVERY);
        server.events().into_iter().for_each(|event| progress(Progress::Event(event)));
    }
    let stats = server.stats();
    server.stop();
    Ok(stats)
}
