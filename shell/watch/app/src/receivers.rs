//! Sends a test notification to each receiver.
use crate::Source;
use fathom_app::AppError;
use fathom_os::clock::wall_now;
use fathom_watch_alert::Receiver;
use fathom_watch_notify::{Notice, Transport, deliver};
use fathom_watch_plan::Plan;

/// Alert name in a test that is not limited to one alert.
const NO_ALERT: &str = "test";

/// The answer of a receiver to a test notification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReceiverTest {
    /// Name of the receiver.
    pub receiver: String,
    /// How it is notified: `mail`, `webhook`, ...
    pub route: &'static str,
    /// Its answer, or why it could not be notified.
    pub answer: Result<String, String>,
}

/// Tests each receiver of a configuration, or of one alert, one after the other.
///
/// # Errors
/// If the configuration cannot be read, or has no such alert or no receiver.
pub fn test_receivers(source: &Source, alert: Option<&str>) -> Result<Vec<ReceiverTest>, AppError> {
    let plan = source.read()?;
    let test = |receiver: &Receiver| {
        let now = wall_now();
        let notice = Notice::test(alert.unwrap_or(NO_ALERT), now);
        let answer = deliver(&Transport::new(receiver), &notice, now);
        ReceiverTest { receiver: receiver.name.clone(), route: receiver.route.name(), answer }
    };
    Ok(chosen(source, &plan, alert)?.into_iter().map(test).collect())
}

fn chosen<'p>(source: &Source, plan: &'p Plan, alert: Option<&str>) -> Result<Vec<&'p Receiver>, AppError> {
    let (chosen, why): (Vec<&Receiver>, String) = match alert {
        None => (plan.receivers.iter().collect(), "there is no [[receiver]]".to_owned()),
        Some(name) => {
            let known: Vec<&str> = plan.alerts.iter().map(|rule| rule.name.as_str()).collect();
            let rule = plan.alerts.iter().find(|rule| rule.name == name);
            let rule = rule.ok_or_else(|| AppError::no_such("alert", name, &known))?;
            let all = plan.receivers.iter().filter(|receiver| rule.to.contains(&receiver.name)).collect();
            (all, format!("alert \"{name}\" has no receiver (it has no `to`)"))
        }
    };
    if chosen.is_empty() { Err(AppError::WatchPlan(format!("{source}: {why}"))) } else { Ok(chosen) }
}
