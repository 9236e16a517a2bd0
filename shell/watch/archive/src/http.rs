//! A server that accepts `PUT URL/KEY` with a bearer token.
use crate::answer::{Answer, Failure};
use crate::archive::Token;
use crate::place::Place;
use crate::request::{Client, Rules};
use crate::temporary::TemporaryFiles;
use fathom_os::error::without_code;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::path::{Path, PathBuf};

/// All but the unreserved characters of RFC 3986 and those of our keys.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b'=');

/// An HTTP server.
pub(crate) struct Http {
    url: String,
    token: Token,
    client: Client,
    temporary: TemporaryFiles,
}

impl Http {
    pub(crate) fn new(url: &str, token: Token, ca_file: Option<PathBuf>, temporary: TemporaryFiles) -> Http {
        let url = url.trim_end_matches('/').to_owned();
        Http { client: Client::new(&url, ca_file, Rules::Http), url, token, temporary }
    }
    fn header(&self) -> Result<String, Failure> {
        let token = (self.token)().map_err(|e| Failure::denied(format!("token: {}", without_code(&e))))?;
        let token = token.trim();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Failure::denied("token: expected one word of visible ASCII"));
        }
        Ok(format!("Bearer {token}"))
    }
}

impl Place for Http {
    fn put(&mut self, key: &str, file: &Path) -> Answer {
        let url = format!("{}/{}", self.url, utf8_percent_encode(key, ESCAPED));
        match self.header() {
            Ok(header) => self.client.put(&url, Some(&header), file),
            Err(failure) => failure.into(),
        }
    }
    fn temporary(&self) -> &TemporaryFiles {
        &self.temporary
    }
}
