//! A bucket with the protocol of S3.
use crate::answer::{Answer, Failure};
use crate::credentials;
use crate::place::Place;
use crate::request::Client;
use crate::temporary::TemporaryFiles;
use rusty_s3::actions::S3Action;
use rusty_s3::{Bucket, UrlStyle};
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;

/// How long a signature is valid, also for a server whose clock is some minutes off.
const SIGNATURE_LIFE: Duration = Duration::from_secs(900);

/// A bucket.
pub(crate) struct S3 {
    pub(crate) endpoint: String,
    pub(crate) bucket: String,
    pub(crate) prefix: String,
    pub(crate) region: String,
    pub(crate) credentials_file: PathBuf,
    pub(crate) client: Client,
    pub(crate) temporary: TemporaryFiles,
}

impl S3 {
    /// The URL of an object, with a signature.
    fn signed(&self, key: &str) -> Result<Url, Failure> {
        let S3 { endpoint, bucket, prefix, region, credentials_file, .. } = self;
        let invalid = |why: &dyn std::fmt::Display| Failure::new(format!("endpoint {endpoint}: {why}"));
        let base = endpoint.parse().map_err(|e: url::ParseError| invalid(&e))?;
        if bucket.is_empty() || bucket.contains('/') {
            return Err(Failure::new(format!("invalid bucket {bucket:?}")));
        }
        let bucket =
            Bucket::new(base, UrlStyle::Path, bucket.clone(), region.clone()).map_err(|e| invalid(&e))?;
        let credentials = credentials::read(credentials_file).map_err(Failure::denied)?;
        let path = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}/{key}") };
        Ok(bucket.put_object(Some(&credentials), &path).sign(SIGNATURE_LIFE))
    }
}

impl Place for S3 {
    fn put(&mut self, key: &str, file: &Path) -> Answer {
        match self.signed(key) {
            Ok(url) => self.client.put(url.as_str(), None, file),
            Err(failure) => failure.into(),
        }
    }
    fn temporary(&self) -> &TemporaryFiles {
        &self.temporary
    }
}
