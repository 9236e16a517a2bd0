//! The token of a test server.
use crate::failure::Failure;
use crate::terminal::warn;
use clap::Args;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A token has at most 128 bytes; this leaves room for a line end.
const FILE_LIMIT_BYTES: u64 = 1024;

#[derive(Args, Debug, Clone)]
pub(crate) struct TokenArgs {
    /// File whose first line is the server's token
    ///
    /// The token can also be in the variable FATHOM_TOKEN.
    #[arg(long, value_name = "FILE", help_heading = "Connection options")]
    token_file: Option<PathBuf>,
    // Other users can see it in the list of processes.
    #[arg(long, env = "FATHOM_TOKEN", hide = true, hide_env_values = true, value_name = "TEXT")]
    token: Option<String>,
}

impl TokenArgs {
    /// Whether a token is given.
    pub(crate) fn is_given(&self) -> bool {
        self.token_file.is_some() || self.token.is_some()
    }
    /// The token, if one is given.
    ///
    /// # Errors
    /// If the file cannot be read, or its first line is empty.
    pub(crate) fn read(&self) -> Result<Option<String>, Failure> {
        if let Some(path) = &self.token_file {
            return first_line(path).map(Some);
        }
        if self.token.is_some() && std::env::args().any(|a| a == "--token" || a.starts_with("--token=")) {
            warn(
                "other users of this machine can see the token of --token: use --token-file, or FATHOM_TOKEN",
            );
        }
        Ok(self.token.clone())
    }
}

fn first_line(path: &Path) -> Result<String, Failure> {
    let name = format!("--token-file {}", path.display());
    let mut text = String::new();
    let file = File::open(path).map_err(|error| Failure::input(format!("{name}: {error}")))?;
    let read = file.take(FILE_LIMIT_BYTES).read_to_string(&mut text);
    read.map_err(|error| Failure::input(format!("{name}: {error}")))?;
    match text.lines().next().map(str::trim) {
        Some(token) if !token.is_empty() => Ok(token.to_owned()),
        _ => Err(Failure::input(format!("{name}: the first line, the token, is empty"))),
    }
}
