//! The line, server, traffic and shapers of a run.
use super::drive::{Drive, Tick};
use super::track::{LEAD, Track};
use crate::law::Rates;
use crate::who::Who;
use fathom_client::TestConfig;
use fathom_fix::auto::ShapedLine;
use fathom_lab::workload::{Played, Player};
use fathom_lab::{Lab, LabOptions};
use fathom_os::clock::Clock;
use fathom_reflectors::{ReflectConfig, Reflectors};
use fathom_server::{Config, Server};
use fathom_shaper::{ApplyError, Framing, Place, ShapeRequest, ShaperKind, Transaction};
use fathom_units::{Direction, Duration, PerDirection, Rate, Time};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// The interface on the client side of a lab.
const DEVICE: &str = "line0";
/// Seed of the lab and of the payload.
const SEED: u64 = 1;
/// Time limit of a run before the watchdog acts.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(600);
/// Number of ICMP reflectors: six every 300 ms give 20 replies per second, as many as from the
/// server.
const ECHOES: usize = 6;

pub(super) type Failed = Box<dyn Error + Send + Sync>;

/// Results of a run.
pub(super) struct Came {
    pub(super) ticks: Vec<Tick>,
    pub(super) played: Played,
    pub(super) begin: Time,
}

/// A line in the lab with its workloads.
pub(super) struct Bed<'a> {
    track: &'a Track,
    clock: Clock,
    begin: Time,
    lab: Lab,
    _server: Server,
    player: Player,
    folder: PathBuf,
}

impl<'a> Bed<'a> {
    pub(super) fn new(track: &'a Track) -> Result<Bed<'a>, Failed> {
        let clock = Clock::start();
        let lab = Lab::start(&track.plan.line, &LabOptions::new(clock, SEED))?;
        let server = lab.in_server(|| Server::start(Config::default()))??;
        let mut player = Player::new(track.plan.workloads.clone(), track.plan.run, SEED, clock)?;
        let (near, far) = (lab.client_address().v4.into(), lab.server_address().v4.into());
        lab.in_client(|| player.enter(Direction::Up, near))??;
        lab.in_server(|| player.enter(Direction::Down, far))??;
        let folder = std::env::temp_dir().join(format!("fathom-autorate-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let begin = Time::ZERO + Duration::from_secs_f64(LEAD);
        Ok(Bed { track, clock, begin, lab, _server: server, player, folder })
    }
    /// Runs a law with the workloads of the run.
    pub(super) fn run(mut self, who: Who, is_round_trip: bool) -> Result<Came, Failed> {
        let drive = Drive { who, is_round_trip, clock: self.clock, begin: self.begin };
        let line = self.lab.in_client(|| self.shaped(is_round_trip))??;
        if self.clock.now() >= self.begin {
            return Err(format!("the lab was not ready within {LEAD} s").into());
        }
        self.player.begin(self.begin);
        let ticks = self.lab.in_client(|| driven(&drive, self.track.rates, line))?;
        let played = self.player.finish();
        std::fs::remove_dir_all(&self.folder)?;
        Ok(Came { ticks: ticks?, played, begin: self.begin })
    }
    fn shaped(&self, is_round_trip: bool) -> Result<ShapedLine, Failed> {
        let there = self.lab.server_address().v4;
        let server = TestConfig { clock: self.clock, ..TestConfig::new(&there.to_string()) };
        let asked = if is_round_trip {
            ReflectConfig { server: None, hosts: vec![there.into(); ECHOES], clock: self.clock }
        } else {
            ReflectConfig { server: Some(server), hosts: Vec::new(), clock: self.clock }
        };
        let reflectors = Reflectors::open(&asked, &AtomicBool::new(false))?;
        let start = self.track.rates.map(|rates| Rate::from_bits_per_second(rates.base as u64));
        let framing = Framing::default();
        let request = ShapeRequest {
            device: DEVICE.to_owned(),
            up: Some(start.up),
            down: Some(start.down),
            shaper: Some(ShaperKind::FlowHash),
            framing,
            round_trip: None,
        };
        let mut transaction = Transaction::begin(&request, &place(&self.folder))?;
        transaction.apply(watchdog_command(&self.folder), LIMIT)?;
        Ok(ShapedLine::new(self.clock, reflectors, transaction, framing))
    }
}

fn driven(drive: &Drive, rates: PerDirection<Rates>, mut line: ShapedLine) -> Result<Vec<Tick>, ApplyError> {
    let ticks = drive.run(&mut *drive.who.law(rates), &mut line);
    line.roll_back("the run is over")?;
    ticks
}

pub(super) fn place(folder: &Path) -> Place {
    Place::new(folder, DEVICE)
}

/// This program as the watchdog process.
fn watchdog_command(folder: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg(super::WATCHDOG).arg(folder);
    command
}
