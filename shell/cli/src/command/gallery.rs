//! `fathom sim gallery`: simulates every scenario with published numbers, and checks them.
use crate::args::GalleryArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::signal;
use crate::terminal::{self, Console, warn};
use fathom_app::gallery::{self, ClaimCount, Exhibit};
use fathom_os::clock::Clock;

/// Simulates all, prints each published number with its source and the simulated one, and writes
/// the page.
pub(crate) fn run(args: &GalleryArgs, console: Console) -> Outcome {
    let (clock, cancel) = (Clock::start(), signal::cancel_token()?);
    let items = gallery::run(&args.names, &cancel)?;
    let ClaimCount { claims, held } = gallery::count(&items);
    if args.json {
        terminal::print(&(gallery::document(&items).to_string() + "\n"))?;
    } else {
        if !console.is_quiet() {
            show(&items, console)?;
            terminal::print("\n")?;
        }
        let scenarios = items.len();
        terminal::print(&format!("{held} of {claims} claims hold, in {scenarios} scenarios\n"))?;
    }
    console.note(&format!("fathom sim gallery: {:.1} s", clock.now().as_secs_f64()));
    if !args.no_save {
        let page = gallery::save(&args.output_dir, &items)?;
        console.note(&format!("wrote {} (open it in a browser)", page.display()));
    }
    if cancel.is_cancelled() {
        warn(&format!("fathom sim gallery: interrupted: {} scenarios were simulated", items.len()));
        return Ok(Exit::Environment);
    }
    Ok(if held == claims { Exit::Healthy } else { Exit::Bloated })
}

fn show(items: &[Exhibit], console: Console) -> Result<(), Failure> {
    let (style, columns) = console.stdout_form();
    for item in items {
        let heading =
            format!("\n{}: {}\n  {}\n", item.plan.name, item.plan.about.trim(), item.plan.source.trim());
        terminal::print(&(heading + &fathom_report::claims(&item.claims, columns, style)))?;
    }
    Ok(())
}
