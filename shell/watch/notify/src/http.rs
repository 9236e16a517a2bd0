//! Sends a POST request and reports the response.
use fathom_text::http_answer;
use fathom_watch_http::{beginning, reason};
use serde_json::Value;
use ureq::Agent;

/// Posts JSON. `Ok` and `Err` contain the response in one line.
pub(crate) fn post(
    agent: &Agent,
    url: &str,
    headers: &[(String, String)],
    body: &Value,
) -> Result<String, String> {
    let mut request = agent.post(url).header("Content-Type", "application/json");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let response = request.send(body.to_string().as_bytes()).map_err(|error| reason(&error))?;
    let status = response.status().as_u16();
    let line = http_answer(status, &beginning(response.into_body()));
    if (200..300).contains(&status) { Ok(line) } else { Err(line) }
}
