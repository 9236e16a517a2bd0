//! `fathom watch test-alert`: a test through each way, and what was answered.
use crate::args::WatchTestAlertArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_app::watch::Source;
use fathom_os::clock::wall_now;
use fathom_watch_alert::Receiver;
use fathom_watch_notify::{Notice, Transport, deliver};
use fathom_watch_plan::Plan;

/// What a test is called that is of no alert.
const NO_ALERT: &str = "test";

pub(crate) fn run(args: &WatchTestAlertArgs) -> Outcome {
    let source = Source::File(args.config.clone());
    let plan = source.read()?;
    let chosen = chosen(&source, &plan, args.alert.as_deref())?;
    let wide = |of: fn(&Receiver) -> usize| chosen.iter().map(|r| of(r)).max().unwrap_or(0);
    let (name, way) = (wide(|r| r.name.chars().count()), wide(|r| r.route.name().len()));
    let mut failed = 0;
    for receiver in &chosen {
        let now = wall_now();
        let notice = Notice::test(args.alert.as_deref().unwrap_or(NO_ALERT), now);
        let answer = deliver(&Transport::new(receiver), &notice, now);
        failed += usize::from(answer.is_err());
        let (word, text) = match &answer {
            Ok(text) => ("told", text),
            Err(text) => ("FAILED", text),
        };
        terminal::print(&format!(
            "{:name$}  {:way$}  {word:6}  {text}\n",
            receiver.name,
            receiver.route.name()
        ))?;
    }
    if failed == 0 {
        return Ok(Exit::Healthy);
    }
    let all = chosen.len();
    Err(Failure::environment(format_args!("{source}: {failed} of {all} receivers could not be told")))
}

fn chosen<'p>(source: &Source, plan: &'p Plan, alert: Option<&str>) -> Result<Vec<&'p Receiver>, Failure> {
    let Some(name) = alert else {
        let all: Vec<&Receiver> = plan.receivers.iter().collect();
        let none = || Failure::input(format_args!("{source}: there is no [[receiver]] to be told"));
        return if all.is_empty() { Err(none()) } else { Ok(all) };
    };
    let known: Vec<&str> = plan.alerts.iter().map(|rule| rule.name.as_str()).collect();
    let Some(rule) = plan.alerts.iter().find(|rule| rule.name == name) else {
        let known = if known.is_empty() { "there is none".to_owned() } else { known.join(", ") };
        return Err(Failure::input(format_args!("{source}: there is no alert \"{name}\" (known: {known})")));
    };
    let all: Vec<&Receiver> = plan.receivers.iter().filter(|r| rule.to.contains(&r.name)).collect();
    let none =
        || Failure::input(format_args!("{source}: alert \"{name}\" is told to nobody (it has no `to`)"));
    if all.is_empty() { Err(none()) } else { Ok(all) }
}
