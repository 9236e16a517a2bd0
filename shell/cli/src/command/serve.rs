//! `fathom serve`: runs a test server.
use crate::args::{OtherProtocol, ServeArgs};
use crate::failure::{Exit, Failure, Outcome};
use crate::signal;
use crate::terminal::{Console, warn};
use fathom_app::AppError;
use fathom_app::serve::{
    self, Config, Event, IPERF3_PORT, IRTT_PORT, Progress, STAMP_PORT, Server, SessionEnd, WebConfig,
};
use fathom_text::{bytes, counted, seconds, thousands};
use std::net::{IpAddr, SocketAddr};

/// Serves until Ctrl-C.
pub(crate) fn run(args: &ServeArgs, console: Console) -> Outcome {
    let cancel = signal::cancel_token()?;
    let stats =
        serve::run(
            config(args)?,
            args.announce,
            args.results.clone(),
            &cancel,
            &mut |progress| match progress {
                Progress::Ready(server) => {
                    console.note(&welcome(args, server));
                    if let Some(page) = page(args, server).into_iter().next() {
                        console.show_code(&page);
                    }
                }
                Progress::NotAnnounced(error) => warn(&format!("warning: not announced: {error}")),
                Progress::NotKept(error) => warn(&format!("warning: {error}")),
                Progress::NotConfined(error) => {
                    warn(&format!("warning: rights that are not needed could not be dropped: {error}"));
                }
                Progress::Event(event) => console.note(&log_line(&event)),
            },
        );
    let stats = stats.map_err(|error| match error {
        // The usual advice is about flags of other commands.
        AppError::CannotMakeDirectory { .. } => Failure::environment(format_args!("--results: {error}")),
        other => other.into(),
    })?;
    console.note(&format!(
        "served {}: {} received, {} sent",
        counted(stats.sessions, "session", "sessions"),
        bytes(stats.up_bytes as f64),
        bytes(stats.down_bytes as f64)
    ));
    Ok(Exit::Healthy)
}

fn config(args: &ServeArgs) -> Result<Config, Failure> {
    if args.silent && !args.token.is_given() {
        let text = "--silent needs a token\n  try: --token-file FILE";
        return Err(Failure::input(text));
    }
    let port_of = |protocol, port| serves(args, protocol).then_some(port);
    Ok(Config {
        listen: args.listen.clone(),
        port: args.port,
        iperf3_port: port_of(OtherProtocol::Iperf3, IPERF3_PORT),
        irtt_port: port_of(OtherProtocol::Irtt, IRTT_PORT),
        stamp_port: port_of(OtherProtocol::Stamp, STAMP_PORT),
        web: Some(WebConfig {
            port: port_of(OtherProtocol::Web, args.web_port),
            certificate: args.certificate.clone().zip(args.key.clone()),
            names: vec![serve::own_name()],
            proxies: args.trust_proxy.iter().map(IpAddr::to_canonical).collect(),
        }),
        token: args.token.read()?,
        is_silent: args.silent,
        max_sessions: args.max_clients,
        max_time: args.max_time,
        max_bytes: args.max_bytes,
        max_hourly_bytes: args.max_hourly_bytes,
        ..Config::default()
    })
}

/// Whether clients of this program are served.
fn serves(args: &ServeArgs, protocol: OtherProtocol) -> bool {
    args.with.iter().any(|with| [protocol, OtherProtocol::All].contains(with))
}

/// An event as a line of a log. The system's log adds the time.
fn log_line(event: &Event) -> String {
    match event {
        Event::SessionEnded { client, duration, up_bytes, down_bytes, end } => {
            let end = match end {
                SessionEnd::Complete => "complete",
                SessionEnd::Lost => "connection lost",
                SessionEnd::Stopped => "the server stopped",
                SessionEnd::Refused(reason) => reason,
            };
            let duration = seconds(duration.as_secs_f64());
            let (up, down) = (bytes(*up_bytes as f64), bytes(*down_bytes as f64));
            format!("{client}: session of {duration}, {up} received, {down} sent: {end}")
        }
        Event::Refused { reason, count, client } => {
            let client = client.map_or(String::new(), |client| format!("{client}: "));
            let more = match count {
                1 => String::new(),
                _ => format!(" ({} since the last line about this)", thousands(*count as f64)),
            };
            format!("{client}refused: {reason}{more}")
        }
        Event::Panicked { count } => {
            let parts = counted(*count, "part of the server", "parts of the server");
            format!("{parts} failed and was closed or restarted: please report this bug")
        }
    }
}

/// The commands with which other machines test against this one.
fn welcome(args: &ServeArgs, server: &Server) -> String {
    let port = server.local_port();
    let mut text = format!(
        "fathom serve: ready on port {port}, TCP and UDP (a firewall must let both through)\nOn the other machine, run one of:"
    );
    let token = if args.token.is_given() { " --token-file FILE" } else { "" };
    if args.announce {
        text += &format!("\n  fathom test{token}");
    }
    for address in server.local_addresses() {
        text += &format!("\n  fathom test {}{token}", target(*address, port));
    }
    for (protocol, command) in [
        (OtherProtocol::Iperf3, "iperf3 -c "),
        (OtherProtocol::Irtt, "irtt client "),
        (OtherProtocol::Stamp, "fathom test stamp://"),
    ] {
        for address in server.local_addresses().iter().filter(|_| serves(args, protocol)) {
            text += &match (protocol, address) {
                (OtherProtocol::Stamp, IpAddr::V6(v6)) => format!("\n  {command}[{v6}]"),
                _ => format!("\n  {command}{address}"),
            };
        }
    }
    let pages = page(args, server);
    if !pages.is_empty() {
        text += "\nIn a browser, also of a phone, open:";
        pages.iter().for_each(|page| text += &format!("\n  {page}"));
    }
    if serves(args, OtherProtocol::Web) {
        // Nobody trusts a self-signed certificate.
        let scheme = if server.fingerprint().is_some() { "http" } else { "https" };
        for address in server.local_addresses() {
            text += &format!("\n  fathom test {scheme}://{}/", SocketAddr::new(*address, args.web_port));
        }
    }
    if let Some(fingerprint) = server.fingerprint().filter(|_| serves(args, OtherProtocol::Web)) {
        text += &format!("\nThe certificate is self-signed. Its SHA-256 is {fingerprint}");
    }
    text + "\nCtrl-C stops it"
}

/// Addresses of the page, which a server with a token has not. A given certificate is of a name
/// that is not known here, and a self-signed one is refused at first: browsers need neither.
fn page(args: &ServeArgs, server: &Server) -> Vec<String> {
    let of = |address: &IpAddr| format!("http://{}/", SocketAddr::new(*address, server.local_port()));
    if args.token.is_given() { Vec::new() } else { server.local_addresses().iter().map(of).collect() }
}

/// An address as `fathom test` accepts it, without the default port.
fn target(address: IpAddr, port: u16) -> String {
    if port == fathom_app::test::DEFAULT_PORT {
        address.to_string()
    } else {
        SocketAddr::new(address, port).to_string()
    }
}
