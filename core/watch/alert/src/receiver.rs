//! Receivers of notifications and the transports that reach them.
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::Duration;

/// A `[[receiver]]` of the configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Receiver {
    /// Unique name; rules refer to it in `to`.
    pub name: String,
    /// The transport.
    pub route: Route,
    /// Maximum duration of one attempt.
    pub timeout: Duration,
}

/// The transport of a receiver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Route {
    /// HTTP POST with a JSON body.
    Webhook {
        /// `http` or `https`.
        url: String,
        /// Names and values of additional headers.
        headers: Vec<(String, String)>,
    },
    /// One mail per notification.
    Mail {
        /// Recipient addresses.
        to: Vec<String>,
        /// Sender address; `None` for `fathom@` this host.
        from: Option<String>,
        /// The SMTP relay; `None` for the local `sendmail`.
        relay: Option<Relay>,
    },
    /// A program and its arguments, run without a shell.
    Command(Vec<String>),
    /// The base URL of an Alertmanager.
    Alertmanager(String),
}

impl Route {
    /// The configuration key of the transport.
    pub const fn name(&self) -> &'static str {
        match self {
            Route::Webhook { .. } => "webhook",
            Route::Mail { .. } => "mail",
            Route::Command(_) => "command",
            Route::Alertmanager(_) => "alertmanager",
        }
    }
}

/// An SMTP relay that accepts mail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relay {
    /// Host and port.
    pub address: String,
    /// When the connection is encrypted.
    pub tls: RelayTls,
    /// Credentials, if the relay requires them.
    pub login: Option<Login>,
}

/// When a connection to a relay becomes TLS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelayTls {
    /// Never.
    None,
    /// After the greeting (RFC 3207). If the relay does not offer STARTTLS, nothing is sent.
    StartTls,
    /// From the first byte (RFC 8314 section 3.3).
    Implicit,
}

/// A user name and a password for a relay (RFC 4954).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Login {
    /// The user name.
    pub user: String,
    /// A file whose first line is the password, read at each attempt.
    pub password_file: String,
}
