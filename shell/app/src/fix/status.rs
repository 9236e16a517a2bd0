//! Status of the shapers, with their counters.
use super::{FixResult, places};
use crate::AppError;
use fathom_diagnose::{FixEvidence, diagnose_fix};
use fathom_fix::auto::Status;
use fathom_report::FixData;
use fathom_shaper::{Kernel, Phase, Place, State, SystemInstance, shaper_counters};
use fathom_tc::Stats;
use fathom_text::counted;
use fathom_units::{PerDirection, Rate, WallTime};
use serde_json::{Value, json};
use std::path::Path;

/// The state of an interface's shaper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShaperState {
    /// On until it is undone.
    On,
    /// On until its time or its process ends; then it is rolled back.
    OnTrial,
    /// Left from before the last system start.
    EarlierBoot,
    /// On an interface of another network namespace.
    OtherNamespace,
}

impl ShaperState {
    fn of(state: &State, here: &SystemInstance) -> ShaperState {
        match state.phase {
            _ if state.instance.boot != here.boot => ShaperState::EarlierBoot,
            _ if state.instance.namespace != here.namespace => ShaperState::OtherNamespace,
            Phase::Trial => ShaperState::OnTrial,
            Phase::Committed => ShaperState::On,
        }
    }
    /// The name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ShaperState::On => "on",
            ShaperState::OnTrial => "on_trial",
            ShaperState::EarlierBoot => "earlier_boot",
            ShaperState::OtherNamespace => "other_namespace",
        }
    }
    /// Whether the shaper should be active in this network namespace now.
    #[must_use]
    pub const fn is_on(self) -> bool {
        matches!(self, ShaperState::On | ShaperState::OnTrial)
    }
}

/// The shaper of one direction.
#[derive(Clone, Debug)]
pub struct SideStatus {
    /// The rate.
    pub rate: Rate,
    /// Its counters. `None` if the shaper is gone or in another network namespace.
    pub counters: Option<Stats>,
}

/// An interface with a fix.
#[derive(Clone, Debug)]
pub struct InterfaceStatus {
    /// The name.
    pub interface: String,
    /// The state of its shaper.
    pub state: ShaperState,
    /// The shaper's name.
    pub shaper: String,
    /// When the fix began.
    pub began: WallTime,
    /// The process that started it.
    pub process: u32,
    /// The shaped directions.
    pub sides: PerDirection<Option<SideStatus>>,
    /// Last status of a running autorate.
    pub auto: Option<Value>,
}

/// The status of all interfaces.
#[derive(Clone, Debug)]
pub struct StatusReport {
    /// The result as a document.
    pub result: FixResult,
    /// Each interface with a fix.
    pub interfaces: Vec<InterfaceStatus>,
    /// How the last fix of the given interface ended, if none is active.
    pub last: Option<String>,
}

/// Reads the status of all fixes, or of one interface.
///
/// # Errors
/// If a state file cannot be read.
pub fn status(folder: &Path, interface: Option<&str>) -> Result<StatusReport, AppError> {
    let mut interfaces = Vec::new();
    for place in places(folder, interface)? {
        if let Some(state) = place.read()? {
            interfaces.push(InterfaceStatus::of(&place, &state));
        }
    }
    let last = interface.and_then(|name| Place::new(folder, name).last()).filter(|_| interfaces.is_empty());
    let rows = interfaces.iter().map(InterfaceStatus::to_json).collect();
    Ok(StatusReport {
        result: unmeasured(
            format!("{} a fix.", counted(interfaces.len() as u64, "interface has", "interfaces have")),
            rows,
        ),
        interfaces,
        last,
    })
}

/// The result of a command that measures nothing.
pub(super) fn unmeasured(headline: String, interfaces: Vec<Value>) -> FixResult {
    let evidence = FixEvidence {
        interface: "",
        before: None,
        after: None,
        is_shaped: false,
        checks: &[],
        conflicts: &[],
    };
    let data = FixData { interfaces: Some(interfaces), ..FixData::default() };
    FixResult { headline, diagnosis: diagnose_fix(&evidence), data }
}

impl InterfaceStatus {
    fn of(place: &Place, state: &State) -> InterfaceStatus {
        let here = SystemInstance::here();
        let side = |key: &str| {
            let side = &state.about[key];
            let rate = side["rate_bits_per_second"].as_u64().map(Rate::from_bits_per_second)?;
            let counters = if state.instance == here { side_counters(side) } else { None };
            Some(SideStatus { rate, counters })
        };
        InterfaceStatus {
            interface: place.device.clone(),
            state: ShaperState::of(state, &here),
            shaper: state.about["shaper"].as_str().unwrap_or_default().to_owned(),
            began: WallTime(state.began_unix_s.saturating_mul(1_000_000_000)),
            process: state.pid,
            sides: PerDirection { up: side("up"), down: side("down") },
            auto: auto_status(place, state),
        }
    }
    fn to_json(&self) -> Value {
        let side = |side: &Option<SideStatus>| {
            side.as_ref().map(|side| {
                let counters = side.counters.as_ref().map(|stats| counters(None, stats));
                json!({ "rate_bits_per_second": side.rate.as_bits_per_second(), "counters": counters })
            })
        };
        json!({
            "interface": self.interface, "state": self.state.name(), "shaper": self.shaper,
            "began_unix_s": self.began.0 / 1_000_000_000, "process": self.process,
            "up": side(&self.sides.up), "down": side(&self.sides.down), "auto": self.auto,
        })
    }
}

/// The last status that autorate has written, if it is of the process in `state`.
fn auto_status(place: &Place, state: &State) -> Option<Value> {
    let value: Value = serde_json::from_slice(&Status::read(place)?).ok()?;
    (value["process"] == state.pid && state.phase == Phase::Trial).then_some(value)
}

/// Counters of the queue discipline of a direction, if it still exists.
fn side_counters(side: &Value) -> Option<Stats> {
    let (device, name) = (side["interface"].as_str()?, side["qdisc"].as_str()?);
    let major = u16::from_str_radix(name.trim_end_matches(':'), 16).ok()?;
    shaper_counters(&mut Kernel::open().ok()?, device, major).ok().map(|(stats, _)| stats)
}

/// Counters of a shaper for documents: since `from`, or since its creation.
#[must_use]
pub fn counters(from: Option<&Stats>, to: &Stats) -> Value {
    let since = |of: fn(&Stats) -> u64| of(to).saturating_sub(from.map_or(0, of));
    json!({
        "sent_bytes": since(|stats| stats.sent_bytes), "sent_packets": since(|stats| stats.sent_packets),
        "dropped_packets": since(|stats| u64::from(stats.drops)), "marked_packets": to.marks(),
        "backlog_bytes": to.backlog_bytes,
    })
}
