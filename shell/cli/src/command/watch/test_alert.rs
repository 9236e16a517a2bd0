//! `fathom watch test-alert`: a test notification through each receiver, and what it answered.
use crate::args::WatchTestAlertArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_watch_app::{ReceiverTest, Source, test_receivers};

pub(crate) fn run(args: &WatchTestAlertArgs) -> Outcome {
    let source = Source::File(args.config.clone());
    let tests = test_receivers(&source, args.alert.as_deref())?;
    let wide = |of: fn(&ReceiverTest) -> &str| tests.iter().map(|t| of(t).chars().count()).max().unwrap_or(0);
    let (name, route) = (wide(|test| &test.receiver), wide(|test| test.route));
    for test in &tests {
        let (word, text) = match &test.answer {
            Ok(text) => ("sent", text),
            Err(text) => ("FAILED", text),
        };
        terminal::print(&format!("{:name$}  {:route$}  {word:6}  {text}\n", test.receiver, test.route))?;
    }
    let (all, failed) = (tests.len(), tests.iter().filter(|test| test.answer.is_err()).count());
    if failed == 0 {
        return Ok(Exit::Healthy);
    }
    Err(Failure::environment(format_args!("{source}: {failed} of {all} receivers could not be notified")))
}
