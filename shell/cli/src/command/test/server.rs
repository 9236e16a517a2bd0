//! The servers of a test, in the order in which they are tried.
use crate::failure::Failure;
use crate::terminal::warn;
use fathom_app::test::{PUBLIC_SERVERS, PublicServer, Settings, requires_acceptance};
use std::io::{self, IsTerminal, Write};

/// The given server; otherwise those of the user's list; otherwise the public servers whose policy
/// is accepted.
pub(super) fn choose(given: Option<&str>, accepted: Option<&str>) -> Result<Vec<String>, Failure> {
    let settings = Settings::of_user();
    let settings = settings.as_ref();
    let accepted = PUBLIC_SERVERS.iter().find(|server| Some(server.name) == accepted);
    if let (Some(settings), Some(server)) = (settings, accepted)
        && !settings.has_accepted(server)?
    {
        settings.accept(server)?;
    }
    let may_use = |server: &PublicServer| {
        let is_remembered = settings.map_or(Ok(false), |settings| settings.has_accepted(server))?;
        Ok::<_, Failure>(is_remembered || accepted == Some(server))
    };
    if let Some(server) = given {
        return match requires_acceptance(server) {
            Some(public) if !may_use(public)? && !ask(public, settings)? => Err(Failure::input(format!(
                "{} requires your consent\n  try: --accept-policy {} ({})",
                public.title, public.name, public.policy
            ))),
            _ => Ok(vec![server.to_owned()]),
        };
    }
    let own = settings.map_or(Ok(Vec::new()), Settings::servers)?;
    if let (Some(settings), Some(first)) = (settings, own.first()) {
        let file = settings.servers_file();
        warn(&format!("fathom test: no server given: testing against {first} ({})", file.display()));
        return Ok(own);
    }
    let mut usable = Vec::new();
    for server in &PUBLIC_SERVERS {
        if may_use(server)? {
            usable.push(server);
        }
    }
    let [preferred, ..] = &PUBLIC_SERVERS;
    if usable.is_empty() && ask(preferred, settings)? {
        usable.push(preferred);
    }
    let Some(first) = usable.first() else { return Err(no_server()) };
    warn(&format!("fathom test: no server given: testing against {} ({})", first.title, first.url));
    Ok(usable.iter().map(|server| server.url.to_owned()).collect())
}

fn no_server() -> Failure {
    let choices = PUBLIC_SERVERS
        .map(|server| format!("--accept-policy {:<10}  {}: {}", server.name, server.title, server.policy));
    Failure::input(format!("no server given\n  try: fathom test SERVER, or\n  {}", choices.join("\n  ")))
}

/// Asks whether a public server may be used, if there is somebody to ask.
fn ask(server: &PublicServer, settings: Option<&Settings>) -> Result<bool, Failure> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(false);
    }
    // Lines of 80 columns.
    warn(&format!("{} requires your consent. {}\nIts policy: {}", server.title, server.data, server.policy));
    let mut answer = String::new();
    let prompt = write!(io::stderr(), "Use it, now and later? [y/N] ").and_then(|()| io::stderr().flush());
    prompt.and_then(|()| io::stdin().read_line(&mut answer)).map_err(Failure::environment)?;
    let is_yes = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
    if let Some(settings) = settings.filter(|_| is_yes) {
        settings.accept(server)?;
    }
    Ok(is_yes)
}
