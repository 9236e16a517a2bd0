//! The SMTP relay keys of a `[[receiver]]` with `mail`.
use crate::error::Fault;
use crate::section::{Section, is_plain};
use alloc::format;
use alloc::string::{String, ToString};
use fathom_watch_alert::{Login, Relay, RelayTls};

/// Keys that are valid only with a relay.
const KEYS: [&str; 3] = ["tls", "user", "password_file"];

/// The relay of a `[[receiver]]` with `mail`; `None` if there is no relay.
pub(crate) fn relay(section: &Section<'_>) -> Result<Option<Relay>, Fault> {
    let Some(text) = section.text("relay")? else {
        return match KEYS.into_iter().find(|key| section.get(key).is_some()) {
            Some(key) => {
                let what =
                    format!("{key}: valid only with a relay (for example relay = \"smtp.example.net:587\")");
                Err(Fault::new(section.offset_of(key), what))
            }
            None => Ok(None),
        };
    };
    let (address, port) = address(text, section.offset_of("relay"))?;
    let tls = tls(section, port)?;
    Ok(Some(Relay { address, tls, login: login(section, tls)? }))
}

fn address(text: &str, offset: usize) -> Result<(String, u16), Fault> {
    // An IPv6 address needs brackets: otherwise its last group would be mistaken for the port.
    let is_host = |host: &str| !host.is_empty() && (!host.contains(':') || host.starts_with('['));
    let parts = text.rsplit_once(':').filter(|(host, _)| is_host(host) && is_plain(text));
    let port = parts.and_then(|(_, port)| port.parse::<u16>().ok()).filter(|port| *port > 0);
    let what =
        || format!("relay: invalid host and port \"{}\" (for example \"127.0.0.1:25\")", text.escape_debug());
    port.map(|port| (text.to_string(), port)).ok_or_else(|| Fault::new(offset, what()))
}

/// The TLS mode; the default follows from the port (RFC 8314 section 3.3, RFC 6409).
fn tls(section: &Section<'_>, port: u16) -> Result<RelayTls, Fault> {
    match (section.text("tls")?, port) {
        (Some("starttls"), _) | (None, 587) => Ok(RelayTls::StartTls),
        (Some("tls"), _) | (None, 465) => Ok(RelayTls::Implicit),
        (Some("none"), _) | (None, _) => Ok(RelayTls::None),
        (Some(other), _) => {
            let what =
                format!("tls: unknown value \"{}\" (known: starttls, tls, none)", other.escape_debug());
            Err(Fault::new(section.offset_of("tls"), what))
        }
    }
}

fn login(section: &Section<'_>, tls: RelayTls) -> Result<Option<Login>, Fault> {
    let fault = |key: &str, what: &str| Err(Fault::new(section.offset_of(key), format!("{key}: {what}")));
    match (section.text("user")?, section.text("password_file")?) {
        (None, None) => Ok(None),
        (Some(_), None) => fault("user", "requires password_file"),
        (None, Some(_)) => fault("password_file", "requires user"),
        (Some(_), Some(_)) if tls == RelayTls::None => fault(
            "user",
            "requires TLS, or the password could be read in transit (for example tls = \"starttls\")",
        ),
        (Some(""), _) => fault("user", "is empty"),
        (_, Some(file)) if !file.starts_with('/') => {
            fault("password_file", "is not an absolute path (for example \"/etc/fathom/mail.password\")")
        }
        (Some(user), Some(file)) => {
            Ok(Some(Login { user: user.to_string(), password_file: file.to_string() }))
        }
    }
}
