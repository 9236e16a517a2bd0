//! Man page and completions, made from the flags.
use crate::args::Cli;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use clap::CommandFactory;

/// The manual page with a section for each subcommand, as roff on stdout.
pub(crate) fn page() -> Outcome {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut out = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut out).map_err(Failure::environment)?;
    for sub in command.get_subcommands().filter(|s| !s.is_hide_set()) {
        let title = format!("fathom-{}", sub.get_name());
        clap_mangen::Man::new(sub.clone()).title(title).render(&mut out).map_err(Failure::environment)?;
    }
    terminal::print(&String::from_utf8_lossy(&out))?;
    Ok(Exit::Healthy)
}

/// Completions of `shell` on stdout.
pub(crate) fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "fathom", &mut out);
    terminal::print(&String::from_utf8_lossy(&out))?;
    Ok(Exit::Healthy)
}
