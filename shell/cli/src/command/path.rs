//! `fathom path`: shows every hop to a host over time.
use crate::args::PathArgs;
use crate::command::test::describe;
use crate::failure::{Exit, Outcome};
use crate::terminal::{self, Console, Screen};
use crate::{result, signal};
use fathom_app::hops::HopNames;
use fathom_app::output::{check_names, exit_class};
use fathom_app::test::lines::{line, result_line};
use fathom_app::{CancelToken, MeasureEvent, path, test};
use fathom_client::{Event, HopStatus, PathConfig, PhasePlan, TestConfig};
use fathom_diagnose::diagnose;
use fathom_os::clock::Clock;
use fathom_report::{PathHop, PathView};
use fathom_run::{PhaseKind, Run};
use fathom_units::{Duration, Time};
use std::io::{self, Write};

/// Ten pictures per second look smooth and cost little.
const REDRAW_EVERY: Duration = Duration::from_millis(100);
/// Probes to each hop if nobody watches, as with mtr(8) and `--report`.
const UNWATCHED: u32 = 10;
/// Longest wait for the last replies.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Probes the path and delivers the result.
pub(crate) fn run(args: &PathArgs, console: Console) -> Outcome {
    check_names(&args.output.output)?;
    let cancel = signal::cancel_token()?;
    let clock = Clock::start();
    let mut live = Live::open(args, clock, console, cancel.clone());
    let mut run = match args.load {
        true => loaded(args, clock, &cancel, &mut live)?,
        false => unloaded(args, clock, &cancel, &mut live)?,
    };
    // The table leaves the screen.
    let Live { screen, names, .. } = live;
    drop(screen);
    if let Some(mut names) = names {
        describe(&mut run, &mut names, "path");
    }
    result::warn_if_partial("path", &run);
    let diagnosis = diagnose(&run);
    if args.json_lines {
        terminal::print(&(result_line(&run, &diagnosis) + "\n"))?;
    } else if args.output.json {
        result::print_json(&run, &diagnosis)?;
    } else {
        let (style, columns) = console.stdout_form();
        terminal::print(&fathom_report::path_screen(&run, &diagnosis, columns, style))?;
    }
    result::write_all(&args.output.output, &[(&run, &diagnosis)], console)?;
    Ok(if args.load { exit_class(&run, &diagnosis) } else { reached(&run) })
}

fn loaded(
    args: &PathArgs,
    clock: Clock,
    cancel: &CancelToken,
    live: &mut Live,
) -> Result<Run, crate::failure::Failure> {
    let phases = [PhaseKind::Idle, PhaseKind::Down, PhaseKind::Up, PhaseKind::Drain].map(PhasePlan::of);
    let config = TestConfig {
        clock,
        family: args.connection.family(),
        token: args.connection.token.read()?,
        phases: phases.to_vec(),
        ..TestConfig::new(&args.host)
    };
    Ok(test::run(&config, cancel, &mut |event| live.measure(event))?)
}

fn unloaded(
    args: &PathArgs,
    clock: Clock,
    cancel: &CancelToken,
    live: &mut Live,
) -> Result<Run, crate::failure::Failure> {
    let is_watched = live.screen.is_some() || args.deadline.is_some();
    let config = PathConfig {
        clock,
        interval: args.interval,
        count: args.count.or((!is_watched).then_some(UNWATCHED)),
        deadline: args.deadline,
        timeout: LAST_WAIT,
    };
    let title = format!("path to {}", args.host);
    live.measure(MeasureEvent::Started { title: &title, clock });
    let family = args.connection.family();
    Ok(path::run(&args.host, family, &config, cancel, &mut |event| live.measure(MeasureEvent::Test(event)))?)
}

/// Whether the host itself answered.
fn reached(run: &Run) -> Exit {
    let is_reached = run.path.as_ref().is_some_and(|path| path.server_hop.is_some());
    if is_reached { Exit::Healthy } else { Exit::NoResult }
}

/// The picture, and lines of progress without one.
struct Live {
    clock: Clock,
    console: Console,
    screen: Option<Screen>,
    view: PathView,
    names: Option<HopNames>,
    next_draw: Time,
    /// Events are printed, until nobody reads them.
    is_printing: bool,
    cancel: CancelToken,
}

impl Live {
    fn open(args: &PathArgs, clock: Clock, console: Console, cancel: CancelToken) -> Self {
        let is_quiet = console.is_quiet() || args.output.json || args.json_lines;
        let title = format!("path to {}", args.host);
        let screen = (!is_quiet).then(|| Screen::open(console)).flatten();
        if screen.is_none() {
            console.progress(&format!("fathom path: probes the hops to {}", args.host));
        }
        let view = PathView::new(&title, args.interval);
        let names = (!args.no_names).then(HopNames::default);
        let is_printing = args.json_lines;
        Live { clock, console, screen, view, names, next_draw: Time::ZERO, is_printing, cancel }
    }
    fn measure(&mut self, event: MeasureEvent<'_>) {
        if let Some(line) = line(&event).filter(|_| self.is_printing) {
            self.is_printing = writeln!(io::stdout(), "{line}").is_ok();
            if !self.is_printing {
                self.cancel.cancel();
            }
        }
        if let MeasureEvent::Test(event) = event {
            self.take(event);
        }
    }
    fn take(&mut self, event: Event) {
        match event {
            Event::Path(hops) => {
                let hops = hops.iter().map(|one| hop(one, self.names.as_mut())).collect();
                self.view.path(hops);
            }
            Event::Observed { key, observation } => self.view.observe(&key, observation),
            Event::PhaseStarted { kind, at } => {
                self.view.phase_started(kind, at);
                if self.screen.is_none() {
                    self.console.progress(&format!("fathom path: {}", kind.name()));
                }
            }
            Event::Note(note) => self.view.note(&fathom_prose::note(&note)),
            Event::Connected(_) | Event::Cost(_) | Event::PhaseEnded(_) | Event::BurstsStarted => {}
        }
        let now = self.clock.now();
        if let Some(screen) = self.screen.as_mut().filter(|_| now >= self.next_draw) {
            self.next_draw = now + REDRAW_EVERY;
            screen.draw(|columns, rows, style| self.view.render(now, (columns, rows), style));
        }
    }
}

fn hop(status: &HopStatus, names: Option<&mut HopNames>) -> PathHop {
    let HopStatus { number, address, sent, lost } = *status;
    let name = address.and_then(|one| names?.of(one).map(str::to_owned));
    PathHop { number, name: name.or_else(|| address.map(|one| one.to_string())), sent, lost }
}
