//! `fathom sim gallery`: every scenario with claims, and what comes out.
use crate::args::{GalleryArgs, When};
use crate::command::sim::simulate;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_os::clock::Clock;
use fathom_report::{ClaimRow, Exhibit};
use fathom_run::Run;
use fathom_scenario::{Plan, builtin_plan, gallery_names};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A scenario and its run.
struct Item {
    plan: Plan,
    result: Option<(Run, Diagnosis)>,
    rows: Vec<ClaimRow>,
}

/// Runs all, prints each claim with its source, what was expected and what came out, and writes the page.
pub(crate) fn run(args: &GalleryArgs, when: When) -> Outcome {
    let clock = Clock::start();
    let plans = plans(&args.names)?;
    let items = run_all(&plans);
    let all: usize = items.iter().map(|item| item.rows.len()).sum();
    let held: usize = items.iter().flat_map(|item| &item.rows).filter(|row| row.holds()).count();
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

/// The scenarios of these names, or all.
fn plans(names: &[String]) -> Result<Vec<Plan>, Failure> {
    if let Some(unknown) = names.iter().find(|name| !gallery_names().any(|known| known == name.as_str())) {
        let known = gallery_names().collect::<Vec<_>>().join(" ");
        return Err(Failure::input(format_args!("\"{unknown}\" is not in the gallery (it has: {known})")));
    }
    let wanted = gallery_names().filter(|name| names.is_empty() || names.iter().any(|n| n == name));
    wanted.filter_map(builtin_plan).map(|plan| plan.map_err(Failure::input)).collect()
}

/// All scenarios on all cores; the order of the results is that of the plans.
fn run_all(plans: &[Plan]) -> Vec<Item> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Item)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(plan) = plans.get(at) else { return };
                    let item = exhibit(plan);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, item));
                }
            });
        }
    });
    let mut items = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    items.sort_by_key(|(at, _)| *at);
    items.into_iter().map(|(_, item)| item).collect()
}

fn exhibit(plan: &Plan) -> Item {
    let run = simulate(plan, 1).run;
    let rows = rows(plan, &run);
    let diagnosis = diagnose(&run);
    let is_run = !plan.line.hops.is_empty();
    Item { plan: plan.clone(), result: is_run.then_some((run, diagnosis)), rows }
}

/// The claims of `plan` beside what came out of `run`.
pub(crate) fn rows(plan: &Plan, run: &Run) -> Vec<ClaimRow> {
    let row = |claim: &fathom_scenario::Claim| ClaimRow {
        says: claim.says.clone(),
        published: claim.published.clone(),
        expected: claim.expected,
        got: claim.outcome(run),
        unit: claim.unit(),
        note: claim.note.clone(),
    };
    plan.claims.iter().map(row).collect()
}

fn show(items: &[Item], when: When) -> Result<(), Failure> {
    let (style, columns) = terminal::stdout_form(when);
    for item in items {
        let heading =
            format!("\n{}: {}\n  {}\n", item.plan.name, item.plan.about.trim(), item.plan.source.trim());
        terminal::print(&(heading + &fathom_report::claims(&item.rows, columns, style)))?;
    }
    Ok(())
}

fn document(items: &[Item]) -> serde_json::Value {
    let claim = |row: &ClaimRow| {
        json!({ "says": row.says, "published": row.published, "unit": row.unit, "expected": row.expected,
            "got": row.got, "holds": row.holds(), "note": row.note })
    };
    let item = |item: &Item| {
        let claims: Vec<_> = item.rows.iter().map(claim).collect();
        json!({ "name": item.plan.name, "about": item.plan.about, "source": item.plan.source, "claims": claims })
    };
    items.iter().map(item).collect()
}

fn save(args: &GalleryArgs, items: &[Item]) -> Result<(), Failure> {
    let folder = args.output_dir.display();
    std::fs::create_dir_all(&args.output_dir).map_err(|e| {
        Failure::environment(format_args!("{folder}: {e}\n  try: --output-dir DIR, or --no-save"))
    })?;
    let exhibits: Vec<Exhibit<'_>> = items.iter().map(as_exhibit).collect();
    let page = args.output_dir.join("index.html");
    fathom_store::write(&page, &fathom_report::gallery(&exhibits)).map_err(Failure::environment)?;
    terminal::note(&format!("wrote {} (open it in a browser)", page.display()));
    Ok(())
}

fn as_exhibit(item: &Item) -> Exhibit<'_> {
    Exhibit {
        name: &item.plan.name,
        about: item.plan.about.trim(),
        source: item.plan.source.trim(),
        run: item.result.as_ref().map(|(run, diagnosis)| (run, diagnosis)),
        claims: &item.rows,
    }
}
