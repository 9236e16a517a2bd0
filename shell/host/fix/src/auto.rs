//! `--auto`: continuously adjusts the shaper rates on a variable-rate link until it is stopped.
//!
//! ```text
//!  20 times per second:  reflector replies, shaper counters  ->  Controller  ->  shaper rates
//!  every second:         status for people and programs, to a file
//!  every hour, and at the end:  learned state, to a file
//! ```
mod files;
mod passive_rtt;
mod render;
mod samples;
mod shaped;
mod status;
mod status_server;

use crate::config::FixError;
use fathom_client::TestError;
use fathom_os::clock::Clock;
pub use fathom_reflectors::ReflectConfig;
use fathom_reflectors::Reflectors;
use fathom_shape::autorate::{Config, Controller};
use fathom_shaper::{Framing, Place, Plan, ShapeRequest, ShaperKind, Transaction};
use fathom_units::{Duration, Time};
use files::Files;
pub use passive_rtt::PassiveRtt;
pub use shaped::{LineSample, ShapedLine};
pub use status::{Change, DirectionStatus, Status};
use status_server::StatusServer;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

const WRITE_EVERY: Duration = Duration::from_secs(1);
const SAVE_EVERY: Duration = Duration::from_secs(3600);
/// Practically no limit: the watchdog acts when the process ends, not after a time.
const WATCHDOG_LIMIT: std::time::Duration = std::time::Duration::from_secs(100 * 365 * 86_400);

/// Settings of `--auto`.
#[derive(Clone, Debug)]
pub struct AutoConfig {
    /// Directory of the interface's state and of the learned state.
    pub place: Place,
    /// Type of shaper; `None` chooses the best available.
    pub shaper: Option<ShaperKind>,
    /// Packet framing.
    pub framing: Framing,
    /// Round-trip time of the paths, if it exceeds the 100 ms that shapers assume.
    pub round_trip: Option<Duration>,
    /// Initial rates and their limits.
    pub rates: Config,
    /// Sources of delay measurements.
    pub reflectors: ReflectConfig,
    /// Use passive round-trip times of TCP while no reflector replies.
    pub passive: bool,
    /// Time limit; `None` means no limit.
    pub duration: Option<Duration>,
    /// Keep the shapers with their last rates at the end.
    pub commit: bool,
    /// Listen address for the status page and metrics.
    pub metrics: Option<SocketAddr>,
}

/// Progress events.
#[derive(Debug)]
pub enum AutoProgress<'a> {
    /// An earlier fix was rolled back, or its files could not be used.
    Note(&'a str),
    /// The plan, with its undo commands.
    Plan(&'a Plan),
    /// A tick.
    Tick(&'a Status),
}

/// Shapes the interface and adjusts the rates until `stop`, the time limit or an error. `watchdog`
/// is the process that restores the interface if this one dies.
///
/// # Errors
/// Why it stopped. The interface has been restored, unless the error says that this failed.
pub fn auto(
    config: &AutoConfig,
    watchdog: Command,
    stop: &AtomicBool,
    report: &mut dyn FnMut(AutoProgress<'_>),
) -> Result<Status, FixError> {
    let reflectors = Reflectors::open(&config.reflectors, stop).map_err(FixError::Test)?;
    let passive = config.passive.then(|| listen(&config.place.device)).transpose()?;
    let server = config.metrics.map(open_server).transpose()?;
    let files = Files::of(&config.place);
    let (controller, damage) = files.restore(config.rates);
    damage.iter().for_each(|words| report(AutoProgress::Note(words)));
    let mut transaction = begin(config, &controller)?;
    transaction.recovered().iter().for_each(|words| report(AutoProgress::Note(words)));
    report(AutoProgress::Plan(transaction.plan()));
    transaction.apply(watchdog, WATCHDOG_LIMIT).map_err(FixError::Apply)?;
    let clock = config.reflectors.clock;
    let status = Status::new(&transaction.plan().device, transaction.plan().kind.name(), controller.rates());
    let line = ShapedLine::new(clock, reflectors, transaction, config.framing).with_passive_rtt(passive);
    let mut run = Auto { config, clock, line, files, controller, status, server };
    let ended = run.until(stop, report);
    let saved = run.files.save(&run.controller);
    run.files.forget_status();
    // If the learned state cannot be saved, the interface is still rolled back first.
    if config.commit && ended.is_ok() {
        run.line.commit().map_err(FixError::Apply)?;
    } else {
        run.line.roll_back("its duration ended").map_err(FixError::Apply)?;
    }
    ended?;
    saved.map_err(FixError::Incomplete)?;
    Ok(run.status)
}

fn listen(device: &str) -> Result<PassiveRtt, FixError> {
    PassiveRtt::open(device).map_err(|error| FixError::Test(TestError::Host(format!("--passive: {error}"))))
}

fn open_server(address: SocketAddr) -> Result<StatusServer, FixError> {
    StatusServer::open(address).map_err(|error| {
        FixError::Test(TestError::Host(format!(
            "--metrics {address}: {error}\n  try: another port, or an address of this host"
        )))
    })
}

fn begin(config: &AutoConfig, controller: &Controller) -> Result<Transaction, FixError> {
    let rates = controller.rates();
    let request = ShapeRequest {
        device: config.place.device.clone(),
        up: Some(rates.up),
        down: Some(rates.down),
        shaper: config.shaper,
        framing: config.framing,
        round_trip: config.round_trip,
    };
    Transaction::begin(&request, &config.place).map_err(FixError::Apply)
}

struct Auto<'a> {
    config: &'a AutoConfig,
    clock: Clock,
    line: ShapedLine,
    files: Files,
    controller: Controller,
    status: Status,
    server: Option<StatusServer>,
}

impl Auto<'_> {
    fn until(&mut self, stop: &AtomicBool, report: &mut dyn FnMut(AutoProgress<'_>)) -> Result<(), FixError> {
        let began = self.clock.now();
        let (mut next, mut write_at, mut save_at) = (began, began, began + SAVE_EVERY);
        let is_over = |now: Time| self.config.duration.is_some_and(|time| now >= began + time);
        while !stop.load(Ordering::Relaxed) && !is_over(self.clock.now()) {
            // After a late tick, a full interval follows.
            next = (next + self.line.interval()).max(self.clock.now());
            self.tick(next)?;
            report(AutoProgress::Tick(&self.status));
            if next >= write_at {
                write_at = next + WRITE_EVERY;
                self.server.iter().for_each(|server| server.show(&self.status));
                self.files.write_status(&self.status);
            }
            if next >= save_at {
                save_at = next + SAVE_EVERY;
                // At the end it is saved again, and an error is reported then.
                let _ = self.files.save(&self.controller);
            }
        }
        Ok(())
    }
    fn tick(&mut self, until: Time) -> Result<(), FixError> {
        let sample = self.line.sample(until, self.line.is_quiet()).map_err(FixError::Apply)?;
        let decided = self.controller.observe(&sample.observation());
        let rates = decided.map(|one| one.is_new.then_some(one.rate));
        self.line.set_rates(rates).map_err(FixError::Apply)?;
        self.status.note(&sample, decided, self.controller.excess());
        self.status.suspects = self.controller.suspects().collect();
        self.status.problem = self.line.problem().map(str::to_owned);
        Ok(())
    }
}
