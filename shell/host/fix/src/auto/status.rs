//! The current status, for people, programs and metrics.
use super::files::MAX_BYTES;
use super::shaped::LineSample;
use fathom_os::clock::wall_now;
use fathom_shape::autorate::{Decision, Reason};
use fathom_shaper::Place;
use fathom_shaper::state_dir::StateDir;
use fathom_units::{PerDirection, Rate, WallTime};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A rate change.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// Time of the change.
    pub at: WallTime,
    /// The previous rate.
    pub from: Rate,
    /// The new rate.
    pub to: Rate,
    /// The reason.
    pub reason: Reason,
}

/// Current status of a direction.
#[derive(Clone, Debug)]
pub struct DirectionStatus {
    /// Rate of the shaper.
    pub rate: Rate,
    /// Rate leaving the shaper in the last second, in bit/s.
    pub delivered_bits_per_second: f64,
    /// Bytes queued in the shaper.
    pub backlog_bytes: u64,
    /// Delay beyond the shaper above the baseline, in s; `None` if no reflector replies.
    pub delay_s: Option<f64>,
    /// Reason for the current rate.
    pub reason: Reason,
    /// The last change.
    pub last: Option<Change>,
    /// Number of ticks by reason.
    pub decisions: BTreeMap<Reason, u64>,
}

/// Current status of both directions.
#[derive(Clone, Debug)]
pub struct Status {
    /// The interface.
    pub device: String,
    /// The shaper.
    pub shaper: &'static str,
    /// Start time.
    pub since: WallTime,
    /// Time of the last tick.
    pub at: WallTime,
    /// Both directions.
    pub directions: PerDirection<DirectionStatus>,
    /// Replies since the start.
    pub answers: u64,
    /// Reflectors that contradict the others.
    pub suspects: Vec<u16>,
    /// Why the server is not being probed, if so.
    pub problem: Option<String>,
}

impl Status {
    /// Name of the status file.
    pub(super) fn name(place: &Place) -> String {
        format!("{}.auto.json", place.device)
    }
    /// The status file of a running controller, a JSON object.
    #[must_use]
    pub fn read(place: &Place) -> Option<Vec<u8>> {
        StateDir::open(&place.folder).ok()??.read(&Status::name(place), MAX_BYTES).ok()?
    }
    pub(super) fn new(device: &str, shaper: &'static str, rates: PerDirection<Rate>) -> Status {
        let now = wall_now();
        Status {
            device: device.to_owned(),
            shaper,
            since: now,
            at: now,
            directions: rates.map(DirectionStatus::new),
            answers: 0,
            suspects: Vec::new(),
            problem: None,
        }
    }
    pub(super) fn note(
        &mut self,
        seen: &LineSample,
        decided: PerDirection<Decision>,
        excess: PerDirection<Option<f64>>,
    ) {
        self.at = seen.wall;
        self.answers += seen.delays.len() as u64;
        let both = [
            (&mut self.directions.up, decided.up, excess.up),
            (&mut self.directions.down, decided.down, excess.down),
        ];
        let traffic = [(seen.delivered.up, seen.queues.up), (seen.delivered.down, seen.queues.down)];
        for ((state, now, delay_s), (delivered, queue)) in both.into_iter().zip(traffic) {
            state.note(seen.wall, now, delay_s);
            state.delivered_bits_per_second = delivered;
            state.backlog_bytes = queue.backlog.get();
        }
    }
    /// The JSON document of the file and of `--json`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "interface": self.device, "shaper": self.shaper, "process": std::process::id(),
            "since_unix_s": unix_s(self.since), "at_unix_s": unix_s(self.at), "answers": self.answers,
            "suspects": self.suspects, "problem": self.problem,
            "up": self.directions.up.to_json(), "down": self.directions.down.to_json(),
        })
    }
}

impl DirectionStatus {
    fn new(rate: Rate) -> DirectionStatus {
        DirectionStatus {
            rate,
            delivered_bits_per_second: 0.0,
            backlog_bytes: 0,
            delay_s: None,
            reason: Reason::Silent,
            last: None,
            decisions: BTreeMap::new(),
        }
    }
    fn note(&mut self, at: WallTime, decided: Decision, delay_s: Option<f64>) {
        if decided.is_new {
            self.last = Some(Change { at, from: self.rate, to: decided.rate, reason: decided.reason });
        }
        (self.rate, self.reason, self.delay_s) = (decided.rate, decided.reason, delay_s);
        *self.decisions.entry(decided.reason).or_default() += 1;
    }
    fn to_json(&self) -> Value {
        let counts: BTreeMap<&str, u64> = self.decisions.iter().map(|(why, n)| (why.name(), *n)).collect();
        json!({
            "rate_bits_per_second": self.rate.as_bits_per_second(),
            "delivered_bits_per_second": self.delivered_bits_per_second.round(),
            "backlog_bytes": self.backlog_bytes, "delay_above_usual_s": self.delay_s,
            "reason": self.reason.name(), "decisions": counts,
            "last_change": self.last.map(|last| json!({
                "at_unix_s": unix_s(last.at), "reason": last.reason.name(),
                "from_bits_per_second": last.from.as_bits_per_second(),
                "to_bits_per_second": last.to.as_bits_per_second(),
            })),
        })
    }
}

fn unix_s(at: WallTime) -> u64 {
    at.0 / 1_000_000_000
}
