//! `fathom fleet page`.
use super::question::place;
use crate::args::FleetPageArgs;
use crate::failure::{Exit, Outcome};
use crate::signal;
use crate::terminal::{Console, warn};
use fathom_fleet_app::gateway::{certificate_files, own_certificate};
use fathom_fleet_app::page::{Certificate, PageProgress, WebConfig, serve_page};
use fathom_fleet_app::question::Fleet;

pub(super) fn run(args: &FleetPageArgs, console: Console) -> Outcome {
    let fleet = Fleet::open(&place(&args.place))?;
    let config = WebConfig {
        listen: args.listen,
        secret_file: args.password_file.clone(),
        certificate: certificate(args),
        hosts: args.host.clone(),
    };
    let cancel = signal::cancel_token()?;
    serve_page(&fleet, &config, &cancel, &mut |progress| match progress {
        PageProgress::Ready { address, is_secure, fingerprint, new_password } => {
            let scheme = if is_secure { "https" } else { "http" };
            let mut text = format!("fathom fleet page: {scheme}://{address}");
            if let Some(fingerprint) = fingerprint {
                text += &format!("\nfingerprint: {fingerprint}");
            }
            if let Some((password, file)) = new_password {
                text += &format!("\npassword: {password} (stored in {})", file.display());
            }
            console.note(&(text + "\nCtrl-C stops it"));
        }
        PageProgress::Damaged(what) => warn(&what),
    })?;
    Ok(Exit::Healthy)
}

/// The given certificate; otherwise, if others can reach the page, a self-signed one.
fn certificate(args: &FleetPageArgs) -> Option<Certificate> {
    match (&args.certificate_file, &args.key_file) {
        (Some(chain), Some(key)) => Some(certificate_files(chain, key)),
        _ if args.no_tls || args.listen.ip().to_canonical().is_loopback() => None,
        _ => {
            let folder = args.password_file.as_ref().and_then(|file| file.parent()).unwrap_or("".as_ref());
            Some(own_certificate(folder, args.listen))
        }
    }
}
