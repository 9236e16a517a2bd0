//! The servers of a test, in the order in which they are tried.
use crate::args::TestArgs;
use crate::failure::Failure;
use crate::terminal::warn;
use fathom_app::test::{PUBLIC_SERVERS, PublicServer, Settings, requires_acceptance, servers_nearby};
use std::io::{self, IsTerminal, Write};

/// A server to try.
pub(super) struct Choice {
    pub(super) server: String,
    /// Where it comes from, if the user did not give it.
    pub(super) origin: Option<String>,
}

/// What the user has accepted, now or earlier.
struct Consent<'a> {
    settings: Option<&'a Settings>,
    accepted: Option<&'a PublicServer>,
}

/// The given server; otherwise those on the local network, those of the user's list, and the public
/// servers whose policy is accepted.
pub(super) fn choose(args: &TestArgs) -> Result<Vec<Choice>, Failure> {
    let settings = Settings::of_user();
    let consent = Consent::remember(settings.as_ref(), args.accept_policy.as_deref())?;
    if let Some(load) = &args.load {
        consent.check(load)?;
    }
    match &args.server {
        Some(server) => consent.check(server),
        None => consent.all(args.connection.token.is_given()),
    }
}

impl<'a> Consent<'a> {
    fn remember(settings: Option<&'a Settings>, accepted: Option<&str>) -> Result<Self, Failure> {
        let accepted = PUBLIC_SERVERS.iter().find(|server| Some(server.name) == accepted);
        if let (Some(settings), Some(server)) = (settings, accepted)
            && !settings.has_accepted(server)?
        {
            settings.accept(server)?;
        }
        Ok(Consent { settings, accepted })
    }
    fn covers(&self, server: &PublicServer) -> Result<bool, Failure> {
        let is_remembered = self.settings.map_or(Ok(false), |settings| settings.has_accepted(server))?;
        Ok(is_remembered || self.accepted == Some(server))
    }
    /// The server that the user named.
    fn check(&self, server: &str) -> Result<Vec<Choice>, Failure> {
        match requires_acceptance(server) {
            Some(public) if !self.covers(public)? && !self.ask(public)? => Err(Failure::input(format!(
                "{} requires your consent\n  try: --accept-policy {} ({})",
                public.title, public.name, public.policy
            ))),
            _ => Ok(vec![Choice { server: server.to_owned(), origin: None }]),
        }
    }
    fn all(&self, has_token: bool) -> Result<Vec<Choice>, Failure> {
        let nearby = servers_nearby(has_token).into_iter().map(|found| Choice {
            server: found.server,
            origin: Some(format!("\"{}\" on this network", found.name)),
        });
        let mut choices: Vec<Choice> = nearby.collect();
        if let Some(settings) = self.settings {
            let file = settings.servers_file();
            let own = |server| Choice { server, origin: Some(file.display().to_string()) };
            choices.extend(settings.servers()?.into_iter().map(own));
        }
        let of_public = |public: &PublicServer| Choice {
            server: public.url.to_owned(),
            origin: Some(public.title.to_owned()),
        };
        for public in &PUBLIC_SERVERS {
            choices.extend(self.covers(public)?.then(|| of_public(public)));
        }
        let [preferred, ..] = &PUBLIC_SERVERS;
        if choices.is_empty() && self.ask(preferred)? {
            choices.push(of_public(preferred));
        }
        if choices.is_empty() { Err(no_server()) } else { Ok(choices) }
    }
    /// Asks whether a public server may be used, if there is somebody to ask.
    fn ask(&self, server: &PublicServer) -> Result<bool, Failure> {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Ok(false);
        }
        // Lines of 80 columns.
        warn(&format!(
            "{} requires your consent. {}\nIts policy: {}",
            server.title, server.data, server.policy
        ));
        let mut answer = String::new();
        let prompt =
            write!(io::stderr(), "Use it, now and later? [y/N] ").and_then(|()| io::stderr().flush());
        prompt.and_then(|()| io::stdin().read_line(&mut answer)).map_err(Failure::environment)?;
        let is_yes = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
        if let Some(settings) = self.settings.filter(|_| is_yes) {
            settings.accept(server)?;
        }
        Ok(is_yes)
    }
}

fn no_server() -> Failure {
    let choices = PUBLIC_SERVERS
        .map(|server| format!("--accept-policy {:<10}  {}: {}", server.name, server.title, server.policy));
    Failure::input(format!("no server given\n  try: fathom test SERVER, or\n  {}", choices.join("\n  ")))
}
