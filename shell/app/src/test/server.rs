//! The server of a test for which none is given: the user's list, then a public server whose policy
//! the user has accepted.
use crate::AppError;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A server that anybody may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PublicServer {
    /// Its name in the list of accepted policies.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Its URL.
    pub url: &'static str,
    /// Its policy about data.
    pub policy: &'static str,
    /// What happens to the user's data, in a sentence.
    pub data: &'static str,
}

const ONLY_LEARNS: &str = "It learns your IP address and the speed of your line.";

/// All public servers, the preferred one first. Measurement Lab is last, because its servers send
/// with BBR, which hides queues, and permit one flow.
pub const PUBLIC_SERVERS: [PublicServer; 3] = [
    PublicServer {
        name: "cloudflare",
        title: "Cloudflare's speed test",
        url: "https://speed.cloudflare.com/",
        policy: "https://www.cloudflare.com/privacypolicy/",
        data: ONLY_LEARNS,
    },
    PublicServer {
        name: "apple",
        title: "Apple's networkQuality",
        url: "https://mensura.cdn-apple.com/api/v1/gm/config",
        policy: "https://www.apple.com/legal/privacy/",
        data: ONLY_LEARNS,
    },
    PublicServer {
        name: "mlab",
        title: "Measurement Lab",
        url: "ndt7://",
        policy: "https://www.measurementlab.net/privacy/",
        data: "It publishes your IP address and the results.",
    },
];

/// The public server whose policy must be accepted before a test of `server`, which the user named:
/// Measurement Lab requires it.
#[must_use]
pub fn requires_acceptance(server: &str) -> Option<&'static PublicServer> {
    let [.., mlab] = &PUBLIC_SERVERS;
    matches!(server, "ndt7://" | "msak://").then_some(mlab)
}

/// The user's settings of tests, in a directory.
#[derive(Clone, Debug)]
pub struct Settings {
    directory: PathBuf,
}

impl Settings {
    /// The settings in `directory`, which need not exist.
    #[must_use]
    pub fn at(directory: PathBuf) -> Self {
        Settings { directory }
    }
    /// The user's settings in `$XDG_CONFIG_HOME/fathom`, which is `~/.config/fathom` by default;
    /// `None` if neither `XDG_CONFIG_HOME` nor `HOME` is an absolute path.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let of = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let config = of("XDG_CONFIG_HOME").or_else(|| of("HOME").map(|home| home.join(".config")));
        Some(Settings::at(config?.join("fathom")))
    }
    /// The file with the user's servers: one per line, the preferred one first; `#` starts a
    /// comment.
    #[must_use]
    pub fn servers_file(&self) -> PathBuf {
        self.directory.join("servers")
    }
    /// The user's table of autonomous systems, in the format of iptoasn.com.
    #[must_use]
    pub fn systems_file(&self) -> PathBuf {
        self.directory.join("ip2asn-combined.tsv")
    }
    /// The user's servers; none without the file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn servers(&self) -> Result<Vec<String>, AppError> {
        lines(&self.servers_file())
    }
    /// Whether the user has accepted the policy of a public server.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn has_accepted(&self, server: &PublicServer) -> Result<bool, AppError> {
        Ok(lines(&self.policies_file())?.iter().any(|name| name == server.name))
    }
    /// Remembers that the user has accepted the policy of a public server.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn accept(&self, server: &PublicServer) -> Result<(), AppError> {
        let path = self.policies_file();
        let mut names = lines(&path)?;
        names.push(server.name.to_owned());
        let write = || {
            std::fs::create_dir_all(&self.directory)?;
            std::fs::write(&path, names.join("\n") + "\n")
        };
        write().map_err(|source| AppError::Settings { path: path.clone(), source })
    }
    fn policies_file(&self) -> PathBuf {
        self.directory.join("accepted-policies")
    }
}

/// The lines of a file without comments and blanks; none if it does not exist.
fn lines(path: &Path) -> Result<Vec<String>, AppError> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(String::new())
        }
        other => other,
    };
    let text = text.map_err(|source: io::Error| AppError::Settings { path: path.to_owned(), source })?;
    let without_comment = |line: &str| line.split('#').next().unwrap_or("").trim().to_owned();
    Ok(text.lines().map(without_comment).filter(|line| !line.is_empty()).collect())
}
