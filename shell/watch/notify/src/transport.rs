//! A single delivery attempt.
use crate::notice::Notice;
use crate::{alertmanager, command, http, mail, smtp};
use fathom_units::WallTime;
use fathom_watch_alert::{Receiver, Route};
use fathom_watch_http::{AgentOptions, agent, host_authorities};
use ureq::Agent;

const SENDMAIL: &str = "/usr/sbin/sendmail";

/// A receiver, with what is needed to reach it.
#[derive(Clone, Debug)]
pub struct Transport {
    pub(crate) receiver: Receiver,
    agent: Option<Agent>,
}

impl Transport {
    /// The transport of a receiver.
    #[must_use]
    pub fn new(receiver: &Receiver) -> Transport {
        let url = match &receiver.route {
            Route::Webhook { url, .. } | Route::Alertmanager(url) => Some(url),
            Route::Mail { .. } | Route::Command(_) => None,
        };
        let options = |to: &String| AgentOptions {
            limit: limit(receiver),
            connect_limit: None,
            // Receivers from the configuration are contacted directly.
            uses_proxy: false,
            authorities: host_authorities(to),
        };
        let agent = url.map(|url| agent(&options(url)));
        Transport { receiver: receiver.clone(), agent }
    }
    /// Whether it needs reminders of raised alerts.
    pub(crate) const fn is_reminded(&self) -> bool {
        matches!(self.receiver.route, Route::Alertmanager(_))
    }
    /// Sends all raised alerts at once to an Alertmanager.
    pub(crate) fn remind<'n>(
        &self,
        notices: impl Iterator<Item = &'n Notice>,
        now: WallTime,
    ) -> Result<String, String> {
        match (&self.receiver.route, &self.agent) {
            (Route::Alertmanager(url), Some(agent)) => {
                let body = alertmanager::body(notices, now);
                http::post(agent, &format!("{url}/api/v2/alerts"), &[], &body)
            }
            _ => Ok(String::new()),
        }
    }
}

fn limit(receiver: &Receiver) -> std::time::Duration {
    std::time::Duration::from_nanos(receiver.timeout.as_nanos())
}

/// Delivers a notification. `Ok` and `Err` contain the receiver's response.
///
/// # Errors
/// Its response, or why it could not be reached.
pub fn deliver(transport: &Transport, notice: &Notice, now: WallTime) -> Result<String, String> {
    let limit = limit(&transport.receiver);
    match (&transport.receiver.route, &transport.agent) {
        (Route::Webhook { url, headers }, Some(agent)) => http::post(agent, url, headers, &notice.json()),
        (Route::Alertmanager(_), _) => transport.remind(std::iter::once(notice), now),
        (Route::Command(words), _) => {
            command::run(words, &environment(notice), notice.json().to_string().as_bytes(), limit)
        }
        (Route::Mail { to, from, relay }, _) => {
            let host = host_name();
            let from = from.clone().unwrap_or_else(|| format!("fathom@{host}"));
            let message = mail::message(notice, &from, to, &host)?;
            let text = message.formatted();
            match relay {
                Some(relay) => smtp::send(relay, &host, message.envelope(), &text, limit),
                None => command::run(&sendmail(&from, to), &[], &unix_lines(&text), limit),
            }
        }
        (Route::Webhook { .. }, None) => Err("no transport configured".to_owned()),
    }
}

fn sendmail(from: &str, to: &[String]) -> Vec<String> {
    let own = [SENDMAIL, "-i", "-f", from, "--"].map(str::to_owned);
    own.into_iter().chain(to.iter().cloned()).collect()
}

/// Removes carriage returns for programs on this host.
fn unix_lines(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| *byte != b'\r').collect()
}

fn environment(notice: &Notice) -> Vec<(&'static str, String)> {
    vec![
        ("FATHOM_ALERT", notice.alert.clone()),
        ("FATHOM_STATUS", notice.change.name().to_owned()),
        ("FATHOM_TARGET", notice.target.clone()),
        ("FATHOM_GROUP", notice.group.clone()),
        ("FATHOM_PROBE", notice.probe.clone()),
        ("FATHOM_EVIDENCE", notice.evidence.clone()),
        ("FATHOM_TEST", u8::from(notice.is_test).to_string()),
    ]
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let plain: String =
        name.trim().chars().filter(|c| c.is_ascii_alphanumeric() || "-.".contains(*c)).collect();
    if plain.is_empty() { "localhost".to_owned() } else { plain }
}
