//! `PUT /api/v1/objects/KEY`: streams an object to a file. Nothing here reads one.
use crate::api::{App, blocking};
use crate::body;
use crate::caller::Caller;
use crate::config::GatewayError;
use crate::event::EventKind;
use crate::journal::sync_folder;
use crate::reply::{Reply, text};
use crate::secrets::{fill, now_ms};
use fathom_fleet_admission::check_object_key;
use fathom_os::error::without_code;
use fathom_web::Refusal;
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::Incoming;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Maximum size of an object.
const MAX_OBJECT_BYTES: u64 = 64 << 20;
/// Uploads at the same time.
pub(crate) const MAX_UPLOADS: usize = 256;
/// Bytes that are collected before they are written.
const PIECE_BYTES: usize = 256 << 10;
/// Time limit: half a minute, and that of the slowest line.
const UPLOAD_BASE: Duration = Duration::from_secs(30);
const SLOWEST_BYTES_PER_S: u64 = 16 << 10;
const RETRY_S: u64 = 30;
/// Folder of incomplete objects.
const INCOMING: &str = ".incoming";

/// The folder of objects.
pub(crate) struct Objects {
    folder: PathBuf,
}

impl Objects {
    /// Creates the folder, and removes what an earlier gateway left incomplete.
    pub(crate) fn open(folder: &Path) -> Result<Objects, GatewayError> {
        let incoming = folder.join(INCOMING);
        let fault =
            |error: io::Error| GatewayError::File { path: incoming.clone(), why: without_code(&error) };
        fs::create_dir_all(&incoming).map_err(fault)?;
        for entry in fs::read_dir(&incoming).map_err(fault)? {
            fs::remove_file(entry.map_err(fault)?.path()).map_err(fault)?;
        }
        Ok(Objects { folder: folder.to_owned() })
    }
    fn begin(&self) -> io::Result<Incomplete> {
        let mut random = [0; 8];
        fill(&mut random)?;
        let path = self.folder.join(INCOMING).join(format!("{:016x}", u64::from_le_bytes(random)));
        let file = fathom_os::files::create_new(&path, 0o644)?;
        Ok(Incomplete { path: Some(path), file })
    }
    /// Gives a complete object its name.
    fn finish(&self, mut object: Incomplete, key: &str) -> io::Result<()> {
        object.file.sync_all()?;
        let path = self.folder.join(key);
        let parent = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent)?;
        if let Some(own) = &object.path {
            fs::rename(own, &path)?;
            object.path = None;
        }
        // Folders on the way may be new.
        let up = parent.ancestors().take_while(|one| one.starts_with(&self.folder));
        up.into_iter().try_for_each(|one| sync_folder(Some(one)))
    }
}

/// A file that is removed unless it gets its name.
struct Incomplete {
    path: Option<PathBuf>,
    file: File,
}

impl Drop for Incomplete {
    fn drop(&mut self) {
        // What cannot be removed now is removed at the next start.
        self.path.iter().for_each(|path| drop(fs::remove_file(path)));
    }
}

/// Handles an upload of an authenticated site.
pub(crate) async fn put(
    app: &Arc<App>,
    caller: &Caller,
    key: &str,
    incoming: &mut Incoming,
) -> Result<Reply, Refusal> {
    let Some(objects) = &app.objects else {
        return Err(Refusal::new(StatusCode::NOT_FOUND, "no folder"));
    };
    check_object_key(key, &caller.site).map_err(|error| Refusal::bad(error.to_string()))?;
    let needed = || Refusal::new(StatusCode::LENGTH_REQUIRED, "no Content-Length");
    let length = body::declared(incoming).ok_or_else(needed)?;
    if length > MAX_OBJECT_BYTES {
        return Err(body::too_large(MAX_OBJECT_BYTES));
    }
    let used = app.sites.of(&caller.site, now_ms());
    let _own = used.begin_upload()?;
    let busy = |_| Refusal::later("the gateway is busy", RETRY_S);
    let _place = app.uploads.try_acquire().map_err(busy)?;
    let taken = used.usage().take_object(length, now_ms());
    taken.map_err(|rejection| Refusal {
        retry_after_s: rejection.retry_after_s(),
        ..Refusal::new(StatusCode::TOO_MANY_REQUESTS, rejection.to_string())
    })?;
    let stored = store(app, objects, incoming, length, key).await;
    if stored.is_err() {
        used.usage().put_back_object(length);
    } else {
        app.counts.object_bytes.fetch_add(length, Relaxed);
    }
    stored.map(|()| text("text/plain; charset=utf-8", StatusCode::OK, ""))
}

async fn store(
    app: &Arc<App>,
    objects: &Arc<Objects>,
    incoming: &mut Incoming,
    length: u64,
    key: &str,
) -> Result<(), Refusal> {
    let fault = |error: io::Error| app.cannot_store(&error);
    let slowest = Duration::from_secs(length / SLOWEST_BYTES_PER_S);
    let deadline = Instant::now() + UPLOAD_BASE + slowest;
    let own = Arc::clone(objects);
    let mut object = blocking(move || own.begin()).await?.map_err(fault)?;
    let (mut piece, mut received) = (Vec::new(), 0);
    while let Some(frame) = timeout_at(deadline, incoming.frame()).await.map_err(|_| body::slow())? {
        let frame = frame.map_err(|_| Refusal::bad("the body is truncated"))?;
        let Some(data) = frame.data_ref() else { continue };
        received += data.len() as u64;
        piece.extend_from_slice(data);
        if piece.len() >= PIECE_BYTES {
            object = append(object, std::mem::take(&mut piece)).await?.map_err(fault)?;
        }
    }
    if received != length {
        return Err(Refusal::bad("the body is truncated"));
    }
    object = append(object, piece).await?.map_err(fault)?;
    let (finisher, key) = (Arc::clone(objects), key.to_owned());
    blocking(move || finisher.finish(object, &key)).await?.map_err(fault)
}

async fn append(mut object: Incomplete, piece: Vec<u8>) -> Result<io::Result<Incomplete>, Refusal> {
    blocking(move || object.file.write_all(&piece).map(|()| object)).await
}

impl App {
    /// A key that is in the way of another one is the agent's fault; a full disk is ours.
    fn cannot_store(&self, error: &io::Error) -> Refusal {
        use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, IsADirectory, NotADirectory};
        if matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | IsADirectory | NotADirectory) {
            return Refusal::bad("already exists");
        }
        self.events.report(EventKind::Objects(without_code(error)), now_ms());
        Refusal::later("cannot store the object", RETRY_S)
    }
}
