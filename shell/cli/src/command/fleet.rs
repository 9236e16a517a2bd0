//! `fathom fleet`: the lines of an operator.
mod page;
mod question;

use crate::args::{FleetAction, FleetArgs, FleetGatewayArgs, FleetTokenArgs};
use crate::failure::{Exit, Failure, Outcome};
use crate::signal;
use crate::terminal::{self, Console, warn};
use fathom_fleet_app::gateway::{
    self as fleet, EnrolledSite, GatewayConfig, GatewayEngine, GatewayProgress, Labels, Limits, TokenRequest,
};
use fathom_units::WallTime;
use std::time::Duration;

pub(crate) fn run(args: &FleetArgs, console: Console) -> Outcome {
    match &args.action {
        FleetAction::Sites(wanted) => question::sites(wanted, console),
        FleetAction::Site(wanted) => question::site(wanted, console),
        FleetAction::Buffers(wanted) => question::buffers(wanted, console),
        FleetAction::Changes(wanted) => question::changes(wanted, console),
        FleetAction::Trend(wanted) => question::trend(wanted, console),
        FleetAction::Together(wanted) => question::together(wanted, console),
        FleetAction::Page(wanted) => page::run(wanted, console),
        FleetAction::Gateway(wanted) => gateway(wanted, console),
        FleetAction::Token(wanted) => token(wanted),
        FleetAction::Enrolled(wanted) => {
            let all = fleet::enrolled(&wanted.state.state)?;
            terminal::print(&all.iter().map(enrolled).collect::<String>())?;
            Ok(Exit::Healthy)
        }
        FleetAction::Revoke(wanted) => {
            fleet::revoke(&wanted.state.state, &wanted.site)?;
            console.note(&format!("site {} is revoked", wanted.site));
            Ok(Exit::Healthy)
        }
    }
}

fn gateway(args: &FleetGatewayArgs, console: Console) -> Outcome {
    let cancel = signal::cancel_token()?;
    fleet::serve_gateway(&config(args), &cancel, &mut |progress| match progress {
        GatewayProgress::Ready { address, fingerprint } => {
            let scheme = if args.no_tls { "http" } else { "https" };
            let fingerprint = fingerprint.map_or_else(String::new, |f| format!("\nfingerprint: {f}"));
            console
                .note(&format!("fathom fleet gateway: {scheme}://{address}{fingerprint}\nCtrl-C stops it"));
        }
        GatewayProgress::Event(text) => warn(&format!("fathom fleet gateway: {text}")),
    })?;
    Ok(Exit::Healthy)
}

fn config(args: &FleetGatewayArgs) -> GatewayConfig {
    let state = args.state.state.clone();
    let certificate = match (&args.certificate_file, &args.key_file) {
        (Some(chain), Some(key)) => Some(fleet::certificate_files(chain, key)),
        _ => (!args.no_tls).then(|| fleet::own_certificate(&state, args.listen)),
    };
    let engine = args.engine.as_ref().map(|url| GatewayEngine {
        headers: args.access.header.clone(),
        token_file: args.access.token_file.clone(),
        ca_file: args.access.ca_file.clone(),
        ..GatewayEngine::new(url)
    });
    let limits =
        Limits { series: args.max_series, samples_per_minute: args.max_samples, ..Limits::default() };
    GatewayConfig {
        listen: args.listen,
        engine,
        objects: args.objects.clone(),
        limits,
        certificate,
        metrics_password_file: args.password_file.clone(),
        ..GatewayConfig::new(state)
    }
}

fn token(args: &FleetTokenArgs) -> Outcome {
    let pairs = args.label.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let labels = Labels::parse(pairs).map_err(|error| Failure::input(format_args!("--label: {error}")))?;
    let request = TokenRequest {
        life: Duration::from_nanos(args.valid.as_nanos()),
        site: args.site.clone(),
        labels: (!args.label.is_empty()).then_some(labels),
        replaces: args.replace,
    };
    let text = fleet::issue_token(&args.state.state, &request)?;
    terminal::print(&format!("{text}\n"))?;
    Ok(Exit::Healthy)
}

/// A site: its name, labels, and state.
fn enrolled(site: &EnrolledSite) -> String {
    let at = |ms: u64| WallTime(ms.saturating_mul(1_000_000)).to_string();
    let labels: String = site.labels.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let revoked = site.revoked_ms.map_or_else(String::new, |ms| format!("  revoked {}", at(ms)));
    let shared =
        site.duplicate_ms.map_or_else(String::new, |ms| format!("  used by two machines {}", at(ms)));
    format!("{}{labels}  enrolled {}{revoked}{shared}\n", site.name, at(site.enrolled_ms))
}
