//! What to archive, and where to.
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads a bearer token. It is called for each request, because a token may be short-lived.
pub type Token = Arc<dyn Fn() -> io::Result<String> + Send + Sync>;

/// The addresses of the routers that are now on the paths of the site and may leave it.
#[derive(Clone)]
pub struct Hops(Arc<dyn Fn() -> BTreeSet<IpAddr> + Send + Sync>);

impl Hops {
    /// They are asked for every few seconds.
    pub fn new(now: impl Fn() -> BTreeSet<IpAddr> + Send + Sync + 'static) -> Hops {
        Hops(Arc::new(now))
    }
    /// No addresses.
    #[must_use]
    pub fn none() -> Hops {
        Hops::new(BTreeSet::new)
    }
    pub(crate) fn now(&self) -> BTreeSet<IpAddr> {
        (self.0)()
    }
}

impl fmt::Debug for Hops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.now()).finish()
    }
}

/// What to archive, and where to.
#[derive(Clone, Debug)]
pub struct Archive {
    /// The name, for messages and the cursor file.
    pub name: String,
    /// The store.
    pub to: Store,
    /// The site of this watch, a part of the name of each object.
    pub site: String,
    /// Labels of the site.
    pub labels: Vec<(String, String)>,
    /// Routers on its paths.
    pub hops: Hops,
    /// The directory with results of tests; `None` for no results.
    pub results: Option<PathBuf>,
}

impl Archive {
    /// Whether another one has the same settings, so that a running archiver can continue. Tokens
    /// and routers are asked for each time and are not compared.
    #[must_use]
    pub fn is_same(&self, other: &Archive) -> bool {
        let Archive { name, to, site, labels, hops: _, results } = self;
        (name, site, labels, results) == (&other.name, &other.site, &other.labels, &other.results)
            && (to.to_string(), to.files()) == (other.to.to_string(), other.to.files())
    }
}

/// An object store.
#[derive(Clone)]
pub enum Store {
    /// A directory, which must exist.
    Folder(PathBuf),
    /// A bucket with the protocol of S3, addressed by path.
    S3 {
        /// The URL of the server.
        endpoint: String,
        /// The bucket, which must exist.
        bucket: String,
        /// The beginning of all keys; may be empty.
        prefix: String,
        /// The region.
        region: String,
        /// A file with the access key, read for each request.
        credentials_file: PathBuf,
        /// Certificate authorities in PEM format; `None` for those of the system.
        ca_file: Option<PathBuf>,
    },
    /// A server that accepts `PUT URL/KEY`.
    Http {
        /// The URL below which the objects are.
        url: String,
        /// Reads the bearer token.
        token: Token,
        /// Certificate authorities in PEM format; `None` for those of the system.
        ca_file: Option<PathBuf>,
    },
}

impl Store {
    /// All but the address and the token.
    fn files(&self) -> (Option<&Path>, Option<&Path>, &str) {
        match self {
            Store::Folder(_) => (None, None, ""),
            Store::S3 { credentials_file, ca_file, region, .. } => {
                (Some(credentials_file), ca_file.as_deref(), region)
            }
            Store::Http { ca_file, .. } => (None, ca_file.as_deref(), ""),
        }
    }
}

impl fmt::Display for Store {
    /// The address, without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Store::Folder(path) => write!(f, "{}", path.display()),
            Store::S3 { endpoint, bucket, prefix, .. } => {
                write!(f, "{}/{bucket}", endpoint.trim_end_matches('/'))?;
                if prefix.is_empty() { Ok(()) } else { write!(f, "/{}", prefix.trim_matches('/')) }
            }
            Store::Http { url, .. } => f.write_str(url),
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({self})")
    }
}
