//! `fathom watch enroll`: makes a watch a site of a fleet.
use crate::args::WatchEnrollArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::Console;
use fathom_watch_app::{EnrollRequest, GatewayTrust, Source, directory, enroll_site};

pub(crate) fn run(args: &WatchEnrollArgs, console: Console) -> Outcome {
    let source = Source::File(args.config.clone());
    let plan = source.read()?;
    let store = directory(args.store.as_deref(), Some(&plan))?;
    let token = std::fs::read_to_string(&args.token_file)
        .map_err(|error| Failure::environment(format_args!("{}: {error}", args.token_file.display())))?;
    let trust = match (&args.fingerprint, &args.ca_file) {
        (Some(fingerprint), _) => GatewayTrust::Fingerprint(fingerprint.clone()),
        (None, Some(path)) => GatewayTrust::CaFile(path.clone()),
        (None, None) => GatewayTrust::System,
    };
    let gateway = args.gateway.clone();
    let request = EnrollRequest { source, store, gateway, token: token.trim().to_owned(), trust };
    let identity = enroll_site(&request)?;
    console.note(&format!("enrolled; the identity is in {}", identity.display()));
    Ok(Exit::Healthy)
}
