//! Checks before every response: hostname, authentication, and security headers.
use crate::config::{WebConfig, WebError};
use crate::lock::lock;
use crate::query::{Query, quoted};
use crate::reply::{Refusal, Reply, no_store, see_other};
use crate::secret::{Secret, random_text};
use crate::sessions::{Failures, Sessions};
use hyper::http::request::Parts;
use hyper::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Instant;

/// Maximum URI length; no request of the page is longer.
const MAX_URI_BYTES: usize = 2_048;
/// Maximum form size; the form has one field.
pub(crate) const MAX_FORM_BYTES: usize = 1_024;

/// Scripts, styles and data only from this server, and nothing inline: a target's name cannot
/// become a script.
const POLICY: &str =
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

/// Decides who has access.
pub(crate) struct Guard {
    secret: Option<Secret>,
    /// Name of the cookie of a session. A browser sends cookies to all ports of a host, so each
    /// page has its own.
    cookie: String,
    /// Whether browsers send the cookie of a session only over TLS.
    is_secure: bool,
    /// Hostnames accepted by a server on loopback; `None` for any. A DNS rebinding attack, in which
    /// another site's name resolves to 127.0.0.1, uses a different name.
    hosts: Option<Vec<String>>,
    sessions: Mutex<Sessions>,
    failures: Mutex<Failures>,
}

impl Guard {
    /// Creates the guard of the page `name`; also returns the password if a new one was generated.
    pub(crate) fn new(config: &WebConfig, name: &str) -> Result<(Guard, Option<String>), WebError> {
        let loopback = config.listen.ip().to_canonical().is_loopback();
        let (secret, made) = match &config.secret_file {
            Some(path) => Secret::load_or_make(path).map(|(secret, made)| (Some(secret), made))?,
            None if loopback => (None, None),
            None => return Err(WebError::NoSecret { address: config.listen }),
        };
        let hosts = loopback.then(|| accepted_hosts(config));
        let (sessions, failures) = (Mutex::default(), Mutex::default());
        let is_secure = config.certificate.is_some();
        let cookie = format!("fathom_{name}");
        Ok((Guard { secret, cookie, is_secure, hosts, sessions, failures }, made))
    }

    /// Whether a password is required.
    pub(crate) fn asks(&self) -> bool {
        self.secret.is_some()
    }

    /// Checks that apply to every request.
    pub(crate) fn check_form(&self, request: &Parts) -> Result<(), Refusal> {
        let length = request.uri.to_string().len();
        if length > MAX_URI_BYTES {
            let text = format!("the URI has {length} bytes, more than the limit of {MAX_URI_BYTES}");
            return Err(Refusal::new(StatusCode::URI_TOO_LONG, text));
        }
        self.check_host(request)?;
        check_site(request)?;
        let posts = matches!(request.uri.path(), "/login" | "/logout");
        match request.method {
            Method::GET | Method::HEAD => Ok(()),
            Method::POST if posts => self.check_origin(&request.headers),
            _ => Err(Refusal::new(
                StatusCode::METHOD_NOT_ALLOWED,
                format!("method {} is not supported: try GET", quoted(request.method.as_str())),
            )),
        }
    }

    fn check_host(&self, request: &Parts) -> Result<(), Refusal> {
        let mut given = request.headers.get_all(header::HOST).iter();
        let host = match (given.next(), given.next()) {
            (Some(one), None) => one.to_str().map_err(|_| Refusal::bad("the Host header is not text"))?,
            (None, _) => return Err(Refusal::bad("the Host header is missing")),
            (Some(_), Some(_)) => return Err(Refusal::bad("more than one Host header")),
        };
        // Off loopback there is a password, and the names of this host are unknown: the browser
        // does not send the cookie to another name.
        let Some(hosts) = &self.hosts else { return Ok(()) };
        if hosts.iter().any(|known| *known == name_of(host)) {
            return Ok(());
        }
        let text = format!(
            "the hostname {} is not allowed (allowed: {}): add it to hosts",
            quoted(host),
            hosts.join(", ")
        );
        Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, text))
    }

    /// Refuses forms sent from another site's page.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let Some(origin) = text(header::ORIGIN) else { return Ok(()) };
        let own = text(header::HOST).unwrap_or_default();
        match origin.split_once("://") {
            Some((_, host)) if host.eq_ignore_ascii_case(own) => Ok(()),
            _ => Err(Refusal::new(
                StatusCode::FORBIDDEN,
                format!("the form was sent from another site, {}", quoted(origin)),
            )),
        }
    }

    /// Checks that the request has the password or a session.
    pub(crate) fn check_who(&self, headers: &HeaderMap, from: IpAddr) -> Result<(), Refusal> {
        let Some(secret) = &self.secret else { return Ok(()) };
        if self.session_of(headers).is_some() {
            return Ok(());
        }
        let Some(token) = bearer(headers) else {
            return Err(Refusal::new(
                StatusCode::UNAUTHORIZED,
                "password required: log in at /login, or send it as a bearer token",
            ));
        };
        self.try_secret(secret, token, from)
    }

    fn try_secret(&self, secret: &Secret, given: &[u8], from: IpAddr) -> Result<(), Refusal> {
        let now = Instant::now();
        let mut failures = lock(&self.failures);
        if let Some(seconds) = failures.wait_s(from, now) {
            let text = format!("too many wrong passwords: try again in {seconds} s");
            let refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, text);
            return Err(Refusal { retry_after_s: Some(seconds), ..refusal });
        }
        if secret.is(given) {
            return Ok(());
        }
        failures.add(from, now);
        Err(Refusal::new(StatusCode::UNAUTHORIZED, "wrong password"))
    }

    /// Handles the login form.
    pub(crate) fn log_in(&self, form: &[u8], from: IpAddr) -> Result<Reply, Refusal> {
        let Some(secret) = &self.secret else { return Ok(see_other("/")) };
        let text = std::str::from_utf8(form).map_err(|_| Refusal::bad("the form is not text"))?;
        let mut query = Query::parse(text)?;
        let given = query.need("password")?;
        query.finish()?;
        self.try_secret(secret, given.trim().as_bytes(), from)?;
        let unready =
            |_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the system provided no random numbers");
        let session = random_text().map_err(unready)?;
        lock(&self.sessions).add(session.clone(), Instant::now());
        Ok(self.with_cookie(see_other("/"), &session, 2_592_000))
    }

    /// Ends the browser's session.
    pub(crate) fn log_out(&self, headers: &HeaderMap) -> Reply {
        if let Some(session) = self.session_of(headers) {
            lock(&self.sessions).end(session);
        }
        self.with_cookie(see_other("/login"), "", 0)
    }

    fn with_cookie(&self, mut reply: Reply, session: &str, max_age_s: u32) -> Reply {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let name = &self.cookie;
        let cookie =
            format!("{name}={session}; Path=/; HttpOnly; SameSite=Strict; Max-Age={max_age_s}{secure}");
        if let Ok(value) = HeaderValue::from_str(&cookie) {
            reply.headers_mut().insert(header::SET_COOKIE, value);
        }
        no_store(reply)
    }

    fn session_of<'a>(&self, headers: &'a HeaderMap) -> Option<&'a [u8]> {
        let cookies = headers
            .get_all(header::COOKIE)
            .iter()
            .flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
        let mut own = cookies.filter_map(|cookie| {
            cookie.trim_ascii().strip_prefix(self.cookie.as_bytes())?.strip_prefix(b"=")
        });
        let session = own.next()?;
        lock(&self.sessions).has(session, Instant::now()).then_some(session)
    }
}

/// Adds the headers of every response.
pub(crate) fn seal(mut reply: Reply) -> Reply {
    let headers = reply.headers_mut();
    let every = [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ];
    for (name, value) in every {
        // A document with its own scripts sets a stricter policy.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    reply
}

fn accepted_hosts(config: &WebConfig) -> Vec<String> {
    let own = match config.listen.ip() {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => format!("[{v6}]"),
    };
    let usual = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).into_iter();
    usual.chain([own]).chain(config.hosts.iter().map(|host| host.to_ascii_lowercase())).collect()
}

/// Refuses requests that a browser makes for a page of another site, by the fetch metadata that it
/// sends (W3C Fetch Metadata Request Headers). Links to the page itself are followed.
fn check_site(request: &Parts) -> Result<(), Refusal> {
    let text = |name| request.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let is_link = text("sec-fetch-mode") == Some("navigate")
        && matches!(request.uri.path(), "/" | "/login")
        && request.method == Method::GET;
    match text("sec-fetch-site") {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) if is_link => Ok(()),
        Some(site) => Err(Refusal::new(
            StatusCode::FORBIDDEN,
            format!("the request was made by a page of another site ({})", quoted(site)),
        )),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let text = headers.get(header::AUTHORIZATION)?.as_bytes();
    let (scheme, token) = text.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

/// The Host header in lower case, without port and trailing dot.
pub(crate) fn name_of(host: &str) -> String {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    };
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_without_its_port() {
        let cases = [
            ("localhost", "localhost"),
            ("LOCALHOST:8077", "localhost"),
            ("localhost.:80", "localhost"),
            ("127.0.0.1:1", "127.0.0.1"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
            ("evil.example:8077", "evil.example"),
            ("127.0.0.1.evil.example", "127.0.0.1.evil.example"),
            ("localhost:80@evil.example", "localhost:80@evil.example"),
            ("", ""),
        ];
        for (given, expected) in cases {
            assert_eq!(name_of(given), expected, "{given:?}");
        }
    }
}
