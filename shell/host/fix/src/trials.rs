//! Saves trials on disk, so that an interrupted search can be resumed.
use fathom_shape::knee::{Knee, Trial};
use fathom_shaper::Place;
use fathom_shaper::state_dir::StateDir;
use fathom_units::{Direction, Duration, Rate};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::SystemTime;

/// Maximum age of usable trials, in seconds.
const FRESH_S: u64 = 3600;
/// Maximum size of a file, in bytes. A search has tens of trials of 200 bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The trials of one direction of one interface to one server.
pub(crate) struct TrialFile {
    folder: PathBuf,
    name: String,
    server: String,
    shaper: &'static str,
}

impl TrialFile {
    pub(crate) fn new(place: &Place, direction: Direction, server: &str, shaper: &'static str) -> TrialFile {
        let name = format!("{}.knee-{direction}.json", place.device);
        TrialFile { folder: place.folder.clone(), name, server: server.to_owned(), shaper }
    }
    /// The interrupted search, if it used this server and shaper and is recent. An unreadable file
    /// counts as none.
    pub(crate) fn recall(&self) -> Option<Knee> {
        let value: Value = serde_json::from_slice(&self.folder()?.read(&self.name, MAX_BYTES).ok()??).ok()?;
        let is_fresh = now_s().saturating_sub(value["unix_s"].as_u64()?) < FRESH_S;
        let is_same = value["server"] == self.server.as_str() && value["shaper"] == self.shaper;
        let guess = rate(&value["guess_bits_per_second"])?;
        let trials = value["trials"].as_array()?.iter().map(trial).collect::<Option<Vec<_>>>()?;
        (is_fresh && is_same && !trials.is_empty()).then(|| Knee::resume(guess, trials))
    }
    /// Saves all trials so far. If that fails, an interrupted search starts over.
    pub(crate) fn store(&self, knee: &Knee) {
        let trials: Vec<Value> = knee.trials().iter().map(trial_to_json).collect();
        let value = json!({
            "unix_s": now_s(), "server": self.server, "shaper": self.shaper,
            "guess_bits_per_second": knee.guess().as_bits_per_second(), "trials": trials,
        });
        let _ = self.folder().map(|folder| folder.write(&self.name, value.to_string().as_bytes()));
    }
    /// Deletes the file when the search is complete.
    pub(crate) fn delete(&self) {
        let _ = self.folder().map(|folder| folder.remove(&self.name));
    }
    /// `None` if others can change it.
    fn folder(&self) -> Option<StateDir> {
        StateDir::open(&self.folder).ok()?
    }
}

fn trial_to_json(trial: &Trial) -> Value {
    json!({
        "offered_bits_per_second": trial.offered.as_bits_per_second(),
        "delivered_bits_per_second": trial.delivered.as_bits_per_second(),
        "delay_s": trial.delay.as_secs_f64(),
        "is_delayed": trial.is_delayed, "is_marginal": trial.is_marginal, "is_demanded": trial.is_demanded,
    })
}

fn rate(value: &Value) -> Option<Rate> {
    value.as_u64().map(Rate::from_bits_per_second)
}

fn trial(value: &Value) -> Option<Trial> {
    Some(Trial {
        offered: rate(&value["offered_bits_per_second"])?,
        delivered: rate(&value["delivered_bits_per_second"])?,
        delay: Duration::from_secs_f64(value["delay_s"].as_f64().filter(|s| (0.0..1e6).contains(s))?),
        is_delayed: value["is_delayed"].as_bool()?,
        is_marginal: value["is_marginal"].as_bool()?,
        is_demanded: value["is_demanded"].as_bool()?,
    })
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
