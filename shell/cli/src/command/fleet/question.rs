//! The questions about a fleet.
use crate::args::{
    FleetBuffersArgs, FleetChangesArgs, FleetPlaceArgs, FleetScopeArgs, FleetSiteArgs, FleetSitesArgs,
    FleetTogetherArgs, FleetTrendArgs, Moment,
};
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::{self, Console, warn};
use fathom_app::history::HistorySource;
use fathom_fleet_app::question::{
    BLOATED_S, EngineConfig, Fleet, Place, Scope, Selector, Span, buffers_json, changes_json, site_json,
    sites_json, together_json, trends_json,
};
use fathom_os::clock::wall_now;
use fathom_report::{
    BuffersScreen, FleetScreen, SiteScreen, buffers_screen, buffers_summary, changes_screen, fleet_screen,
    site_screen, together_screen, trend_screen,
};

pub(super) fn place(args: &FleetPlaceArgs) -> Place {
    let engine = args.engine.as_ref().map(|url| EngineConfig {
        url: url.clone(),
        token_file: args.access.token_file.clone(),
        ca_file: args.access.ca_file.clone(),
        headers: args.access.header.clone(),
    });
    let own = HistorySource { config: args.config.clone(), store: None };
    Place { engine, archive: args.archive.clone(), own }
}

/// Opens the place and the period of a question.
fn open(args: &FleetScopeArgs, since: Moment) -> Result<(Fleet, Scope), Failure> {
    Ok((Fleet::open(&place(&args.place))?, Scope::new(&args.only, since.before(wall_now()))))
}

/// Prints an answer, and what was left out.
fn print(fleet: &Fleet, text: &str) -> Outcome {
    fleet.damaged().iter().for_each(|what| warn(what));
    terminal::print(text)?;
    Ok(Exit::Healthy)
}

pub(super) fn sites(args: &FleetSitesArgs, console: Console) -> Outcome {
    let (fleet, scope) = open(&args.scope, args.since)?;
    let found = fleet.sites(&scope, args.by.as_deref())?;
    if args.scope.json {
        return print(&fleet, &format!("{:#}\n", sites_json(&found)?));
    }
    let (style, columns) = console.stdout_form();
    let shown = FleetScreen {
        fleet: &found.fleet,
        groups: found.grouped(),
        outliers: &found.outliers(),
        limit_s: BLOATED_S,
    };
    print(&fleet, &fleet_screen(&shown, columns, style))
}

pub(super) fn site(args: &FleetSiteArgs, console: Console) -> Outcome {
    let fleet = Fleet::open(&place(&args.place))?;
    let now = wall_now();
    let found = fleet.site(&args.site, Span { from: args.since.before(now), to: now })?;
    if args.json {
        return print(&fleet, &format!("{:#}\n", site_json(&found)));
    }
    let (style, columns) = console.stdout_form();
    let shown =
        SiteScreen { site: &found.site, tests: &found.tests, results: &found.results, limit_s: BLOATED_S };
    print(&fleet, &site_screen(&shown, columns, style))
}

pub(super) fn buffers(args: &FleetBuffersArgs, console: Console) -> Outcome {
    let (fleet, scope) = open(&args.scope, args.since)?;
    let by = args.by.as_deref();
    let found = fleet.buffers(&scope, args.direction, by)?;
    let shown = BuffersScreen { direction: args.direction, points: found.points(), by, limit_s: BLOATED_S };
    if args.scope.json {
        return print(&fleet, &format!("{:#}\n", buffers_json(&buffers_summary(&shown), &found)));
    }
    let (style, columns) = console.stdout_form();
    print(&fleet, &buffers_screen(&shown, columns, style))
}

pub(super) fn changes(args: &FleetChangesArgs, console: Console) -> Outcome {
    let fleet = Fleet::open(&place(&args.scope.place))?;
    let of = Selector::of(&args.scope.only);
    let found = fleet.changes(&of, args.at.before(wall_now()), args.period)?;
    if args.scope.json {
        return print(&fleet, &format!("{:#}\n", changes_json(&found)?));
    }
    let (style, columns) = console.stdout_form();
    print(&fleet, &changes_screen(&found, columns, style))
}

pub(super) fn trend(args: &FleetTrendArgs, console: Console) -> Outcome {
    let (fleet, scope) = open(&args.scope, args.since)?;
    let found = fleet.trends(&scope, args.by.as_deref())?;
    if args.scope.json {
        return print(&fleet, &format!("{:#}\n", trends_json(&found)));
    }
    let (style, columns) = console.stdout_form();
    let by = found.by.as_ref().map(|(label, trends)| (label.as_str(), trends.as_slice()));
    print(&fleet, &trend_screen(&found.all, by, BLOATED_S, columns, style))
}

pub(super) fn together(args: &FleetTogetherArgs, console: Console) -> Outcome {
    let (fleet, scope) = open(&args.scope, args.since)?;
    let found = fleet.together(&scope)?;
    if args.scope.json {
        return print(&fleet, &format!("{:#}\n", together_json(&found)));
    }
    let (style, columns) = console.stdout_form();
    print(&fleet, &together_screen(&found, columns, style))
}
