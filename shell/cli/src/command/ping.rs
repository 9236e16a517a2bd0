//! `fathom ping`: probes to many hosts, in the form of ping(8) and fping(8).
mod live;
mod text;

use crate::args::PingArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::{self, Console, Screen, warn};
use crate::{result, signal};
use fathom_app::ping::lines::line;
use fathom_app::ping::{PingRequest, Pinged, Progress, run as ping};
use fathom_app::test::lines::result_line;
use fathom_app::{CancelToken, output};
use fathom_client::{PingConfig, PingEvent, PingTally, PingTarget};
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_os::clock::{Clock, wall_now};
use fathom_run::FindingKind;
use live::Live;
use std::collections::BTreeSet;
use std::io::{self, Write};
use text::{Row, Sent};

/// Runs the ping. The exit codes are those of ping(8), so every error is a 2.
pub(crate) fn run(args: &PingArgs, console: Console) -> Outcome {
    pinged(args, console).map_err(|failure| Failure { exit: Exit::Input, ..failure })
}

fn pinged(args: &PingArgs, console: Console) -> Outcome {
    output::check_names(&args.output)?;
    let (config, family, token) = (config(args), args.connection.family(), args.connection.token.read()?);
    let request = |target: &String| PingRequest { target: target.clone(), family, token: token.clone() };
    let requests: Vec<PingRequest> = args.hosts.iter().map(request).collect();
    let cancel = signal::cancel_token()?;
    let mut shown = Shown {
        args,
        console,
        cancel: cancel.clone(),
        rows: Vec::new(),
        names: Vec::new(),
        live: None,
        sent: Sent::default(),
        reported: BTreeSet::new(),
    };
    let result = ping(&requests, &config, &cancel, &mut |progress| shown.take(&progress))?;
    let Shown { live, sent, .. } = shown;
    // The table leaves the screen.
    drop(live);
    let diagnosis = diagnose(&result.run);
    if args.json_lines {
        terminal::print(&(result_line(&result.run, &diagnosis) + "\n"))?;
    } else {
        print_summary(args, &result, sent, &diagnosis)?;
    }
    result::write_all(&args.output, &[(&result.run, &diagnosis)], console)?;
    Ok(match (result.failed, result.all_answered) {
        (0, true) => Exit::Healthy,
        (0, false) => Exit::Bloated,
        _ => Exit::Input,
    })
}

fn config(args: &PingArgs) -> PingConfig {
    PingConfig {
        clock: Clock::start(),
        interval: args.interval,
        count: args.count,
        deadline: args.deadline,
        timeout: args.timeout,
        dscp: args.dscp,
    }
}

/// Whether the text is that of ping(8); otherwise it is that of fping(8).
const fn is_single(args: &PingArgs) -> bool {
    args.hosts.len() == 1
}

/// Shows the events.
struct Shown<'a> {
    args: &'a PingArgs,
    console: Console,
    cancel: CancelToken,
    rows: Vec<Row>,
    names: Vec<String>,
    live: Option<Live>,
    sent: Sent,
    /// What was reported once.
    reported: BTreeSet<(usize, String)>,
}

impl Shown<'_> {
    fn take(&mut self, progress: &Progress<'_>) {
        if self.args.json_lines {
            let title = format!("ping {}", self.args.hosts.join(" "));
            self.keep_names(progress);
            return self.print(line(progress, &self.names, &title));
        }
        self.keep_names(progress);
        match progress {
            Progress::Failed(_, error) => warn(&format!("fathom ping: {error}")),
            Progress::Started(targets, config) => {
                self.rows = targets.iter().map(Row::of).collect();
                let has_table = !self.console.is_quiet() && (self.args.live || !is_single(self.args));
                let screen = has_table.then(|| Screen::open(self.console)).flatten();
                self.live = screen.map(|screen| Live::new(screen, &self.names, config));
                if self.live.is_none() && is_single(self.args) {
                    let header = self.rows.first().map(|row| text::header(row) + "\n").unwrap_or_default();
                    let _ = terminal::print(&header);
                }
            }
            Progress::Event { event, is_late, tallies } => self.event(event, *is_late, tallies),
        }
    }
    fn keep_names(&mut self, progress: &Progress<'_>) {
        if let Progress::Started(targets, _) = progress {
            self.names = targets.iter().map(|target| target.name.clone()).collect();
        }
    }
    fn event(&mut self, event: &PingEvent, is_late: bool, tallies: &[PingTally]) {
        self.sent.add(event);
        match event {
            PingEvent::NotSent { target, reason } => {
                self.report_once(*target, fathom_prose::not_sent(reason).to_owned());
            }
            PingEvent::Refused { target, sequence, by, error } => {
                let Some(row) = self.rows.get(*target) else { return };
                match (&mut self.live, is_single(self.args)) {
                    (Some(live), _) => live.note(&text::fping_refused(row, *by, *error)),
                    (None, true) if !self.console.is_quiet() => {
                        self.print(Some(text::refused(*sequence, *by, *error)));
                    }
                    (None, true) => {}
                    (None, false) => warn(&text::fping_refused(row, *by, *error)),
                }
            }
            PingEvent::Note { target, note } => self.report_once(*target, fathom_prose::note(note)),
            PingEvent::Reply { target, reply, one_way }
                if self.live.is_none() && !self.console.is_quiet() =>
            {
                let shown = self.rows.get(*target).zip(tallies.get(*target));
                let is_single = is_single(self.args);
                self.print(shown.map(|(row, tally)| match is_single {
                    true => text::reply(row, reply, is_late, *one_way),
                    false => text::fping_reply(row, reply, is_late, tally),
                }));
            }
            _ => {}
        }
        self.live.iter_mut().for_each(|live| live.take(event, tallies));
    }
    /// Reports a problem of a target once. The table shows it until the next one.
    fn report_once(&mut self, target: usize, problem: String) {
        let name = self.names.get(target).map_or("", String::as_str);
        let text = format!("{name}: {problem}");
        if self.reported.insert((target, problem)) {
            match &mut self.live {
                Some(live) => live.note(&text),
                None => warn(&format!("fathom ping: {text}")),
            }
        }
    }
    /// Prints a line, and cancels the ping if nobody reads it any more.
    fn print(&self, line: Option<String>) {
        let Some(line) = line else { return };
        let time = match (self.args.timestamps, wall_now().0 / 1_000) {
            (true, us) if !self.args.json_lines => format!("[{}.{:06}] ", us / 1_000_000, us % 1_000_000),
            _ => String::new(),
        };
        if writeln!(io::stdout(), "{time}{line}").is_err() {
            self.cancel.cancel();
        }
    }
}

/// Prints the counts: of one host to stdout, as ping(8), of several to stderr, as fping(8). Then
/// what the delays show.
fn print_summary(args: &PingArgs, pinged: &Pinged, sent: Sent, diagnosis: &Diagnosis) -> Result<(), Failure> {
    if let ([(target, tally)], true) = (&*pinged.targets, is_single(args)) {
        terminal::print(&text::summary(&target.name, tally, sent, args.timeout))?;
    } else {
        let width = pinged.targets.iter().map(|(target, _)| target.name.len()).max().unwrap_or_default();
        let line = |(target, tally): &(PingTarget, PingTally)| {
            text::fping_summary(&target.name, width, tally, args.timeout)
        };
        let lines: Vec<String> = pinged.targets.iter().map(line).collect();
        warn(&format!("\n{}", lines.join("\n")));
    }
    let falling = diagnosis.findings.iter().find(|found| found.kind() == FindingKind::QueueEmptied);
    falling.map_or(Ok(()), |found| terminal::print(&(fathom_prose::finding(found, None) + "\n")))
}
