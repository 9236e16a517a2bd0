//! Where objects go.
use crate::answer::Answer;
use crate::archive::{Archive, Store};
use crate::folder::Folder;
use crate::http::Http;
use crate::request::{Client, Rules};
use crate::s3::S3;
use crate::temporary::TemporaryFiles;
use std::path::Path;

/// An object store.
pub(crate) trait Place: Send {
    /// Stores a file as an object, completely or not at all.
    fn put(&mut self, key: &str, file: &Path) -> Answer;
    /// Where temporary files are created.
    fn temporary(&self) -> &TemporaryFiles;
    /// Whether [`Place::put`] takes the file away, which must then be a temporary one.
    fn takes_files(&self) -> bool {
        false
    }
}

/// The store of an archive. `history` is the directory of the history.
pub(crate) fn place(archive: &Archive, history: &Path) -> Box<dyn Place> {
    let temporary = TemporaryFiles::new(history, format!("archive-{}", archive.name));
    match &archive.to {
        Store::Folder(path) => Box::new(Folder::new(path, archive)),
        Store::S3 { endpoint, bucket, prefix, region, credentials_file, ca_file } => Box::new(S3 {
            endpoint: endpoint.clone(),
            bucket: bucket.clone(),
            prefix: prefix.trim_matches('/').to_owned(),
            region: region.clone(),
            credentials_file: credentials_file.clone(),
            client: Client::new(endpoint, ca_file.clone(), Rules::S3),
            temporary,
        }),
        Store::Http { url, token, ca_file } => {
            Box::new(Http::new(url, token.clone(), ca_file.clone(), temporary))
        }
    }
}
