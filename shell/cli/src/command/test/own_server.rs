//! The server of a test in a build that knows only `fathom serve`.
use crate::args::TestArgs;
use crate::failure::Failure;
use fathom_app::test::Settings;

/// A server to try.
pub(super) struct Choice {
    pub(super) server: String,
    /// Where it comes from, if the user did not give it.
    pub(super) origin: Option<String>,
}

/// The given server; otherwise those of the user's list.
pub(super) fn choose(args: &TestArgs) -> Result<Vec<Choice>, Failure> {
    if let Some(server) = &args.server {
        return Ok(vec![Choice { server: server.clone(), origin: None }]);
    }
    let Some(settings) = Settings::of_user() else { return Ok(Vec::new()) };
    let origin = Some(settings.servers_file().display().to_string());
    let own = |server| Choice { server, origin: origin.clone() };
    Ok(settings.servers()?.into_iter().map(own).collect())
}
