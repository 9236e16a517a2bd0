//! `fathom sim gallery`: every scenario with claims, and what comes out.
use crate::args::{GalleryArgs, When};
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_app::CancelToken;
use fathom_app::gallery::{self, Exhibit};
use fathom_os::clock::Clock;
use fathom_report::ClaimRow;
use serde_json::json;

/// Runs all, prints each claim with its source, what was expected and what came out, and writes the page.
pub(crate) fn run(args: &GalleryArgs, when: When) -> Outcome {
    let clock = Clock::start();
    let items = gallery::run(&args.names, &CancelToken::new())?;
    let all: usize = items.iter().map(|item| item.claims.len()).sum();
    let held: usize = items.iter().flat_map(|item| &item.claims).filter(|row| row.holds()).count();
    if args.json {
        terminal::print(&(document(&items).to_string() + "\n"))?;
    } else {
        show(&items, when)?;
        terminal::print(&format!("\n{held} of {all} claims come out, in {} scenarios\n", items.len()))?;
    }
    terminal::note(&format!("fathom sim gallery: {:.1} s", clock.now().as_secs_f64()));
    if !args.no_save {
        save(args, &items)?;
    }
    Ok(if held == all { Exit::Healthy } else { Exit::Bloated })
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

fn document(items: &[Exhibit]) -> serde_json::Value {
    let claim = |row: &ClaimRow| {
        json!({ "says": row.says, "published": row.published, "unit": row.unit, "expected": row.expected,
            "got": row.got, "holds": row.holds(), "note": row.note })
    };
    let item = |item: &Exhibit| {
        let claims: Vec<_> = item.claims.iter().map(claim).collect();
        json!({ "name": item.plan.name, "about": item.plan.about, "source": item.plan.source, "claims": claims })
    };
    items.iter().map(item).collect()
}

fn save(args: &GalleryArgs, items: &[Exhibit]) -> Result<(), Failure> {
    let folder = args.output_dir.display();
    std::fs::create_dir_all(&args.output_dir).map_err(|e| {
        Failure::environment(format_args!("{folder}: {e}\n  try: --output-dir DIR, or --no-save"))
    })?;
    let exhibits: Vec<fathom_report::Exhibit<'_>> = items.iter().map(as_exhibit).collect();
    let page = args.output_dir.join("index.html");
    fathom_store::write(&page, &fathom_report::gallery(&exhibits)).map_err(Failure::environment)?;
    terminal::note(&format!("wrote {} (open it in a browser)", page.display()));
    Ok(())
}

fn as_exhibit(item: &Exhibit) -> fathom_report::Exhibit<'_> {
    fathom_report::Exhibit {
        name: &item.plan.name,
        about: item.plan.about.trim(),
        source: item.plan.source.trim(),
        run: item.result.as_ref().map(|(run, diagnosis)| (run, diagnosis)),
        claims: &item.claims,
    }
}
