//! `fathom sim gallery`: every scenario with claims, and what comes out.
use crate::args::{GalleryArgs, When};
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_app::CancelToken;
use fathom_app::gallery::{self, ClaimCount, Exhibit};
use fathom_os::clock::Clock;

/// Runs all, prints each claim with its source, what was expected and what came out, and writes the page.
pub(crate) fn run(args: &GalleryArgs, when: When) -> Outcome {
    let clock = Clock::start();
    let items = gallery::run(&args.names, &CancelToken::new())?;
    let ClaimCount { claims, held } = gallery::count(&items);
    if args.json {
        terminal::print(&(gallery::document(&items).to_string() + "\n"))?;
    } else {
        show(&items, when)?;
        terminal::print(&format!("\n{held} of {claims} claims come out, in {} scenarios\n", items.len()))?;
    }
    terminal::note(&format!("fathom sim gallery: {:.1} s", clock.now().as_secs_f64()));
    if !args.no_save {
        let page = gallery::save(&args.output_dir, &items)?;
        terminal::note(&format!("wrote {} (open it in a browser)", page.display()));
    }
    Ok(if held == claims { Exit::Healthy } else { Exit::Bloated })
}

fn show(items: &[Exhibit], when: When) -> Result<(), Failure> {
    let (style, columns) = terminal::stdout_form(when);
    for item in items {
        let heading =
            format!("\n{}: {}\n  {}\n", item.plan.name, item.plan.about.trim(), item.plan.source.trim());
        terminal::print(&(heading + &fathom_report::claims(&item.claims, columns, style)))?;
    }
    Ok(())
}
