//! Applies a shaper, which the caller then verifies and commits or rolls back. If anything fails,
//! it is rolled back.
use crate::ability::Abilities;
use crate::error::ApplyError;
use crate::kernel::Kernel;
use crate::place::Place;
use crate::plan::{Plan, ShapeRequest, Side, Step};
use crate::rehearse::rehearse;
use crate::restore::{Restored, obstacle, restore};
use crate::snapshot::Snapshot;
use crate::state::{Phase, State, SystemInstance};
use crate::state_dir::Lock;
use crate::watchdog::Watchdog;
use crate::{Look, look};
use fathom_units::Rate;
use serde_json::Value;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A prepared or applied change of an interface that is not yet committed.
#[derive(Debug)]
pub struct Transaction {
    kernel: Kernel,
    place: Place,
    plan: Plan,
    state: State,
    watchdog: Option<Watchdog>,
    /// When the watchdog's time limit expires.
    deadline: Option<Instant>,
    /// Description of an interrupted fix that was rolled back first.
    recovered: Option<String>,
    is_open: bool,
    _lock: Lock,
}

/// Granularity of the changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// Each step in one go: the normal mode.
    Steps,
    /// One request at a time, so that a test can interrupt between any two.
    Requests,
}

impl Transaction {
    /// Examines the interface and the kernel, makes the plan, and rehearses the rollback. Changes
    /// nothing, except that an earlier interrupted fix is rolled back.
    ///
    /// # Errors
    /// What prevents it.
    pub fn begin(request: &ShapeRequest, place: &Place) -> Result<Transaction, ApplyError> {
        let mut kernel = Kernel::open()?;
        let lock = take_lock(place)?;
        let recovered = recover(&mut kernel, place)?;
        let links = kernel.links()?;
        let Some(snapshot) = Snapshot::take(&mut kernel, &request.device)? else {
            let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
            let words = format!("unknown interface (available: {})", names.join(", "));
            return Err(ApplyError::words(&request.device, words));
        };
        if let Some(why) = obstacle(&snapshot) {
            return Err(ApplyError::words(format!("snapshot of {}", request.device), why));
        }
        let plan = Plan::make(request, &snapshot, &links, &Abilities::probe()?)?;
        let own = links.iter().find(|link| link.index == snapshot.index);
        rehearse(&snapshot, own.map_or(1, |link| link.transmit_queues))?;
        let state = State {
            id: format!("{}-{}", std::process::id(), now().as_nanos()),
            phase: Phase::Trial,
            snapshot,
            made: plan.made.clone(),
            about: about(&plan),
            pid: std::process::id(),
            began_unix_s: now().as_secs(),
            limit_ms: 0,
            instance: SystemInstance::here(),
            own: Some(plan.own()),
        };
        let place = place.clone();
        Ok(Transaction {
            kernel,
            place,
            plan,
            state,
            watchdog: None,
            deadline: None,
            recovered,
            is_open: true,
            _lock: lock,
        })
    }
    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
    /// The interface before the fix.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.state.snapshot
    }
    /// Description of an interrupted fix that was rolled back, if any.
    #[must_use]
    pub fn recovered(&self) -> Option<&str> {
        self.recovered.as_deref()
    }
    /// Applies the changes. `watchdog` is the command of a process that calls
    /// [`run_watchdog`](crate::run_watchdog) with the same place: it restores everything if this
    /// process ends or does not commit within `limit`. If a step fails, everything is rolled back
    /// here.
    ///
    /// # Errors
    /// The step that failed; and what could not be restored, if that failed too.
    pub fn apply(&mut self, watchdog: Command, limit: Duration) -> Result<(), ApplyError> {
        self.apply_by(watchdog, limit, Pace::Steps, &mut |_, _| Ok(()))
    }
    /// Applies the changes like `apply`, and calls `ask` before each step or request and once after
    /// the last.
    ///
    /// # Errors
    /// Those of `apply`; and the error of `ask`.
    pub fn apply_by(
        &mut self,
        watchdog: Command,
        limit: Duration,
        pace: Pace,
        ask: &mut dyn FnMut(usize, &Plan) -> Result<(), ApplyError>,
    ) -> Result<(), ApplyError> {
        self.deadline = Instant::now().checked_add(limit);
        self.state.limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        self.place.write(&self.state)?;
        let result = self.start_watchdog(watchdog).and_then(|()| self.make(pace, ask));
        result.map_err(|error| self.give_up(error))
    }
    fn start_watchdog(&mut self, command: Command) -> Result<(), ApplyError> {
        self.watchdog = Some(Watchdog::start(command)?);
        Ok(())
    }
    fn make(
        &mut self,
        pace: Pace,
        ask: &mut dyn FnMut(usize, &Plan) -> Result<(), ApplyError>,
    ) -> Result<(), ApplyError> {
        let mut count = 0;
        for Step { requests, .. } in &self.plan.steps {
            let size = if pace == Pace::Steps { requests.len() } else { 1 };
            for batch in requests.chunks(size.max(1)) {
                ask(count, &self.plan)?;
                self.kernel.run(batch)?;
                count += 1;
            }
        }
        ask(count, &self.plan)
    }
    /// Rolls back, and adds what could not be restored to the error.
    fn give_up(&mut self, error: ApplyError) -> ApplyError {
        match self.put_back("a step failed") {
            Ok(_) => error,
            Err(second) => {
                let words = format!("{error}\n  and the rollback failed: {second}");
                ApplyError::words(format!("fix of {}", self.place.device), words)
            }
        }
    }
    /// Changes the rates of the shapers, with one request each. Queued packets are kept.
    ///
    /// # Errors
    /// If the kernel refuses, for example because a shaper was removed.
    pub fn set_rates(&mut self, up: Option<Rate>, down: Option<Rate>) -> Result<(), ApplyError> {
        let requests = [change(self.plan.up.as_mut(), up), change(self.plan.down.as_mut(), down)];
        self.kernel.run(&requests.into_iter().flatten().collect::<Vec<_>>())
    }
    /// Reads the counters of both shapers and of the interface.
    ///
    /// # Errors
    /// If the kernel does not answer, or a shaper is missing.
    pub fn look(&mut self) -> Result<Look, ApplyError> {
        look(&mut self.kernel, &self.plan)
    }
    /// Commits the fix.
    ///
    /// # Errors
    /// If the watchdog already rolled it back after its time limit, or if the state cannot be
    /// written; then it is rolled back.
    pub fn commit(mut self) -> Result<(), ApplyError> {
        let is_ours = self.place.read()?.is_some_and(|state| state.id == self.state.id);
        // The watchdog's limit started slightly later; it must not interfere.
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if !is_ours || is_late {
            self.is_open = false;
            let words = "the time limit was exceeded; rolled back";
            let late = ApplyError::words(format!("fix of {}", self.place.device), words);
            return Err(if is_ours { self.give_up(late) } else { late });
        }
        self.state.phase = Phase::Committed;
        self.state.about = about(&self.plan);
        if let Err(error) = self.place.write(&self.state) {
            return Err(self.give_up(error));
        }
        self.is_open = false;
        self.dismiss();
        Ok(())
    }
    /// Rolls back the fix.
    ///
    /// # Errors
    /// What could not be restored. The state is then kept for another attempt.
    pub fn roll_back(mut self, why: &str) -> Result<Restored, ApplyError> {
        self.put_back(why)
    }
    fn put_back(&mut self, why: &str) -> Result<Restored, ApplyError> {
        self.is_open = false;
        let restored = restore(&mut self.kernel, &self.state)?;
        self.place.forget(why)?;
        self.dismiss();
        Ok(restored)
    }
    fn dismiss(&mut self) {
        if let Some(watchdog) = self.watchdog.take() {
            watchdog.dismiss();
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // Nothing was changed before the watchdog existed. Errors are left to the watchdog, which
        // notices the end of this process.
        if self.is_open && self.watchdog.is_some() {
            let _ = self.put_back("it was abandoned");
        }
    }
}

fn change(side: Option<&mut Side>, rate: Option<Rate>) -> Option<fathom_tc::Request> {
    let (side, rate) = (side?, rate?);
    side.shaper.rate = rate;
    Some(side.shaper.change_rate(&side.device, side.major))
}

/// Time since 1970.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The plan as JSON.
#[must_use]
pub fn about(plan: &Plan) -> Value {
    let words = |requests: &[fathom_tc::Request]| -> Vec<String> {
        requests.iter().map(ToString::to_string).collect()
    };
    let steps: Vec<Value> = plan
        .steps
        .iter()
        .map(|step| {
            serde_json::json!({
                "does": step.does, "commands": words(&step.requests), "undo": words(&step.undo),
            })
        })
        .collect();
    let side = |side: &Option<Side>| match side {
        Some(side) => serde_json::json!({
            "interface": side.device, "qdisc": format!("{:x}:", side.major),
            "rate_bits_per_second": side.shaper.rate.as_bits_per_second(),
        }),
        None => Value::Null,
    };
    serde_json::json!({
        "interface": plan.device, "shaper": plan.kind.name(),
        "up": side(&plan.up), "down": side(&plan.down), "steps": steps,
    })
}

fn take_lock(place: &Place) -> Result<Lock, ApplyError> {
    place.lock()?.ok_or_else(|| {
        let who = place.read().ok().flatten().map_or_else(String::new, |s| format!(" (process {})", s.pid));
        let words =
            format!("another fix{who} is running\n  try: wait until it ends, or: fathom fix --status");
        ApplyError::words(&place.device, words)
    })
}

/// Rolls back an interrupted fix. A committed one is a conflict.
fn recover(kernel: &mut Kernel, place: &Place) -> Result<Option<String>, ApplyError> {
    let Some(state) = place.read()? else { return Ok(None) };
    if state.instance.boot != SystemInstance::here().boot {
        place.forget("the system was started again")?;
        return Ok(None);
    }
    check_namespace(&state, place)?;
    if state.phase == Phase::Committed {
        let words =
            format!("already shaped\n  try: fathom fix --undo {} (then run the fix again)", place.device);
        return Err(ApplyError::words(&place.device, words));
    }
    restore(kernel, &state)?;
    place.forget("its process ended")?;
    Ok(Some(format!("rolled back an interrupted earlier fix (process {})", state.pid)))
}

fn check_namespace(state: &State, place: &Place) -> Result<(), ApplyError> {
    let here = SystemInstance::here().namespace;
    if state.instance.namespace == here {
        return Ok(());
    }
    let words = format!(
        "{} belongs to another network namespace ({}, this is {here})\n  try: another --state directory",
        place.file().display(),
        state.instance.namespace
    );
    Err(ApplyError::words(&place.device, words))
}

/// Result of [`undo`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Undone {
    /// There was no fix.
    Nothing,
    /// The system was rebooted since, which removed the qdiscs.
    EarlierBoot,
    /// The fix was rolled back.
    Back(Restored),
}

/// Rolls back a fix at any later time.
///
/// # Errors
/// What could not be restored. The state is then kept for another attempt.
pub fn undo(place: &Place) -> Result<Undone, ApplyError> {
    if place.read()?.is_none() {
        return Ok(Undone::Nothing);
    }
    let _lock = take_lock(place)?;
    let Some(state) = place.read()? else { return Ok(Undone::Nothing) };
    if state.instance.boot != SystemInstance::here().boot {
        place.forget("the system was started again")?;
        return Ok(Undone::EarlierBoot);
    }
    check_namespace(&state, place)?;
    let restored = restore(&mut Kernel::open()?, &state)?;
    place.forget("it was undone by the user")?;
    Ok(Undone::Back(restored))
}
