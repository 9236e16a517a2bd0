//! Archives the history of a watch to object stores.
use crate::push::Access;
use crate::routers::Routers;
use crate::{Events, WatchEvent};
use fathom_watch_archive::{Archive, Archiver, Hops, Progress, Store};
use fathom_watch_engine::{Event, Monitor};
use fathom_watch_plan::{ArchivePlace, Plan};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The running archivers.
pub(super) struct Archives {
    store: PathBuf,
    results: Option<PathBuf>,
    hops: Hops,
    running: Vec<(Archive, Archiver)>,
}

impl Archives {
    /// Starts those of a plan. Without a gateway, those to it are left out.
    pub(super) fn start(
        plan: &Plan,
        store: &Path,
        results: Option<&Path>,
        access: Option<&Access>,
        routers: &Arc<Routers>,
    ) -> Archives {
        let (store, results, routers) = (store.to_owned(), results.map(Path::to_owned), Arc::clone(routers));
        let hops = Hops::new(move || routers.known().into_iter().map(|router| router.address).collect());
        let mut archives = Archives { store, results, hops, running: Vec::new() };
        archives.reload(plan, access);
        archives
    }
    /// Applies a new plan. Archives that stay the same continue.
    pub(super) fn reload(&mut self, plan: &Plan, access: Option<&Access>) {
        let wanted = wanted(plan, self.results.as_deref(), &self.hops, access);
        let (stay, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|(running, _)| wanted.iter().any(|one| one.is_same(running)));
        gone.into_iter().for_each(|(_, archiver)| archiver.stop());
        self.running = stay;
        for one in wanted {
            if !self.running.iter().any(|(running, _)| running.is_same(&one)) {
                self.running.push((one.clone(), Archiver::start(one, &self.store)));
            }
        }
    }
    /// Reports the events of archives and records them in the history.
    pub(super) fn report(&self, monitor: &Monitor, events: &Events) {
        for note in self.running.iter().flat_map(|(_, archiver)| archiver.notes()) {
            events(WatchEvent::Push(note.text.clone()));
            monitor.remember(Event { at: note.at, kind: "push", text: note.text });
        }
    }
    pub(super) fn stop(self) {
        self.running.into_iter().for_each(|(_, archiver)| archiver.stop());
    }
}

/// The folders to which a plan archives, which the watch must be able to change.
pub(super) fn folders(plan: &Plan) -> impl Iterator<Item = &Path> {
    plan.archives.iter().filter_map(|archive| match &archive.place {
        ArchivePlace::Folder(path) => Some(Path::new(path)),
        ArchivePlace::S3 { .. } | ArchivePlace::Gateway => None,
    })
}

/// Progress of each archive: those of the plan and those of earlier runs.
pub(super) fn progress(plan: Option<&Plan>, store: &Path) -> Vec<Progress> {
    let mut all = fathom_watch_archive::progress(store);
    for archive in plan.into_iter().flat_map(|plan| &plan.archives) {
        if !all.iter().any(|one| one.name == archive.name) {
            let sent = Err("nothing was sent yet".to_owned());
            all.push(Progress { name: archive.name.clone(), sent });
        }
    }
    all
}

fn wanted(plan: &Plan, results: Option<&Path>, hops: &Hops, access: Option<&Access>) -> Vec<Archive> {
    let Some(site) = &plan.site else { return Vec::new() };
    let one = |archive: &fathom_watch_plan::Archive| {
        let to = place(&archive.place, access)?;
        // A site that is enrolled has the labels of the enrollment, and its name as well.
        let labels = match access {
            Some(access) => access.labels.iter().skip(1).cloned().collect(),
            None => site.labels.clone(),
        };
        // Results of other programs have all addresses.
        let is_own = plan.results.is_none();
        let results = results.filter(|_| is_own || !plan.hides_local_addresses()).map(Path::to_owned);
        let (name, site, hops) = (archive.name.clone(), site.name.clone(), hops.clone());
        Some(Archive { name, to, site, labels, hops, results })
    };
    plan.archives.iter().filter_map(one).collect()
}

fn place(place: &ArchivePlace, access: Option<&Access>) -> Option<Store> {
    Some(match place {
        ArchivePlace::Folder(path) => Store::Folder(path.into()),
        ArchivePlace::S3 { endpoint, bucket, prefix, region, credentials_file, ca_file } => Store::S3 {
            endpoint: endpoint.clone(),
            bucket: bucket.clone(),
            prefix: prefix.clone(),
            region: region.clone(),
            credentials_file: credentials_file.into(),
            ca_file: ca_file.as_ref().map(PathBuf::from),
        },
        ArchivePlace::Gateway => {
            let Access { url, ca_file, key, .. } = access?;
            let key = Arc::clone(key);
            Store::Http {
                url: format!("{url}/api/v1/objects"),
                token: Arc::new(move || key().map_err(io::Error::other)),
                ca_file: ca_file.clone(),
            }
        }
    })
}
