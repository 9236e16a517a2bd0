//! `fathom serve`: runs a test server.
use crate::args::ServeArgs;
use crate::failure::{Exit, Outcome};
use crate::signal;
use crate::terminal::Console;
use fathom_app::serve::{self, Config, Server};
use fathom_text::counted;
use fathom_units::Bytes;
use std::net::{IpAddr, SocketAddr};

/// Serves until Ctrl-C.
pub(crate) fn run(args: &ServeArgs, console: Console) -> Outcome {
    let cancel = signal::cancel_token()?;
    let stats = serve::run(config(args), &cancel, &mut |server| console.note(&welcome(args, server)))?;
    console.note(&format!(
        "served {}: {} received, {} sent",
        counted(stats.sessions, "session", "sessions"),
        Bytes(stats.up_bytes),
        Bytes(stats.down_bytes)
    ));
    Ok(Exit::Healthy)
}

fn config(args: &ServeArgs) -> Config {
    Config {
        listen: args.listen.clone(),
        port: args.port,
        token: args.token.clone(),
        max_sessions: args.max_clients,
        max_time: args.max_time,
        max_bytes: args.max_bytes,
        ..Config::default()
    }
}

/// The commands with which other machines test against this one.
fn welcome(args: &ServeArgs, server: &Server) -> String {
    let port = server.local_port();
    let mut text = format!(
        "fathom serve: ready on port {port}, TCP and UDP (a firewall must let both through)\nOn the other machine, run one of:"
    );
    let token = if args.token.is_some() { " --token TOKEN" } else { "" };
    for address in server.local_addresses() {
        text += &format!("\n  fathom test {}{token}", target(*address, port));
    }
    text + "\nCtrl-C stops it"
}

/// An address as `fathom test` accepts it, without the default port.
fn target(address: IpAddr, port: u16) -> String {
    if port == fathom_app::test::DEFAULT_PORT {
        address.to_string()
    } else {
        SocketAddr::new(address, port).to_string()
    }
}
