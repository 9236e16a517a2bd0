//! The history of one watch, as a fleet of one site.
use crate::window::{KnownSite, WINDOW_MS, Window, Windows};
use fathom_fleet_query::{QueryError, ResultFile, Span};
use fathom_units::{Duration, WallTime};
use fathom_watch_store::HistoryReader;
use fathom_watch_store::export::{Cell, Export, Field, ROLLUPS, Table};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The history of a watch.
pub struct OwnHistory {
    store: PathBuf,
    site: KnownSite,
}

impl OwnHistory {
    /// The history in the folder `store`, of the site with this name and these labels.
    #[must_use]
    pub fn new(store: &Path, name: String, labels: BTreeMap<String, String>) -> OwnHistory {
        OwnHistory { store: store.to_owned(), site: KnownSite { name, labels, hops: Vec::new() } }
    }
}

impl Windows for OwnHistory {
    fn sites(&self) -> Result<Vec<KnownSite>, QueryError> {
        Ok(vec![self.site.clone()])
    }
    fn each(&self, site: &str, span: Span, take: &mut dyn FnMut(&Window<'_>)) -> Result<(), QueryError> {
        if site != self.site.name {
            return Ok(());
        }
        let fault = |why: String| QueryError { object: self.store.display().to_string(), why };
        let mut reader = HistoryReader::open(&self.store).map_err(|error| fault(error.to_string()))?;
        let series = reader.series().map_err(|error| fault(error.to_string()))?;
        let every = Duration::from_nanos(WINDOW_MS * 1_000_000);
        let export = Export { from: span.from, to: span.to, every: Some(every) };
        let mut rows = Rows { places: Places::new(export.fields()), take };
        export.write(&mut reader, &series, &mut rows).map_err(|error| fault(error.to_string()))?;
        Ok(())
    }
    fn results(&self, site: &str, span: Span) -> Result<Vec<ResultFile>, QueryError> {
        if site != self.site.name {
            return Ok(Vec::new());
        }
        // Without a test there is no folder.
        let all = fs::read_dir(self.store.join("results")).into_iter().flatten().flatten();
        let mut found: Vec<(u128, ResultFile)> = all
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let modified = entry.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
                let is_result = name.ends_with(".json") || name.ends_with(".json.gz");
                let at = WallTime(u64::try_from(modified.as_nanos()).ok()?);
                let result = ResultFile { name, path: entry.path() };
                (is_result && span.has(at)).then_some((modified.as_nanos(), result))
            })
            .collect();
        found.sort_by_key(|(modified, _)| *modified);
        Ok(found.into_iter().map(|(_, result)| result).collect())
    }
}

/// Where the columns are.
struct Places {
    target: usize,
    probe: usize,
    from_ms: usize,
    rtt_p50_s: usize,
    means: [usize; 3],
}

impl Places {
    fn new(fields: &[Field<'_>]) -> Places {
        let place = |name: &str| fields.iter().position(|field| field.name == name).unwrap_or(ROLLUPS.len());
        Places {
            target: place("target"),
            probe: place("probe"),
            from_ms: place("from_ms"),
            rtt_p50_s: place("rtt_p50_s"),
            means: ["rtt_mean_s", "level_mean_bits_per_second", "level_mean_bytes"].map(place),
        }
    }
}

/// A table that passes its rows on.
struct Rows<'t> {
    places: Places,
    take: &'t mut dyn FnMut(&Window<'_>),
}

impl Table for Rows<'_> {
    fn row(&mut self, cells: &[Cell<'_>]) -> std::io::Result<()> {
        let number = |place: usize| match cells.get(place) {
            Some(Cell::Number(number)) => *number,
            _ => None,
        };
        let places = &self.places;
        let named = (cells.get(places.target), cells.get(places.probe), cells.get(places.from_ms));
        if let (Some(Cell::Text(target)), Some(Cell::Text(probe)), Some(Cell::Whole(from_ms))) = named {
            let mean = places.means.iter().find_map(|place| number(*place));
            let rtt_p50_s = number(places.rtt_p50_s);
            (self.take)(&Window { target, probe, from_ms: *from_ms, rtt_p50_s, mean });
        }
        Ok(())
    }
    fn finish(self: Box<Self>) -> std::io::Result<()> {
        Ok(())
    }
}
