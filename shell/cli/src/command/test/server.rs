//! The servers of a test, in the order in which they are tried.
use crate::failure::Failure;
use crate::terminal::warn;
use fathom_app::test::{PUBLIC_SERVERS, PublicServer, Settings};
use std::io::{self, IsTerminal, Write};

/// The given server; otherwise those of the user's list; otherwise a public server.
pub(super) fn choose(given: Option<&str>, accepted: Option<&str>) -> Result<Vec<String>, Failure> {
    let settings = Settings::of_user();
    let [public] = &PUBLIC_SERVERS;
    if let Some(settings) = settings.as_ref().filter(|_| accepted == Some(public.name))
        && !settings.has_accepted(public)?
    {
        settings.accept(public)?;
    }
    if let Some(server) = given {
        return Ok(vec![server.to_owned()]);
    }
    let own = settings.as_ref().map_or(Ok(Vec::new()), Settings::servers)?;
    if let (Some(settings), Some(first)) = (&settings, own.first()) {
        let file = settings.servers_file();
        warn(&format!("fathom test: no server given: testing against {first} ({})", file.display()));
        return Ok(own);
    }
    let has_accepted = settings.as_ref().map_or(Ok(false), |settings| settings.has_accepted(public))?;
    if has_accepted || accepted == Some(public.name) || ask(public, settings.as_ref())? {
        warn(&format!("fathom test: no server given: testing against {}", public.url));
        return Ok(vec![public.url.to_owned()]);
    }
    Err(Failure::input(format!(
        "no server given\n  try: fathom test SERVER, or --accept-policy {} ({})",
        public.name, public.policy
    )))
}

/// Asks whether a public server may be used, if there is somebody to ask.
fn ask(server: &PublicServer, settings: Option<&Settings>) -> Result<bool, Failure> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(false);
    }
    // Lines of 80 columns.
    warn(&format!(
        "No server given. {} can be used. It learns your IP address and\nthe speed of your line. Its policy: {}",
        server.title, server.policy
    ));
    let mut answer = String::new();
    let prompt = write!(io::stderr(), "Use it, now and later? [y/N] ").and_then(|()| io::stderr().flush());
    prompt.and_then(|()| io::stdin().read_line(&mut answer)).map_err(Failure::environment)?;
    let is_yes = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
    if let Some(settings) = settings.filter(|_| is_yes) {
        settings.accept(server)?;
    }
    Ok(is_yes)
}
