//! The program that `make demo` builds: `fathom demo` with its defaults, without the crates that
//! only other commands need.
#![expect(dead_code, reason = "modules that this program shares with `fathom`, which uses all of them")]

mod failure;
mod live;
mod signal;
mod terminal;

use failure::{Exit, Failure, Outcome};
use fathom_app::demo::{self, DemoRequest};
use fathom_app::output::{exit_class, make_directory};
use fathom_app::scenario::{Changes, load};
use fathom_report::Detail;
use fathom_terminal::When;
use std::path::Path;
use std::process::ExitCode;
use terminal::Console;

fn main() -> ExitCode {
    let exit = run().unwrap_or_else(|failure| {
        terminal::warn(&format!("fathom demo: {failure}"));
        failure.exit
    });
    ExitCode::from(exit as u8)
}

/// Measures the line with both queues, shows both results and writes the report.
fn run() -> Outcome {
    let folder = Path::new(demo::FOLDER);
    let plan = load(demo::LINE, &Changes::default())?;
    make_directory(folder)?;
    fathom_os::userns::become_root().map_err(Failure::environment)?;
    let cancel = signal::cancel_token()?;
    let request = DemoRequest {
        plan,
        queue: demo::QUEUE.parse().map_err(Failure::input)?,
        queue_name: demo::QUEUE.to_owned(),
        flows: 1,
        congestion_control: "cubic".to_owned(),
    };
    let console = Console { color: When::Auto, detail: Detail::Normal, has_progress: true };
    // Progress is printed in any case: the demo takes 45 s.
    let followed = Console { detail: Detail::Verbose, ..console };
    let runs = demo::run(&request, &cancel, &mut live::follow(followed))?;
    let (style, columns) = console.stdout_form();
    let named: Vec<_> = ["before", "after"].into_iter().zip(&runs).map(|(n, (run, d))| (n, run, d)).collect();
    terminal::print(&fathom_report::compare(&named, columns, style))?;
    let page = demo::save(folder, &runs)?;
    console.note(&format!("wrote {} (open it in a browser)", page.display()));
    Ok(runs
        .iter()
        .map(|(run, d)| exit_class(run, d))
        .find(|exit| exit.severity() >= Exit::Input.severity())
        .unwrap_or(Exit::Healthy))
}
